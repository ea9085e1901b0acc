// Texts as inputs of a program: encoded, truncated and padded as it requires.
#ifndef FOVEA_TOOLS_TEXT_TEXT_INPUTS_H_
#define FOVEA_TOOLS_TEXT_TEXT_INPUTS_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "tools/model/batch.h"
#include "tools/text/tokenizer.h"

namespace fovea::tools {

// Whether the program reads token ids; whether its tokens nest in sentences, and these in documents.
bool TakesTokens(const Model& model, uint32_t program);
bool ReadsDocuments(const Model& model, uint32_t program);
// The program of this name; for an empty name the first that reads token ids, or else the first.
uint32_t FindTextProgram(const Model& model, const std::string& name);
// The space whose rows are tokens.
uint32_t TokenSpace(const Model& model, uint32_t program);

// The maximum number of rows per text (or per sentence of a document); UINT32_MAX: no limit.
uint32_t MaxTokens(const Model& model, uint32_t program);

// Encodes a text for the program: as a whole or by sentences, each truncated to MaxTokens and `max_length` (if not 0),
// and padded if texts have a fixed length.
Tokens EncodeFor(const Model& model, const Tokenizer& tokenizer, uint32_t program, const std::string& text,
                 uint32_t max_length = 0, bool wrapped = false);

// Same for a pair of texts. Fails if the program reads documents.
Tokens EncodePairFor(const Model& model, const Tokenizer& tokenizer, uint32_t program, const std::string& first,
                     const std::string& second, uint32_t max_length = 0, PairCut cut = PairCut::kLongest);

// Pads after the tokens if all texts of a program have one length, or if metadata "pad_to" states the length to which
// texts were padded in training. Fails if the length is fixed and there are more tokens, or the model has no padding
// token.
void PadTokens(const Model& model, uint32_t program, Tokens* tokens);

Batch BatchFromTokens(const Model& model, uint32_t program, const std::vector<Tokens>& texts);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TEXT_TEXT_INPUTS_H_
