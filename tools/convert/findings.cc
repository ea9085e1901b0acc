#include "tools/convert/findings.h"

namespace fovea::tools {

const char* NameOf(Topic topic) {
  switch (topic) {
    case Topic::kFiles:
      return "files";
    case Topic::kNotUsed:
      return "not used";
    case Topic::kNoEffect:
      return "no effect";
    case Topic::kPrompts:
      return "prompts";
    case Topic::kLimits:
      return "limits";
    case Topic::kSpecialTokens:
      return "special tokens";
    case Topic::kChatTemplate:
      return "chat template";
    case Topic::kGeneration:
      return "generation";
    case Topic::kQuantized:
      return "quantized";
    case Topic::kTied:
      return "tied heads";
  }
  return "";
}

}  // namespace fovea::tools
