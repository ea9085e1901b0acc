// Architectures of GGUF files: the family that computes the same, or the reason why none does.
#include <string.h>

#include <algorithm>
#include <iterator>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/convert/arch/choose_architecture.h"
#include "tools/convert/gguf/parts.h"

namespace fovea::tools {
namespace {

// A family that arch/ does not have (yet) is refused as unknown.
constexpr GgufArchitecture kArchitectures[] = {
    {"llama", "llama", "LlamaForCausalLM", true, false, "mixtral"},
    {"mistral3", "mistral", "MistralForCausalLM", true},
    {"internlm2", "llama", "LlamaForCausalLM", true},
    {"exaone", "llama", "LlamaForCausalLM"},
    {"minicpm", "granite", "GraniteForCausalLM", true},
    {"qwen2", "qwen2", "Qwen2ForCausalLM"},
    {"qwen2moe", "qwen2_moe", "Qwen2MoeForCausalLM", false, false, "qwen2_moe"},
    {"qwen3", "qwen3", "Qwen3ForCausalLM"},
    {"qwen3moe", "qwen3_moe", "Qwen3MoeForCausalLM", false, false, "qwen3_moe"},
    {"gemma", "gemma", "GemmaForCausalLM", false, true},
    {"gemma2", "gemma2", "Gemma2ForCausalLM", false, true},
    {"gemma3", "gemma3_text", "Gemma3ForCausalLM", false, true},
    {"gemma-embedding", "gemma3_text", "Gemma3TextModel", false, true},
    {"phi2", "phi", "PhiForCausalLM"},
    {"phi3", "phi3", "Phi3ForCausalLM"},
    {"lfm2", "lfm2", "Lfm2ForCausalLM"},
    {"smollm3", "smollm3", "SmolLM3ForCausalLM", true},
    {"granite", "granite", "GraniteForCausalLM", true},
    {"granitemoe", "granitemoe", "GraniteMoeForCausalLM", true, false, "granitemoe"},
    {"gpt-oss", "gpt_oss", "GptOssForCausalLM", false, false, "gpt_oss"},
    {"gpt2", "gpt2", "GPT2LMHeadModel"},
    {"gptneox", "gpt_neox", "GPTNeoXForCausalLM"},
    {"gptj", "gptj", "GPTJForCausalLM"},
    {"falcon", "falcon", "FalconForCausalLM"},
    {"bloom", "bloom", "BloomForCausalLM"},
    {"starcoder", "gpt_bigcode", "GPTBigCodeForCausalLM"},
    {"starcoder2", "starcoder2", "Starcoder2ForCausalLM"},
    {"stablelm", "stablelm", "StableLmForCausalLM"},
    {"olmo", "olmo", "OlmoForCausalLM", true},
    {"olmo2", "olmo2", "Olmo2ForCausalLM"},
    {"olmoe", "olmoe", "OlmoeForCausalLM", false, false, "olmoe"},
    {"command-r", "cohere", "CohereForCausalLM"},
    {"cohere2", "cohere2", "Cohere2ForCausalLM"},
    {"ernie4_5", "ernie4_5", "Ernie4_5ForCausalLM"},
    {"seed_oss", "seed_oss", "SeedOssForCausalLM"},
    {"arcee", "arcee", "ArceeForCausalLM", true},
    {"exaone4", "exaone4", "Exaone4ForCausalLM"},
    {"hunyuan-dense", "hunyuan_v1_dense", "HunYuanDenseV1ForCausalLM"},
    {"bert", "bert", "BertModel"},
    {"jina-bert-v2", "jina_bert", "JinaBertModel"},
    {"nomic-bert", "nomic_bert", "NomicBertModel"},
    {"nomic-bert-moe", "nomic_bert", "NomicBertModel"},
    {"modern-bert", "modernbert", "ModernBertModel"},
    {"t5", "t5", "T5ForConditionalGeneration"},
    {"t5encoder", "t5", "T5EncoderModel"},
};

// Computations of a family that none of arch/ does, by the beginning of its name. The first that fits.
constexpr struct {
  const char *begins, *kind;
} kKinds[] = {
    {"qwen35", "most of its layers are linear attention (gated delta rule)"},
    {"qwen3next", "most of its layers are linear attention (gated delta rule)"},
    {"kimi-linear", "most of its layers are linear attention"},
    {"gemma3n", "it has embeddings of each layer and several residual streams"},
    {"gemma4", "it has embeddings of each layer and layers that share keys and values"},
    {"granitehybrid", "most of its layers are state-space layers (Mamba 2)"},
    {"falcon-h1", "its layers have a state-space part (Mamba 2)"},
    {"mamba", "it is a state-space model (Mamba)"},
    {"jamba", "most of its layers are state-space layers (Mamba)"},
    {"nemotron_h", "most of its layers are state-space layers (Mamba 2)"},
    {"plamo2", "most of its layers are state-space layers (Mamba)"},
    {"rwkv", "it is a recurrent model (RWKV)"},
    {"arwkv", "it is a recurrent model (RWKV)"},
    {"deepseek2", "its attention compresses keys and values (MLA)"},
    {"mistral4", "its attention compresses keys and values (MLA)"},
    {"minicpm3", "its attention compresses keys and values (MLA)"},
    {"plm", "its attention compresses keys and values (MLA)"},
    {"glm-dsa", "its attention compresses keys and values (MLA)"},
    {"deepseek", "its experts are shared and routed in a way that is not supported"},
    {"lfm2moe", "its experts are chosen with biases, which is not supported"},
    {"jina-bert-v2", "it is an encoder with ALiBi"},
    {"jina-bert-v3", "it is an encoder with LoRA adapters for tasks"},
    {"neo-bert", "it is an encoder of the NeoBERT family"},
    {"eurobert", "it is an encoder of the EuroBERT family"},
    {"dream", "it generates by diffusion, not token by token"},
    {"llada", "it generates by diffusion, not token by token"},
    {"rnd1", "it generates by diffusion, not token by token"},
    {"bitnet", "its activations are rounded in training (BitNet)"},
    {"clip", "it is the projector of a model that reads images or audio (mmproj); convert the directory of the model"},
    {"whisper", "it is a speech recognizer; convert the directory of the model, which has config.json"},
    {"wavtokenizer", "it decodes audio"},
    {"qwen2vl", "it reads images and text with positions of three axes"},
    {"qwen3vl", "it reads images and text with positions of three axes"},
    {"llama4", "it mixes experts and chunked attention in a way that is not supported"},
    {"mpt", "it is of the MPT family"},
};

bool HasExperts(const GgufMetadata& metadata) { return metadata.Own("expert_count").Number({}, 0) != 0; }

}  // namespace

GgufArchitecture GgufArchitectureOf(const GgufMetadata& metadata) {
  const std::string& name = metadata.architecture();
  std::string known;
  for (GgufArchitecture architecture : kArchitectures) {
    if (*architecture.experts != '\0' && HasExperts(metadata)) architecture.model_type = architecture.experts;
    if (FindArchitecture(architecture.model_type) == nullptr) continue;
    if (name == architecture.name) return architecture;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", architecture.name);
  }
  const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                 [&](const auto& one) { return name.compare(0, strlen(one.begins), one.begins) == 0; });
  Fail("{}: general.architecture {} is not supported{}{}; these are: {}", metadata.path(), name,
       kind == std::end(kKinds) ? "" : ": ", kind == std::end(kKinds) ? "" : kind->kind, known);
}

bool IsEncoder(const GgufArchitecture& architecture) {
  return !EndsWith(architecture.class_name, "ForCausalLM") && !EndsWith(architecture.class_name, "LMHeadModel");
}

}  // namespace fovea::tools
