// Runs a model with taps on given inputs and returns the attention record.
#ifndef FOVEA_TOOLS_ATTEND_ATTEND_H_
#define FOVEA_TOOLS_ATTEND_ATTEND_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/attend/record.h"
#include "tools/attend/tap_plan.h"
#include "tools/generate/generation.h"
#include "tools/generate/transcription.h"
#include "tools/generate/translation.h"
#include "tools/model/model.h"

namespace fovea::tools {

struct AttendRequest {
  // Exactly one of these is given; sounds and pictures can also be for a model with a decoder. With pictures, texts are
  // labels to compare them with (CLIP).
  std::vector<std::string> texts;             // for a program
  std::vector<std::string> pair;              // a text pair, read as one sequence
  std::vector<std::string> prompts;           // for a decoder-only model to continue
  std::vector<std::string> sources;           // for an encoder; the decoder generates
  std::string input;                          // a safetensors file
  std::string golden_case;                    // ... or one case of it, if it is a golden file
  std::vector<std::string> sounds, pictures;  // files

  std::string program;
  uint32_t workers = 1;
  uint32_t max_length = 0;
  bool wrapped = false;
  TapChoice taps;
  bool vectors = false;          // also keep the queries and keys of all rows
  GenerationRequest generation;  // for prompts, sources, and sounds and pictures of a model with a decoder
  Languages languages;
  SpeechTask speech;

  std::function<void(const TapPlan& plan)> told = nullptr;  // called before the run, with what will be kept
};

// `only_bytes`: runs only what is needed to compute the bytes; the record has them and no steps.
AttentionRecord Attend(const Model& model, const AttendRequest& request, bool only_bytes);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_ATTEND_H_
