// The original: sentence_transformers/models/Transformer.py, sentence_transformers/SentenceTransformer.py;
// pylate/models/colbert.py.
#include "tools/convert/published/sentence_settings.h"

#include <filesystem>

#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/arch/config.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

constexpr char kSentenceConfig[] = "config_sentence_transformers.json";

// The first of these names that is there, as the original looks for them.
constexpr const char* kLimits[] = {"sentence_bert_config.json",       "sentence_roberta_config.json",
                                   "sentence_distilbert_config.json", "sentence_camembert_config.json",
                                   "sentence_albert_config.json",     "sentence_xlm-roberta_config.json",
                                   "sentence_xlnet_config.json"};

std::string Quoted(const std::string& text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

// Lengths above 1e9 mean "no limit".
uint32_t TokenizerLimit(const std::string& directory) {
  const fs::path file = Utf8Path(directory) / "tokenizer_config.json";
  if (!fs::exists(file)) return 0;
  const Json json = ReadJson(file.string());
  const auto found = json.is_object() ? json.find("model_max_length") : json.end();
  const bool number = json.is_object() && found != json.end() && found->is_number();
  const double length = number ? found->get<double>() : 0;
  return length >= 1 && length < 1e9 ? static_cast<uint32_t>(length) : 0;
}

uint32_t PositionsOf(const Description& description) {
  const auto found = description.metadata_index.find("max_positions");
  if (found == description.metadata_index.end()) return 0;
  return static_cast<uint32_t>(
      WholeNumberIn(description.metadata[found->second].second, "metadata max_positions", {1, UINT32_MAX}));
}

void AddPrompts(const JsonView& config, Description& description) {
  const JsonView prompts = config["prompts"];
  // Programs know only prompts that count in the embedding, and refuse the name of another one.
  const bool pooled = description.metadata_index.count("prompt_is_pooled") == 0;
  if (!prompts.IsNull()) {
    for (const auto& item : prompts.Object().items()) {
      const std::string& name = item.key();
      if (name.find('\0') != std::string::npos) Fail("{}: the name of a prompt holds a zero byte", prompts.name());
      const std::string prompt = prompts[name.c_str()].Text("");
      if (name.empty() || prompt.empty()) continue;  // an empty prompt adds nothing
      description.SetMetadata((pooled ? "prompt." : "unpooled_prompt.") + name, prompt);
      description.findings.push_back({Topic::kPrompts, fmt::format("{}: {} ({})", name, Quoted(prompt),
                                                                   pooled ? "--prompt-name" : "refused, see below")});
    }
  }
  const std::string standard = config["default_prompt_name"].Text("");
  if (standard.empty()) return;
  const bool there = !prompts.IsNull() && !prompts[standard.c_str()].IsNull();
  if (!there) {
    // The original refuses to load it.
    description.warnings.push_back(
        fmt::format("{}: default_prompt_name {} is not one of prompts and was ignored", config.name(), standard));
    return;
  }
  const bool empty = prompts[standard.c_str()].Text("").empty();
  if (!empty) description.SetMetadata("default_prompt", standard);
  description.findings.push_back({Topic::kPrompts, fmt::format("{} is the default: {}", standard,
                                                               empty    ? "it is empty, so texts are read as they are"
                                                               : pooled ? "it is put in front of each text"
                                                                        : "texts need --prompt-name none")});
}

void AddSimilarity(const JsonView& config, Description& description) {
  std::string name = config["similarity_fn_name"].Text("");
  if (name == "dot_product") name = "dot";
  if (name.empty()) return;
  if (name != "cosine" && name != "dot" && name != "euclidean" && name != "manhattan") {
    // PyLate's "MaxSim" compares the rows of tokens.
    if (name != "MaxSim") {
      description.warnings.push_back(
          fmt::format("{}: similarity_fn_name {} is unknown and was ignored; texts are compared by cosine",
                      config.name(), Quoted(name)));
    }
    return;
  }
  description.SetMetadata("similarity", name);
}

// PyLate puts a marker after the first token of a text, queries are filled with mask tokens, and punctuation of
// documents is left out. Markers that are words of the tokenizer are the same as a prompt.
void AddLateInteraction(const JsonView& config, Description& description) {
  for (const char* which : {"query", "document"}) {
    const std::string prefix = config[(std::string(which) + "_prefix").c_str()].Text("");
    if (prefix.empty()) continue;
    description.SetMetadata(std::string("prompt.") + which, prefix);
    description.findings.push_back(
        {Topic::kPrompts, fmt::format("{}: {} (--prompt-name), the marker of a {}", which, Quoted(prefix), which)});
  }
  if (config["do_query_expansion"].Flag(false)) {
    description.findings.push_back(
        {Topic::kPrompts, "queries are not filled with mask tokens (do_query_expansion): add them where it matters"});
  }
  if (!config["skiplist_words"].IsNull()) {
    description.findings.push_back(
        {Topic::kPrompts, "rows of punctuation (skiplist_words) are kept: leave them out of documents"});
  }
}

}  // namespace

