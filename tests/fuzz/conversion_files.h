// Inputs of the conversion harness: eight bytes that choose options, then files, one after the other: a line with name
// and size, and the bytes.
#ifndef FOVEA_TESTS_FUZZ_CONVERSION_FILES_H_
#define FOVEA_TESTS_FUZZ_CONVERSION_FILES_H_

#include <stdint.h>

#include <map>
#include <string>
#include <vector>

#include "tests/fuzz/random.h"

namespace fovea::fuzz {

using Files = std::map<std::string, std::string>;

Files FilesOf(const uint8_t* data, size_t size);
std::vector<uint8_t> Joined(uint64_t seed, const Files& files);

// Models with an adapter beside them, and models whose weights are quantized in each of the published ways.
std::vector<Files> AdaptedModels();

// Mutates one of the files: JSON and the headers of safetensors by their structure, GGUF by its numbers and lengths,
// anything else by lines and bytes.
void MutateFiles(Files& files, Random& random);

}  // namespace fovea::fuzz

#endif  // FOVEA_TESTS_FUZZ_CONVERSION_FILES_H_
