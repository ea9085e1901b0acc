// Context of decoder-only models: how long texts can get, which prompts fit, and reports on texts that do not.
#ifndef FOVEA_TOOLS_GENERATE_ROOM_H_
#define FOVEA_TOOLS_GENERATE_ROOM_H_

#include <ostream>
#include <string>
#include <vector>

#include "tools/generate/generation.h"

namespace fovea::tools {

// The longest text in training (or the number of positions), in tokens. A model with RoPE can be run beyond it.
// beyond.
uint64_t TrainedContext(const Model& model);

// The context size. `longest`: tokens of the longest prompt; see GenerationRequest::context.
uint64_t ContextOf(const Model& model, const GenerationRequest& request, size_t longest);

// Fails if a prompt of this many tokens does not fit.
void CheckPrompt(size_t tokens, uint64_t context);

// Encodes a prompt. Fails if it is empty or does not fit; with request.keep_end its beginning is dropped instead, and
// `dropped` counts these tokens.
Tokens PromptTokens(const Model& model, const std::string& text, const GenerationRequest& request);

// Reports texts that ended because the context was full, and texts that exceeded the model's trained length.
void ReportRoom(const Model& model, const GenerationRequest& request, const std::vector<Generation>& texts,
                std::ostream& err);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_ROOM_H_
