// Reads vocabularies of single characters, which are never merged.
#include <initializer_list>
#include <map>
#include <set>

#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {
namespace {

// Whether it is a name such as <pad> or [UNK], which is not found in text.
bool IsName(const std::string& piece) {
  if (piece.size() < 3) return false;
  return (piece.front() == '<' && piece.back() == '>') || (piece.front() == '[' && piece.back() == ']');
}

class Reader {
 public:
  Reader(const JsonView& table, const JsonView& description) : table_(table), description_(description) {}

  TextModel Run() {
    model_.kind = text::ModelKind::kBpe;
    model_.continuation = "";
    ReadTokens();
    ReadRoles();
    CheckPieces();
    if (description_["lower_case"].Flag(false)) model_.normalizer.push_back(LowerCaseStep());
    model_.flags = text::kCharacters | (unknown_ == "run" ? text::kFuseUnknown : 0u);
    model_.max_length = description_["max_length"].Number({}, 0);
    return std::move(model_);
  }

 private:
  // Reads a list, in which a token's index is its id, or an object with the id of each.
  void ReadTokens() {
    if (!table_.json().is_object()) {
      for (size_t i = 0; i < table_.List().size(); ++i) Add(table_.At(i).Bytes(), static_cast<uint32_t>(i), {});
    } else {
      const WholeRange ids = RangeOfIds(table_.json().size());
      for (const auto& [piece, id] : table_.json().items()) {
        const std::string name = fmt::format("{}: the id of \"{}\"", table_.name(), piece);
        Add(piece, static_cast<uint32_t>(WholeNumber(id, name, ids)), ids);
      }
    }
    if (model_.tokens.empty()) Fail("{} has no characters", table_.name());
  }

  void Add(const std::string& piece, uint32_t id, WholeRange ids) {
    const TextToken& token = AddPiece(piece, id, ids, table_, &model_);
    const auto place = static_cast<uint32_t>(&token - model_.tokens.data());
    if (!ids_.emplace(piece, place).second) Fail("{}: \"{}\" is listed twice", table_.name(), piece);
  }

  // "<role>_id" or "<role>_token" of the description, or the first of the usual names that exists.
  uint32_t Role(const std::string& role, std::initializer_list<const char*> usual = {}) {
    const JsonView id = description_[(role + "_id").c_str()], token = description_[(role + "_token").c_str()];
    if (!id.IsNull() && !token.IsNull()) Fail("tokenizer: give only one of {0}_id and {0}_token", role);
    if (!id.IsNull()) return id.Number({0, static_cast<int64_t>(model_.tokens.size()) - 1});
    if (!token.IsNull()) {
      const auto found = ids_.find(token.Bytes());
      if (found == ids_.end()) Fail("{} \"{}\" is not in {}", token.name(), token.Bytes(), table_.name());
      named_.insert(found->second);
      return found->second;
    }
    for (const char* name : usual) {
      const auto found = ids_.find(name);
      if (found != ids_.end()) return found->second;
    }
    return text::kNoId;
  }

  void ReadRoles() {
    unknown_ = description_["unknown"].Text("run");
    if (unknown_ != "run" && unknown_ != "each" && unknown_ != "none") {
      Fail("tokenizer: unknown must be run, each or none, not \"{}\"", unknown_);
    }
    model_.pad_id = Role("pad", {"<pad>", "[PAD]"});
    model_.unknown_id = Role("unknown", {"<unk>", "[UNK]"});
    if (unknown_ == "none") {
      const bool said = !description_["unknown_id"].IsNull() || !description_["unknown_token"].IsNull();
      if (said) Fail("tokenizer: unknown \"none\" cannot be combined with unknown_id or unknown_token");
      model_.unknown_id = text::kNoId;
    } else if (model_.unknown_id == text::kNoId) {
      model_.unknown_id = model_.pad_id;
      if (model_.pad_id == text::kNoId) Fail("{}: neither pad_id nor unknown_id is given", description_.name());
    }
    const uint32_t start = Role("start"), end = Role("end");
    if (start != text::kNoId || end != text::kNoId) {
      model_.single = TextModel::Around(start, text::TemplateKind::kTextA, end, 0);
    }
    without_text_ = {model_.pad_id, start, end};
  }

  // Characters are found in text; names and tokens with a role are not.
  void CheckPieces() {
    for (uint32_t id = 0; id < model_.tokens.size(); ++id) {
      TextToken& token = model_.tokens[id];
      if (!token.matches) continue;  // a gap
      const bool character = CodePoints(token.piece).size() == 1;
      if (without_text_.count(id) == 0 && character) continue;
      const bool nothing = token.piece.empty() && without_text_.count(id) != 0;
      if (!character && !nothing && named_.count(id) == 0 && !IsName(token.piece)) {
        Fail("{}: \"{}\" is not one character", table_.name(), token.piece);
      }
      token.matches = false;
      token.flags |= text::kTokenSpecial;
    }
  }

  const JsonView &table_, &description_;
  TextModel model_;
  std::map<std::string, uint32_t> ids_;
  std::set<uint32_t> named_;         // tokens that the description refers to by name
  std::set<uint32_t> without_text_;  // tokens that never occur in text
  std::string unknown_;
};

}  // namespace

TextModel ReadCharacters(const JsonView& file, const JsonView& description) {
  static const std::set<std::string> kKnown = {"type",       "file",          "key",        "pad_id",      "pad_token",
                                               "unknown_id", "unknown_token", "start_id",   "start_token", "end_id",
                                               "end_token",  "unknown",       "lower_case", "max_length"};
  for (const auto& [key, value] : description.Object().items()) {
    if (kKnown.count(key) == 0) Fail("unknown tokenizer key \"{}\"", key);
  }
  return Reader(description["key"].IsNull() ? file : file[description["key"].Text().c_str()], description).Run();
}

}  // namespace fovea::tools
