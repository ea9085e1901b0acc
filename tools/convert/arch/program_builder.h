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
  double weight_offset = 0;  // of rms: added to the stored weight
};

// A layer with activation, a norm, a layer. Names of tensors without ".weight" and ".bias"; an empty one is left out.
struct Head {
  std::string dense;
  std::string activation;
  std::string norm;
  std::string out;
};

struct Heads {
  std::string pooler;  // embedding: pooler_output from the first token, where it is stored
  std::string pooler_activation = "tanh";
  bool mean_pooler = false;  // embedding: pooler_output is the mean
  std::string sequence_pool = "first";
  Head sequence, token, language;  // sequence: of images, too; language: scores of tokens
  std::string language_table;      // the embeddings that the last layer of language shares, or has where none is stored
  std::string language_bias;       // of that layer, if it is not stored as its own
  bool tied = true;                // it shares them, where config.json does not say
  double score_scale = 1;          // of what language scores
  double score_cap = 0;            // scores become cap * tanh(score / cap); 0: they do not
};

class ProgramBuilder {
 public:
  // Begins program "encode" over texts of tokens, with the input input_ids.
  ProgramBuilder(const Checkpoint& checkpoint, Description& description, NormStyle norms);
  // Begins a program over other spaces, with another input. Spaces that the description has already stay as they are.
  ProgramBuilder(const Checkpoint& checkpoint, Description& description, NormStyle norms, std::vector<Space> spaces,
                 Input input, std::string name = "encode");

  // All return `out`. A bias is used where it is stored. `space`: of the result, where several would do.
  std::string Op(const std::string& op, std::vector<std::string> in, std::vector<std::string> tensors,
                 const std::string& out, Json attributes = Json::object(), const std::string& space = "");
  std::string Linear(const std::string& in, const std::string& name, const std::string& out,
                     const std::string& activation = "none");
  // Another operation with the tensors of a linear layer.
  std::string Layer(const std::string& op, std::vector<std::string> in, const std::string& name, const std::string& out,
                    Json attributes);
  // `heads`: so many parts of a row are normed, each by itself.
  std::string Norm(const std::string& in, const std::string& name, const std::string& out, uint32_t heads = 1);
  // The same of what linear layer `of` makes: of the whole row where the norm's weight is as wide, else of each of
  // `heads`, which have one weight or a row of it each.
  std::string HeadNorm(const std::string& in, const std::string& name, const std::string& out, uint32_t heads,
                       const std::string& of);
  // Rows as a table says, in a space that has as many.
  std::string Arrange(const std::string& in, const std::string& table, const std::string& space,
                      const std::string& out);
  // Its weights can be asked for as `name`: attentions.<layer> where there is one for each layer.
  std::string Attention(const std::string& name, std::vector<std::string> in, std::vector<std::string> tensors,
                        const std::string& out, Json attributes);

  void AddInput(Input input) { program_.inputs.push_back(std::move(input)); }
  // An input of ids beside input_ids, `id` where the caller has none.
  void InputOfIds(const std::string& name, uint32_t id);
  // The name of hidden state `index`; that of the last one is what the task makes of it.
  std::string HiddenState(uint32_t index) const;
  std::string LastHiddenState(uint32_t index);

  // Scores of tokens by heads.language: `<prefix>logits`.
  std::string Scores(const std::string& in, const Heads& heads, const std::string& prefix = "");

  // The program is one step of generation, or has one as a part.
  void Steps() { program_.steps = true; }
  // Names the program's outputs, classes among them.
  void Outputs(std::vector<std::string> names) { program_.outputs = std::move(names); }
  void Labels(const std::string& classifier);

  // Appends what the task needs after the value `last` and ends the program.
  void Finish(const std::string& last, const Heads& heads);
  // Ends it as it is.
  void End();

 private:
  // The weight of a layer or norm, which must be there, and its bias if there is one. So a configuration with more
  // layers than are stored ends at the first that is missing, and describes no others.
  std::vector<std::string> Stored(const std::string& name) const;
  void EmbeddingHead(const std::string& last, const Heads& heads);
  void SequenceHead(const std::string& task, const std::string& last, const Heads& heads);
  void TokenHead(const std::string& last, const Head& head);
  void LanguageHead(const char* task, const std::string& last, const Heads& heads);
  std::string BeforeOut(std::string value, const Head& head, const std::string& prefix = "");

  const Checkpoint& checkpoint_;
  Description& description_;
  const Weights& weights_;
  const NormStyle norms_;
  Program program_;
};

// Fails where config.json says, by `key`, that layers have no bias (`absent`: whether they have where it does not say)
// and one of them is stored all the same, which the original library would leave out. `layers`: ends of their names.
void RefuseBiases(const Checkpoint& checkpoint, const Weights& weights, const std::string& key, bool absent,
                  const std::vector<std::string>& layers);

// Names the equal parts of a stored layer (weight, and bias if there is one) that computes several at once:
// <name>.<part>.weight, ..
void SplitLinear(Weights& weights, const std::string& name, const std::vector<std::string>& parts);
// The same of parts that have so many rows each.
void SplitRows(Weights& weights, const std::string& name, const std::vector<std::pair<std::string, uint32_t>>& parts);

// Adds a layer whose outputs are those of a stored one times these factors, a row: its name.
std::string ScaleLayer(Weights& weights, const std::string& name, const std::string& factors);

// Names the parts of a layer that computes queries, keys and values of groups of heads: in each group its queries, then
// a key and a value, each `size` wide. <name>.query.weight, .key, .value.
void SplitGroups(Weights& weights, const std::string& name, uint32_t groups, uint32_t queries, uint32_t size);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_PROGRAM_BUILDER_H_
