// ByT5's tokenizer, which has no file: three special tokens, one token for each byte, and sentinel tokens
// (tokenization_byt5.py).
#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"

namespace fovea::tools {

TextModel ReadByteTokens(const PublishedTokens& tokens, const JsonView& config) {
  constexpr uint32_t kFirst = 3, kBytes = 256;
  TextModel model;
  model.kind = text::ModelKind::kBpe;
  model.flags = text::kTiesByLeft;
  model.continuation = "";
  for (const char* content : {"<pad>", "</s>", "<unk>"}) {
    // The class lets these absorb the spaces around them, unless the directory's files give their flags.
    const uint32_t flags = text::kAddedSpecial | text::kAddedLstrip | text::kAddedRstrip;
    model.added.push_back({content, static_cast<uint32_t>(model.tokens.size()), flags, false});
    model.tokens.push_back({content, 0, text::kTokenSpecial, false});
  }
  for (uint32_t byte = 0; byte < kBytes; ++byte) {
    model.At(kFirst + byte) = {std::string(1, static_cast<char>(byte)), 0, 0, true};
  }
  for (uint32_t i = 0; i < config["extra_ids"].Number({0, 10000}, 125); ++i) {
    const uint32_t id = kFirst + kBytes + i;
    model.At(id) = {fmt::format("<extra_id_{}>", i), 0, text::kTokenSpecial, false};
    model.added.push_back({model.tokens[id].piece, id, text::kAddedSpecial, false});
  }
  model.pad_id = 0;
  model.unknown_id = 2;
  model.pre_tokenizer.push_back({text::StepKind::kByteLevel});
  model.decoder = text::DecoderKind::kByteLevel;
  tokens.AddTo({}, &model);
  const std::string end = tokens.Named("eos_token", "</s>");
  SetTemplate("$A " + end, "$A " + end + " $B " + end, &model);
  return model;
}

}  // namespace fovea::tools
