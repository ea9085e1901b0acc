// Layers whose weights were published quantized become weights: which method, and who reads it.
#include "tools/convert/published/quantized.h"

#include <algorithm>
#include <filesystem>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/published/quantized_layers.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

struct Method {
  const char* name;
  void (*read)(QuantizedModel& model);
  bool some;  // a model of this method has quantized layers
};
// compressed-tensors may state only how the KV cache is stored; MLX quantizes the layers that have scales.
constexpr Method kMethods[] = {{"gptq", ReadGptq, true},
                               {"awq", ReadAwq, true},
                               {"compressed-tensors", ReadCompressedTensors, false},
                               {"bitsandbytes", ReadBitsAndBytes, true},
                               {"fp8", ReadFloat8, true},
                               {"fbgemm_fp8", ReadFloat8, true},
                               {"modelopt", ReadModelOpt, true},
                               {"mlx", ReadMlx, false}};

// Keys of all methods: they state how weights were quantized or are run, which tensors and other keys repeat.
constexpr const char* kKnown[] = {"act_group_aware",
                                  "activation_scale_ub",
                                  "activation_scheme",
                                  "backend",
                                  "batch_size",
                                  "bits",
                                  "block_name_to_quantize",
                                  "bnb_4bit_compute_dtype",
                                  "bnb_4bit_quant_storage",
                                  "bnb_4bit_quant_type",
                                  "bnb_4bit_use_double_quant",
                                  "cache_block_outputs",
                                  "checkpoint_format",
                                  "config_groups",
                                  "damp_auto_increment",
                                  "damp_percent",
                                  "dataset",
                                  "desc_act",
                                  "disable_exllama",
                                  "do_fuse",
                                  "dynamic",
                                  "exllama_config",
                                  "fmt",
                                  "format",
                                  "fuse_max_seq_len",
                                  "global_compression_ratio",
                                  "group_size",
                                  "ignore",
                                  "ignored_layers",
                                  "is_marlin_format",
                                  "kv_cache_scheme",
                                  "kv_cache_schema",
                                  "llm_int8_enable_fp32_cpu_offload",
                                  "llm_int8_has_fp16_weight",
                                  "llm_int8_skip_modules",
                                  "llm_int8_threshold",
                                  "lm_head",
                                  "load_in_4bit",
                                  "load_in_8bit",
                                  "_load_in_4bit",
                                  "_load_in_8bit",
                                  "max_input_length",
                                  "meta",
                                  "mode",
                                  "model_file_base_name",
                                  "model_name_or_path",
                                  "model_seqlen",
                                  "module_name_preceding_first_block",
                                  "modules_in_block_to_quantize",
                                  "modules_to_fuse",
                                  "modules_to_not_convert",
                                  "pack_dtype",
                                  "packing_format",
                                  "pad_token_id",
                                  "producer",
                                  "q_group_size",
                                  "quant_algo",
                                  "quant_method",
                                  "quantization_status",
                                  "run_compressed",
                                  "scale_fmt",
                                  "sparsity_config",
                                  "static_groups",
                                  "sym",
                                  "tokenizer",
                                  "transform_config",
                                  "true_sequential",
                                  "use_cuda_fp16",
                                  "use_exllama",
                                  "version",
                                  "w_bit",
                                  "weight_block_size",
                                  "zero_point"};

// How a model states that its weights are quantized.
struct Stated {
  Json json;           // null: not at all
  std::string where;   // the file and key
  std::string method;  // empty: none
};

Stated FromConfig(const Config& config) {
  // MLX writes both of the last two.
  for (const char* key : {"quantization", "quantization_config", "compression_config"}) {
    if (config.Get(key).is_null()) continue;
    const JsonView view = config.View(key);
    Stated stated = {Json(view.Object()), fmt::format("config.json: {}", key), ""};
    const bool bits_alone = !view["bits"].IsNull() && !view["group_size"].IsNull();
    if (!view["quant_method"].IsNull()) {
      stated.method = view["quant_method"].Text();
    } else if (view["load_in_4bit"].Flag(false) || view["load_in_8bit"].Flag(false)) {
      stated.method = "bitsandbytes";
    } else if (bits_alone || !view["mode"].IsNull()) {
      stated.method = "mlx";
    } else if (!view["config_groups"].IsNull()) {
      stated.method = "compressed-tensors";
    }
    if (stated.method == "none") stated.method = "";
    // For Intel's AutoRound: layouts of other methods.
    if (stated.method == "auto-round" || stated.method == "intel/auto-round") {
      const std::string layout = view["packing_format"].Text("");
      if (layout == "auto_round:auto_gptq") stated.method = "gptq";
      if (layout == "auto_round:auto_awq") stated.method = "awq";
    }
    return stated;
  }
  return {};
}

Stated FromFiles(const std::string& directory) {
  for (const auto& [name, method] : {std::pair{"quantize_config.json", "gptq"}, {"quant_config.json", "awq"}}) {
    const fs::path file = Utf8Path(directory) / name;
    if (!fs::exists(file)) continue;
    const Json json = ReadJson(file.string());
    const JsonView view(json, name);
    return {Json(view.Object()), name, view["quant_method"].Text(method)};
  }
  return {};
}

