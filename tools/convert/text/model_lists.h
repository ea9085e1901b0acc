// The long lists of the model of a tokenizer.json, the vocabulary and the merges, without a JSON value for each piece.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_MODEL_LISTS_H_
#define FOVEA_TOOLS_CONVERT_TEXT_MODEL_LISTS_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/json.h"
#include "tools/convert/text/model.h"
#include "tools/convert/text/string_index.h"

namespace fovea::tools {

class ModelLists {
 public:
  struct Piece {
    std::string_view text;
    uint32_t id = 0;
    double score = 0;
  };
  struct Merge {
    std::string_view left, right;
  };
  struct TextOfPiece {
    const ModelLists* lists;
    std::string_view operator()(uint32_t place) const { return lists->pieces[place].text; }
  };
  using Index = StringIndex<TextOfPiece>;  // places in `pieces`

  ModelLists() = default;
  // Strings stay where they are.
  ModelLists(ModelLists&&) = default;
  ModelLists& operator=(ModelLists&&) = default;

  // A copy of a string that lasts as long as this.
  std::string_view Keep(std::string_view text);
  void AddPiece(std::string_view text, uint32_t id, double score = 0) { pieces.push_back({Keep(text), id, score}); }
  void AddMerge(std::string_view left, std::string_view right) { merges.push_back({Keep(left), Keep(right)}); }
  // Refers to this. Fails, with `where`, if a piece is listed twice.
  Index MakeIndex(const std::string& where) const;

  enum { kNone, kIds, kScores } vocabulary = kNone;  // absent, an object with ids or a list with scores
  std::vector<Piece> pieces;                         // in the order of the file; kScores: the index is the id
  bool has_merges = false;
  std::vector<Merge> merges;
  std::vector<TextMerge> resolved;  // merges whose ids are known, instead of `merges`; the index is the rank

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t left_ = 0;  // unused bytes at the end of the last block
  size_t size_ = 0;  // bytes of the last block
};

// The lists of a model that has been parsed.
ModelLists ListsOf(const JsonView& model);
// A vocabulary that has been parsed: an object with ids.
ModelLists IdsOf(const JsonView& vocabulary);

// A tokenizer.json; `json` lacks what is in `lists`.
struct TokenizerFile {
  Json json;
  ModelLists lists;
};
TokenizerFile ReadTokenizerFile(const std::string& path);

// vocab.json: an object with the id of each piece.
ModelLists ReadIds(const std::string& path);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_MODEL_LISTS_H_
