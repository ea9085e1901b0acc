// Reader of SentencePiece model files: the few fields of its protocol buffer that matter for unigram models.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"

namespace fovea::tools {
namespace {

// One message, field by field.
class Message {
 public:
  explicit Message(std::string bytes) : bytes_(std::move(bytes)) {}

  bool Next() {
    if (at_ == bytes_.size()) return false;
    const uint64_t tag = Varint();
    field = static_cast<uint32_t>(tag >> 3);
    number = 0;
    data.clear();
    switch (tag & 7) {
      case 0: number = Varint(); break;
      case 1: data = Take(8); break;
      case 2: data = Take(Varint()); break;
      case 5: data = Take(4); break;
      default: Fail("the SentencePiece model is damaged");
    }
    return true;
  }
  float Float() const {
    if (data.size() != 4) Fail("the SentencePiece model is damaged");
    float value = 0;
    std::memcpy(&value, data.data(), 4);
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

}  // namespace

TextModel ReadSentencePiece(const std::string& bytes) {
  TextModel model;
  model.kind = text::ModelKind::kUnigram;
  model.flags = text::kAccumulateF32;
  model.decoder = text::DecoderKind::kSentencePiece;
  uint64_t model_type = 1;
  bool dummy_prefix = true, remove_extra = true, escape = true;
  std::vector<uint64_t> types;
  Message file(bytes);
  while (file.Next()) {
    if (file.field == 1) {
      TextToken token;
      uint64_t type = kNormal;
      for (Message piece(file.data); piece.Next();) {
        if (piece.field == 1) token.piece = piece.data;
        if (piece.field == 2) token.score = static_cast<double>(piece.Float());
        if (piece.field == 3) type = piece.number;
      }
      if (type == kByte) Fail("byte fallback of a SentencePiece model is not supported");
      if (type == kControl) token.flags = text::kTokenControl | text::kTokenSpecial;
      if (type == kUnknown) {
        token.flags = text::kTokenUnknown;
        model.unknown_id = static_cast<uint32_t>(model.tokens.size());
      }
      token.matches = type == kNormal || type == kUserDefined;
      if (token.piece == "<pad>") model.pad_id = static_cast<uint32_t>(model.tokens.size());
      if (token.piece == "<mask>") model.mask_id = static_cast<uint32_t>(model.tokens.size());
      model.tokens.push_back(std::move(token));
      types.push_back(type);
    } else if (file.field == 2) {
      for (Message trainer(file.data); trainer.Next();) {
        if (trainer.field == 3) model_type = trainer.number;
        if (trainer.field == 24 && trainer.number != 0) Fail("treat_whitespace_as_suffix is not supported");
        if (trainer.field == 44 && trainer.data != " \xe2\x81\x87 ") Fail("another unk_surface than U+2047 is not supported");
      }
    } else if (file.field == 3) {
      for (Message normalizer(file.data); normalizer.Next();) {
        if (normalizer.field == 2) model.charsmap = normalizer.data;
        if (normalizer.field == 3) dummy_prefix = normalizer.number != 0;
        if (normalizer.field == 4) remove_extra = normalizer.number != 0;
        if (normalizer.field == 5) escape = normalizer.number != 0;
      }
    }
  }
  if (model_type != 1) Fail("a SentencePiece model that is not unigram is not supported");
  if (model.unknown_id == text::kNoId) Fail("the SentencePiece model has no unknown token");
  double least = std::numeric_limits<float>::max(), most = std::numeric_limits<float>::lowest();
  for (size_t id = 0; id < types.size(); ++id) {
    if (types[id] != kNormal) continue;
    least = std::min(least, model.tokens[id].score);
    most = std::max(most, model.tokens[id].score);
  }
  model.unknown_score = static_cast<double>(static_cast<float>(least - kUnknownPenalty));
  // User-defined symbols always win: their score grows with their length.
  for (size_t id = 0; id < types.size(); ++id) {
    if (types[id] != kUserDefined) continue;
    model.tokens[id].score = static_cast<double>(static_cast<float>(model.tokens[id].piece.size()) *
                                                 static_cast<float>(most)) - 0.1;
  }
  TextStep step{text::StepKind::kCharsmapSentencePiece};
  if (remove_extra) step.flags |= text::kSpmRemoveExtraSpaces;
  if (dummy_prefix) step.flags |= text::kSpmDummyPrefix;
  if (escape) step.flags |= text::kSpmEscapeSpaces;
  model.normalizer.push_back(step);
  if (!dummy_prefix && !remove_extra) model.decoder_flags |= text::kDecodeKeepPrefix;
  if (!remove_extra) model.decoder_flags |= text::kDecodeDropOnce;
  return model;
}

}  // namespace fovea::tools
