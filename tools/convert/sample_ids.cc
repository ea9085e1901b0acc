#include "tools/convert/sample_ids.h"

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/common/text.h"

namespace fovea::tools {
namespace {

// Whether the ids of texts, one row each, are all that a program cannot do without.
bool ReadsIdsAlone(const Model& model, uint32_t program) {
  if (!TakesTokens(model, program) || ReadsDocuments(model, program)) return false;
  const uint32_t space = TokenSpace(model, program);
  uint32_t others = 0;
  for (const uint32_t input : InputsOf(model, program)) {
    const fovea_value_info info = model.Value(program, input);
    if (info.space != space || info.type != FOVEA_TYPE_I32) return false;
    if (!DefaultId(model, info)) ++others;
  }
  return others <= 1 && model.Space(space).parent != FOVEA_NONE;
}

}  // namespace

std::optional<Batch> BatchOfIds(const Model& model, uint32_t program, const IdRows& rows) {
  if (rows.empty() || !ReadsIdsAlone(model, program)) return std::nullopt;
  uint32_t limit = UINT32_MAX;
  for (const uint32_t input : InputsOf(model, program)) {
    const fovea_value_info info = model.Value(program, input);
    if (!DefaultId(model, info) && info.id_limit != 0) limit = std::min(limit, info.id_limit);
  }
  const uint32_t most = model.Space(TokenSpace(model, program)).max_segment_rows;
  std::vector<Tokens> texts;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() > most) {
      Fail("sample ids: row {} has {} tokens, texts have {} at most", i + 1, rows[i].size(), most);
    }
    for (const int32_t id : rows[i]) {
      if (id < 0 || static_cast<uint32_t>(id) >= limit) {
        Fail("sample ids: row {}: {} is not below {}", i + 1, id, limit);
      }
    }
    Tokens& text = texts.emplace_back();
    text.ids = rows[i];
    text.types.resize(text.ids.size());
    FillUp(model, program, &text);
  }
  return BatchFromTokens(model, program, texts);
}

}  // namespace fovea::tools
