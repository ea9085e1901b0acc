// What a decoder has after its last layer.
#include "tools/convert/arch/decoder.h"

#include <filesystem>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

// A token or a list of them, with spaces between; empty: none is said.
std::string Tokens(const Config& config, const char* key) {
  const Json& tokens = config.Get(key);
  std::string text;
  const auto add = [&](const Json& token) {
    if (!token.is_number_unsigned() || token.get<uint64_t>() > INT32_MAX) {
      Fail("config.json: {} {} is no token", key, Shown(token));
    }
    text += fmt::format("{}{}", text.empty() ? "" : " ", token.get<uint64_t>());
  };
  if (tokens.is_array()) {
    for (const Json& token : tokens) add(token);
  } else if (!tokens.is_null()) {
    add(tokens);
  }
  return text;
}

}  // namespace

void DescribeGeneration(const Checkpoint& checkpoint, Description& description) {
  const bool translates = checkpoint.task == Task::kSequenceToSequence;
  description.SetMetadata("task", translates ? "seq2seq-lm" : "causal-lm");
  description.SetMetadata("generate.token", translates ? "decoder_input_ids" : "input_ids");
  description.SetMetadata("generate.scores", "next_logits");
  const std::string path = (fs::path(checkpoint.directory) / "generation_config.json").string();
  const auto set = [&](const char* entry, const char* key) {
    std::string tokens = fs::exists(path) ? Tokens(Config(path), key) : "";
    if (tokens.empty()) tokens = Tokens(checkpoint.config, key);
    if (!tokens.empty()) description.SetMetadata(entry, tokens);
    return !tokens.empty();
  };
  set("generate.stop_ids", "eos_token_id");
  if (!translates || !set("generate.start", "decoder_start_token_id")) set("generate.start", "bos_token_id");
}

void FinishScoring(const std::string& last, const Heads& heads, ProgramBuilder& builder) {
  builder.Outputs({builder.Scores(last, heads)});
  builder.End();
}

void FinishDecoder(const std::string& last, const Heads& heads, ProgramBuilder& builder) {
  builder.Steps();
  builder.Op("pool", {last}, {}, "next_state", {{"kind", "last"}});
  builder.Outputs({builder.Scores("next_state", heads, "next_")});
  builder.End();
}

}  // namespace fovea::tools
