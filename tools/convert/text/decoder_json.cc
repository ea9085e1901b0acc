// Reads the decoder of tokenizer.json: one of the runtime's decoders, or a list of steps.
#include <algorithm>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/convert/text/tokenizer_json.h"

namespace fovea::tools {
namespace {

using text::DecoderKind;
using text::StepKind;

class StepReader {
 public:
  explicit StepReader(TextModel* model) : model_(*model) { model_.decoder = DecoderKind::kSteps; }

  // Reads steps in order: earlier ones change pieces, the last one the concatenated text.
  void Read(const JsonView& part) {
    const std::string type = TypeOf(part);
    if (type == "Sequence") {
      ForEach(part["decoders"], [&](const JsonView& inner) { Read(inner); });
    } else if (type == "Replace") {
      if (part["pattern"]["String"].IsNull()) Fail("{} with a regular expression is not supported", part.name());
      Change(StepKind::kDecodeReplace, part, part["pattern"]["String"].Bytes(), part["content"].Bytes());
    } else if (type == "BPEDecoder") {
      Change(StepKind::kDecodeSuffix, part, part["suffix"].Bytes("</w>"));
    } else if (type == "ByteFallback") {
      if (fused_) Fail("{} after Fuse is not supported", part.name());
      bytes_ = true;
      model_.decoder_steps.push_back({StepKind::kDecodeBytes});
    } else if (type == "Fuse") {
      fused_ = true;
    } else if (type == "Strip") {
      ReadStrip(part);
    } else {
      Fail("{}: type \"{}\" is not supported", part.name(), type);
    }
  }
  void Join(const char* between) { model_.decoder_steps.push_back({StepKind::kDecodeJoin, 0, between}); }

 private:
  void Change(StepKind kind, const JsonView& part, const std::string& from, const std::string& to = "") {
    if (changed_ || bytes_ || fused_) Fail("{} after another decoder is not supported", part.name());
    if (from.empty()) Fail("{} has an empty pattern", part.name());
    changed_ = true;
    model_.decoder_steps.push_back({kind, 0, from, to});
  }

  void ReadStrip(const JsonView& part) {
    const uint32_t start = part["start"].Number({}, 0), stop = part["stop"].Number({}, 0);
    if (stop != 0) Fail("{} at the end of a text is not supported", part.name());
    if (start == 0) return;
    if (!fused_) Fail("{} before Fuse is not supported", part.name());
    TextStep step{StepKind::kDecodeStrip, 0, part["content"].Bytes(" ")};
    if (step.first.empty()) Fail("{} has an empty pattern", part.name());
    step.count = start;
    model_.decoder_steps.push_back(std::move(step));
  }

  TextModel& model_;
  bool changed_ = false, bytes_ = false, fused_ = false;
};

// Marks tokens that represent bytes: "<0x0A>".
void MarkBytes(TextModel* model) {
  for (TextToken& token : model->tokens) {
    if (ByteOf(token.piece) >= 0) token.flags |= text::kTokenByte;
  }
}

}  // namespace

int ByteOf(const std::string& piece) {
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); };
  const bool byte =
      piece.size() == 6 && piece.compare(0, 3, "<0x") == 0 && piece[5] == '>' && digit(piece[3]) && digit(piece[4]);
  return byte ? std::stoi(piece.substr(3, 2), nullptr, 16) : -1;
}

std::string BytePiece(int byte) { return fmt::format("<0x{:02X}>", byte); }

std::vector<uint32_t> ByteIds(const TextModel& model) {
  std::vector<uint32_t> ids(256, text::kNoId);
  bool any = false;
  for (size_t id = 0; id < model.tokens.size(); ++id) {
    const std::string& piece = model.tokens[id].piece;
    const int byte = ByteOf(piece);
    if (byte < 0 || piece != BytePiece(byte)) continue;
    ids[static_cast<size_t>(byte)] = static_cast<uint32_t>(id);
    any = true;
  }
  return any ? ids : std::vector<uint32_t>();
}

void ReadDecoder(const JsonView& part, TextModel* model) {
  if (part.IsNull()) return StepReader(model).Join(" ");
  const std::string type = TypeOf(part);
  if (type == "Sequence" && part["decoders"].List().size() == 1) return ReadDecoder(part["decoders"].At(0), model);
  if (type == "WordPiece") {
    model->decoder = DecoderKind::kWordPiece;
    if (part["cleanup"].Flag(true)) model->decoder_flags |= text::kDecodeCleanup;
    // Whole words have no continuation; there the prefix must not matter.
    const std::string prefix = part["prefix"].Bytes("##");
    const auto begins = [&](const TextToken& token) { return StartsWith(token.piece, prefix); };
    const bool words =
        model->continuation == kWholeWords && std::none_of(model->tokens.begin(), model->tokens.end(), begins);
    if (!words && prefix != model->continuation) Fail("the decoder has another prefix than the model");
  } else if (type == "Metaspace") {
    model->decoder = DecoderKind::kMetaspace;
    const std::string scheme = part["prepend_scheme"].Bytes(part["add_prefix_space"].Flag(true) ? "always" : "never");
    if (scheme == "never") model->decoder_flags |= text::kDecodeKeepPrefix;
    if (part["replacement"].Bytes("\xe2\x96\x81") != "\xe2\x96\x81") {
      Fail("a Metaspace decoder with another mark than U+2581 is not supported");
    }
  } else if (type == "ByteLevel") {
    model->decoder = DecoderKind::kByteLevel;
  } else {
    StepReader(model).Read(part);
    for (const TextStep& step : model->decoder_steps) {
      if (step.kind == StepKind::kDecodeBytes) MarkBytes(model);
    }
  }
}

}  // namespace fovea::tools
