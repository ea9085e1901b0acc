#include "tools/convert/text/list_reader.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "runtime/text/utf8.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

ListReader::ListReader(std::string_view text, ModelLists* lists)
    : end_(text.data() + text.size()), at_(text.data()), lists_(lists), copied_(at_) {}

bool ListReader::TokenizerFile(std::string* rest) {
  if (!Object(rest, false)) return false;
  rest->append(copied_, end_);
  return true;
}

bool ListReader::IdsFile() {
  if (!Ids()) return false;
  Space();
  return at_ == end_;
}

// The file, or its model. Other values are only passed: they stay in `rest`, which a parser reads.
bool ListReader::Object(std::string* rest, bool model) {
  if (!Take('{')) return false;
  std::string_view key;
  for (bool first = true; More('}', &first);) {
    if (!String(&key) || !Take(':')) return false;
    Space();
    const char* const value = at_;
    const bool object = value < end_ && *value == '{', list = value < end_ && *value == '[';
    if (!model || (key != "vocab" && key != "merges") || !(object || list)) {
      if (!model && key == "model" && object) {
        if (!Object(rest, true)) return false;
      } else if (!Skip()) {
        return false;
      }
      continue;
    }
    if (key == "merges" ? lists_->has_merges : lists_->vocabulary != ModelLists::kNone) return false;
    if (!(key == "merges" ? Merges() : object ? Ids() : Scores())) return false;
    rest->append(copied_, value).append("null");
    copied_ = at_;
  }
  return closed_;
}

bool ListReader::Ids() {
  const char* const begin = at_;
  lists_->vocabulary = ModelLists::kIds;
  if (!Take('{')) return false;
  ModelLists::Piece piece;
  for (bool first = true; More('}', &first); lists_->pieces.push_back(piece)) {
    if (!String(&piece.text) || !Take(':') || !Id(&piece.id)) return false;
  }
  return closed_ && IsUtf8(begin);
}

bool ListReader::Scores() {
  const char* const begin = at_;
  lists_->vocabulary = ModelLists::kScores;
  if (!Take('[')) return false;
  ModelLists::Piece piece;
  for (bool first = true; More(']', &first); lists_->pieces.push_back(piece)) {
    piece.id = static_cast<uint32_t>(lists_->pieces.size());
    if (!Take('[') || !String(&piece.text) || !Take(',') || !Score(&piece.score) || !Take(']')) return false;
  }
  return closed_ && IsUtf8(begin);
}

bool ListReader::Merges() {
  const char* const begin = at_;
  lists_->has_merges = true;
  if (!Take('[')) return false;
  for (bool first = true; More(']', &first);) {
    if (!Merge()) return false;
  }
  return closed_ && IsUtf8(begin);
}

bool ListReader::Merge() {
  std::string_view left, right;
  if (Take('[')) {
    if (!String(&left) || !Take(',') || !String(&right) || !Take(']')) return false;
  } else {
    if (!String(&left)) return false;
    const size_t space = left.find(' ');
    if (space == std::string_view::npos) return false;
    right = left.substr(space + 1);
    left = left.substr(0, space);
  }
  lists_->merges.push_back({left, right});
  return true;
}

bool ListReader::Skip() {
  size_t depth = 0;
  do {
    Space();
    if (at_ == end_) return false;
    const char c = *at_;
    if (c == '"') {
      if (!SkipString()) return false;
      continue;
    }
    if ((c == '}' || c == ']') && depth == 0) return false;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at_;
    if (depth != 0 || c == '}' || c == ']') continue;
    // A number or a word.
    while (at_ < end_ && std::memchr(",}] \t\r\n", *at_, 7) == nullptr) ++at_;
  } while (depth != 0);
  return true;
}

// The parser of the rest checks what is in it.
bool ListReader::SkipString() {
  for (++at_; at_ < end_ && *at_ != '"'; ++at_) {
    if (*at_ == '\\' && ++at_ == end_) return false;
  }
  if (at_ == end_) return false;
  ++at_;
  return true;
}

void ListReader::Space() {
  while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
}

bool ListReader::Take(char c) {
  Space();
  if (at_ == end_ || *at_ != c) return false;
  ++at_;
  return true;
}

