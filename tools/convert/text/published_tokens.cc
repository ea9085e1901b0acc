// Special and added tokens of a directory, which are not in the vocabulary's file.
#include "tools/convert/text/published_tokens.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/tokenizer_json.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

// SPECIAL_TOKENS_ATTRIBUTES of the original library, in its order.
constexpr const char* kKeys[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                 "pad_token", "cls_token", "mask_token"};

uint32_t FlagsOf(const JsonView& token) {
  return (token["lstrip"].Flag(false) ? text::kAddedLstrip : 0u) |
         (token["rstrip"].Flag(false) ? text::kAddedRstrip : 0u) |
         (token["single_word"].Flag(false) ? text::kAddedSingleWord : 0u);
}

// Finds a token by content, added tokens first.
uint32_t IdOfText(const std::string& content, const TextModel& model) {
  for (const AddedToken& added : model.added) {
    if (added.content == content) return added.id;
  }
  const auto same = [&](const TextToken& token) { return token.piece == content; };
  const auto found = std::find_if(model.tokens.begin(), model.tokens.end(), same);
  return found == model.tokens.end() ? text::kNoId : static_cast<uint32_t>(found - model.tokens.begin());
}

std::vector<text::TemplateItem> ItemsOf(const std::string& written, const TextModel& model) {
  std::vector<text::TemplateItem> items;
  std::istringstream words(written);
  for (std::string word; words >> word;) {
    uint32_t type = 0;
    const size_t size = word.size();
    if (size > 2 && word[size - 2] == ':' && word[size - 1] >= '0' && word[size - 1] <= '9') {
      type = static_cast<uint32_t>(word[size - 1] - '0');
      word.resize(size - 2);
    }
    if (word == "$A" || word == "$B") {
      items.push_back({word == "$A" ? 1u : 2u, 0, type});
      continue;
    }
    const uint32_t id = IdOfText(word, model);
    if (id == text::kNoId) Fail("the vocabulary has no token \"{}\", which must begin or end texts", word);
    items.push_back({0, id, type});
  }
  return items;
}

}  // namespace

// Finds tokens of a model to which tokens are only added: published lists have thousands.
class PublishedTokens::Known {
 public:
  explicit Known(TextModel* model) : model_(*model) {}

  // As IdOfText.
  uint32_t IdOf(const std::string& content) {
    if (const AddedToken* added = Added(content)) return added->id;
    constexpr uint32_t kFew = 8;
    if (pieces_.empty() && ++searches_ <= kFew) return IdOfText(content, model_);
    if (pieces_.empty()) {
      pieces_.reserve(model_.tokens.size());
      for (uint32_t id = 0; id < model_.tokens.size(); ++id) pieces_.emplace(model_.tokens[id].piece, id);
    }
    const auto found = pieces_.find(content);
    return found == pieces_.end() ? text::kNoId : found->second;
  }
  // The first added token with this content; null if there is none.
  AddedToken* Added(const std::string& content) {
    for (; added_count_ < model_.added.size(); ++added_count_) {
      added_.emplace(model_.added[added_count_].content, added_count_);
    }
    const auto found = added_.find(content);
    return found == added_.end() ? nullptr : &model_.added[found->second];
  }
  // Gives a token without a piece its piece, which no other token has.
  void Name(uint32_t id, const std::string& piece) {
    model_.tokens[id].piece = piece;
    if (!pieces_.empty()) pieces_.emplace(piece, id);
  }
  TextModel& model() { return model_; }

 private:
  TextModel& model_;
  std::unordered_map<std::string, size_t> added_;
  std::unordered_map<std::string, uint32_t> pieces_;  // empty until several were searched
  size_t added_count_ = 0;
  uint32_t searches_ = 0;
};

PublishedTokens::PublishedTokens(const fs::path& model_dir, const JsonView& config) : config_(config) {
  const auto read = [&](const char* name, Json* json) {
    if (fs::exists(model_dir / name)) *json = ReadJson((model_dir / name).string());
    if (!json->is_object()) Fail("{} must be an object", (model_dir / name).string());
  };
  read("special_tokens_map.json", &map_);
  read("added_tokens.json", &added_);
}

