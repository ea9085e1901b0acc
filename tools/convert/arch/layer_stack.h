// The layers that most transformers share: attention, in decoders with an encoder cross-attention, then feed-forward,
// each with norms before it (pre-norm), after it or after the residual sum (post-norm). An architecture sets the names
// of what its layers have; parts without a name are left out. Encoders and decoders differ in `causal` alone.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_LAYER_STACK_H_
#define FOVEA_TOOLS_CONVERT_ARCH_LAYER_STACK_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/convert/arch/program_builder.h"
#include "tools/convert/arch/rotary.h"

namespace fovea::tools {

// Sliding window: keys that a query sees before and after its own position.
struct Window {
  uint32_t left = 0, right = 0;
};

// Names of tensors as they are stored, without ".weight" and ".bias", here and below. Pre-norm layers have `norm`,
// post-norm layers `sum_norm`; `out_norm` may be combined with `norm` alone.
struct AttentionNames {
  std::string norm = "";  // norms its input
  std::string query = "", key = "", value = "", output = "";
  std::string query_norm = "", key_norm = "";  // norm each head, or the whole row if the weight is as wide
  std::string out_norm = "";                   // norms the result before it is added to the residual
  std::string sum_norm = "";                   // norms the residual sum
};

// In place of attention: a causal depthwise convolution whose input and output are each multiplied by a gate.
struct ShortConvolutionNames {
  std::string in_gate = "", out_gate = "", value = "", output = "";
  std::string kernel = "", bias = "";  // whole names: [taps, width], and a row or none
  uint32_t taps = 0;                   // 0: the layer has attention instead
};

struct FeedForwardNames {
  std::string norm = "";
  std::string gate = "";  // activated and multiplied by up; empty: up is activated itself
  std::string up = "", down = "";
  std::string out_norm = "", sum_norm = "";  // as in AttentionNames
  std::string share = "";  // a layer of one number; its sigmoid weights the feed-forward in the sum with experts
};

// A mixture of experts (MoE), added to the plain feed-forward if that is named as well.
struct ExpertNames {
  std::string router = "";                    // a layer that scores the experts; empty: there are none
  std::string gate = "", up = "", down = "";  // each has the matrices of all experts, concatenated by rows
  uint32_t count = 0, chosen = 0;
  bool of_all = false;  // experts are weighted by a softmax over all scores, not over the chosen experts' scores
};

struct StackLayer {
  AttentionNames attention = {};  // with a convolution only its norm
  ShortConvolutionNames convolution = {};
  AttentionNames cross = {};  // cross-attention to an encoder; without a query: there is none
  FeedForwardNames feed_forward = {};
  ExpertNames experts = {};
  RotaryPositions rotary = {};
  std::optional<Window> window = {};  // absent: it sees all
  std::optional<double> scale = {};   // multiplies scores; absent: LayerStack::scale
  std::string distance_bias = "";     // a tensor; empty: LayerStack::distance_bias
  std::string sinks = "";             // a tensor: scores without a key
  // Follows the layer: makes `out` of `in`, the layer's result.
  std::function<std::string(ProgramBuilder&, const std::string& in, const std::string& out)> after = {};
};

struct LayerStack;

// The place of an attention: values <at>query, <at>key and <at>value have been made of `in`.
struct StackSite {
  const LayerStack& stack;
  uint32_t layer;
  std::string in, at;
};

// The input of an encoder of images or audio, in place of ids.
struct Front {
  std::vector<Space> spaces;  // the outermost first, and LayerStack::space, which has the rows of the layers
  Input input;
  // Adds the operations that make `out`, in place of word embeddings, of the input `in`.
  std::function<std::string(ProgramBuilder&, const std::string& in, const std::string& out)> rows;
};

// A table that is added to word embeddings, by ids of an input.
struct AddedTable {
  std::string input, table;  // whole names
};

// The sum to project to the width of the layers, if embeddings have another width.
enum class Projected { kWords, kSumWithPositions, kNormed };

struct LayerStack {
  // ---- place in a model of several stacks ----
  std::string prefix;  // names of its values begin with it: "encoder_", "decoder_"
  std::string ids = "input_ids";
  std::string space = "tokens";
  std::optional<Front> front;  // in place of ids and table

