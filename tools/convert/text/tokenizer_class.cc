// Determines the tokenizer class of the original library for a directory.
#include "tools/convert/text/tokenizer_class.h"

#include <map>
#include <nlohmann/json.hpp>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

std::string WithoutFast(const std::string& name) {
  constexpr char kFast[] = "Fast";
  return EndsWith(name, kFast) ? name.substr(0, name.size() - (sizeof(kFast) - 1)) : name;
}

// TOKENIZER_MAPPING_NAMES of the original library, for the types that are converted here. A type whose published
// directories always name a class, or have tokenizer.json, is omitted if the class has no reader.
const std::map<std::string, std::string>& ClassesByType() {
  static const std::map<std::string, std::string> kClasses = {
      {"albert", "AlbertTokenizer"},
      {"bart", "BartTokenizer"},
      {"bert", "BertTokenizer"},
      {"bertweet", "BertweetTokenizer"},
      {"big_bird", "BigBirdTokenizer"},
      {"bigbird_pegasus", "PegasusTokenizer"},
      {"biogpt", "BioGptTokenizer"},
      {"blenderbot", "BlenderbotTokenizer"},
      {"blenderbot-small", "BlenderbotSmallTokenizer"},
      {"bloom", "BloomTokenizer"},
      {"camembert", "CamembertTokenizer"},
      {"clip", "CLIPTokenizer"},
      {"clip_text_model", "CLIPTokenizer"},
      {"code_llama", "CodeLlamaTokenizer"},
      {"codegen", "CodeGenTokenizer"},
      {"cohere", "CohereTokenizer"},
      {"cohere2", "CohereTokenizer"},
      {"convbert", "ConvBertTokenizer"},
      {"data2vec-text", "RobertaTokenizer"},
      {"deberta", "DebertaTokenizer"},
      {"deberta-v2", "DebertaV2Tokenizer"},
      {"distilbert", "DistilBertTokenizer"},
      {"dpr", "DPRQuestionEncoderTokenizer"},
      {"electra", "ElectraTokenizer"},
      {"ernie", "BertTokenizer"},
      {"esm", "EsmTokenizer"},
      {"flaubert", "FlaubertTokenizer"},
      {"fnet", "FNetTokenizer"},
      {"funnel", "FunnelTokenizer"},
      {"gemma", "GemmaTokenizer"},
      {"gemma2", "GemmaTokenizer"},
      {"gemma3", "GemmaTokenizer"},
      {"gemma3_text", "GemmaTokenizer"},
      {"gpt2", "GPT2Tokenizer"},
      {"gpt_bigcode", "GPT2Tokenizer"},
      {"gpt_neo", "GPT2Tokenizer"},
      {"gpt_neox", "GPTNeoXTokenizer"},
      {"gptj", "GPT2Tokenizer"},
      {"granite", "GPT2Tokenizer"},
      {"granitemoe", "GPT2Tokenizer"},
      {"ibert", "RobertaTokenizer"},
      {"layoutlm", "LayoutLMTokenizer"},
      {"layoutlmv2", "LayoutLMv2Tokenizer"},
      {"layoutlmv3", "LayoutLMv3Tokenizer"},
      {"led", "LEDTokenizer"},
      {"llama", "LlamaTokenizer"},
      {"longformer", "LongformerTokenizer"},
      {"longt5", "T5Tokenizer"},
      {"luke", "LukeTokenizer"},
      {"lxmert", "LxmertTokenizer"},
      {"m2m_100", "M2M100Tokenizer"},
      {"marian", "MarianTokenizer"},
      {"mbart", "MBartTokenizer"},
      {"megatron-bert", "BertTokenizer"},
      {"mistral", "LlamaTokenizer"},
      {"mixtral", "LlamaTokenizer"},
      {"mobilebert", "MobileBertTokenizer"},
      {"mpnet", "MPNetTokenizer"},
      {"mt5", "MT5Tokenizer"},
      {"mvp", "MvpTokenizer"},
      {"nezha", "BertTokenizer"},
      {"nllb-moe", "NllbTokenizer"},
      {"nomic_bert", "BertTokenizer"},
      {"nystromformer", "AlbertTokenizer"},
      {"olmo2", "GPT2Tokenizer"},
      {"olmo3", "GPT2Tokenizer"},
      {"olmoe", "GPTNeoXTokenizer"},
      {"opt", "GPT2Tokenizer"},
      {"pegasus", "PegasusTokenizer"},
      {"pegasus_x", "PegasusTokenizer"},
      {"phi", "CodeGenTokenizer"},
      {"phi3", "LlamaTokenizer"},
      {"qwen2", "Qwen2Tokenizer"},
      {"qwen2_moe", "Qwen2Tokenizer"},
      {"qwen3", "Qwen2Tokenizer"},
      {"qwen3_moe", "Qwen2Tokenizer"},
      {"reformer", "ReformerTokenizer"},
      {"rembert", "RemBertTokenizer"},
      {"roberta", "RobertaTokenizer"},
      {"roberta-prelayernorm", "RobertaTokenizer"},
      {"roformer", "RoFormerTokenizer"},
      {"siglip", "SiglipTokenizer"},
      {"siglip_text_model", "SiglipTokenizer"},
      {"speech_to_text", "Speech2TextTokenizer"},
      {"splinter", "SplinterTokenizer"},
      {"squeezebert", "SqueezeBertTokenizer"},
      {"starcoder2", "GPT2Tokenizer"},
      {"switch_transformers", "T5Tokenizer"},
      {"t5", "T5Tokenizer"},
      {"tapas", "TapasTokenizer"},
      {"umt5", "T5Tokenizer"},
      {"vaultgemma", "GemmaTokenizer"},
      {"visual_bert", "BertTokenizer"},
      {"whisper", "WhisperTokenizer"},
      {"xglm", "XGLMTokenizer"},
      {"xlm", "XLMTokenizer"},
      {"xlm-roberta", "XLMRobertaTokenizer"},
      {"xlm-roberta-xl", "XLMRobertaTokenizer"},
      {"xlnet", "XLNetTokenizer"},
      {"xmod", "XLMRobertaTokenizer"},
      {"yoso", "AlbertTokenizer"},
  };
  return kClasses;
}

TokenizerClass ByType(const JsonView& model) {
  const std::string type = model["model_type"].Text("");
  const auto found = ClassesByType().find(type);
  if (found == ClassesByType().end()) return {};
  return {found->second, fmt::format("config.json: model_type {}", type), false};
}

}  // namespace

TokenizerClass TokenizerClassOf(const std::filesystem::path& model_dir, const JsonView& config) {
  const std::string named = config["tokenizer_class"].Text("");
  if (!named.empty()) return {WithoutFast(named), "tokenizer_config.json", true};
  const std::filesystem::path file = model_dir / "config.json";
  if (!std::filesystem::exists(file)) return {};
  const Json json = ReadJson(file.string());
  const JsonView model(json, file.string());
  const std::string own = model["tokenizer_class"].Text("");
  if (!own.empty()) return {WithoutFast(own), "config.json", true};
  return ByType(model);
}

bool IsBaseClass(const std::string& name) {
  return name == "PreTrainedTokenizer" || name == "PreTrainedTokenizerBase" || EndsWith(name, "Backend");
}

TokenizerClass ClassByType(const std::filesystem::path& model_dir) {
  const std::filesystem::path file = model_dir / "config.json";
  if (!std::filesystem::exists(file)) return {};
  const Json json = ReadJson(file.string());
  return ByType({json, file.string()});
}

}  // namespace fovea::tools
