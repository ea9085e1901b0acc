// Model directories as GGUF files, with the format's own converter's tensor names, order of rotary pairs and norms.
#ifndef FOVEA_TESTS_SUPPORT_GGUF_MODELS_H_
#define FOVEA_TESTS_SUPPORT_GGUF_MODELS_H_

#include <string>
#include <vector>

#include "tests/support/gguf_writer.h"
#include "tools/base/json.h"

namespace fovea::test {

// Bytes of elements stored as this type; K types get random blocks of small numbers.
std::string GgufBytes(uint32_t type, const std::vector<float>& values, uint32_t seed);

// The model of a directory. Matrices of layers whose rows allow it are of `type`, the rest f32.
GgufWriter GgufOfDirectory(const std::string& directory, const std::string& architecture, uint32_t type = 0);

// The tokenizer of a tokenizer.json with byte-level byte pairs; of a SentencePiece model; of a vocab.txt.
void AddBytePairs(const std::string& tokenizer_json, const std::string& pre, GgufWriter* writer);
void AddSentencePieces(const std::string& model_file, GgufWriter* writer);
void AddWordPieces(const std::string& vocab_txt, GgufWriter* writer);

// The values that the library reads from a file, as a directory with the same configuration and f32 weights.
void WriteDirectoryOf(const std::string& gguf_bytes, const std::string& architecture, const std::string& like,
                      const std::string& directory);

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_GGUF_MODELS_H_
