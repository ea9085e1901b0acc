// Writes a program over texts or images: operations with the tensors they need, the hidden states by their published
// names, and the heads after the last one.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_PROGRAM_BUILDER_H_
#define FOVEA_TOOLS_CONVERT_ARCH_PROGRAM_BUILDER_H_

#include <string>
#include <utility>
#include <vector>

#include "tools/convert/arch/architecture.h"

namespace fovea::tools {

struct NormStyle {
  std::string kind = "layer";  // or "rms"
  double epsilon = 0;
  double weight_offset = 0;  // added to the stored weight of rms norms
};

// A linear layer with activation, a norm, a linear layer. Names of tensors without ".weight" and ".bias"; an empty one
// is left out.
struct Head {
  std::string dense = "";
  std::string activation = "";
  std::string norm = "";
  std::string out = "";
};

struct Heads {
  std::string pooler = "";  // for embedding: pooler_output from the first token, if the layer is stored
  std::string pooler_activation = "tanh";
  bool mean_pooler = false;  // for embedding: pooler_output is the mean
  std::string sequence_pool = "first";
  Head sequence = {}, token = {},
       language = {};               // classes of sequences or images, and of tokens; scores of next tokens
  std::string language_table = "";  // embeddings: the matrix of language.out if tied, or if language.out is empty
  std::string language_bias = "";   // its bias, if it has another name than language.out
  bool tied = true;                 // unless config.json has tie_word_embeddings
  double score_scale = 1;           // factor of the row that is scored
  double score_cap = 0;             // scores become cap * tanh(score / cap); 0: they do not
  Head span = {.dense = "", .activation = "", .norm = "", .out = "qa_outputs"};  // scores of an answer's start and end
  Head choice = {};  // the score of one of several choices; without out: there is no such head
  Head next = {};    // whether the second text of a pair follows the first; the same
};

// Tensors of an attention operation, by the names of runtime/blob/attention_operand_list.inc: whole names of tensors;
// empty: absent.
struct AttentionTensors {
#define FOVEA_INPUT(number, name, Name, presence)
#define FOVEA_TENSOR(number, name, Name, presence, storage) std::string name = "";
#include "runtime/blob/attention_operand_list.inc"
#undef FOVEA_INPUT
#undef FOVEA_TENSOR
};

class ProgramBuilder {
 public:
  // Begins program "encode" over texts of tokens, with the input input_ids.
  ProgramBuilder(const Checkpoint& checkpoint, Description& description, NormStyle norms);
  // Begins a program over other spaces, with another input. Spaces that the description has already stay as they are.
  ProgramBuilder(const Checkpoint& checkpoint, Description& description, NormStyle norms, std::vector<Space> spaces,
                 Input input, std::string name = "encode");

  // All return `out`. A bias is used if it is stored. `space`: the space of the result, where several are possible.
  std::string Op(const std::string& op, std::vector<std::string> in, std::vector<std::string> tensors,
                 const std::string& out, Json attributes = Json::object(), const std::string& space = "");
  std::string Linear(const std::string& in, const std::string& name, const std::string& out,
                     const std::string& activation = "none");
  // Another operation with the tensors of a linear layer.
  std::string Layer(const std::string& op, std::vector<std::string> in, const std::string& name, const std::string& out,
                    Json attributes);
  // `heads`: the number of parts of a row that are normed separately.
  std::string Norm(const std::string& in, const std::string& name, const std::string& out, uint32_t heads = 1);
  // The norm of the result of linear layer `of`: over the whole row if the norm's weight is as wide, else over each of
  // `heads`, which share one weight or have a row of it each.
  std::string HeadNorm(const std::string& in, const std::string& name, const std::string& out, uint32_t heads,
                       const std::string& of);
  // Rows in the order of a table, in a space that has as many.
  std::string Arrange(const std::string& in, const std::string& table, const std::string& space,
                      const std::string& out);
  // `name` is that of its attention map: attentions.<layer> if there is one for each layer.
  std::string Attention(const std::string& name, std::vector<std::string> in, const AttentionTensors& tensors,
                        const std::string& out, Json attributes);

  void AddInput(Input input) { program_.inputs.push_back(std::move(input)); }
  // A further input of ids; its default is `id`.
  void InputOfIds(const std::string& name, uint32_t id);
  // The name of hidden state `index`; the last one's name depends on the task.
  std::string HiddenState(uint32_t index) const;
  std::string LastHiddenState(uint32_t index);

  // Scores of tokens by heads.language: `<prefix>logits`.
  std::string Scores(const std::string& in, const Heads& heads, const std::string& prefix = "");

  // The program is one step of generation, or contains one.
  void Steps() { program_.steps = true; }
  // Names the program's outputs, classes among them.
  void Outputs(std::vector<std::string> names) { program_.outputs = std::move(names); }
  void Labels(const std::string& classifier);

  // Appends what the task needs after the value `last` and ends the program.
  void Finish(const std::string& last, const Heads& heads);
  // Ends it as it is.
  void End();

 private:
  // The weight of a layer or norm, which must be stored, and its bias if there is one. So a configuration with more
  // layers than are stored fails at the first missing one.
  std::vector<std::string> Stored(const std::string& name) const;
  void EmbeddingHead(const std::string& last, const Heads& heads);
  void SequenceHead(const std::string& task, const std::string& last, const Heads& heads);
  void ChoiceHead(const std::string& last, const Heads& heads);
  void NextSentenceHead(const std::string& last, const Heads& heads);
  void SpanHead(const std::string& last, const Head& head);
  // Fails if the head is not stored. `what`: what it does, for the message.
  void CheckHead(const Head& head, const char* what) const;
  void TokenHead(const std::string& last, const Head& head);
  void LanguageHead(const char* task, const std::string& last, const Heads& heads);
  std::string BeforeOut(std::string value, const Head& head, const std::string& prefix = "");

  const Checkpoint& checkpoint_;
  Description& description_;
  const Weights& weights_;
  const NormStyle norms_;
  Program program_;
};

// Fails if `key` of config.json is false (`absent`: its default), so that layers have no bias, and one of them is
// stored all the same: the original library would leave it out. `layers`: ends of their names.
void RefuseBiases(const Checkpoint& checkpoint, const Weights& weights, const std::string& key, bool absent,
                  const std::vector<std::string>& layers);

// Names the equal parts of a stored layer (weight, and bias if there is one) that computes several at once:
// <name>.<part>.weight and so on.
void SplitLinear(Weights& weights, const std::string& name, const std::vector<std::string>& parts);
// The same for parts with the given numbers of rows.
void SplitRows(Weights& weights, const std::string& name, const std::vector<std::pair<std::string, uint32_t>>& parts);

// Adds a layer whose outputs are a stored layer's times these factors, a row. Returns its name.
std::string ScaleLayer(Weights& weights, const std::string& name, const std::string& factors);

// Names the parts of a layer that computes queries, keys and values of groups of heads: in each group its queries, then
// a key and a value, each `size` wide. <name>.query.weight, .key, .value.
void SplitGroups(Weights& weights, const std::string& name, uint32_t groups, uint32_t queries, uint32_t size);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_PROGRAM_BUILDER_H_
