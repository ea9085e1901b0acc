// Reader of SentencePiece model files: the few fields of its protocol buffer that matter for unigram models.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {
namespace {

// One message, field by field.
class Message {
 public:
  explicit Message(std::string bytes) : bytes_(std::move(bytes)) {}

  bool Next() {
    if (at_ == bytes_.size()) return false;
    const uint64_t tag = Varint();
    if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX) Fail("the SentencePiece model is damaged");
    field = static_cast<uint32_t>(tag >> 3);
    number = 0;
    data.clear();
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
    if (!std::isfinite(value)) Fail("the SentencePiece model has a score that is no number");
    return value;
  }

  uint32_t field = 0;
  uint64_t number = 0;
  std::string data;

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
  std::string Take(uint64_t size) {
    if (size > bytes_.size() - at_) Fail("the SentencePiece model is truncated");
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }

  const std::string bytes_;
  size_t at_ = 0;
};

enum PieceType : uint64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };
constexpr double kUnknownPenalty = 10.0;

class Reader {
 public:
  TextModel Run(const std::string& bytes) {
    model_.kind = text::ModelKind::kUnigram;
    model_.flags = text::kAccumulateF32;
    model_.decoder = text::DecoderKind::kSentencePiece;
    for (Message file(bytes); file.Next();) {
      if (file.field == 1) ReadPiece(file.data);
      if (file.field == 2) ReadTrainer(file.data);
      if (file.field == 3) ReadNormalizer(file.data);
    }
    if (model_type_ != 1) Fail("a SentencePiece model that is not unigram is not supported");
    if (model_.unknown_id == text::kNoId) Fail("the SentencePiece model has no unknown token");
    SetScores();
    SetSteps();
    return std::move(model_);
  }

 private:
  void ReadPiece(const std::string& bytes) {
    TextToken token;
    uint64_t type = kNormal;
    for (Message piece(bytes); piece.Next();) {
      if (piece.field == 1) token.piece = piece.data;
      if (piece.field == 2) token.score = static_cast<double>(piece.Float());
      if (piece.field == 3) type = piece.number;
    }
    const auto id = static_cast<uint32_t>(model_.tokens.size());
    if (type == kByte) Fail("byte fallback of a SentencePiece model is not supported");
    if (!IsUtf8(token.piece)) {
      Fail("the SentencePiece model: piece {} is not UTF-8: {}", id, Shortened(token.piece));
    }
    if (type == kControl) token.flags = text::kTokenControl | text::kTokenSpecial;
    if (type == kUnknown) {
      token.flags = text::kTokenUnknown;
      model_.unknown_id = id;
    }
    token.matches = type == kNormal || type == kUserDefined;
    if (token.piece == "<pad>") model_.pad_id = id;
    if (token.piece == "<mask>") model_.mask_id = id;
    model_.tokens.push_back(std::move(token));
    types_.push_back(type);
  }

  void ReadTrainer(const std::string& bytes) {
    for (Message trainer(bytes); trainer.Next();) {
      if (trainer.field == 3) model_type_ = trainer.number;
      if (trainer.field == 24 && trainer.number != 0) Fail("treat_whitespace_as_suffix is not supported");
      if (trainer.field == 44 && trainer.data != " \xe2\x81\x87 ") {
        Fail("another unk_surface than U+2047 is not supported");
      }
    }
  }

  void ReadNormalizer(const std::string& bytes) {
    for (Message normalizer(bytes); normalizer.Next();) {
      if (normalizer.field == 2) model_.charsmap = normalizer.data;
      if (normalizer.field == 3) dummy_prefix_ = normalizer.number != 0;
      if (normalizer.field == 4) remove_extra_ = normalizer.number != 0;
      if (normalizer.field == 5) escape_ = normalizer.number != 0;
    }
  }

  void SetScores() {
    double least = std::numeric_limits<float>::max(), most = std::numeric_limits<float>::lowest();
    for (size_t id = 0; id < types_.size(); ++id) {
      if (types_[id] != kNormal) continue;
      least = std::min(least, model_.tokens[id].score);
      most = std::max(most, model_.tokens[id].score);
    }
    model_.unknown_score = static_cast<double>(static_cast<float>(least - kUnknownPenalty));
    // User-defined symbols always win: their score grows with their length.
    for (size_t id = 0; id < types_.size(); ++id) {
      if (types_[id] != kUserDefined) continue;
      TextToken& token = model_.tokens[id];
      token.score = static_cast<double>(static_cast<float>(token.piece.size()) * static_cast<float>(most)) - 0.1;
    }
  }

  void SetSteps() {
    TextStep step{text::StepKind::kCharsmapSentencePiece};
    if (remove_extra_) step.flags |= text::kSpmRemoveExtraSpaces;
    if (dummy_prefix_) step.flags |= text::kSpmDummyPrefix;
    if (escape_) step.flags |= text::kSpmEscapeSpaces;
    model_.normalizer.push_back(step);
    if (!dummy_prefix_ && !remove_extra_) model_.decoder_flags |= text::kDecodeKeepPrefix;
    if (!remove_extra_) model_.decoder_flags |= text::kDecodeDropOnce;
  }

  TextModel model_;
  std::vector<uint64_t> types_;  // of the pieces
  uint64_t model_type_ = 1;
  bool dummy_prefix_ = true, remove_extra_ = true, escape_ = true;
};

}  // namespace

TextModel ReadSentencePiece(const std::string& bytes) { return Reader().Run(bytes); }

}  // namespace fovea::tools
