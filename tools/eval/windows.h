// Splits long texts into windows for a model, as in the documentation of transformers on perplexity: windows of the
// model's length that begin `stride` tokens apart; a token counts only in the first window that predicts it.
#ifndef FOVEA_TOOLS_EVAL_WINDOWS_H_
#define FOVEA_TOOLS_EVAL_WINDOWS_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

namespace fovea::tools {

struct Window {
  size_t begin, end;  // tokens of the text
  size_t counted;     // first token that counts; the one before it is in the window
};

// Windows of a text of `tokens` tokens; stride <= length, length >= 2. A text of fewer than two tokens has none; a last
// window without a counted token is omitted.
std::vector<Window> WindowsOf(size_t tokens, size_t length, size_t stride);

// A text as token ids.
struct TokenText {
  std::vector<int32_t> ids;
  std::vector<uint64_t> bytes;  // bytes of the text for each token, from the end of the previous token
};

// One run: several windows, or a part of one window that continues where the previous part ended.
struct WindowStep {
  bool begins = true;
  std::vector<uint32_t> lengths;  // rows of each window
  std::vector<int32_t> ids;
  std::vector<int32_t> targets;  // the token after each row's token; -1: not counted
  uint64_t bytes = 0;            // bytes of the targets

  bool operator==(const WindowStep& other) const {
    return begins == other.begins && lengths == other.lengths && ids == other.ids && targets == other.targets;
  }
};

struct StepLimits {
  size_t windows = 16;  // per run
  size_t rows = 512;    // per run
  bool parts = true;    // split longer windows into parts; else run them as a whole
};
std::vector<WindowStep> StepsOf(const std::vector<TokenText>& texts, size_t length, size_t stride,
                                const StepLimits& limits);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_WINDOWS_H_
