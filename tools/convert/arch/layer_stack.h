// The layers that most transformers share: attention, attention to another sequence in decoders that have one,
// feed-forward, each with norms in front, after it or after the residual sum. An architecture names what its layers
// have; what has no name is not there. Encoders and decoders differ in `causal` alone.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_LAYER_STACK_H_
#define FOVEA_TOOLS_CONVERT_ARCH_LAYER_STACK_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/convert/arch/program_builder.h"
#include "tools/convert/arch/rotary.h"

namespace fovea::tools {

// Keys that a query sees before and after its own position.
struct Window {
  uint32_t left = 0, right = 0;
};

// Names of tensors as they are stored, without ".weight" and ".bias", here and below.
struct AttentionNames {
  std::string norm;  // of what it reads
  std::string query, key, value, output;
  std::string query_norm, key_norm;  // of each head by itself, or of the row, as wide as they are
  std::string out_norm;              // of what is added to the residual
  std::string sum_norm;              // of the sum
};

// In place of attention: input and output of a causal depthwise convolution, each times a gate.
struct ShortConvolutionNames {
  std::string in_gate, out_gate, value, output;
  std::string kernel, bias;  // whole names: [taps, width], and a row or none
  uint32_t taps = 0;         // 0: there is attention
};

struct FeedForwardNames {
  std::string norm;
  std::string gate;  // activated and multiplied with up; empty: up is activated itself
  std::string up, down;
  std::string out_norm, sum_norm;
  std::string share;  // a layer of one number, by whose sigmoid it goes into the sum with experts
};

// Feed-forwards of which each token takes the best few; added to the other one, if it is named.
struct ExpertNames {
  std::string router;          // a layer that scores them; empty: there are none
  std::string gate, up, down;  // of all experts, one below the other
  uint32_t count = 0, chosen = 0;
  bool of_all = false;  // weighed by their share of all scores, not of those of the chosen
};

struct StackLayer {
  AttentionNames attention;  // with a convolution only its norm
  ShortConvolutionNames convolution;
  AttentionNames cross;  // to what an encoder made; without a query: there is none
  FeedForwardNames feed_forward;
  ExpertNames experts;
  RotaryPositions rotary;
  std::optional<Window> window;  // absent: it sees all
  std::optional<double> scale;   // of attention; absent: that of the stack
  std::string distance_bias;     // a tensor; empty: that of the stack
  std::string sinks;             // a tensor: scores that are of no key
};

struct LayerStack;

// Where a layer attends: <at>query, <at>key and <at>value are there, made from `in`.
struct StackSite {
  const LayerStack& stack;
  uint32_t layer;
  std::string in, at;
};

// What an encoder of sound or pictures reads in place of ids.
struct Front {
  std::vector<Space> spaces;  // the outermost first, and LayerStack::space, which has the rows of the layers
  Input input;
  // Adds the operations that make `out` of `in`, the input: what others have as word embeddings.
  std::function<std::string(ProgramBuilder&, const std::string& in, const std::string& out)> rows;
};

struct LayerStack {
  // ---- where it stands in a model of several stacks ----
  std::string prefix;  // of the names of its values: "encoder_", "decoder_"
  std::string ids = "input_ids";
  std::string space = "tokens";
  std::optional<Front> front;  // in place of ids and table

  std::string table;  // of word embeddings: a whole name
  double table_scale = 1;
  std::string embedding_projection;  // to the width of the layers
  std::string positions;             // a table that is added; a whole name
  uint32_t first_position = 0;
  std::string embedding_norm;
  bool norm_before_positions = false;
  std::vector<StackLayer> layers;
  std::string final_norm;
  std::string output_projection;     // of what comes out of that, to the width of the words
  bool last_state_is_normed = true;  // the last of the hidden states is what comes out of both

  NormStyle norms;
  uint32_t heads = 0;
  uint32_t kv_heads = 0;               // 0: as many
  std::string source_projection = "";  // a layer between an encoder and the keys and values of `cross`
  bool causal = false;                 // a token sees none that comes after it
  bool parallel = false;               // feed-forward reads what attention reads, by its own norm if it has one
  std::optional<double> scale;         // of attention; absent: 1 / sqrt(head size)
  double cap = 0;                      // of scores; 0: none
  double projection_limit = 0;         // queries, keys and values lie between this and its negative; 0: anywhere
  std::string distance_bias;           // a tensor for every attention
  std::string coordinates;             // a table of places that distances are between; empty: between positions
  std::string slopes;                  // likewise: a bias that grows with the distance
  double residual_scale = 1;           // of what is added to the residual
  std::string activation;
  double gate_limit = 0;  // what is multiplied in a gated feed-forward is bounded; 0: it is not
  double gate_shift = 0;  // added to the factor that is not activated
  Heads task_heads;

  // ---- attention that is not plain, of encoders ----
  std::vector<Space> spaces;                                                  // what it needs besides
  std::function<void(ProgramBuilder&)> begin;                                 // writes what all layers share
  std::function<std::string(ProgramBuilder&, const StackSite&)> attend = {};  // returns the rows that were attended
  // What stands between layer i and the next: makes `out` of `in`, the layer's.
  std::function<std::string(ProgramBuilder&, uint32_t i, const std::string& in, const std::string& out)> after = {};
};

// A value in which layer i of a decoder finds keys or values of another sequence.
std::string CrossValue(const char* which, uint32_t i);  // "keys" or "values"

// Makes these for all layers of the decoder from `source`, what the encoder made.
void AddCrossValues(const LayerStack& decoder, ProgramBuilder& builder, const std::string& source);
// What a program over the stack reads, and the spaces of that.
Input InputOf(const LayerStack& stack);
std::vector<Space> SpacesOf(const LayerStack& stack);
// Word embeddings, layers and final norm. `keeps`: in front of a text's rows are those of earlier runs.
std::string AddStack(const LayerStack& stack, ProgramBuilder& builder, bool keeps = false);
// The spaces of what is kept, one for each window that layers have.
void AddKeptSpaces(const LayerStack& stack, std::vector<Space>& spaces);

// The layers and the final norm after the value `x`, which is hidden state 0: the name of what they make.
std::string AddLayers(const LayerStack& stack, ProgramBuilder& builder, const std::string& x);
// A whole program: word embeddings, layers, heads.
void DescribeStack(const LayerStack& stack, const Checkpoint& checkpoint, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_LAYER_STACK_H_