TransformerSettings ReadTransformerSettings(const std::string& directory) {
  TransformerSettings settings;
  for (const char* name : kLimits) {
    const fs::path file = Utf8Path(directory) / name;
    if (!fs::exists(file)) continue;
    const Config limits(file.string());
    settings.file = name;
    settings.lower_case = limits.Flag("do_lower_case", false);
    settings.max_length = limits.Number("max_seq_length", 0);
    const Json& arguments = limits.Get("tokenizer_args");
    if (arguments.is_object()) {
      settings.max_length = JsonView(arguments, limits.View("tokenizer_args").name())["model_max_length"].Number(
          {0, 1000000000}, settings.max_length);
    }
    settings.task = limits.Text("transformer_task", "");
    settings.output = limits.Text("module_output_name", "");
    const Json& modalities = limits.Get("modality_config");
    const Json text = modalities.is_object() ? modalities.value("text", Json()) : Json();
    const Json output = text.is_object() ? text.value("method_output_name", Json()) : Json();
    if (output.is_string()) settings.method_output = output.get<std::string>();
    return settings;
  }
  return settings;
}

void ApplyLimits(const std::string& directory, const TransformerSettings& settings, Description& description) {
  if (settings.file.empty()) return;
  description.findings.push_back({Topic::kFiles, settings.file});
  description.tokenizer = {{"type", "directory"}, {"lower_case", settings.lower_case}};
  if (settings.max_length == 0) return;
  description.tokenizer["max_length"] = settings.max_length;
  const uint32_t positions = PositionsOf(description), tokenizer = TokenizerLimit(directory);
  if (positions != 0 && settings.max_length > positions) {
    description.warnings.push_back(
        fmt::format("{}: max_seq_length {} is more than the {} positions of the model; texts are cut to {} tokens",
                    settings.file, settings.max_length, positions, positions));
    return;
  }
  const bool differs = tokenizer != 0 && tokenizer != settings.max_length;
  description.findings.push_back(
      {Topic::kLimits, fmt::format("{} tokens, by {}{}", settings.max_length, settings.file,
                                   differs ? fmt::format(", not {} by tokenizer_config.json", tokenizer) : "")});
}

SentenceSettings ReadSentenceSettings(const std::string& directory, Description& description) {
  SentenceSettings settings;
  const fs::path file = Utf8Path(directory) / kSentenceConfig;
  if (!fs::exists(file)) return settings;
  const Json json = ReadJson(file.string());
  const JsonView config(json, kSentenceConfig);
  config.Object();
  description.findings.push_back({Topic::kFiles, kSentenceConfig});
  settings.model_type = config["model_type"].Text("");
  AddPrompts(config, description);
  AddSimilarity(config, description);
  AddLateInteraction(config, description);
  return settings;
}

std::string SentenceModelType(const std::string& directory) {
  const fs::path file = Utf8Path(directory) / kSentenceConfig;
  if (!fs::exists(file)) return "";
  const Json json = ReadJson(file.string());
  const JsonView config(json, kSentenceConfig);
  config.Object();
  return config["model_type"].Text("");
}

}  // namespace fovea::tools
