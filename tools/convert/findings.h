// Facts found in the files of a published model and reported by the conversion: the table of `fovea convert`.
#ifndef FOVEA_TOOLS_CONVERT_FINDINGS_H_
#define FOVEA_TOOLS_CONVERT_FINDINGS_H_

#include <string>
#include <vector>

namespace fovea::tools {

// In the order of the table.
enum class Topic {
  kFiles,          // files that were read, and which of two that disagree was followed
  kNotUsed,        // files and tensors that were not used, and why
  kNoEffect,       // keys of configurations that change no result
  kPrompts,        // prompts of sentence-transformers: applied, or left to the caller
  kLimits,         // the limit of tokens, and the file that states it
  kSpecialTokens,  // tokens before and after texts
  kChatTemplate,
  kGeneration,  // rules of generation: followed, or not supported
  kQuantized,   // weights that were published quantized: the method, and what became of it
  kTied,        // heads that share the matrix of the embeddings
};

struct Finding {
  Topic topic;
  std::string text;  // without a full stop
};
using Findings = std::vector<Finding>;

// The heading of a topic in the table.
const char* NameOf(Topic topic);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_FINDINGS_H_
