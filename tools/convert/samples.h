// User-supplied samples for calibration and measurement, in place of generated ones.
#ifndef FOVEA_TOOLS_CONVERT_SAMPLES_H_
#define FOVEA_TOOLS_CONVERT_SAMPLES_H_

#include <stddef.h>
#include <stdint.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/model/batch.h"

namespace fovea::tools {

// Samples of one kind. A program that cannot read them gets generated ones.
struct SampleSources {
  std::vector<std::string> texts;
  std::vector<std::vector<int32_t>> ids;      // rows of token ids, for models without a tokenizer
  std::vector<std::string> sounds, pictures;  // files
  std::string tensors;                        // a safetensors file with a program's inputs by name

  bool any() const {
    return !texts.empty() || !ids.empty() || !sounds.empty() || !pictures.empty() || !tensors.empty();
  }
};

// Converts samples to a program's inputs; nothing if it can read none of them. Texts, ids, sounds and images are read
// up to `most` tokens, where 10 ms of a sound or 256 pixels count as one. Fails with the location of invalid data.
std::optional<Batch> GivenSamples(const Model& model, uint32_t program, const SampleSources& sources,
                                  size_t most = SIZE_MAX);

// Notes for the user on parts of texts and sounds that are dropped or padded because programs read less, or clips of
// fixed length.
std::vector<std::string> NotesOnSamples(const Model& model, const SampleSources& sources);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_SAMPLES_H_
