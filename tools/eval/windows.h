// How long texts are cut into windows that a model reads, as transformers' documentation of perplexity has it: windows
// of the model's length that begin `stride` tokens apart, of which only tokens that no window before has count.
#ifndef FOVEA_TOOLS_EVAL_WINDOWS_H_
#define FOVEA_TOOLS_EVAL_WINDOWS_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

namespace fovea::tools {

struct Window {
  size_t begin, end;  // tokens of the text
  size_t counted;     // the first one that is foretold here, which has one before it in the window
};

// Of a text of so many tokens. `stride` is at most `length`, and `length` at least 2. A text of fewer than two tokens
// has none, and a last window without a counted token is left out.
std::vector<Window> WindowsOf(size_t tokens, size_t length, size_t stride);

// A text as the model reads it.
struct TokenText {
  std::vector<int32_t> ids;
  std::vector<uint64_t> bytes;  // of the text that are each token's: those from the end of the token before it
};

// One run: some windows at once, or a part of one that goes on where the part before ended.
struct WindowStep {
  bool begins = true;
  std::vector<uint32_t> lengths;  // rows of each window
  std::vector<int32_t> ids;
  std::vector<int32_t> targets;  // what follows a row's token; -1: it counts for nothing
  uint64_t bytes = 0;            // of the targets

  bool operator==(const WindowStep& other) const {
    return begins == other.begins && lengths == other.lengths && ids == other.ids && targets == other.targets;
  }
};

struct StepLimits {
  size_t windows = 16;  // of a run
  size_t rows = 512;    // of a run
  bool parts = true;    // a window of more rows is read in parts; else in one run all the same
};
std::vector<WindowStep> StepsOf(const std::vector<TokenText>& texts, size_t length, size_t stride,
                                const StepLimits& limits);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_WINDOWS_H_
