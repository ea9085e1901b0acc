// Embeds any number of texts in constant memory.
#ifndef FOVEA_TOOLS_VECTORS_TEXT_EMBEDDER_H_
#define FOVEA_TOOLS_VECTORS_TEXT_EMBEDDER_H_

#include <functional>
#include <optional>
#include <string>

#include "tools/prediction/prompts.h"
#include "tools/text/text_progress.h"
#include "tools/text/text_windows.h"
#include "tools/vectors/vector_writer.h"

namespace fovea::tools {

struct EmbedderOptions {
  std::string program;
  Prompt prompt = {};  // in front of each text
  uint32_t workers = 1;
  uint32_t max_length = 0;  // tokens of a text; 0: the model's maximum
  uint32_t dimensions = 0;  // see ReadEmbeddings
  bool normalize = false;   // to length 1
  bool words = false;       // masked language models: sparse word weights (word_weights.h) in full
  BatchLimits limits = {};
};

class TextEmbedder {
 public:
  // Fails if the program makes no embeddings.
  TextEmbedder(const Model& model, const EmbedderOptions& options);

  uint32_t width() const { return width_; }
  // A row for each token (late interaction), instead of one for each text.
  bool of_tokens() const { return of_tokens_; }
  // Whether the rows are word weights.
  bool of_words() const { return of_words_; }
  // Name of what is read: "sentence_embedding"; known after a run.
  const std::string& source() const { return source_; }

  // Calls `take` with the vectors of each text that `next` returns, in their order. `share`: of the input that is read,
  // for the progress (both may be null). Returns the number of texts; after an interrupt, of complete windows.
  uint64_t Embed(const std::function<std::optional<std::string>()>& next,
                 const std::function<void(TextVectors& text)>& take, TextProgress* progress = nullptr,
                 const std::function<double()>& share = nullptr);

 private:
  const Model& model_;
  const EmbedderOptions options_;
  const uint32_t program_;
  const Tokenizer tokenizer_;
  bool of_tokens_ = false, of_words_ = false;
  uint32_t width_ = 0;
  std::string source_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_VECTORS_TEXT_EMBEDDER_H_
