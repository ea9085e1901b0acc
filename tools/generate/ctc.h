// Greedy decoding of CTC models (connectionist temporal classification), which score each frame of audio: the best
// token of every frame, with repeated tokens merged and blanks removed.
#ifndef FOVEA_TOOLS_GENERATE_CTC_H_
#define FOVEA_TOOLS_GENERATE_CTC_H_

#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

#include "tools/media/sound_inputs.h"
#include "tools/model/session.h"

namespace fovea::tools {

// The best token of a frame, with its log-probability.
struct CtcFrame {
  int32_t id = 0;
  float log_probability = 0;
};

// A token or word of frames [begin, end). The log-probability of a token is the mean over its frames, that of a word
// the sum over its tokens.
struct CtcPart {
  std::string text;
  std::vector<int32_t> ids;
  uint64_t begin = 0, end = 0;
  double log_probability = 0;
};

struct CtcText {
  std::string text;
  std::vector<CtcPart> tokens, words;
  // Settled parts, which more frames cannot change: words before the last delimiter, and the text before it.
  size_t final_words = 0;
  std::string final_text;
};

// Configured by metadata label.N, ctc.blank, ctc.delimiter and ctc.clean_up.
class CtcDecoder {
 public:
  // Fails if the model has no vocabulary.
  explicit CtcDecoder(const Model& model);

  // Whether spaces before punctuation are removed, so that a text is known only at its end.
  bool cleans_up() const { return clean_up_; }

  static bool Fits(const Model& model);  // whether it is a CTC model

  // The best token of each frame, from rows of scores.
  static std::vector<CtcFrame> Best(const Matrix& scores, uint32_t begin, uint32_t end);
  CtcText Text(const std::vector<CtcFrame>& frames) const;

 private:
  const std::string& Label(int32_t id) const { return labels_[static_cast<size_t>(id)]; }
  std::vector<CtcPart> Tokens(const std::vector<CtcFrame>& frames) const;
  std::vector<CtcPart> Words(const std::vector<CtcPart>& tokens) const;

  std::vector<std::string> labels_;
  int32_t blank_ = 0;
  std::string delimiter_;
  bool clean_up_ = false;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_CTC_H_
