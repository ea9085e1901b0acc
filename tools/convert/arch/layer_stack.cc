// The layers that most transformers share.
#include "tools/convert/arch/layer_stack.h"

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/arch/decoder.h"

namespace fovea::tools {
namespace {

// Cached rows to the left that a layer of a decoder sees; 0: all.
uint32_t SeenRows(const StackLayer& layer) {
  if (layer.convolution.taps > 0) return layer.convolution.taps - 1;
  return layer.window ? layer.window->left : 0;
}

// The cached space of a layer of a decoder.
std::string KeptSpace(const StackLayer& layer) {
  const uint32_t seen = SeenRows(layer);
  return seen != 0 ? fmt::format("kept.{}", seen) : "kept";
}

class Writer {
 public:
  // `keeps`: keys and values of earlier runs are cached and seen as well.
  Writer(const LayerStack& stack, ProgramBuilder& builder, bool keeps = false)
      : stack_(stack), b_(builder), keeps_(keeps), kv_heads_(stack.kv_heads == 0 ? stack.heads : stack.kv_heads) {}

  std::string Embedding() {
    struct Step {
      const char* name;
      std::function<std::string(const std::string& in, const std::string& out)> add;
    };
    std::vector<Step> steps = {{stack_.front           ? "rows"
                                : stack_.added.empty() ? "words"
                                                       : "sum",
                                [this](const std::string&, const std::string& out) { return Words(out); }}};
    const Step norm = {"normed", [this](const std::string& in, const std::string& out) {
                         return b_.Norm(in, stack_.embedding_norm, out);
                       }};
    const auto project = [&](Projected place) {
      if (stack_.embedding_projection.empty() || stack_.projected != place) return;
      steps.push_back({"projected", [this](const std::string& in, const std::string& out) {
                         return b_.Linear(in, stack_.embedding_projection, out);
                       }});
    };
    const bool normed = !stack_.embedding_norm.empty();
    project(Projected::kWords);
    if (normed && stack_.norm_before_positions) steps.push_back(norm);
    if (!stack_.positions.empty()) {
      steps.push_back(
          {"positioned", [this](const std::string& in, const std::string& out) { return Positioned(in, out); }});
    }
    project(Projected::kSumWithPositions);
    if (normed && !stack_.norm_before_positions) steps.push_back(norm);
    project(Projected::kNormed);
    std::string x;
    for (const Step& step : steps) {
      const bool last = &step == &steps.back();
      x = step.add(x, last ? State(0) : fmt::format("{}embeddings.{}", stack_.prefix, step.name));
    }
    return x;
  }

  std::string Layers(std::string x) {
    for (uint32_t i = 0; i < stack_.layers.size(); ++i) x = stack_.parallel ? Parallel(i, x) : Layer(i, x);
    const bool normed = !stack_.final_norm.empty(), projected = !stack_.output_projection.empty();
    if (!normed && !projected) return x;
    const std::string last = stack_.last_state_is_normed ? LastHiddenState() : stack_.prefix + "last_hidden_state";
    if (normed) x = b_.Norm(x, stack_.final_norm, projected ? stack_.prefix + "layers.normed" : last);
    return projected ? b_.Linear(x, stack_.output_projection, last) : x;
  }

  void CrossValues(std::string source) {
    if (!stack_.source_projection.empty()) source = b_.Linear(source, stack_.source_projection, "cross_source");
    for (uint32_t i = 0; i < stack_.layers.size(); ++i) {
      b_.Linear(source, stack_.layers[i].cross.key, CrossValue("keys", i));
      b_.Linear(source, stack_.layers[i].cross.value, CrossValue("values", i));
    }
  }

 private:
  std::string At(uint32_t i) const { return fmt::format("{}layers.{}.", stack_.prefix, i); }
  std::string HiddenState(uint32_t i) const { return stack_.prefix + b_.HiddenState(i); }
  std::string LastHiddenState() {
    const auto last = static_cast<uint32_t>(stack_.layers.size() / stack_.layers_per_state);
    return stack_.prefix.empty() ? b_.LastHiddenState(last) : HiddenState(last);
  }

  // The value after the given number of layers, a multiple of layers_per_state.
  std::string State(size_t layers) {
    const auto index = static_cast<uint32_t>(layers / stack_.layers_per_state);
    if (layers < stack_.layers.size()) return HiddenState(index);
    if (stack_.final_norm.empty() && stack_.output_projection.empty()) return LastHiddenState();
    return stack_.last_state_is_normed && layers != 0 ? stack_.prefix + "layers.output" : HiddenState(index);
  }

  // The result of layer i where it is no hidden state.
  std::string Made(uint32_t i) const {
    return At(i) + (stack_.layers[i].feed_forward.sum_norm.empty() ? "made" : "normed");
  }

