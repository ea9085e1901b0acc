// Reads SentencePiece model files: the relevant fields of their protocol buffer.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/sentence_pieces.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {
namespace {

// Reads one message field by field.
class Message {
 public:
  explicit Message(std::string_view bytes) : bytes_(bytes) {}

  bool Next() {
    if (at_ == bytes_.size()) return false;
    const uint64_t tag = Varint();
    if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX) Fail("the SentencePiece model is damaged");
    field = static_cast<uint32_t>(tag >> 3);
    number = 0;
    data = {};
    switch (tag & 7) {
      case 0:
        number = Varint();
        break;
      case 1:
        data = Take(8);
        break;
      case 2:
        data = Take(Varint());
        break;
      case 5:
        data = Take(4);
        break;
      default:
        Fail("the SentencePiece model is damaged");
    }
    return true;
  }
  float Float() const {
    if (data.size() != 4) Fail("the SentencePiece model is damaged");
    float value = 0;
    std::memcpy(&value, data.data(), 4);
    if (!std::isfinite(value)) Fail("the SentencePiece model has a score that is not finite");
    return value;
  }

  uint32_t field = 0;
  uint64_t number = 0;
  std::string_view data;

 private:
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = static_cast<uint8_t>(Take(1)[0]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    Fail("the SentencePiece model is damaged");
  }
  std::string_view Take(uint64_t size) {
    if (size > bytes_.size() - at_) Fail("the SentencePiece model is truncated");
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }

  const std::string_view bytes_;
  size_t at_ = 0;
};

class Reader {
 public:
  SentencePieces Run(const std::string& bytes) {
    for (Message file(bytes); file.Next();) {
      if (file.field == 1) ReadPiece(file.data);
      if (file.field == 2) ReadTrainer(file.data);
      if (file.field == 3) ReadNormalizer(file.data);
    }
    return std::move(read_);
  }

 private:
  void ReadPiece(std::string_view bytes) {
    SentencePiece read;
    for (Message piece(bytes); piece.Next();) {
      if (piece.field == 1) read.piece = piece.data;
      if (piece.field == 2) read.score = static_cast<double>(piece.Float());
      if (piece.field == 3) read.type = static_cast<SentencePiece::Type>(std::min<uint64_t>(piece.number, 7));
    }
    if (!IsUtf8(read.piece)) {
      Fail("the SentencePiece model: piece {} is not UTF-8: {}", read_.pieces.size(), Shortened(read.piece));
    }
    read_.pieces.push_back(std::move(read));
  }

  void ReadTrainer(std::string_view bytes) {
    for (Message trainer(bytes); trainer.Next();) {
      if (trainer.field == 3 && trainer.number != 1 && trainer.number != 2) {
        Fail("a SentencePiece model that is neither unigram nor byte-pair encoding is not supported");
      }
      if (trainer.field == 3) read_.byte_pairs = trainer.number == 2;
      if (trainer.field == 24 && trainer.number != 0) Fail("treat_whitespace_as_suffix is not supported");
      if (trainer.field == 44 && trainer.data != " \xe2\x81\x87 ") {
        Fail("another unk_surface than U+2047 is not supported");
      }
    }
  }

  void ReadNormalizer(std::string_view bytes) {
    for (Message normalizer(bytes); normalizer.Next();) {
      if (normalizer.field == 2) read_.charsmap = normalizer.data;
      if (normalizer.field == 3) read_.dummy_prefix = normalizer.number != 0;
      if (normalizer.field == 4) read_.remove_extra_spaces = normalizer.number != 0;
      if (normalizer.field == 5) read_.escape_spaces = normalizer.number != 0;
    }
  }

  SentencePieces read_;
};

}  // namespace

SentencePieces ReadPieces(const std::string& bytes) { return Reader().Run(bytes); }

TextModel ReadSentencePiece(const std::string& bytes) { return BuildSentencePieces(ReadPieces(bytes)); }

}  // namespace fovea::tools
