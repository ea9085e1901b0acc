// What a model is calibrated and measured on in place of what is made up.
#ifndef FOVEA_TOOLS_CONVERT_SAMPLES_H_
#define FOVEA_TOOLS_CONVERT_SAMPLES_H_

#include <stddef.h>
#include <stdint.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/common/batch.h"

namespace fovea::tools {

// One kind of these. A program that cannot read it has made-up samples.
struct SampleSources {
  std::vector<std::string> texts;
  std::vector<std::vector<int32_t>> ids;      // rows of token ids, for models without a tokenizer
  std::vector<std::string> sounds, pictures;  // files
  std::string tensors;                        // a safetensors file with a program's inputs by name

  bool any() const {
    return !texts.empty() || !ids.empty() || !sounds.empty() || !pictures.empty() || !tensors.empty();
  }
};

// As a program reads them; nothing if it reads none of them. Of texts, ids, sounds and pictures the first, until `most`
// tokens are there, for which 10 ms of a sound or 256 pixels count, too. Fails, and says where, at what it cannot take.
std::optional<Batch> GivenSamples(const Model& model, uint32_t program, const SampleSources& sources,
                                  size_t most = SIZE_MAX);

// Parts of the texts and sounds that are left out or made up because programs read less or clips of one length; for the
// user.
std::vector<std::string> NotesOnSamples(const Model& model, const SampleSources& sources);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_SAMPLES_H_
