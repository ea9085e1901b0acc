// Readers of the tokenizer files that model hubs publish. Each refuses, by name, what it does not know.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_READERS_H_
#define FOVEA_TOOLS_CONVERT_TEXT_READERS_H_

#include <string>
#include <vector>

#include "tools/base/json.h"
#include "tools/convert/text/model.h"
#include "tools/convert/text/published_tokens.h"
#include "tools/convert/text/sentence_pieces.h"

namespace fovea::tools {

// tokenizer.json of Hugging Face tokenizers.
TextModel ReadTokenizerJson(const JsonView& file);

// vocab.txt: one piece a line. `config`: tokenizer_config.json or an empty object, with the class of
// TokenizerClassOf where there is one.
TextModel ReadVocabTxt(const std::string& lines, const JsonView& config);

// vocab.json and merges.txt: byte-level byte-pair encoding. `config` as above.
TextModel ReadMergesTxt(const JsonView& vocabulary, const std::string& lines, const PublishedTokens& tokens,
                        const JsonView& config);

// A SentencePiece model file, with SentencePiece's own ids and rules.
TextModel ReadSentencePiece(const std::string& bytes);
SentencePieces ReadPieces(const std::string& bytes);

// The same as a class of the original library reads it. `config` as above; `file` is for messages.
TextModel ReadSentencePieceOfClass(const std::string& type, const SentencePieces& read, const PublishedTokens& tokens,
                                   const JsonView& config, const std::string& file);

// A SentencePiece model file that finds pieces, and vocab.json with their ids: Marian and speech_to_text. Decoding is
// by vocab.json alone.
TextModel ReadPiecesByVocabulary(const std::string& type, const SentencePieces& read, const JsonView& vocabulary,
                                 const PublishedTokens& tokens, const JsonView& config);

// ByT5: no file, an id for each byte.
TextModel ReadByteTokens(const PublishedTokens& tokens, const JsonView& config);

// Objects with piece, score and type in a JSON array.
TextModel ReadListedPieces(const JsonView& file);

// Pairs [piece, score] in a JSON array, as a model description explains them (README.md).
TextModel ReadScoredPieces(const JsonView& pieces, const JsonView& description);

// Characters in a JSON array, or an object with their ids, or in one that a member of an object is: each is a token of
// its own.
TextModel ReadCharacters(const JsonView& file, const JsonView& description);

// Ids of so many tokens may leave gaps, but tables follow the number of tokens: an id is at most a little above twice
// that.
WholeRange RangeOfIds(size_t tokens);

// Gives a piece, which the model finds in text, its place. An id has one piece; messages name the vocabulary.
TextToken& AddPiece(const std::string& piece, const Json& id, WholeRange ids, const JsonView& vocabulary,
                    TextModel* model);

// Each character in lower case, whatever stands around it.
TextStep LowerCaseStep();

// What BertNormalizer does, as one map.
TextStep BertNormalizerStep(bool clean_text, bool space_cjk, bool strip_accents, bool lower_case);

// A special token of tokenizer_config.json: a string or an object with `content`.
std::string SpecialToken(const JsonView& config, const char* key, const char* fallback);

// The lines of a file, without their ends. Fails, with `where`, at one that is not UTF-8.
std::vector<std::string> LinesOf(const std::string& text, const std::string& where);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_READERS_H_
