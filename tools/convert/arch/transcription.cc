// Metadata for transcription: the first tokens of a text, and the alignment with audio.
#include "tools/convert/arch/transcription.h"

#include "tools/base/fail.h"
#include "tools/convert/arch/decoder.h"

namespace fovea::tools {
namespace {

constexpr WholeRange kTokens = {0, INT32_MAX};

std::string Token(const JsonView& token) { return std::to_string(token.Number(kTokens)); }

// "<|en|>" as "en".
std::string Bare(const std::string& name) {
  const bool marked = name.size() > 4 && name.rfind("<|", 0) == 0 && name.compare(name.size() - 2, 2, "|>") == 0;
  return marked ? name.substr(2, name.size() - 4) : name;
}

void SetNamed(const JsonView& tokens, const std::string& entry, Description& description) {
  if (tokens.IsNull()) return;
  for (const auto& item : tokens.Object().items()) {
    description.SetMetadata(entry + Bare(item.key()), Token({item.value(), tokens.name() + ": " + item.key()}));
  }
}

// Pairs of a place, from 1 on, and a token: nothing if the model generates one of the places (null).
std::string Forced(const JsonView& pairs) {
  std::string tokens;
  if (pairs.IsNull()) return tokens;
  for (size_t i = 0; i < pairs.List().size(); ++i) {
    const JsonView pair = pairs.At(i);
    if (pair.List().size() != 2) Fail("{} must be pairs of a position and a token", pairs.name());
    if (pair.At(0).Number({1, INT32_MAX}) != i + 1 || pair.At(1).IsNull()) return "";
    tokens += fmt::format("{}{}", tokens.empty() ? "" : " ", Token(pair.At(1)));
  }
  return tokens;
}

// Pairs of a layer and one of its heads, as "layer.head" with spaces between them.
std::string LayersHeads(const JsonView& pairs) {
  std::string heads;
  if (pairs.IsNull()) return heads;
  for (size_t i = 0; i < pairs.List().size(); ++i) {
    const JsonView pair = pairs.At(i);
    if (pair.List().size() != 2) Fail("{} must be pairs of a layer and a head", pairs.name());
    heads +=
        fmt::format("{}{}.{}", heads.empty() ? "" : " ", pair.At(0).Number({0, 65535}), pair.At(1).Number({0, 63}));
  }
  return heads;
}

}  // namespace

void DescribeTranscription(const Checkpoint& checkpoint, Description& description) {
  const GenerationConfig config(checkpoint);
  SetNamed(config.View("lang_to_id"), "transcribe.language.", description);
  SetNamed(config.View("task_to_id"), "transcribe.task.", description);
  const auto set = [&](const char* entry, const std::string& tokens) {
    if (!tokens.empty()) description.SetMetadata(entry, tokens);
  };
  const auto token = [&](const char* key) {
    const JsonView value = config.View(key);
    return value.IsNull() ? std::string() : Token(value);
  };
  set("transcribe.no_timestamps", token("no_timestamps_token_id"));
  set("transcribe.previous", token("prev_sot_token_id"));
  set("transcribe.prompt", Forced(config.View("forced_decoder_ids")));
  const JsonView latest = config.View("max_initial_timestamp_index");
  if (!latest.IsNull()) set("transcribe.latest_first_time", std::to_string(latest.Number(kTokens)));
  set("transcribe.alignment_heads", LayersHeads(config.View("alignment_heads")));
  const JsonView median = config.View("median_filter_width");
  if (!median.IsNull()) {
    const uint64_t width = median.Number({1, 1001});
    if (width % 2 == 0) Fail("{} must be an odd number", median.name());
    set("transcribe.median_width", std::to_string(width));
  }
}

}  // namespace fovea::tools
