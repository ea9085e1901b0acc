// Removes spaces that tokenization put before English punctuation and contractions (clean_up_tokenization_spaces).
#ifndef FOVEA_TOOLS_GENERATE_CLEAN_UP_H_
#define FOVEA_TOOLS_GENERATE_CLEAN_UP_H_

#include <string>

namespace fovea::tools {

// As transformers' clean_up_tokenization.
std::string CleanedUp(std::string text);

// The same for a text that comes in parts: all parts together are what CleanedUp makes of the whole text.
class CleanUp {
 public:
  // Returns what can be shown so far.
  std::string Add(const std::string& part);
  // Returns the rest.
  std::string End();

 private:
  std::string held_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_CLEAN_UP_H_