JsonView PublishedTokens::Get(const char* key) const {
  const bool in_map = map_.contains(key), in_config = config_.json().contains(key);
  // Directories without added_tokens_decoder are older: there special_tokens_map.json decides.
  const bool by_map = in_map && (!in_config || config_["added_tokens_decoder"].IsNull());
  return by_map ? JsonView(map_, "special_tokens_map.json")[key] : config_[key];
}

PublishedTokens::Token PublishedTokens::Special(const JsonView& value) {
  Token special;
  special.whole = value.json().is_object();
  special.token.content = special.whole ? value["content"].Bytes() : value.Bytes();
  special.token.flags = text::kAddedSpecial | (special.whole ? FlagsOf(value) : 0u);
  special.token.normalized = special.whole && value["normalized"].Flag(false);
  return special;
}

std::optional<PublishedTokens::Token> PublishedTokens::Find(const char* key) const {
  const JsonView value = Get(key);
  if (value.IsNull()) return std::nullopt;
  return Special(value);
}

std::vector<PublishedTokens::Token> PublishedTokens::More() const {
  std::vector<Token> tokens;
  const JsonView list = Get("additional_special_tokens");
  if (!list.IsNull()) ForEach(list, [&](const JsonView& value) { tokens.push_back(Special(value)); });
  return tokens;
}

std::string PublishedTokens::Named(const char* key, const std::string& otherwise) const {
  if (const auto found = Find(key)) return found->token.content;
  return config_.json().contains(key) || map_.contains(key) ? "" : otherwise;
}

std::vector<PublishedTokens::Token> PublishedTokens::Listed() const {
  std::map<uint32_t, Token> by_id;
  const JsonView list = config_["added_tokens_decoder"];
  if (!list.IsNull()) {
    for (const auto& [id, value] : list.Object().items()) {
      const JsonView token = list[id.c_str()];
      Token listed;
      listed.has_id = listed.whole = true;
      listed.token.content = token["content"].Bytes();
      listed.token.id = static_cast<uint32_t>(WholeNumberIn(id, list.name() + ": an id"));
      listed.token.flags = FlagsOf(token) | (token["special"].Flag(false) ? text::kAddedSpecial : 0u);
      listed.token.normalized = token["normalized"].Flag(true);
      by_id[listed.token.id] = std::move(listed);
    }
  } else {
    // Tokens that a key names are special.
    std::unordered_set<std::string> named;
    for (const char* key : kKeys) named.insert(Named(key));
    for (const Token& token : More()) named.insert(token.token.content);
    const JsonView file(added_, "added_tokens.json");
    for (const auto& [content, id] : added_.items()) {
      Token listed;
      listed.has_id = true;
      listed.token.content = content;
      listed.token.id = static_cast<uint32_t>(WholeNumber(id, file.name() + ": the id of " + content));
      const bool special = named.count(content) != 0;
      listed.token.flags = special ? text::kAddedSpecial : 0u;
      listed.token.normalized = !special;
      by_id[listed.token.id] = std::move(listed);
    }
  }
  std::vector<Token> tokens;
  for (auto& [id, token] : by_id) tokens.push_back(std::move(token));
  return tokens;
}

void PublishedTokens::Add(Token token, Known* tokens) {
  TextModel* const model = &tokens->model();
  AddedToken& made = token.token;
  const uint32_t known = tokens->IdOf(made.content);
  if (token.has_id && known != text::kNoId && known != made.id) {
    Fail("added token \"{}\" is to have id {}, but the vocabulary has it as {}", made.content, made.id, known);
  }
  if (known != text::kNoId) {
    made.id = known;
  } else if (!token.has_id) {
    made.id = static_cast<uint32_t>(model->tokens.size());
  } else {
    const WholeRange range = RangeOfIds(model->tokens.size());
    if (made.id > range.most) Fail("added token \"{}\" has id {}, beyond {}", made.content, made.id, range.most);
  }
  TextToken& place = model->At(made.id);
  if (known == text::kNoId) {
    if (!place.piece.empty()) Fail("added token \"{}\" has the id of \"{}\"", made.content, place.piece);
    tokens->Name(made.id, made.content);
  }
  if ((made.flags & text::kAddedSpecial) != 0) place.flags |= text::kTokenSpecial;
  if (AddedToken* const added = tokens->Added(made.content)) {
    if (token.whole) *added = made;
    added->flags |= made.flags & text::kAddedSpecial;
    return;
  }
  model->added.push_back(made);
}

