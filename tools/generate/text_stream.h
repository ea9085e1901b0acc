// A text as its tokens come: whole characters, up to a string that ends it.
#ifndef FOVEA_TOOLS_GENERATE_TEXT_STREAM_H_
#define FOVEA_TOOLS_GENERATE_TEXT_STREAM_H_

#include <optional>
#include <string>
#include <vector>

#include "fovea/stop.h"
#include "fovea/text.h"
#include "tools/base/sized.h"
#include "tools/common/memory.h"
#include "tools/common/model.h"

namespace fovea::tools {

// What a token of the decoder stands for: its label, or its piece if the model has no labels. Tables of embeddings are
// often larger than vocabularies: what is beyond stands for nothing, and is shown as a number.
std::string GeneratedPiece(const Model& model, int32_t token);

// Whether tokens are shown as labels or ids, one by one: nothing else makes a text of them.
bool ShowsPieces(const Model& model);
// What stands between such tokens: metadata "generate.separator", else nothing between labels.
std::string Separator(const Model& model);

class TextStream {
 public:
  // `stops`: strings of which the first that comes ends the text. It is not a part of it. `separator`: what stands
  // between tokens that are labels or ids; else as the model says (Separator).
  TextStream(const Model& model, const std::vector<std::string>& stops, std::optional<std::string> separator = {});

  // The text continues one of these tokens, of which nothing is shown: the space before its first word stays.
  void Follow(const std::vector<int32_t>& tokens);
  // What may be shown after another token.
  std::string Add(int32_t token);
  // The rest, when no token comes any more.
  std::string End();
  bool stopped() const { return stopped_; }

 private:
  std::string BytesOf(int32_t token);
  std::string WithoutRest(std::string bytes);
  std::string Show(const std::string& bytes);

  const Model& model_;
  const bool pieces_;  // labels and ids are shown as they are
  const std::string separator_;
  bool begun_ = false;       // there was a token that is shown
  uint32_t vocabulary_ = 0;  // of the tokenizer
  fovea_text_stream stream_ = Sized<fovea_text_stream>();
  Memory memory_;
  fovea_stop* stop_ = nullptr;
  std::string rest_;    // of what the text continues, which the decoder holds back
  std::string held_;    // may be the beginning of a stop string
  uint64_t shown_ = 0;  // bytes of the text
  bool stopped_ = false;
};

// A whole text.
std::string TextOf(const Model& model, const std::vector<int32_t>& tokens);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_TEXT_STREAM_H_
