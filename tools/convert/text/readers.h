// Readers of published tokenizer files. Each refuses unsupported content by name.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_READERS_H_
#define FOVEA_TOOLS_CONVERT_TEXT_READERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "tools/base/json.h"
#include "tools/convert/text/model.h"
#include "tools/convert/text/model_lists.h"
#include "tools/convert/text/published_tokens.h"
#include "tools/convert/text/sentence_pieces.h"

namespace fovea::tools {

// tokenizer.json of Hugging Face tokenizers.
TextModel ReadTokenizerJson(const JsonView& file);
// Same, with the lists of its model, which `file` may lack.
TextModel ReadTokenizerJson(const JsonView& file, const ModelLists& lists);

// vocab.txt: one piece per line. `config`: tokenizer_config.json or an empty object, with the class of TokenizerClassOf
// if known.
TextModel ReadVocabTxt(const std::string& lines, const JsonView& config);

// vocab.txt of protein models (EsmTokenizer).
TextModel ReadEsmVocabulary(const std::string& lines, const PublishedTokens& tokens);

// vocab.json and merges.txt: byte-level byte-pair encoding. `config` as above.
// `file` is the name of vocab.json.
TextModel ReadMergesTxt(ModelLists vocabulary, const std::string& file, const std::string& lines,
                        const PublishedTokens& tokens, const JsonView& config);

// A SentencePiece model file, with SentencePiece's own ids and rules.
TextModel ReadSentencePiece(const std::string& bytes);
SentencePieces ReadPieces(const std::string& bytes);

// Same, as read by a class of the original library. `config` as above; `file` is for messages.
TextModel ReadSentencePieceOfClass(const std::string& type, const SentencePieces& read, const PublishedTokens& tokens,
                                   const JsonView& config, const std::string& file);

// A SentencePiece model file whose pieces have their ids in vocab.json: Marian, M2M100 and speech_to_text. Decoding
// uses only vocab.json.
TextModel ReadPiecesByVocabulary(const std::string& type, const SentencePieces& read, const ModelLists& vocabulary,
                                 const std::string& file, const PublishedTokens& tokens, const JsonView& config);

// ByT5: without files, an id for each byte.
TextModel ReadByteTokens(const PublishedTokens& tokens, const JsonView& config);

// A JSON array of objects with piece, score and type.
TextModel ReadListedPieces(const JsonView& file);

// A JSON array of pairs [piece, score], as specified for model descriptions (README.md).
TextModel ReadScoredPieces(const JsonView& pieces, const JsonView& description);

// A JSON array of characters, or an object with their ids, possibly as a member of an object: each character is a
// token.
TextModel ReadCharacters(const JsonView& file, const JsonView& description);

// Valid ids for a number of tokens. Gaps are allowed, but tables have the size of the largest id, so an id is at most
// slightly above twice that number.
WholeRange RangeOfIds(size_t tokens);

// Adds a piece that can be found in text. Each id has one piece; messages name the vocabulary.
TextToken& AddPiece(std::string_view piece, uint32_t id, WholeRange ids, const JsonView& vocabulary, TextModel* model);

// Lower-cases each character, without context.
TextStep LowerCaseStep();

// BertNormalizer as a single map.
TextStep BertNormalizerStep(bool clean_text, bool space_cjk, bool strip_accents, bool lower_case);

// A special token of tokenizer_config.json: a string or an object with `content`.
std::string SpecialToken(const JsonView& config, const char* key, const char* fallback);

// The lines of a file, without their ends. Fails, with `where`, for a line that is not UTF-8.
std::vector<std::string> LinesOf(const std::string& text, const std::string& where);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_READERS_H_