void PublishedTokens::AddBeside(const std::vector<DefaultToken>& defaults, TextModel* model, Findings* findings) const {
  const bool decoder = !config_["added_tokens_decoder"].IsNull();
  Known tokens(model);
  const auto add = [&](Token token, const std::string& where) {
    if (token.token.content.empty()) return;
    const uint32_t known = tokens.IdOf(token.token.content);
    if (known != text::kNoId && !decoder) return;  // tokenizer.json has its flags
    const uint32_t wanted = token.has_id ? token.token.id : text::kNoId;
    token.has_id = false;
    const std::string content = token.token.content;
    Add(std::move(token), &tokens);
    if (findings == nullptr) return;
    const uint32_t id = tokens.IdOf(content);
    if (known == text::kNoId) {
      findings->push_back(
          {Topic::kSpecialTokens, fmt::format("token \"{}\" of {} is not in tokenizer.json; it is added "
                                              "behind its tokens, as id {}",
                                              content, where, id)});
    } else if (wanted != text::kNoId && wanted != id) {
      findings->push_back(
          {Topic::kSpecialTokens,
           fmt::format("token \"{}\": followed is id {} of tokenizer.json, not {} of {}", content, id, wanted, where)});
    }
  };
  for (Token& token : Listed()) add(std::move(token), decoder ? "added_tokens_decoder" : "added_tokens.json");
  for (const char* key : kKeys) {
    auto token = Find(key);
    const auto is_it = [&](const DefaultToken& usual) { return std::string(usual.key) == key; };
    const auto usual = std::find_if(defaults.begin(), defaults.end(), is_it);
    if (!token && usual != defaults.end() && !config_.json().contains(key) && !map_.contains(key)) {
      token.emplace();
      token->token.content = usual->content;
      token->token.flags = text::kAddedSpecial;
    }
    if (!token) continue;
    const std::string content = token->token.content;
    if (tokens.IdOf(content) == text::kNoId) add(*std::move(token), key);
    if (key == std::string("pad_token")) model->pad_id = tokens.IdOf(content);
  }
  for (Token& token : More()) {
    if (tokens.IdOf(token.token.content) == text::kNoId) add(std::move(token), "additional_special_tokens");
  }
}

void PublishedTokens::AddTo(const std::vector<DefaultToken>& defaults, TextModel* model) const {
  const std::vector<Token> listed = Listed();
  Known tokens(model);
  for (const Token& token : listed) Add(token, &tokens);
  const auto named = [&](const char* key) -> std::optional<Token> {
    const auto is_it = [&](const DefaultToken& usual) { return std::string(usual.key) == key; };
    const auto usual = std::find_if(defaults.begin(), defaults.end(), is_it);
    auto found = Find(key);
    if (!found) {
      if (usual == defaults.end() || config_.json().contains(key) || map_.contains(key)) return std::nullopt;
      found.emplace();
      found->token.content = usual->content;
      found->token.flags = text::kAddedSpecial;
    }
    // A class gives its own flags to a token that is only named, and not listed with flags.
    const bool given = std::any_of(listed.begin(), listed.end(),
                                   [&](const Token& token) { return token.token.content == found->token.content; });
    if (usual != defaults.end() && !found->whole && !given && usual->flags != 0) {
      found->token.flags |= usual->flags;
      found->whole = true;
    }
    return found;
  };
  for (const char* key : kKeys) {
    if (auto token = named(key)) {
      const std::string content = token->token.content;
      Add(*std::move(token), &tokens);
      if (key == std::string("pad_token")) model->pad_id = tokens.IdOf(content);
      if (key == std::string("mask_token")) model->mask_id = tokens.IdOf(content);
    }
  }
  for (Token& token : More()) Add(std::move(token), &tokens);
}

void SetTemplate(const std::string& single, const std::string& pair, TextModel* model) {
  model->single = ItemsOf(single, *model);
  model->pair = ItemsOf(pair, *model);
}

}  // namespace fovea::tools
