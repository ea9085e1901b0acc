// Attention weights in the layout of another library.
#include "tools/common/attention_layout.h"

#include <algorithm>
#include <sstream>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

// Padded positions of the selected rows, text by text.
std::vector<std::vector<int64_t>> SelectedRows(const Model& model, const AttentionLayout& layout,
                                               const Session& session, const Batch& batch, uint32_t tap) {
  const fovea_weights weights = session.Weights(tap);
  const std::vector<uint32_t> lengths = session.Lengths(weights.key_space);
  const auto placed = batch.spaces.find(weights.key_space);
  const std::vector<uint32_t> counts = session.Lengths(model.Value(session.request().program, layout.selection).space);
  const Matrix rows = session.Output(layout.selection);
  std::vector<std::vector<int64_t>> selected(lengths.size());
  int64_t text_row = 0;
  size_t at = 0;
  for (size_t text = 0; text < lengths.size(); ++text) {
    const int64_t first = placed == batch.spaces.end() ? 0 : placed->second.first[text];
    for (uint32_t i = 0; i < counts[text]; ++i) {
      selected[text].push_back(static_cast<int64_t>(rows.values[at++]) - text_row + first);
    }
    text_row += lengths[text];
  }
  return selected;
}

PaddedTensor Band(const Model& model, const AttentionLayout& layout, const PaddedTensor& dense, const Session& session,
                  const Batch& batch, uint32_t tap) {
  const std::vector<std::vector<int64_t>> selected = SelectedRows(model, layout, session, batch, tap);
  size_t most = 0;
  for (const auto& rows : selected) most = std::max(most, rows.size());
  const size_t heads = dense.shape[1], queries = dense.shape[2], keys = dense.shape[3];
  const size_t columns = most + 2 * size_t{layout.side} + 1;
  PaddedTensor out{dense.name, {dense.shape[0], heads, queries, columns}, {}, {}};
  out.values.assign(dense.shape[0] * heads * queries * columns, 0.0f);
  out.valid.assign(out.values.size(), 0);
  for (size_t row = 0; row < dense.shape[0] * heads * queries; ++row) {
    const std::vector<int64_t>& rows = selected[row / (heads * queries)];
    const auto query = static_cast<int64_t>(row % queries);
    const auto is_selected = [&](int64_t at) { return std::binary_search(rows.begin(), rows.end(), at); };
    const auto text = dense.valid.begin() + static_cast<ptrdiff_t>(row * keys);
    if (std::find(text, text + static_cast<ptrdiff_t>(keys), uint8_t{1}) == text + static_cast<ptrdiff_t>(keys)) {
      continue;  // a query of the padding
    }
    std::fill_n(out.valid.begin() + static_cast<ptrdiff_t>(row * columns), columns, uint8_t{1});
    if (is_selected(query)) continue;
    const float* from = dense.values.data() + row * keys;
    float* to = out.values.data() + row * columns;
    for (size_t i = 0; i < rows.size(); ++i) to[i] = from[rows[i]];
    for (size_t i = most; i < columns; ++i) {
      const int64_t key = query + static_cast<int64_t>(i - most) - layout.side;
      if (key >= 0 && key < static_cast<int64_t>(keys) && !is_selected(key)) to[i] = from[key];
    }
  }
  return out;
}

// Rows and keys of a text stand together and begin at the same place.
void Once(const AttentionLayout& layout, PaddedTensor* dense) {
  const size_t queries = dense->shape[2], keys = dense->shape[3];
  for (size_t row = 0; row < dense->shape[0] * dense->shape[1] * queries; ++row) {
    const auto begin = dense->valid.begin() + static_cast<ptrdiff_t>(row * keys);
    const auto end = begin + static_cast<ptrdiff_t>(keys);
    const auto first = std::find(begin, end, uint8_t{1}), last = std::find(first, end, uint8_t{0});
    const auto length = static_cast<size_t>(last - first), start = static_cast<size_t>(first - begin);
    if (length <= layout.full_up_to) continue;
    const size_t block = (row % queries - start) / layout.block, blocks = (length + layout.block - 1) / layout.block;
    if (block == 0 || block + 1 == blocks) continue;
    for (size_t key = start; key < start + layout.block; ++key) {
      dense->values[row * keys + key] /= static_cast<float>(layout.times);
    }
  }
}

PaddedTensor KeysFirst(const PaddedTensor& dense) {
  const size_t queries = dense.shape[2], keys = dense.shape[3];
  PaddedTensor out = dense;
  std::swap(out.shape[2], out.shape[3]);
  for (size_t i = 0; i < dense.values.size(); ++i) {
    const size_t matrix = i / (queries * keys), query = i / keys % queries, key = i % keys;
    out.values[(matrix * keys + key) * queries + query] = dense.values[i];
    out.valid[(matrix * keys + key) * queries + query] = dense.valid[i];
  }
  return out;
}

}  // namespace

AttentionLayout LayoutOf(const Model& model, uint32_t program, const std::string& step) {
  const char* words = model.Metadata("layout." + step);
  if (words == nullptr) return {};
  std::istringstream text(words);
  std::string kind, selection;
  AttentionLayout layout;
  text >> kind;
  if (kind == "keys_first") {
    layout.kind = AttentionLayout::Kind::kKeysFirst;
    return layout;
  }
  if (kind == "repeated" && text >> layout.block >> layout.times >> layout.full_up_to && layout.block > 0 &&
      layout.times > 0 && layout.full_up_to >= layout.block) {
    layout.kind = AttentionLayout::Kind::kRepeated;
    return layout;
  }
  const bool numbers = static_cast<bool>(text >> layout.side >> selection);
  const std::optional<uint32_t> value = model.FindValue(program, selection);
  if (kind != "band" || !numbers || layout.side > INT32_MAX || !value) {
    Fail("{}: metadata layout.{} is {}", model.name(), step, words);
  }
  layout.kind = AttentionLayout::Kind::kBand;
  layout.selection = *value;
  return layout;
}

PaddedTensor LayOut(const Model& model, const AttentionLayout& layout, PaddedTensor dense, const Session& session,
                    const Batch& batch, uint32_t tap) {
  switch (layout.kind) {
    case AttentionLayout::Kind::kDense:
      break;
    case AttentionLayout::Kind::kBand:
      return Band(model, layout, dense, session, batch, tap);
    case AttentionLayout::Kind::kRepeated:
      Once(layout, &dense);
      break;
    case AttentionLayout::Kind::kKeysFirst:
      return KeysFirst(dense);
  }
  return dense;
}

}  // namespace fovea::tools
