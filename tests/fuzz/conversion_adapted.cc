// Seeds of the conversion harness: models with an adapter, and models whose weights are published quantized.
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "tests/fuzz/conversion_files.h"
#include "tests/support/paths.h"
#include "tools/base/mapped_file.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::fuzz {
namespace {

using tools::ElementType;
using Shape = std::vector<uint64_t>;

// The tensors of a layer of `rows` x `width`, whose bytes are all the same.
class Layer {
 public:
  Layer(std::string name, uint64_t rows, uint64_t width, tools::SafetensorsWriter* writer)
      : name_(std::move(name)), rows_(rows), width_(width), writer_(*writer) {}

  void Add(const char* part, ElementType type, const Shape& shape, char byte) {
    uint64_t size = tools::ElementBytes(type);
    for (const uint64_t side : shape) size *= side;
    AddBytes(part, type, shape, std::string(size, byte));
  }
  void AddBytes(const char* part, ElementType type, const Shape& shape, const std::string& bytes) {
    writer_.Add(name_ + part, type, shape, bytes.data());
  }

  void Gptq() {
    Add("qweight", ElementType::kI32, {width_ / 8, rows_}, 0x5a);
    Add("qzeros", ElementType::kI32, {width_ / 32, rows_ / 8}, 0x77);
    Add("scales", ElementType::kF16, {width_ / 32, rows_}, 0x20);
    std::string groups;
    for (uint32_t i = 0; i < width_; ++i) groups += std::string{static_cast<char>(i / 32), 0, 0, 0};
    AddBytes("g_idx", ElementType::kI32, {width_}, groups);
  }
  void Awq() {
    Add("qweight", ElementType::kI32, {width_, rows_ / 8}, 0x5a);
    Add("qzeros", ElementType::kI32, {width_ / 32, rows_ / 8}, 0x77);
    Add("scales", ElementType::kF16, {width_ / 32, rows_}, 0x20);
  }
  void Compressed() {
    Add("weight_packed", ElementType::kI32, {rows_, width_ / 8}, 0x5a);
    Add("weight_scale", ElementType::kBF16, {rows_, width_ / 32}, 0x3c);
    AddBytes(
        "weight_shape", ElementType::kI64, {2},
        std::string{static_cast<char>(rows_), 0, 0, 0, 0, 0, 0, 0, static_cast<char>(width_), 0, 0, 0, 0, 0, 0, 0});
  }
  void Float8() {
    Add("weight", ElementType::kF8E4M3, {rows_, width_}, 0x20);
    Add("weight_scale_inv", ElementType::kBF16, {1, 1}, 0x3c);
  }
  void Bytes() {
    Add("weight", ElementType::kI8, {rows_, width_}, 0x11);
    Add("SCB", ElementType::kF32, {rows_}, 0x3c);
  }
  void Nf4() {
    Add("weight", ElementType::kU8, {rows_ * width_ / 2, 1}, 0x5a);
    Add("weight.absmax", ElementType::kF32, {rows_ * width_ / 64}, 0x3c);
    Add("weight.quant_map", ElementType::kF32, {16}, 0x3c);
    const nlohmann::ordered_json state = {
        {"quant_type", "nf4"}, {"blocksize", 64}, {"dtype", "float16"}, {"shape", {rows_, width_}}};
    const std::string text = state.dump();
    AddBytes("weight.quant_state.bitsandbytes__nf4", ElementType::kU8, {text.size()}, text);
  }
  void Mlx() {
    Add("weight", ElementType::kU32, {rows_, width_ / 8}, 0x5a);
    Add("scales", ElementType::kF16, {rows_, width_ / 32}, 0x20);
    Add("biases", ElementType::kF16, {rows_, width_ / 32}, 0x20);
  }

 private:
  const std::string name_;
  const uint64_t rows_, width_;
  tools::SafetensorsWriter& writer_;
};

struct Method {
  const char *key, *settings;
  void (Layer::*write)();
};
constexpr Method kMethods[] = {
    {"quantization_config", R"({"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": false})",
     &Layer::Gptq},
    {"quantization_config", R"({"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemm",
                                "zero_point": true})",
     &Layer::Awq},
    {"quantization_config", R"({"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups":
       {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "symmetric": true,
        "strategy": "group", "group_size": 32}}}, "ignore": ["lm_head"]})",
     &Layer::Compressed},
    {"quantization_config", R"({"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic",
                                "weight_block_size": [128, 128]})",
     &Layer::Float8},
    {"quantization_config", R"({"quant_method": "bitsandbytes", "load_in_8bit": true, "llm_int8_threshold": 6.0})",
     &Layer::Bytes},
    {"quantization_config", R"({"quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_quant_type": "nf4",
                                "bnb_4bit_use_double_quant": false})",
     &Layer::Nf4},
    {"quantization", R"({"group_size": 32, "bits": 4})", &Layer::Mlx}};

std::string Stored(const std::string& file) { return tools::ReadFile(test::InData("hf/llama/" + file)); }

Files Quantized(const Method& method) {
  tools::SafetensorsWriter writer;
  const tools::SafetensorsReader base(test::InData("hf/llama/model.safetensors"));
  for (const auto& [name, tensor] : base.tensors()) {
    const size_t end = name.rfind(".weight");
    if (name.find("self_attn") == std::string::npos) {
      writer.Add(name, tensor.type, tensor.shape, tensor.data);
    } else {
      Layer layer(name.substr(0, end + 1), tensor.shape[0], tensor.shape[1], &writer);
      (layer.*method.write)();
    }
  }
  nlohmann::ordered_json config = nlohmann::ordered_json::parse(Stored("config.json"));
  config[method.key] = nlohmann::ordered_json::parse(method.settings);
  return {{"config.json", config.dump()}, {"model.safetensors", writer.Bytes()}};
}

}  // namespace

std::vector<Files> AdaptedModels() {
  std::vector<Files> all;
  for (const Method& method : kMethods) all.push_back(Quantized(method));
  // The adapter is in the directory of its base.
  tools::SafetensorsWriter adapter;
  const std::vector<float> values(4 * 64, 0.125f);
  for (const char* layer : {"q_proj", "o_proj"}) {
    const bool first = layer[0] == 'q';
    const std::string name = std::string("base_model.model.model.layers.1.self_attn.") + layer;
    adapter.AddFloats(name + ".lora_A.weight", {4, first ? 32u : 64u}, values.data());
    adapter.AddFloats(name + ".lora_B.weight", {first ? 64u : 32u, 4}, values.data());
    adapter.AddFloats(name + ".lora_magnitude_vector", {first ? 64u : 32u}, values.data());
  }
  all.push_back({{"config.json", Stored("config.json")},
                 {"model.safetensors", Stored("model.safetensors")},
                 {"adapter_config.json", R"({"peft_type": "LORA", "r": 4, "lora_alpha": 8, "use_dora": true,
                                             "target_modules": ["q_proj", "o_proj"], "rank_pattern": {},
                                             "alpha_pattern": {"o_proj": 4}, "bias": "none",
                                             "fan_in_fan_out": false})"},
                 {"adapter_model.safetensors", adapter.Bytes()}});
  return all;
}

}  // namespace fovea::fuzz