  std::string Result(uint32_t i) { return (i + 1) % stack_.layers_per_state == 0 ? State(i + 1) : Made(i); }

  std::string Words(const std::string& out) {
    if (stack_.front) return stack_.front->rows(b_, stack_.front->input.name, out);
    std::vector<std::string> ids = {stack_.ids}, tables = {stack_.table};
    for (const AddedTable& added : stack_.added) {
      b_.AddInput({added.input, stack_.space});
      ids.push_back(added.input);
      tables.push_back(added.table);
    }
    Json attributes = Json::object();
    if (stack_.table_scale != 1) attributes["scale"] = stack_.table_scale;
    return b_.Op("embed", ids, tables, out, attributes);
  }

  std::string Positioned(const std::string& in, const std::string& out) {
    Json offset = Json::object();
    if (stack_.first_position != 0) offset["offset"] = stack_.first_position;
    return b_.Op("position", {in}, {stack_.positions}, out, offset);
  }

  std::string Linear(const std::string& in, const std::string& name, const std::string& out,
                     const std::string& activation = "none") {
    return stack_.linear ? stack_.linear(b_, in, name, out, activation) : b_.Linear(in, name, out, activation);
  }

  std::string OptionalNorm(const std::string& in, const std::string& name, const std::string& out) {
    return name.empty() ? in : b_.Norm(in, name, out);
  }

  std::string Scaled(const std::string& in) {
    if (stack_.residual_scale == 1) return in;
    return b_.Op("scale", {in}, {}, in + "_scaled", {{"scale", stack_.residual_scale}});
  }

  // The residual sum of x and a branch: `sum`, or `normed` where there is a norm for it.
  std::string Sum(const std::string& x, const std::string& branch, const std::string& norm, const std::string& sum,
                  const std::string& normed) {
    return OptionalNorm(b_.Op("add", {x, Scaled(branch)}, {}, sum), norm, normed);
  }

  std::string Layer(uint32_t i, const std::string& x) {
    const StackLayer& layer = stack_.layers[i];
    const std::string in = OptionalNorm(x, layer.attention.norm, At(i) + "attention_input");
    const std::string mixed = layer.convolution.taps > 0 ? ShortConvolution(i, in) : Attention(i, in);
    std::string middle = Sum(x, mixed, layer.attention.sum_norm, At(i) + "attention_sum", At(i) + "attention_normed");
    if (!layer.cross.query.empty()) {
      const std::string asks = OptionalNorm(middle, layer.cross.norm, At(i) + "cross_input");
      middle = Sum(middle, Cross(i, asks), layer.cross.sum_norm, At(i) + "cross_sum", At(i) + "cross_normed");
    }
    const std::string next = OptionalNorm(middle, layer.feed_forward.norm, At(i) + "input");
    const std::string state = Result(i), out = layer.after ? Made(i) : state;
    const std::string& norm = layer.feed_forward.sum_norm;
    const std::string made = Sum(middle, FeedForward(i, next), norm, norm.empty() ? out : At(i) + "sum", out);
    return layer.after ? layer.after(b_, made, state) : made;
  }

  std::string Parallel(uint32_t i, const std::string& x) {
    const StackLayer& layer = stack_.layers[i];
    const std::string in = OptionalNorm(x, layer.attention.norm, At(i) + "attention_input");
    const std::string next =
        layer.feed_forward.norm.empty() ? in : b_.Norm(x, layer.feed_forward.norm, At(i) + "input");
    const std::string middle = Sum(x, Attention(i, in), "", At(i) + "attention_sum", "");
    return Sum(middle, FeedForward(i, next), "", Result(i), "");
  }

  std::string Bounded(const std::string& in) {
    if (stack_.projection_limit == 0) return in;
    return b_.Op("activate", {in}, {}, in + "_bounded", {{"activation", "none"}, {"limit", stack_.projection_limit}});
  }

  // Queries or keys.
  std::string Turned(const StackLayer& layer, const std::string& in, const std::string& name, const std::string& norm,
                     const std::string& out, uint32_t heads) {
    std::string x = Linear(in, name, out);
    if (!norm.empty()) x = b_.HeadNorm(x, norm, out + "_normed", heads, name);
    x = Bounded(x);
    return layer.rotary.none() ? x : AddRotate(layer.rotary, b_, x, heads, out + "_turned");
  }

  // Appends keys or values of self-attention, or the input of a convolution, to the cached rows of earlier tokens.
  std::string Cached(const std::string& value, const StackLayer& layer) {
    if (!keeps_) return value;
    return b_.Op("append", {value}, {}, value + "_kept", {{"heads", kv_heads_}}, KeptSpace(layer));
  }

