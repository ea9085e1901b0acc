// Models that read pairs of texts: choices for a question, and labels for a text.
#ifndef FOVEA_TOOLS_RUN_PAIRS_H_
#define FOVEA_TOOLS_RUN_PAIRS_H_

#include <ostream>
#include <string>
#include <vector>

#include "tools/base/print.h"
#include "tools/text/text_run.h"
#include "tools/text/truncation.h"

namespace fovea::tools {

// Second texts of pairs: all of them for a single first one, else one for each. Fails for other numbers.
std::vector<TextPair> MakePairs(const std::vector<std::string>& firsts, const std::vector<std::string>& seconds);

// Lines of a first text, a tab and a second one.
std::vector<TextPair> ReadPairs(const std::string& path);

// For a model with one score for each pair: entries {"text", "choices"}, one for neighbouring pairs of one first text,
// whose choices have "text", "probability" (a softmax over the choices) and "logit", the best first.
std::vector<OrderedJson> ChooseSeconds(const Model& model, const TextRun& run, const std::vector<TextPair>& pairs);

struct LabelOptions {
  std::vector<std::string> labels;
  std::string hypothesis = "This example is {}.";
  bool many = false;  // any number of labels is right
  std::string program;
  TextRunOptions run;
};

// {"text", "labels": [{"label", "score"}]}, the best first. The text is added to `truncations`, with the tokens
// cut for the longest label.
OrderedJson ScoreLabels(const Model& model, const Tokenizer& tokenizer, const std::string& text,
                        const LabelOptions& options, Truncations* truncations);
// The line for a model that names no class entailment (the last one is then taken for it, as in the original), or
// empty.
std::string EntailmentWarning(const Model& model);

void PrintPairs(std::ostream& out, const OrderedJson& entry);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_RUN_PAIRS_H_
