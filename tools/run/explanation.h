// Explains a classification by sentences and words: weights of the attention pooling operations that the model's
// metadata names, with the byte ranges of the text.
#ifndef FOVEA_TOOLS_RUN_EXPLANATION_H_
#define FOVEA_TOOLS_RUN_EXPLANATION_H_

#include <ostream>
#include <vector>

#include "tools/base/print.h"
#include "tools/model/session.h"
#include "tools/text/tokenizer.h"

namespace fovea::tools {

// Reads metadata "explain.<space>" (tools/convert/GRAPH.md) for the spaces whose rows are tokens and sentences.
class Explainer {
 public:
  Explainer(const Model& model, uint32_t program);

  // The taps, to be the first taps of the session; none if the model has no such metadata.
  const std::vector<fovea_tap>& taps() const { return taps_; }

  // Additions to the prediction of each text: "sentences" of a document, "words" and "token_weights" of a text.
  std::vector<OrderedJson> Explain(const Tokenizer& tokenizer, const Session& session,
                                   const std::vector<std::string>& texts, const std::vector<Tokens>& tokens) const;

 private:
  struct Level {
    uint32_t space;
    int tap = -1;
  };
  Level Add(const Model& model, uint32_t program, uint32_t space);

  Level tokens_{}, sentences_{};
  bool nested_ = false;
  std::vector<fovea_tap> taps_;
};

// Prints the `top` sentences with the largest weights and `top` words of each; for a single text, the words.
void PrintExplanation(std::ostream& out, const OrderedJson& prediction, uint32_t top);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_RUN_EXPLANATION_H_