  std::string Attention(uint32_t i, const std::string& in) {
    const StackLayer& layer = stack_.layers[i];
    const AttentionNames& names = layer.attention;
    const std::string at = At(i);
    const std::string q = Turned(layer, in, names.query, names.query_norm, at + "query", stack_.heads);
    const std::string k = Turned(layer, in, names.key, names.key_norm, at + "key", kv_heads_);
    const std::string v = Bounded(Linear(in, names.value, at + "value"));
    const std::string attended = stack_.attend ? stack_.attend(b_, {stack_, i, in, at}) : Attend(i, q, k, v);
    return OptionalNorm(Linear(attended, names.output, at + "attention_output"), names.out_norm,
                        at + "attention_normed");
  }

  // Numbers attentions, not layers.
  uint32_t AttentionsBefore(uint32_t i) const {
    const auto begin = stack_.layers.begin();
    return static_cast<uint32_t>(
        std::count_if(begin, begin + i, [](const StackLayer& layer) { return layer.convolution.taps == 0; }));
  }

  std::string Attend(uint32_t i, const std::string& q, const std::string& k, const std::string& v) {
    const StackLayer& layer = stack_.layers[i];
    Json attributes = {{"heads", stack_.heads}};
    if (kv_heads_ != stack_.heads) attributes["kv_heads"] = kv_heads_;
    if (stack_.scale || layer.scale) attributes["scale"] = layer.scale ? *layer.scale : *stack_.scale;
    if (stack_.cap != 0) attributes["cap"] = stack_.cap;
    if (layer.window) {
      attributes.update({{"pattern", "window"}, {"left", layer.window->left}, {"right", layer.window->right}});
    } else if (stack_.causal) {
      attributes.update({{"pattern", "window"}, {"right", 0}});
    }
    return b_.Attention(fmt::format("{}attentions.{}", stack_.prefix, AttentionsBefore(i)),
                        {q, Cached(k, layer), Cached(v, layer)},
                        {.distance_bias = layer.distance_bias.empty() ? stack_.distance_bias : layer.distance_bias,
                         .coordinates = stack_.coordinates,
                         .slopes = stack_.slopes,
                         .sinks = layer.sinks},
                        At(i) + "attended", attributes);
  }

  std::string ShortConvolution(uint32_t i, const std::string& in) {
    const ShortConvolutionNames& names = stack_.layers[i].convolution;
    const std::string at = At(i) + "convolution.";
    const auto gated = [&](const std::string& gate, const std::string& x, const char* out) {
      return b_.Op("gate", {gate, x}, {}, at + out, {{"activation", "none"}});
    };
    b_.Linear(in, names.in_gate, at + "in_gate");
    b_.Linear(in, names.out_gate, at + "out_gate");
    b_.Linear(in, names.value, at + "value");
    std::string x = gated(at + "in_gate", at + "value", "input");
    if (names.taps > 1) x = Cached(x, stack_.layers[i]);
    std::vector<std::string> tensors = {names.kernel};
    if (!names.bias.empty()) tensors.push_back(names.bias);
    x = b_.Op("convolve", {x}, tensors, at + "convolved");
    return b_.Linear(gated(at + "out_gate", x, "gated"), names.output, at + "output");
  }

  std::string Cross(uint32_t i, const std::string& in) {
    const AttentionNames& names = stack_.layers[i].cross;
    const std::string at = At(i);
    Json attributes = {{"heads", stack_.heads}};
    if (kv_heads_ != stack_.heads) attributes["kv_heads"] = kv_heads_;
    if (stack_.scale) attributes["scale"] = *stack_.scale;
    b_.Linear(in, names.query, at + "cross_query");
    b_.Attention(fmt::format("cross_attentions.{}", i),
                 {at + "cross_query", CrossValue("keys", i), CrossValue("values", i)}, {}, at + "cross_attended",
                 attributes);
    return b_.Linear(at + "cross_attended", names.output, at + "cross_output");
  }

  std::string Gated(const std::string& gate, const std::string& up, const std::string& out) {
    Json attributes = {{"activation", stack_.activation}};
    if (stack_.gate_limit != 0) attributes["limit"] = stack_.gate_limit;
    if (stack_.gate_shift != 0) attributes["shift"] = stack_.gate_shift;
    return b_.Op("gate", {gate, up}, {}, out, attributes);
  }

  std::string FeedForward(uint32_t i, const std::string& in) {
    const FeedForwardNames& names = stack_.layers[i].feed_forward;
    const std::string at = At(i);
    std::string x;
    if (!names.up.empty()) x = Dense(names, in, at);
    if (!stack_.layers[i].experts.router.empty()) {
      const std::string chosen = Experts(stack_.layers[i].experts, in, at + "experts.");
      x = x.empty() ? chosen : b_.Op("add", {chosen, x}, {}, at + "experts_sum");
    }
    return OptionalNorm(x, names.out_norm, at + "down_normed");
  }

