#include "tools/generate/translation.h"

#include <algorithm>

#include "fovea/text.h"
#include "tools/base/fail.h"
#include "tools/base/sized.h"
#include "tools/generate/defaults.h"
#include "tools/text/text_inputs.h"

namespace fovea::tools {
namespace {

int32_t LanguageToken(const Model& model, const std::string& language) {
  for (const std::string& name : {language, "__" + language + "__"}) {
    int32_t token = 0;
    const auto size = static_cast<uint32_t>(name.size());
    if (fovea_text_find_token(model.get(), name.data(), size, &token, nullptr) == FOVEA_OK) return token;
  }
  Fail("{}: has no token for language '{}'", model.name(), language);
}

bool Has(const std::vector<int32_t>& ids, int32_t id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

// The special tokens that a text spells: the index of each in `tokens`.
std::vector<size_t> Spelled(const Model& model, const Tokens& tokens) {
  fovea_text_info info = Sized<fovea_text_info>();
  fovea_text_get_info(model.get(), &info, nullptr);
  std::vector<size_t> found;
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    if (tokens.special[i] != 0 || tokens.ids[i] == info.unknown_id) continue;
    const char* piece = nullptr;
    uint32_t size = 0, special = 0;
    fovea_text_get_token(model.get(), tokens.ids[i], &piece, &size, &special, nullptr);
    if (special != 0) found.push_back(i);
  }
  return found;
}

// Inserts entries after the tokens that the template puts before a text.
template <typename T>
void Insert(size_t at, const std::vector<T>& from, const std::vector<size_t>& which, std::vector<T>* to) {
  std::vector<T> chosen;
  for (const size_t i : which) chosen.push_back(from[i]);
  to->insert(to->begin() + static_cast<ptrdiff_t>(at), chosen.begin(), chosen.end());
}

// Encodes a prefix and a text. Special tokens that the prefix spells are tokens even if texts are literal.
Tokens EncodePrefixed(const Model& model, const std::string& prefix, const std::string& text) {
  const Tokenizer tokenizer(model), parsing(model, false);
  const uint32_t program = SourceProgram(model);
  const auto encoded = [&](const Tokenizer& by) { return EncodeFor(model, by, program, prefix + text); };
  if (!model.literal_texts() || prefix.empty()) return encoded(tokenizer);
  const Tokens before = parsing.EncodeWhole(prefix);
  const std::vector<size_t> spelled = Spelled(model, before);
  if (spelled.empty()) return encoded(tokenizer);
  if (Spelled(model, parsing.EncodeWhole(prefix + text)).size() == spelled.size()) return encoded(parsing);
  // Both spell special tokens: the prefix is parsed up to its last one, what follows is text.
  std::vector<size_t> head;
  for (size_t i = 0; i <= spelled.back(); ++i) {
    if (before.special[i] == 0) head.push_back(i);
  }
  const uint32_t most = MaxTokens(model, program);
  if (head.size() >= most) Fail("the prefix has {} tokens, texts have {} at most", head.size(), most);
  Tokens tokens = tokenizer.Encode(prefix.substr(before.end[spelled.back()]) + text,
                                   most == UINT32_MAX ? 0 : most - static_cast<uint32_t>(head.size()));
  const auto first = std::find(tokens.special.begin(), tokens.special.end(), 0);
  const auto at = static_cast<size_t>(first == tokens.special.end() ? 0 : first - tokens.special.begin());
  Insert(at, before.ids, head, &tokens.ids);
  Insert(at, before.types, head, &tokens.types);
  Insert(at, before.special, head, &tokens.special);
  Insert(at, before.begin, head, &tokens.begin);
  Insert(at, before.end, head, &tokens.end);
  PadTokens(model, program, &tokens);
  return tokens;
}

}  // namespace

Tokens SourceTokens(const Model& model, const Languages& languages, const std::string& text) {
  Tokens tokens = EncodePrefixed(model, languages.prefix, text);
  if (languages.source.empty()) return tokens;
  // A source is enclosed by its language token and the end-of-text token.
  const std::vector<int32_t> ends = DefaultsOf(model).stop_ids;
  const int32_t language = LanguageToken(model, languages.source);
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    if (tokens.special[i] == 0 || Has(ends, tokens.ids[i])) continue;
    tokens.ids[i] = language;
    return tokens;
  }
  Fail("{}: sources of this model have no language token; leave out --source-language", model.name());
}

void SetTarget(const Model& model, const std::string& language, GenerationRequest* request) {
  if (language.empty()) return;
  const GenerationDefaults defaults = DefaultsOf(model);
  const int32_t token = LanguageToken(model, language);
  // Texts usually start with the end-of-text or padding token, followed by the language.
  const std::string pad = MetadataOr(model, "pad_token_id", "");
  const bool usual =
      !defaults.start || Has(defaults.stop_ids, *defaults.start) || std::to_string(*defaults.start) == pad;
  (usual || defaults.first ? request->first : request->start) = token;
}

}  // namespace fovea::tools
