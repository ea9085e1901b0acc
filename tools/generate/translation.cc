#include "tools/generate/translation.h"

#include <algorithm>

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

}  // namespace

Tokens SourceTokens(const Model& model, const Languages& languages, const std::string& text) {
  const Tokenizer tokenizer(model);
  Tokens tokens = EncodeFor(model, tokenizer, SourceProgram(model), languages.prefix + text);
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