const Method* Find(const std::string& name) {
  const auto* found =
      std::find_if(std::begin(kMethods), std::end(kMethods), [&](const Method& method) { return name == method.name; });
  return found == std::end(kMethods) ? nullptr : found;
}

void Refuse(const Stated& stated) {
  if (stated.method.empty()) {
    for (const auto& [key, value] : stated.json.items()) {
      if (key == "modules_to_not_convert" || key == "quant_method") continue;
      Fail("{}: has {} but no quant_method, which is the method that it states; add it, or remove {}", stated.where,
           key, stated.where);
    }
  }
  // Architectures read weights in blocks of MXFP4 under other names.
  if (stated.method.empty() || stated.method == "mxfp4" || Find(stated.method) != nullptr) return;
  std::string names;
  for (const Method& method : kMethods) names += (names.empty() ? "" : ", ") + std::string(method.name);
  Fail("{}: weights quantized by {} are not supported ({} are); convert the unquantized model, or a GGUF file of it",
       stated.where, stated.method, names);
}

void ReportUnknown(const Stated& stated, Findings& findings) {
  for (const auto& [key, value] : stated.json.items()) {
    const auto is_key = [&name = key](const char* known) { return name == known; };
    const bool of_layer = stated.method == "mlx" && (value.is_object() || value.is_boolean());
    if (of_layer || std::any_of(std::begin(kKnown), std::end(kKnown), is_key)) continue;
    findings.push_back({Topic::kNotUsed, fmt::format("{}.{} is unknown and was ignored", stated.where, key)});
  }
}

// Tensors without any statement: floats of eight bits are what they are, unless scales are beside them.
void ReadUnstated(const std::string& directory, Weights& weights, Findings& findings) {
  const Json nothing = Json::object();
  QuantizedModel model(JsonView(nothing, "config.json"), weights, {});
  for (const char* ending : {".qweight", ".weight_packed", ".SCB", ".weight.absmax"}) {
    const std::vector<std::string> layers = model.LayersWith(ending);
    if (layers.empty()) continue;
    Fail(
        "{}: tensor {}{} is of a quantized layer, but config.json has no quantization_config that states how it was "
        "quantized; add it",
        directory, layers[0], ending);
  }
  size_t floats = 0, integers = 0, scaled = 0;
  for (const std::string& name : model.Stored()) {
    const Part part = model.Find(name);
    if (!part) continue;
    const bool is_float = part.type() == ElementType::kF8E4M3 || part.type() == ElementType::kF8E5M2;
    floats += is_float;
    integers += part.type() == ElementType::kI8 && EndsWith(name, ".weight");
    scaled += is_float && (model.Find(name + "_scale") || model.Find(name + "_scale_inv"));
  }
  if (scaled != 0) {
    ReadFloat8(model);
    for (const std::string& text : model.Report("fp8 (config.json does not state it)")) {
      findings.push_back({Topic::kQuantized, text});
    }
  } else if (floats != 0) {
    findings.push_back(
        {Topic::kQuantized, fmt::format("{} tensors are floats of eight bits without scales: read as stored", floats)});
  }
  if (integers != 0) {
    findings.push_back({Topic::kQuantized, fmt::format("{} weights are int8 without scales: the whole numbers are read "
                                                       "as values, as the original library does",
                                                       integers)});
  }
}

}  // namespace

void RefuseQuantization(const Config& config) { Refuse(FromConfig(config)); }

void ReadQuantized(const Config& config, const std::string& directory, Weights& weights, Findings& findings) {
  Stated stated = FromConfig(config);
  if (stated.json.is_null()) {
    stated = FromFiles(directory);
    if (!stated.json.is_null()) findings.push_back({Topic::kFiles, stated.where});
  }
  if (stated.json.is_null()) return ReadUnstated(directory, weights, findings);
  Refuse(stated);
  const Method* method = Find(stated.method);
  if (method == nullptr) {
    if (stated.method.empty()) findings.push_back({Topic::kNoEffect, stated.where + ": names no method"});
    return;
  }
  ReportUnknown(stated, findings);
  // Layers of GPT-2 are Conv1D, which quantizers make Linear.
  std::vector<std::string> transposed;
  if (config.Text("model_type", "") == "gpt2") transposed = {"c_attn", "c_proj", "c_fc", "q_attn"};
  QuantizedModel model(JsonView(stated.json, stated.where), weights, transposed);
  method->read(model);
  if (model.layers() == 0 && method->some) {
    Fail("{}: states {}, but no layer has the tensors of that method; where weights are not quantized, remove that key",
         stated.where, stated.method);
  }
  if (model.layers() == 0) model.Say(fmt::format("{}: no layer is quantized; read as stored", stated.where));
  for (const std::string& text : model.Report(stated.method)) findings.push_back({Topic::kQuantized, text});
}

}  // namespace fovea::tools
