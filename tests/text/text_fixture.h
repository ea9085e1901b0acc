// Helpers of the text tests: a section with its tokenizer, and encoding into vectors.
#ifndef FOVEA_TESTS_TEXT_TEXT_FIXTURE_H_
#define FOVEA_TESTS_TEXT_TEXT_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "runtime/text/decoder.h"
#include "runtime/text/encoder.h"
#include "runtime/text/tokenizer.h"

namespace fovea::test {

struct Encoded {
  Status status;
  fovea_error error = {};
  std::vector<int> ids, types, special;
  std::vector<std::pair<uint32_t, uint32_t>> ranges;  // bytes
  text::EncodeResult result;
};

class TextSection {
 public:
  TextSection() = default;
  explicit TextSection(const std::vector<uint8_t>& bytes) : words_((bytes.size() + 7) / 8), size_(bytes.size()) {
    if (size_ != 0) std::memcpy(words_.data(), bytes.data(), size_);
    Reporter reporter(&error_);
    status_ = Tokenizer::Open(data(), size_, 0, reporter, &tokenizer_);
  }
  TextSection(const TextSection&) = delete;

  bool ok() const { return status_.ok(); }
  const char* error() const { return error_.text; }
  const Tokenizer& tokenizer() const { return tokenizer_; }
  const uint8_t* data() const { return reinterpret_cast<const uint8_t*>(words_.data()); }

  Encoded Encode(const std::string& a, const std::string* b, const text::EncodeOptions& options,
                 size_t capacity = size_t{1} << 16) const {
    Encoded e;
    const uint64_t needed = text::ScratchSize(tokenizer_, std::max(a.size(), b == nullptr ? 0 : b->size()));
    EXPECT_NE(needed, UINT64_MAX);
    // Exactly the memory that was asked for, so that the address sanitizer sees any byte beyond it.
    constexpr std::align_val_t kAlignment{64};
    const std::unique_ptr<void, void (*)(void*)> scratch(::operator new(std::max<uint64_t>(needed, 64), kAlignment),
                                                         [](void* memory) { ::operator delete(memory, kAlignment); });
    std::vector<int32_t> ids(capacity), types(capacity);
    std::vector<uint8_t> special(capacity);
    std::vector<uint32_t> ranges(2 * capacity);
    text::TokenArrays arrays{ids.data(), types.data(), special.data(), ranges.data(), capacity, 0};
    // Copies of exact size, without a terminator.
    const std::vector<uint8_t> bytes_a(a.begin(), a.end());
    std::vector<uint8_t> bytes_b;
    if (b != nullptr) bytes_b.assign(b->begin(), b->end());
    const text::TextInput first{bytes_a.data(), bytes_a.size()}, second{bytes_b.data(), bytes_b.size()};
    Reporter reporter(&e.error);
    const text::EncodeRequest request = {tokenizer_, {first, second}, b == nullptr ? 1u : 2u,
                                         options,    scratch.get(),   needed};
    e.status = text::Encode(request, reporter, &arrays, &e.result);
    if (!e.status.ok()) return e;
    e.ids.assign(ids.begin(), ids.begin() + static_cast<long>(arrays.count));
    e.types.assign(types.begin(), types.begin() + static_cast<long>(arrays.count));
    e.special.assign(special.begin(), special.begin() + static_cast<long>(arrays.count));
    for (size_t i = 0; i < arrays.count; ++i) e.ranges.push_back({ranges[2 * i], ranges[2 * i + 1]});
    return e;
  }
  Encoded Encode(const std::string& a, bool special_tokens = true) const {
    text::EncodeOptions options;
    options.special_tokens = special_tokens;
    return Encode(a, nullptr, options);
  }

  // Ids in chunks of `count`. No chunk of text ends within a character.
  std::string DecodeInParts(const std::vector<int>& ids, size_t count, bool skip_special = true) const {
    std::string whole;
    text::DecodeState state = {};
    for (size_t at = 0; at <= ids.size(); at += count) {
      const std::vector<int32_t> some(ids.begin() + static_cast<long>(at),
                                      ids.begin() + static_cast<long>(std::min(at + count, ids.size())));
      std::vector<uint8_t> out(1 << 16);
      uint64_t size = 0;
      Reporter reporter(nullptr);
      EXPECT_TRUE(text::DecodeNext(tokenizer_, some.data(), some.size(), skip_special, at + count > ids.size(), &state,
                                   reporter, out.data(), out.size(), &size)
                      .ok());
      EXPECT_EQ(text::FirstInvalidByte(out.data(), size), size);
      whole.append(out.begin(), out.begin() + static_cast<long>(size));
    }
    return whole;
  }

  std::string Decode(const std::vector<int>& ids, bool skip_special = true, bool clean_up = false) const {
    std::vector<uint8_t> out(1 << 16);
    uint64_t size = 0;
    Reporter reporter(nullptr);
    const std::vector<int32_t> copy(ids.begin(), ids.end());
    const Status status = text::Decode(tokenizer_, copy.data(), copy.size(), {skip_special, clean_up}, reporter,
                                       out.data(), out.size(), &size);
    EXPECT_TRUE(status.ok());
    return std::string(out.begin(), out.begin() + static_cast<long>(size));
  }

 private:
  std::vector<uint64_t> words_;  // aligned
  size_t size_ = 0;
  Tokenizer tokenizer_;
  fovea_error error_ = {};
  Status status_;
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_TEXT_TEXT_FIXTURE_H_
