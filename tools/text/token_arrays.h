// Encoded tokens in the form of the library.
#ifndef FOVEA_TOOLS_TEXT_TOKEN_ARRAYS_H_
#define FOVEA_TOOLS_TEXT_TOKEN_ARRAYS_H_

#include <stdint.h>

#include <vector>

#include "fovea/text.h"
#include "tools/text/tokenizer.h"

namespace fovea::tools {

// The tokens must outlive it.
class TokenArrays {
 public:
  explicit TokenArrays(const Tokens& tokens);
  const fovea_text_tokens* get() const { return &arrays_; }

 private:
  std::vector<uint32_t> ranges_;
  fovea_text_tokens arrays_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TEXT_TOKEN_ARRAYS_H_
