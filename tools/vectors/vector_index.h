// Embeddings of many texts in a file, for search: as WriteVectors writes them, or a NumPy array with a file of lines.
#ifndef FOVEA_TOOLS_VECTORS_VECTOR_INDEX_H_
#define FOVEA_TOOLS_VECTORS_VECTOR_INDEX_H_

#include <stdint.h>

#include <memory>
#include <string>
#include <vector>

#include "tools/base/mapped_file.h"
#include "tools/safetensors/metadata.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::tools {

// Keys of metadata: how the vectors were made.
inline constexpr char kIndexModel[] = "fovea.model", kIndexProgram[] = "fovea.program",
                      kIndexMeasure[] = "fovea.measure", kIndexPrompt[] = "fovea.prompt",
                      kIndexDimensions[] = "fovea.dimensions";

class VectorIndex {
 public:
  // `lines`: a file with the text of each vector; empty: the texts in the index, if it has them.
  VectorIndex(const std::string& path, const std::string& lines);

  const std::string& path() const { return path_; }
  uint64_t texts() const { return texts_; }
  uint32_t width() const { return width_; }
  bool int8() const { return type_ == ElementType::kI8; }
  bool of_tokens() const { return of_tokens_; }
  // "" if there is no such key.
  std::string Metadata(const std::string& key) const;

  // The vectors of a text: [rows, width], until the next call.
  const float* Vectors(uint64_t text, uint32_t* rows);
  bool has_lines() const { return !lines_.empty() || text_ != nullptr; }
  std::string Line(uint64_t text) const;

 private:
  void ReadNumpy();
  void ReadSafetensors();
  void ReadLinesFile(const std::string& lines);
  // Entry of a list of I64; checked when the file is opened.
  static uint64_t Entry(const uint8_t* list, uint64_t index);
  void CheckOffsets(const StoredTensor& offsets, const char* name, uint64_t end) const;

  const std::string path_;
  std::unique_ptr<MappedFile> file_;
  SafetensorsMetadata metadata_;
  ElementType type_ = ElementType::kF32;
  const uint8_t* vectors_ = nullptr;
  const uint8_t* scales_ = nullptr;
  const uint8_t *text_ = nullptr, *text_offsets_ = nullptr, *row_offsets_ = nullptr;
  uint64_t texts_ = 0, rows_ = 0;
  uint32_t width_ = 0;
  bool of_tokens_ = false;
  std::vector<std::string> lines_;
  std::vector<float> unpacked_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_VECTORS_VECTOR_INDEX_H_
