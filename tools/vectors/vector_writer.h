// Writes embeddings of any number of texts as they are made: NumPy, safetensors or JSON Lines.
#ifndef FOVEA_TOOLS_VECTORS_VECTOR_WRITER_H_
#define FOVEA_TOOLS_VECTORS_VECTOR_WRITER_H_

#include <stdint.h>

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace fovea::tools {

enum class VectorForm { kNumpy, kSafetensors, kJsonLines };

// By the end of a file's name: .npy, .safetensors or .jsonl. Fails for any other name.
VectorForm VectorFormOf(const std::string& path);

// The embeddings of one text: one row, or a row for each token (late interaction).
struct TextVectors {
  std::string text;
  uint32_t rows = 1;
  std::vector<float> values;  // [rows, width]
  uint64_t dropped = 0;       // tokens of the text that were not read
  uint64_t spelled = 0;       // special tokens that the text spells
};

struct VectorFile {
  std::string path;  // "-": `out`
  VectorForm form = VectorForm::kNumpy;
  uint32_t width = 0;
  bool of_tokens = false;  // a row for each token
  bool int8 = false;       // safetensors: stored as integers with a scale for each row
  // safetensors: about the vectors, for VectorIndex.
  std::vector<std::pair<std::string, std::string>> metadata;
};

class VectorWriter {
 public:
  virtual ~VectorWriter() = default;
  virtual void Add(const TextVectors& text) = 0;
  // Completes the file. Without it nothing remains of a file; JSON Lines to a stream are there as they were added.
  virtual void Finish() = 0;
};

// A safetensors file has embeddings [rows, width]; text (bytes) with text_offsets [texts + 1]; with int8 scales [rows];
// with a row for each token row_offsets [texts + 1]. Memory does not grow with the number of texts.
std::unique_ptr<VectorWriter> WriteVectors(const VectorFile& file, std::ostream& out);

// Integers from -127 to 127, and the number that they are multiplied by.
float QuantizeVector(const float* values, uint32_t width, int8_t* quantized);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_VECTORS_VECTOR_WRITER_H_
