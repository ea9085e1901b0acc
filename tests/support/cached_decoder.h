// A small causal model that runs whole texts or keeps them in a KV cache, with and without windows.
#ifndef FOVEA_TESTS_SUPPORT_CACHED_DECODER_H_
#define FOVEA_TESTS_SUPPORT_CACHED_DECODER_H_

#include <utility>
#include <vector>

#include "fovea/cache.h"
#include "tests/support/model_builder.h"

namespace fovea::test {

// Programs: 0 runs whole texts, 1 keeps them in a KV cache. The second of its two layers has the window, the first one
// only if `all_windows`.
struct CachedDecoder {
  static constexpr uint32_t kVocabulary = 50, kWidth = 32;

  struct Shape {
    DType stored = DType::kF32;
    uint32_t window = 0;  // rows seen before a row; 0: all
    bool all_windows = false;
    uint32_t positions = 512;  // rows of the table; 0: rows know no positions
    bool all_scores = false;   // after each token, not only after the last one
    uint32_t taps = 0;         // width of a convolution in front of the first layer, within the window; 0: none
  };
  explicit CachedDecoder(const Shape& shape, std::vector<std::pair<std::string, std::string>> metadata = {});

  std::vector<fovea_limit> Limits(uint32_t max_texts, uint32_t new_rows, uint32_t kept_rows,
                                  uint32_t longest = 0) const;

  // Scores of the token after a text, by one run of all of it.
  std::vector<float> ScoresAfter(const std::vector<int32_t>& text) const;

  ModelBuilder builder;
  uint32_t texts, tokens, kept, kept_window;
  uint32_t ids = 0;                 // input of both programs
  uint32_t first_keys = 0;          // program 1: cached keys of the first layer
  uint32_t whole = 0;               // rows of program 0
  uint32_t hidden = 0, scores = 0;  // program 1: of each token, of the last one
  TestModel model;

 private:
  AlignedBytes Build(const Shape& shape, std::vector<std::pair<std::string, std::string>> metadata);
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_CACHED_DECODER_H_