  // ---- embeddings ----
  std::string table;  // word embeddings: a whole name
  double table_scale = 1;
  std::vector<AddedTable> added;  // scaled with the words
  std::string embedding_projection;
  Projected projected = Projected::kWords;
  std::string positions;  // a table that is added; a whole name
  uint32_t first_position = 0;
  std::string embedding_norm;
  bool norm_before_positions = false;

  // ---- layers ----
  std::vector<StackLayer> layers;
  uint32_t layers_per_state = 1;  // layers that make one hidden state
  std::string final_norm;
  std::string output_projection;     // after the final norm, to the width of the words
  bool last_state_is_normed = true;  // the last hidden state is the result of final norm and output projection

  NormStyle norms;
  uint32_t heads = 0;
  uint32_t kv_heads = 0;               // grouped-query attention (GQA); 0: as many as heads
  std::string source_projection = "";  // a layer between an encoder and the keys and values of `cross`
  bool causal = false;                 // a token sees no later one
  bool parallel = false;               // feed-forward reads what attention reads, by its own norm if it has one
  std::optional<double> scale;         // multiplies scores; absent: 1 / sqrt(head size)
  double cap = 0;                      // soft cap of scores; 0: none
  double projection_limit = 0;         // bounds the magnitude of queries, keys and values; 0: unbounded
  std::string distance_bias;           // a tensor for every attention
  std::string coordinates;             // a table of coordinates that distances are between; empty: of positions
  std::string slopes;                  // a tensor for every attention: a bias that grows with the distance (ALiBi)
  double residual_scale = 1;           // multiplies what is added to the residual
  std::string activation;
  double gate_limit = 0;  // bounds both factors of a gated feed-forward; 0: unbounded
  double gate_shift = 0;  // added to the factor that is not activated
  Heads task_heads;

  // ---- attention and projections that are not plain, of encoders ----
  std::vector<Space> spaces;                                                  // further spaces
  std::function<void(ProgramBuilder&)> begin;                                 // before the first layer, for all layers
  std::function<std::string(ProgramBuilder&, const StackSite&)> attend = {};  // returns the attended rows
  // Projections of attention and feed-forward, as ProgramBuilder::Linear.
  std::function<std::string(ProgramBuilder&, const std::string& in, const std::string& name, const std::string& out,
                            const std::string& activation)>
      linear = {};
};

// The value that holds keys or values of the encoder's sequence for layer i of a decoder.
std::string CrossValue(const char* which, uint32_t i);  // "keys" or "values"

// Makes these values for all layers of the decoder from `source`, the encoder's result.
void AddCrossValues(const LayerStack& decoder, ProgramBuilder& builder, const std::string& source);
// The input of a program over the stack, and its spaces.
Input InputOf(const LayerStack& stack);
std::vector<Space> SpacesOf(const LayerStack& stack);
// Word embeddings, layers and final norm. `keeps`: keys and values of earlier runs are kept (KV cache).
std::string AddStack(const LayerStack& stack, ProgramBuilder& builder, bool keeps = false);
// The cached spaces of keys and values, one for each window that layers have.
void AddKeptSpaces(const LayerStack& stack, std::vector<Space>& spaces);

// The layers and the final norm after the value `x`, hidden state 0. Returns the name of the result.
std::string AddLayers(const LayerStack& stack, ProgramBuilder& builder, const std::string& x);
// A whole program: word embeddings, layers, heads.
void DescribeStack(const LayerStack& stack, const Checkpoint& checkpoint, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_LAYER_STACK_H_
