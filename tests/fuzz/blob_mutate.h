// Mutates blobs: the model's content, and the bytes that encode it.
#ifndef FOVEA_TESTS_FUZZ_BLOB_MUTATE_H_
#define FOVEA_TESTS_FUZZ_BLOB_MUTATE_H_

#include <stdint.h>

#include <vector>

#include "tests/fuzz/random.h"

namespace fovea::fuzz {

// Some records changed, inserted or removed; size and checksum agree with them again, nearly always.
std::vector<uint8_t> MutateBlob(std::vector<uint8_t> blob, Random& random);

}  // namespace fovea::fuzz

#endif  // FOVEA_TESTS_FUZZ_BLOB_MUTATE_H_
