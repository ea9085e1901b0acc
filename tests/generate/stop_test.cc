// Stop strings in bytes that come in pieces of any size, against a plain search in the whole text.
#include "fovea/stop.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/heap_trap.h"
#include "tests/support/model_builder.h"

namespace fovea::test {
namespace {

struct Stop {
  explicit Stop(const std::vector<std::string>& strings) {
    std::vector<const char*> begins;
    std::vector<uint32_t> sizes;
    for (const std::string& s : strings) begins.push_back(s.data()), sizes.push_back(static_cast<uint32_t>(s.size()));
    uint64_t needed = 0;
    const auto count = static_cast<uint32_t>(strings.size());
    fovea_error error = {};
    EXPECT_EQ(fovea_stop_size(begins.data(), sizes.data(), count, &needed, &error), FOVEA_OK) << error.text;
    memory = AlignedBytes(needed);
    EXPECT_EQ(fovea_stop_init(begins.data(), sizes.data(), count, memory.data(), needed - 1, &stop, &error),
              FOVEA_E_TOO_SMALL);
    EXPECT_EQ(error.expected, needed);
    EXPECT_EQ(fovea_stop_init(begins.data(), sizes.data(), count, memory.data(), needed, &stop, &error), FOVEA_OK);
  }
  fovea_stopped Next(const std::string& bytes) {
    fovea_stopped stopped = Sized<fovea_stopped>();
    EXPECT_EQ(fovea_stop_next(stop, bytes.data(), bytes.size(), &stopped, nullptr), FOVEA_OK);
    return stopped;
  }
  AlignedBytes memory;
  fovea_stop* stop = nullptr;
};

// Bytes at the end of a text that belong to an incomplete character.
size_t PartOfCharacter(const std::string& text) {
  for (size_t n = 1; n <= 3 && n <= text.size(); ++n) {
    const auto byte = static_cast<uint8_t>(text[text.size() - n]);
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return n < (byte >= 0xf0 ? 4u : byte >= 0xe0 ? 3u : 2u) ? n : 0;
  }
  return 0;
}

// The expected result after the text, from a search of all of it.
fovea_stopped Plainly(const std::vector<std::string>& strings, const std::string& text) {
  fovea_stopped known = Sized<fovea_stopped>();
  known.end = text.size() + 1;
  for (uint32_t i = 0; i < strings.size(); ++i) {
    const size_t at = text.find(strings[i]);
    const size_t end = at + strings[i].size();
    if (at == std::string::npos || end > known.end || (end == known.end && at >= known.safe)) continue;
    known.safe = at, known.end = end, known.stopped = 1, known.string = i;
  }
  if (known.stopped != 0) return known;
  size_t held = PartOfCharacter(text);
  for (const std::string& s : strings) {
    for (size_t n = held + 1; n <= std::min(s.size(), text.size()); ++n) {
      if (text.compare(text.size() - n, n, s, 0, n) == 0) held = n;
    }
  }
  known.safe = text.size() - held, known.end = text.size();
  return known;
}

void ExpectEqual(const fovea_stopped& a, const fovea_stopped& b, const std::string& text) {
  EXPECT_EQ(a.safe, b.safe) << text;
  EXPECT_EQ(a.end, b.end) << text;
  EXPECT_EQ(a.stopped, b.stopped) << text;
  EXPECT_EQ(a.string, b.string) << text;
}

TEST(Stop, AsAPlainSearchSaysAfterEachPiece) {
  const std::vector<std::vector<std::string>> sets = {
      {"aab", "ab", "bba"}, {"aaaa"}, {"\n\n", "b\n"}, {"\xc3\xa9", "a\xe2\x82\xac"}, {"abab", "bab", "ba", "ba"}, {}};
  const std::vector<std::string> characters = {"a", "b", "\n", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
  std::mt19937 random(1);
  uint32_t found = 0;
  for (const auto& strings : sets) {
    Stop stop(strings);
    for (int again = 0; again < 300; ++again) {
      std::string text;
      for (int i = 0; i < 12; ++i) text += characters[random() % (again % 2 == 0 ? 2 : characters.size())];
      ASSERT_EQ(fovea_stop_start(stop.stop), FOVEA_OK);
      for (size_t at = 0; at < text.size();) {
        const size_t size = std::min<size_t>(random() % 5, text.size() - at);
        const fovea_stopped known = stop.Next(text.substr(at, size));
        at += size;
        ExpectEqual(known, Plainly(strings, text.substr(0, at)), text.substr(0, at));
        found += known.stopped;
        if (known.stopped != 0) break;
      }
    }
  }
  EXPECT_GT(found, 500u);
}

// Stop strings over several tokens: one begins within a token, spans more and ends within another.
TEST(Stop, SpansTokens) {
  Stop stop({"</answer>", "User:"});
  EXPECT_EQ(stop.Next("It is 4.").safe, 8u);
  EXPECT_EQ(stop.Next(" <").safe, 9u);
  EXPECT_EQ(stop.Next("/ans").safe, 9u);
  EXPECT_EQ(stop.Next("were").safe, 18u);  // it was another one
  EXPECT_EQ(stop.Next(" </").safe, 19u);
  EXPECT_EQ(stop.Next("answer").safe, 19u);
  const fovea_stopped known = stop.Next(">\nUser");
  EXPECT_EQ(known.stopped, 1u);
  EXPECT_EQ(known.string, 0u);
  EXPECT_EQ(known.safe, 19u);
  EXPECT_EQ(known.end, 28u);
  ExpectEqual(stop.Next("more"), known, "after the end");
}

// Invalid UTF-8 is safe to return; an incomplete character is held back.
TEST(Stop, HoldsBackCharacters) {
  Stop stop({"x"});
  EXPECT_EQ(stop.Next("\xf0\x9f").safe, 0u);
  EXPECT_EQ(stop.Next("\x98").safe, 0u);
  EXPECT_EQ(stop.Next("\x80").safe, 4u);
  EXPECT_EQ(stop.Next("\x80\xff\xc1").safe, 7u);
  EXPECT_EQ(stop.Next("\xe2\x82").safe, 7u);
  EXPECT_EQ(stop.Next("a").safe, 10u);
}

TEST(Stop, WrongCalls) {
  const char* strings[] = {"a", ""};
  const uint32_t sizes[] = {1, 0};
  uint64_t needed = 0;
  fovea_error error = {};
  EXPECT_EQ(fovea_stop_size(strings, nullptr, 1, nullptr, &error), FOVEA_E_NULL);
  EXPECT_EQ(fovea_stop_size(nullptr, nullptr, 1, &needed, &error), FOVEA_E_NULL);
  EXPECT_EQ(fovea_stop_size(strings, nullptr, 2, &needed, &error), FOVEA_E_LENGTH);
  EXPECT_EQ(error.byte, 1u);
  EXPECT_EQ(fovea_stop_size(strings, sizes, 2, &needed, &error), FOVEA_E_LENGTH);
  EXPECT_EQ(fovea_stop_size(strings, sizes, 257, &needed, &error), FOVEA_E_OPTION);
  ASSERT_EQ(fovea_stop_size(strings, nullptr, 1, &needed, &error), FOVEA_OK);
  AlignedBytes memory(needed + 64);
  fovea_stop* stop = nullptr;
  EXPECT_EQ(fovea_stop_init(strings, nullptr, 1, memory.data() + 8, needed, &stop, &error), FOVEA_E_MISALIGNED);
  EXPECT_EQ(fovea_stop_init(strings, nullptr, 1, nullptr, needed, &stop, &error), FOVEA_E_NULL);
  EXPECT_EQ(fovea_stop_init(strings, nullptr, 1, memory.data(), needed, nullptr, &error), FOVEA_E_NULL);
  ASSERT_EQ(fovea_stop_init(strings, nullptr, 1, memory.data(), needed, &stop, &error), FOVEA_OK);
  EXPECT_EQ(fovea_stop_next(stop, nullptr, 1, nullptr, &error), FOVEA_E_NULL);
  EXPECT_EQ(fovea_stop_next(stop, "b", 1, nullptr, &error), FOVEA_OK);
  fovea_stopped stopped = {};
  EXPECT_EQ(fovea_stop_next(stop, "b", 1, &stopped, &error), FOVEA_E_STRUCT_SIZE);
  EXPECT_EQ(fovea_stop_start(nullptr), FOVEA_E_HANDLE);
  EXPECT_EQ(fovea_stop_next(nullptr, "b", 1, nullptr, &error), FOVEA_E_HANDLE);
}

}  // namespace
}  // namespace fovea::test