  // The same for every token.
  std::string Dense(const FeedForwardNames& names, const std::string& in, const std::string& at) {
    std::string up;
    if (names.gate.empty() && stack_.activation == "relu2") {  // x relu(x)
      up = Linear(in, names.up, at + "up");
      up = b_.Op("gate", {up, up}, {}, at + "squared", {{"activation", "relu"}});
    } else if (names.gate.empty()) {
      up = Linear(in, names.up, at + "up", stack_.activation);
    } else {
      Linear(in, names.gate, at + "gate");
      up = Gated(at + "gate", Linear(in, names.up, at + "up"), at + "gated");
    }
    const std::string down = Linear(up, names.down, at + "down");
    if (names.share.empty()) return down;
    const std::string share = b_.Linear(in, names.share, at + "share");
    return b_.Op("gate", {share, down}, {}, at + "shared", {{"activation", "sigmoid"}});
  }

  std::string Experts(const ExpertNames& names, const std::string& in, const std::string& at) {
    const Json attributes = {{"experts", names.count}, {"top_k", names.chosen}};
    const std::string scores = b_.Linear(in, names.router, at + "scores");
    const auto apart = [&](const std::string& name, const char* out) {
      return b_.Layer("experts", {in, scores}, name, at + out, attributes);
    };
    std::string middle;
    if (names.gate.empty()) {
      middle = b_.Op("activate", {apart(names.up, "up")}, {}, at + "active", {{"activation", stack_.activation}});
    } else {
      const std::string gate = apart(names.gate, "gate"), up = apart(names.up, "up");
      middle = Gated(gate, up, at + "gated");
    }
    Json sum = attributes;
    sum["kind"] = names.of_all ? "of_all" : "of_chosen";
    return b_.Layer("experts", {middle, scores}, names.down, at + "down", sum);
  }

  const LayerStack& stack_;
  ProgramBuilder& b_;
  const bool keeps_;
  const uint32_t kv_heads_;
};

}  // namespace

std::string CrossValue(const char* which, uint32_t i) { return fmt::format("cross_{}.{}", which, i); }

void AddCrossValues(const LayerStack& decoder, ProgramBuilder& builder, const std::string& source) {
  Writer(decoder, builder).CrossValues(source);
}

Input InputOf(const LayerStack& stack) { return stack.front ? stack.front->input : Input{stack.ids, stack.space}; }

std::vector<Space> SpacesOf(const LayerStack& stack) {
  std::vector<Space> spaces = {{"texts"}, {stack.space, "texts"}};
  if (stack.front) spaces = stack.front->spaces;
  spaces.insert(spaces.end(), stack.spaces.begin(), stack.spaces.end());
  return spaces;
}

std::string AddStack(const LayerStack& stack, ProgramBuilder& builder, bool keeps) {
  Writer writer(stack, builder, keeps);
  const std::string embeddings = writer.Embedding();
  if (stack.begin) stack.begin(builder);
  return writer.Layers(embeddings);
}

void AddKeptSpaces(const LayerStack& stack, std::vector<Space>& spaces) {
  for (const StackLayer& layer : stack.layers) {
    if (layer.convolution.taps == 1) continue;  // nothing is kept
    Space space = {KeptSpace(layer)};
    space.keeps = stack.space;
    space.window = SeenRows(layer);
    const auto same = [&](const Space& other) { return other.name == space.name; };
    if (std::none_of(spaces.begin(), spaces.end(), same)) spaces.push_back(space);
  }
}

std::string AddLayers(const LayerStack& stack, ProgramBuilder& builder, const std::string& x) {
  return Writer(stack, builder).Layers(x);
}

void DescribeStack(const LayerStack& stack, const Checkpoint& checkpoint, Description& description) {
  const bool generates = stack.causal && checkpoint.task == Task::kCausalLm;
  std::vector<Space> spaces = SpacesOf(stack);
  if (generates) AddKeptSpaces(stack, spaces);
  const auto describe = [&](const char* program, bool keeps, const auto& finish) {
    ProgramBuilder builder(checkpoint, description, stack.norms, spaces, InputOf(stack), program);
    finish(builder, AddStack(stack, builder, keeps));
  };
  if (!generates) {
    return describe("encode", false,
                    [&](ProgramBuilder& builder, const std::string& last) { builder.Finish(last, stack.task_heads); });
  }
  describe("score", false,
           [&](ProgramBuilder& builder, const std::string& last) { FinishScoring(last, stack.task_heads, builder); });
  describe("decode", true,
           [&](ProgramBuilder& builder, const std::string& last) { FinishDecoder(last, stack.task_heads, builder); });
  describe("verify", true,
           [&](ProgramBuilder& builder, const std::string& last) { FinishVerifying(last, stack.task_heads, builder); });
  DescribeGeneration(checkpoint, description);
}

}  // namespace fovea::tools
