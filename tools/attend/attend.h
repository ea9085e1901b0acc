// From what a model is given to the attention record of a run.
#ifndef FOVEA_TOOLS_ATTEND_ATTEND_H_
#define FOVEA_TOOLS_ATTEND_ATTEND_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/attend/record.h"
#include "tools/attend/tap_plan.h"
#include "tools/common/model.h"
#include "tools/generate/generation.h"
#include "tools/generate/transcription.h"
#include "tools/generate/translation.h"

namespace fovea::tools {

struct AttendRequest {
  // One of these is given; sounds and pictures also of a decoder that writes.
  std::vector<std::string> texts;             // as a program reads them
  std::vector<std::string> pair;              // two texts that are read together
  std::vector<std::string> prompts;           // what a decoder goes on with
  std::vector<std::string> sources;           // what an encoder reads and a decoder writes about
  std::string input;                          // a safetensors file
  std::string golden_case;                    // .. or one case of it, if it is a golden file
  std::vector<std::string> sounds, pictures;  // files

  std::string program;
  uint32_t workers = 1;
  uint32_t max_length = 0;
  bool wrapped = false;
  TapChoice taps;
  GenerationRequest generation;  // of texts that are written
  Languages languages;
  SpeechTask speech;

  std::function<void(const TapPlan& plan)> told = nullptr;  // what will be kept, before the run
};

// With `only_bytes` nothing is run that is not needed to know the bytes; the record has them and no steps.
AttentionRecord Attend(const Model& model, const AttendRequest& request, bool only_bytes);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_ATTEND_H_
