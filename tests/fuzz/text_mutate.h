// Mutates tokenizer sections and texts.
#ifndef FOVEA_TESTS_FUZZ_TEXT_MUTATE_H_
#define FOVEA_TESTS_FUZZ_TEXT_MUTATE_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "tests/fuzz/random.h"

namespace fovea::fuzz {

// Some records of some tables changed, inserted or removed; places and sizes of tables agree again, nearly always.
std::vector<uint8_t> MutateSection(const std::vector<uint8_t>& section, Random& random);

// The section with other bytes for a table (text::TableIndex).
std::vector<uint8_t> WithTable(const std::vector<uint8_t>& section, uint32_t table, const std::vector<uint8_t>& bytes);

std::string MutateText(std::string text, const std::vector<uint8_t>& section, Random& random);

}  // namespace fovea::fuzz

#endif  // FOVEA_TESTS_FUZZ_TEXT_MUTATE_H_
