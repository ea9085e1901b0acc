// How long texts of a decoder without an encoder get, prompts that fit, and what is reported where one does not.
#ifndef FOVEA_TOOLS_GENERATE_ROOM_H_
#define FOVEA_TOOLS_GENERATE_ROOM_H_

#include <ostream>
#include <string>
#include <vector>

#include "tools/generate/generation.h"

namespace fovea::tools {

// The most tokens that the model was trained for (or has positions for): where positions are rotary, it can be run
// beyond.
uint64_t TrainedContext(const Model& model);

// The most tokens of a text with its prompt. `longest`: of the longest prompt; see GenerationRequest::context.
uint64_t ContextOf(const Model& model, const GenerationRequest& request, size_t longest);

// Fails if a prompt of this many tokens does not fit.
void CheckPrompt(size_t tokens, uint64_t context);

// A whole prompt. Fails if it is empty or does not fit, or leaves out its beginning if request.keep_end says so:
// `dropped` counts these tokens.
Tokens PromptTokens(const Model& model, const std::string& text, const GenerationRequest& request);

// Lines about texts that end for lack of room, and those that went beyond what the model was trained for.
void ReportRoom(const Model& model, const GenerationRequest& request, const std::vector<Generation>& texts,
                std::ostream& err);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_ROOM_H_
