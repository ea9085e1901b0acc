// Any number of texts through a program in constant memory: read in windows, run in batches of similar lengths.
#ifndef FOVEA_TOOLS_TEXT_TEXT_WINDOWS_H_
#define FOVEA_TOOLS_TEXT_TEXT_WINDOWS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/model/session.h"
#include "tools/text/tokenizer.h"

namespace fovea::tools {

// Memory grows with the tokens of a batch, speed does not; one text may have more.
struct BatchLimits {
  uint32_t texts = 64;
  uint32_t tokens = 4096;
};

// A window ends at this many full batches, by texts or by tokens.
inline constexpr size_t kBatchesOfWindow = 16;

// Indices of the texts of each batch, by their numbers of tokens: longest texts first, so that the first batch needs
// the most memory.
std::vector<std::vector<size_t>> BatchesByLength(const std::vector<size_t>& tokens, const BatchLimits& limits);

struct EncodedText {
  std::string text;
  Tokens tokens;
};

// Texts of one run.
struct TextBatch {
  const Session& session;     // has run
  std::vector<size_t> which;  // the index of each text in its window
  std::vector<std::string> texts;
  std::vector<Tokens> tokens;
};

struct WindowSteps {
  // The next text; nothing at the end.
  std::function<std::optional<EncodedText>()> next;
  // A window of this many texts has been read and is going to run.
  std::function<void(size_t texts)> begin;
  std::function<void(const TextBatch& batch)> read;
  // All batches of the window have run.
  std::function<void()> end;
};

// Until the texts end or an interrupt happens. `request`: program, workers, taps and the like; limits are found.
// Returns the number of texts; 0: there were none.
uint64_t RunInWindows(const Model& model, const SessionRequest& request, const BatchLimits& limits,
                      const WindowSteps& steps);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TEXT_TEXT_WINDOWS_H_
