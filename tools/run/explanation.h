// Which sentences and words decided: weights of the attention steps that the model's metadata names for its levels,
// beside the bytes of the text they stand for.
#ifndef FOVEA_TOOLS_RUN_EXPLANATION_H_
#define FOVEA_TOOLS_RUN_EXPLANATION_H_

#include <ostream>
#include <vector>

#include "tools/common/print.h"
#include "tools/common/text.h"

namespace fovea::tools {

// Metadata "explain.<space>" as tools/convert/README.md says, of those spaces that tokens and sentences are rows of.
class Explainer {
 public:
  Explainer(const Model& model, uint32_t program);

  // To be the first of the session's taps; none if the model does not say what decides.
  const std::vector<fovea_tap>& taps() const { return taps_; }

  // For each text what is added to its prediction: "sentences" of a document, "words" and "token_weights" of a text.
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

// The `top` sentences that decided most, each with as many words; or of a single text the words.
void PrintExplanation(std::ostream& out, const OrderedJson& prediction, uint32_t top);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_RUN_EXPLANATION_H_
