// Batches of samples, given or generated, to obtain the rows of a model's values.
#ifndef FOVEA_TOOLS_CONVERT_SAMPLE_BATCHES_H_
#define FOVEA_TOOLS_CONVERT_SAMPLE_BATCHES_H_

#include <stddef.h>
#include <stdint.h>

#include <set>
#include <vector>

#include "tools/convert/samples.h"
#include "tools/model/batch.h"
#include "tools/model/model.h"

namespace fovea::tools {

// Whether a program reads inputs other than ids; samples for these cannot be generated, since typical values are
// unknown.
bool TakesNumbers(const Model& model, uint32_t program);

// Inputs of a program with which `values` have rows to learn from. Given samples come first, up to some hundred
// megabytes of rows. If they are texts with fewer tokens than would otherwise be generated, generated texts of many
// lengths follow; their ids have the frequencies of words in a language, since vocabularies are ordered by frequency;
// optional inputs have their defaults. None for a program with numeric inputs that are not given. Deterministic.
std::vector<Batch> SampleBatches(const Model& model, uint32_t program, const std::set<uint32_t>& values,
                                 const SampleSources& sources);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_SAMPLE_BATCHES_H_
