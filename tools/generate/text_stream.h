// Converts tokens to text one by one: complete characters only, up to a stop string.
#ifndef FOVEA_TOOLS_GENERATE_TEXT_STREAM_H_
#define FOVEA_TOOLS_GENERATE_TEXT_STREAM_H_

#include <optional>
#include <string>
#include <vector>

#include "fovea/stop.h"
#include "fovea/text.h"
#include "tools/base/sized.h"
#include "tools/generate/clean_up.h"
#include "tools/model/aligned_memory.h"
#include "tools/model/model.h"

namespace fovea::tools {

// The text of a decoder's token: its label, or its piece if the model has no labels. Ids beyond the vocabulary
// (embedding tables are often larger) have no text and are shown as numbers.
std::string GeneratedPiece(const Model& model, int32_t token);

// Whether tokens are shown one by one, as labels or ids, because no tokenizer can decode them.
bool ShowsPieces(const Model& model);
// The separator between such tokens: metadata "generate.separator", or none between labels.
std::string Separator(const Model& model);

class TextStream {
 public:
  // `stops`: the text ends before the first of these strings. `separator`: joins tokens that are labels or ids;
  // default: see Separator.
  TextStream(const Model& model, const std::vector<std::string>& stops, std::optional<std::string> separator = {});

  // Sets the tokens that the text continues, which are not shown: the space before its first word is kept.
  void Follow(const std::vector<int32_t>& tokens);
  // Adds a token; returns the text that can be shown now.
  std::string Add(int32_t token);
  // Ends the text; returns the rest.
  std::string End();
  bool stopped() const { return stopped_; }

 private:
  std::string BytesOf(int32_t token);
  std::string WithoutRest(std::string bytes);
  std::string Show(const std::string& bytes);
  std::string Cleaned(const std::string& part) { return cleans_ ? clean_up_.Add(part) : part; }

  const Model& model_;
  const bool pieces_;  // tokens are labels or ids
  const bool cleans_;  // spaces before punctuation are removed, of what stop strings leave
  CleanUp clean_up_;
  const std::string separator_;
  bool begun_ = false;       // a token has been shown
  uint32_t vocabulary_ = 0;  // size of the tokenizer's vocabulary
  fovea_text_stream stream_ = Sized<fovea_text_stream>();
  Memory memory_;
  fovea_stop* stop_ = nullptr;
  std::string rest_;    // held back by the decoder at the end of the continued text
  std::string held_;    // possible beginning of a stop string
  uint64_t shown_ = 0;  // bytes shown so far
  bool stopped_ = false;
};

// Converts a complete text.
std::string TextOf(const Model& model, const std::vector<int32_t>& tokens);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_TEXT_STREAM_H_
