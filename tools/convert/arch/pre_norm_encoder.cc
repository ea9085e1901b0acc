// The encoder that later models share.
#include "tools/convert/arch/pre_norm_encoder.h"

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

class Writer {
 public:
  Writer(const PreNormEncoder& encoder, EncoderBuilder& builder)
      : encoder_(encoder), b_(builder), kv_heads_(encoder.kv_heads == 0 ? encoder.heads : encoder.kv_heads) {}

  std::string Run() {
    const auto count = static_cast<uint32_t>(encoder_.layers.size());
    const auto state = [&](uint32_t i) -> std::string {
      return i == count && encoder_.last_state_is_normed ? "layers.output" : b_.HiddenState(i);
    };
    Json attributes = Json::object();
    if (encoder_.table_scale != 1) attributes["scale"] = encoder_.table_scale;
    const bool normed = !encoder_.embedding_norm.empty();
    std::string x = b_.Op("embed", {"input_ids"}, {encoder_.table}, normed ? "embeddings.words" : state(0), attributes);
    if (normed) x = b_.Norm(x, encoder_.embedding_norm, state(0));
    for (uint32_t i = 0; i < count; ++i) {
      const std::string middle = Attention(i, x);
      x = FeedForward(i, middle, state(i + 1));
    }
    return b_.Norm(x, encoder_.final_norm,
                   encoder_.last_state_is_normed ? b_.LastHiddenState(count) : "last_hidden_state");
  }

 private:
  std::string OptionalNorm(const std::string& in, const std::string& name, const std::string& out, uint32_t heads = 1) {
    return name.empty() ? in : b_.Norm(in, name, out, heads);
  }

  // Queries or keys.
  std::string Turned(const PreNormLayer& layer, const std::string& in, const std::string& name, const std::string& norm,
                     const std::string& out, uint32_t heads) {
    std::string x = b_.Linear(in, name, out);
    x = OptionalNorm(x, norm, out + "_normed", heads);
    return layer.rotary.empty() ? x : b_.Op("rotate", {x}, {layer.rotary}, out + "_turned", {{"heads", heads}});
  }

  std::string Attention(uint32_t i, const std::string& x) {
    const PreNormLayer& layer = encoder_.layers[i];
    const std::string at = fmt::format("layers.{}.", i);
    const std::string in = OptionalNorm(x, layer.attention_norm, at + "attention_input");
    const std::string q = Turned(layer, in, layer.query, layer.query_norm, at + "query", encoder_.heads);
    const std::string k = Turned(layer, in, layer.key, layer.key_norm, at + "key", kv_heads_);
    const std::string v = b_.Linear(in, layer.value, at + "value");
    Json attributes = {{"heads", encoder_.heads}};
    if (kv_heads_ != encoder_.heads) attributes["kv_heads"] = kv_heads_;
    if (encoder_.scale) attributes["scale"] = *encoder_.scale;
    if (layer.window) attributes.update({{"pattern", "window"}, {"left", *layer.window}, {"right", *layer.window}});
    std::vector<std::string> tensors;
    if (!encoder_.distance_bias.empty()) tensors.push_back(encoder_.distance_bias);
    b_.Attention(i, {q, k, v}, tensors, at + "attended", attributes);
    std::string out = b_.Linear(at + "attended", layer.output, at + "attention_output");
    out = OptionalNorm(out, layer.attention_out_norm, at + "attention_normed");
    return b_.Op("add", {x, out}, {}, at + "attention_sum");
  }

  std::string FeedForward(uint32_t i, const std::string& x, const std::string& state) {
    const PreNormLayer& layer = encoder_.layers[i];
    const std::string at = fmt::format("layers.{}.", i);
    const std::string in = OptionalNorm(x, layer.norm, at + "input");
    std::string up;
    if (layer.gate.empty()) {
      up = b_.Linear(in, layer.up, at + "up", encoder_.activation);
    } else {
      b_.Linear(in, layer.gate, at + "gate");
      b_.Linear(in, layer.up, at + "up");
      up = b_.Op("gate", {at + "gate", at + "up"}, {}, at + "gated", {{"activation", encoder_.activation}});
    }
    const std::string out = OptionalNorm(b_.Linear(up, layer.down, at + "down"), layer.out_norm, at + "down_normed");
    return b_.Op("add", {x, out}, {}, state);
  }

  const PreNormEncoder& encoder_;
  EncoderBuilder& b_;
  const uint32_t kv_heads_;
};

}  // namespace

void DescribePreNormEncoder(const PreNormEncoder& encoder, const Checkpoint& checkpoint, Description& description) {
  EncoderBuilder builder(checkpoint, description, encoder.norms);
  builder.Finish(Writer(encoder, builder).Run(), encoder.task_heads);
}

}  // namespace fovea::tools