// Whether another element follows. If none does, closed_ is whether the list has ended as it should.
bool ListReader::More(char close, bool* first) {
  closed_ = Take(close);
  if (closed_) return false;
  const bool more = *first || Take(',');
  *first = false;
  return more;
}

bool ListReader::String(std::string_view* value) {
  if (!Take('"')) return false;
  const char* const begin = at_;
  while (at_ < end_ && *at_ != '"' && *at_ != '\\' && static_cast<uint8_t>(*at_) >= 0x20) ++at_;
  if (at_ == end_) return false;
  if (*at_ == '\\') return Escaped(begin, value);
  if (*at_ != '"') return false;
  *value = lists_->Keep({begin, static_cast<size_t>(at_ - begin)});
  ++at_;
  return true;
}

bool ListReader::Escaped(const char* begin, std::string_view* value) {
  std::string text(begin, at_);
  while (at_ < end_ && *at_ != '"') {
    if (static_cast<uint8_t>(*at_) < 0x20) return false;
    if (*at_ != '\\') {
      text.push_back(*at_++);
      continue;
    }
    if (++at_ == end_) return false;
    constexpr char kNames[] = "\"\\/bfnrt", kMeanings[] = "\"\\/\b\f\n\r\t";
    const char name = *at_++;
    const char* const known = std::strchr(kNames, name);
    if (name != 0 && known != nullptr) {
      text.push_back(kMeanings[known - kNames]);
      continue;
    }
    uint32_t code = 0, low = 0;
    if (name != 'u' || !Hexadecimal(&code) || (code >= 0xdc00 && code < 0xe000)) return false;
    if (code >= 0xd800 && code < 0xdc00) {
      if (end_ - at_ < 2 || at_[0] != '\\' || at_[1] != 'u') return false;
      at_ += 2;
      if (!Hexadecimal(&low) || low < 0xdc00 || low >= 0xe000) return false;
      code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
    }
    text += Utf8(code);
  }
  if (at_ == end_) return false;
  ++at_;
  *value = lists_->Keep(text);
  return true;
}

bool ListReader::Hexadecimal(uint32_t* code) {
  if (end_ - at_ < 4) return false;
  *code = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = *at_++, letter = static_cast<char>(c | 0x20);
    if (!IsDigit(c) && (letter < 'a' || letter > 'f')) return false;
    *code = *code << 4 | static_cast<uint32_t>(IsDigit(c) ? c - '0' : letter - 'a' + 10);
  }
  return true;
}

bool ListReader::Id(uint32_t* id) {
  Space();
  const char* const begin = at_;
  uint64_t value = 0;
  while (at_ < end_ && IsDigit(*at_) && at_ - begin < 10) value = 10 * value + static_cast<uint64_t>(*at_++ - '0');
  if (at_ == begin || (*begin == '0' && at_ - begin > 1) || value > UINT32_MAX) return false;
  *id = static_cast<uint32_t>(value);
  return at_ < end_ && std::memchr(",} \t\r\n", *at_, 6) != nullptr;
}

bool ListReader::Score(double* score) {
  Space();
  const char* c = at_;
  const auto passes = [&](const char* characters) {
    const bool found = c < end_ && *c != 0 && std::strchr(characters, *c) != nullptr;
    if (found) ++c;
    return found;
  };
  const auto digits = [&] {
    const char* const first = c;
    while (c < end_ && IsDigit(*c)) ++c;
    return c != first;
  };
  passes("-");
  if (!passes("0") && !digits()) return false;
  if (passes(".") && !digits()) return false;
  if (passes("eE")) {
    passes("+-");
    if (!digits()) return false;
  }
  char copy[64];  // ends with a 0
  const auto size = static_cast<size_t>(c - at_);
  if (size >= sizeof(copy)) return false;
  std::memcpy(copy, at_, size);
  copy[size] = 0;
  char* end = nullptr;
  *score = std::strtod(copy, &end);
  at_ = c;
  return end == copy + size && std::isfinite(*score);
}

bool ListReader::IsUtf8(const char* begin) const {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(begin);
  const auto size = static_cast<uint64_t>(at_ - begin);
  return text::FirstInvalidByte(bytes, size) == size;
}

}  // namespace fovea::tools
