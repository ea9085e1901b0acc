#include "tests/fuzz/text_mutate.h"

#include <string.h>

#include <algorithm>

#include "runtime/text/format.h"

namespace fovea::fuzz {
namespace {

struct Tables {
  text::Header header;
  std::vector<std::vector<uint8_t>> bytes;
};

bool TakeApart(const std::vector<uint8_t>& section, Tables* tables) {
  if (section.size() < sizeof(text::Header)) return false;
  memcpy(&tables->header, section.data(), sizeof(text::Header));
  for (const text::TableRef& table : tables->header.tables) {
    const bool inside = table.offset <= section.size() && table.size <= section.size() - table.offset;
    const auto begin = section.begin() + (inside ? table.offset : 0);
    tables->bytes.emplace_back(begin, begin + (inside ? table.size : 0));
  }
  return true;
}

std::vector<uint8_t> Join(Tables& tables) {
  std::vector<uint8_t> section(sizeof(text::Header));
  for (size_t i = 0; i < tables.bytes.size(); ++i) {
    section.resize((section.size() + 7) / 8 * 8);
    tables.header.tables[i] = {static_cast<uint32_t>(section.size()), static_cast<uint32_t>(tables.bytes[i].size())};
    section.insert(section.end(), tables.bytes[i].begin(), tables.bytes[i].end());
  }
  section.resize((section.size() + 7) / 8 * 8);
  tables.header.size = static_cast<uint32_t>(section.size());
  memcpy(section.data(), &tables.header, sizeof(text::Header));
  return section;
}

size_t RecordBytes(size_t table) {
  switch (table) {
    case text::kNormalizer:
    case text::kPreTokenizer:
    case text::kDecoderSteps:
      return sizeof(text::Step);
    case text::kRanges:
      return sizeof(text::MapRange);
    case text::kCompositions:
    case text::kTemplateSingle:
    case text::kTemplatePair:
      return sizeof(text::TemplateItem);
    case text::kAdded:
      return sizeof(text::Added);
    case text::kMerges:
      return sizeof(text::Merge);
    case text::kPool:
    case text::kCharsmapStrings:
    case text::kPieceText:
    case text::kTokenFlags:
    case text::kSuffix:
      return 1;
    case text::kCutTransitions:
      return 2;
    default:
      return 4;
  }
}

void MutateBytes(std::vector<uint8_t>& bytes, size_t record, Random& random) {
  const size_t count = bytes.size() / record;
  if (count == 0) {
    bytes.resize(record * (1 + random.Below(3)));
    return;
  }
  const auto at = [&](size_t i) { return bytes.begin() + static_cast<ptrdiff_t>(i * record); };
  const size_t a = random.Below(count), b = random.Below(count);
  const std::vector<uint8_t> copy(at(b), at(b) + static_cast<ptrdiff_t>(record));
  switch (random.Below(8)) {
    case 0:
      bytes.insert(at(a), copy.begin(), copy.end());
      break;
    case 1:
      bytes.erase(at(a), at(a) + static_cast<ptrdiff_t>(record));
      break;
    case 2:
      std::copy(copy.begin(), copy.end(), at(a));
      break;
    case 3:
      bytes[random.Below(bytes.size())] ^= static_cast<uint8_t>(1 << random.Below(8));
      break;
    default:
      if (record < 4) {
        bytes[a] = static_cast<uint8_t>(random.Next());
      } else {
        const uint32_t word = random.OneIn(2) ? random.Below(count + 1) : random.Number();
        memcpy(&bytes[a * record + random.Below(record / 4) * size_t{4}], &word, 4);
      }
  }
}

// A step of any kind in place of one, or beside it.
void AddStep(std::vector<uint8_t>& steps, size_t pool, Random& random) {
  static constexpr uint32_t kKinds[] = {1, 2, 3, 4, 5, 6, 7, 8, 32, 33, 34, 35, 36, 64, 65, 66, 67, 68};
  text::Step step = {random.Pick(kKinds), random.Below(16), 0, 0, 0, 0};
  for (uint32_t* field : {&step.a, &step.b, &step.c, &step.d}) {
    *field = random.OneIn(2) ? random.Below(8) : random.OneIn(2) ? random.Below(pool + 1) : random.Number();
  }
  const size_t count = steps.size() / sizeof(step);
  const auto* bytes = reinterpret_cast<const uint8_t*>(&step);
  const auto at = steps.begin() + static_cast<ptrdiff_t>(random.Below(count + 1) * sizeof(step));
  steps.insert(at, bytes, bytes + sizeof(step));
}

}  // namespace

std::vector<uint8_t> MutateSection(const std::vector<uint8_t>& section, Random& random) {
  Tables tables;
  std::vector<uint8_t> mutant = section;
  if (TakeApart(section, &tables)) {
    for (uint32_t left = 1 + random.Below(4); left > 0; --left) {
      const size_t table = random.Below(tables.bytes.size());
      const size_t words = offsetof(text::Header, tables) / 4;
      uint32_t* const field = reinterpret_cast<uint32_t*>(&tables.header) + 4 + random.Below(words - 4);
      switch (random.Below(8)) {
        case 0:
          *field = random.Number();
          break;
        case 1:
        case 2:
          AddStep(tables.bytes[random.OneIn(3)   ? text::kPreTokenizer
                               : random.OneIn(3) ? text::kDecoderSteps
                                                 : text::kNormalizer],
                  tables.bytes[text::kPool].size(), random);
          break;
        case 3:
          tables.bytes[table].resize(random.Below(tables.bytes[table].size() + 1));
          break;
        default:
          MutateBytes(tables.bytes[table], RecordBytes(table), random);
      }
    }
    mutant = Join(tables);
  }
  if (random.OneIn(12) && !mutant.empty()) {
    mutant[random.Below(std::min(mutant.size(), sizeof(text::Header)))] ^= static_cast<uint8_t>(1 << random.Below(8));
  }
  return mutant;
}

std::vector<uint8_t> WithTable(const std::vector<uint8_t>& section, uint32_t table, const std::vector<uint8_t>& bytes) {
  Tables tables;
  if (!TakeApart(section, &tables)) return section;
  tables.bytes[table] = bytes;
  return Join(tables);
}

std::string MutateText(std::string text, const std::vector<uint8_t>& section, Random& random) {
  static const std::string kParts[] = {" ",
                                       "  ",
                                       "\n",
                                       "a",
                                       "ab",
                                       "hello",
                                       ".",
                                       "?!",
                                       "...",
                                       "\"",
                                       ")",
                                       "3.14",
                                       "e.g. ",
                                       "Dr. ",
                                       "<L>",
                                       "<R>",
                                       "[MASK]",
                                       "<mask>",
                                       "word",
                                       "unaffable",
                                       "'s",
                                       "\xc3\xa9",
                                       "e\xcc\x81\xcc\xa3",
                                       "\xcc\x81",
                                       "\xe4\xb8\xad",
                                       "\xea\xb0\x80",
                                       "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8",
                                       "\xef\xb7\xba",
                                       "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9",
                                       "\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa",
                                       "\xe2\x96\x81",
                                       "\xe3\x80\x80",
                                       "\xc2\xa0",
                                       "\xc4\xb0",
                                       "\xef\xbb\xbf",
                                       std::string(1, '\0'),
                                       "\xff",
                                       "\xc0\x80",
                                       "\xed\xa0\x80",
                                       "\xf4\x90\x80\x80",
                                       "\xe2\x82",
                                       "\r\n",
                                       "\xc2\x85"};
  for (uint32_t left = 1 + random.Below(3); left > 0; --left) {
    const size_t at = random.Below(text.size() + 1), size = random.Below(std::min<size_t>(text.size() - at, 16) + 1);
    switch (random.Below(6)) {
      case 0:
        text.erase(at, size);
        break;
      case 1:
        if (at < text.size()) text[at] = static_cast<char>(random.Next());
        break;
      case 2: {  // a part many times
        std::string part = random.OneIn(2) ? random.Pick(kParts) : text.substr(at, size), run;
        for (uint32_t times = 2 + random.Below(random.OneIn(8) ? 900 : 20); times > 0; --times) run += part;
        text.insert(at, run);
        break;
      }
      case 3:
        if (!section.empty()) {  // bytes of the section: pieces, keys
          const size_t from = random.Below(section.size());
          text.insert(at, reinterpret_cast<const char*>(&section[from]),
                      std::min<size_t>(random.Below(24), section.size() - from));
        }
        break;
      default:
        text.insert(at, random.Pick(kParts));
    }
  }
  if (text.size() > 6000) text.resize(6000);
  return text;
}

}  // namespace fovea::fuzz
