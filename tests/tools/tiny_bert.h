// A tiny classifier of random weights, written as a model hub would publish it and converted by the tools.
#ifndef FOVEA_TESTS_TOOLS_TINY_BERT_H_
#define FOVEA_TESTS_TOOLS_TINY_BERT_H_

#include <stdint.h>

#include <string>

#include "tests/support/run_command.h"

namespace fovea::test {

inline constexpr uint32_t kTinyVocabulary = 12;
inline constexpr uint32_t kTinyPositions = 16;
inline constexpr uint32_t kTinyClasses = 3;

// A folder of this test process that is removed at its end; the path of `name` in it.
std::string Temporary(const std::string& name);

// "sequence", "token", "score" or "base": with a head of three classes for texts, one for tokens, one that gives a
// number, or hidden states and pooled output.
// Converted once per process; the path of the blob (f32 weights).
const std::string& TinyBlob(const std::string& head);

}  // namespace fovea::test

#endif  // FOVEA_TESTS_TOOLS_TINY_BERT_H_
