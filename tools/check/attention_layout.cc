// Converts attention maps to the layout of another library.
#include "tools/check/attention_layout.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

// For each text, the padded positions of the keys named by column `column` of the layout's value.
std::vector<std::vector<int64_t>> NamedRows(const Model& model, const AttentionLayout& layout, const Session& session,
                                            const Batch& batch, uint32_t tap, size_t column) {
  const fovea_attention_map weights = session.AttentionMap(tap);
  const std::vector<uint32_t> lengths = session.Lengths(weights.key_space);
  const auto placed = batch.spaces.find(weights.key_space);
  const std::vector<uint32_t> counts = session.Lengths(model.Value(session.request().program, *layout.value).space);
  const Matrix rows = session.Output(*layout.value);
  std::vector<std::vector<int64_t>> named(lengths.size());
  int64_t text_row = 0;
  size_t at = column;
  for (size_t text = 0; text < lengths.size(); ++text) {
    const int64_t first = placed == batch.spaces.end() ? 0 : placed->second.first[text];
    for (uint32_t i = 0; i < counts[text]; ++i, at += rows.width) {
      named[text].push_back(static_cast<int64_t>(rows.values[at]) - text_row + first);
    }
    text_row += lengths[text];
  }
  return named;
}

OutputTensor Band(const Model& model, const AttentionLayout& layout, const OutputTensor& dense, const Session& session,
                  const Batch& batch, uint32_t tap) {
  const std::vector<std::vector<int64_t>> selected = NamedRows(model, layout, session, batch, tap, 0);
  size_t most = 0;
  for (const auto& rows : selected) most = std::max(most, rows.size());
  const size_t heads = dense.shape[1], queries = dense.shape[2], keys = dense.shape[3];
  const size_t columns = most + 2 * size_t{layout.side} + 1;
  OutputTensor out{dense.name, {dense.shape[0], heads, queries, columns}, {}, {}};
  out.values.assign(dense.shape[0] * heads * queries * columns, 0.0f);
  out.valid.assign(out.values.size(), 0);
  for (size_t row = 0; row < dense.shape[0] * heads * queries; ++row) {
    const std::vector<int64_t>& rows = selected[row / (heads * queries)];
    const auto query = static_cast<int64_t>(row % queries);
    const auto is_selected = [&](int64_t at) { return std::binary_search(rows.begin(), rows.end(), at); };
    const auto text = dense.valid.begin() + static_cast<ptrdiff_t>(row * keys);
    if (std::find(text, text + static_cast<ptrdiff_t>(keys), uint8_t{1}) == text + static_cast<ptrdiff_t>(keys)) {
      continue;  // a padding query
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

// Layout "repeated": divides the weights of the first keys. Rows and keys of a text start at the same position.
void Once(const AttentionLayout& layout, OutputTensor* dense) {
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

OutputTensor KeysFirst(const OutputTensor& dense) {
  const size_t queries = dense.shape[2], keys = dense.shape[3];
  OutputTensor out = dense;
  std::swap(out.shape[2], out.shape[3]);
  for (size_t i = 0; i < dense.values.size(); ++i) {
    const size_t matrix = i / (queries * keys), query = i / keys % queries, key = i % keys;
    out.values[(matrix * keys + key) * queries + query] = dense.values[i];
    out.valid[(matrix * keys + key) * queries + query] = dense.valid[i];
  }
  return out;
}

constexpr int64_t kPadding = -1;

// For each matrix of `dense`, the positions in the order of the chunks, round after round.
std::vector<std::vector<int64_t>> Circles(const Model& model, const AttentionLayout& layout, const OutputTensor& dense,
                                          const Session& session, const Batch& batch, uint32_t tap) {
  const size_t texts = dense.shape[0], heads = dense.shape[1], rows = dense.shape[2];
  const size_t whole = size_t{layout.chunk} * layout.multiple, padded = (rows + whole - 1) / whole * whole;
  size_t rounds = 1;
  if (layout.value) rounds = model.Value(session.request().program, *layout.value).width / (2 * heads);
  std::vector<std::vector<int64_t>> circles(texts * heads, std::vector<int64_t>(rounds * padded, kPadding));
  std::vector<std::vector<int64_t>> order(texts, std::vector<int64_t>(rows));
  for (auto& positions : order) std::iota(positions.begin(), positions.end(), 0);
  for (size_t column = 0; column < heads * rounds; ++column) {
    if (layout.value) order = NamedRows(model, layout, session, batch, tap, column);
    for (size_t text = 0; text < texts; ++text) {
      for (size_t place = 0; place < order[text].size(); ++place) {
        const int64_t position = order[text][place];
        if (place >= rows || position < 0 || position >= static_cast<int64_t>(rows)) {
          Fail("{}: position {} of the sorted rows has invalid row {}", dense.name, place, position);
        }
        circles[text * heads + column / rounds][column % rounds * padded + place] = position;
      }
    }
  }
  return circles;
}

// A softmax over all rounds gives each key one weight: exp(score) times the number of rounds in which the query sees
// it, over the sum of all. A softmax over one round is therefore the weights of its keys divided by their sum. If that
// sum is empty, the query sees only itself, with a score that is effectively masked.
OutputTensor Chunked(const Model& model, const AttentionLayout& layout, const OutputTensor& dense,
                     const Session& session, const Batch& batch, uint32_t tap) {
  const size_t heads = dense.shape[1], rows = dense.shape[2], chunk = layout.chunk;
  if (dense.shape[3] != rows) Fail("{}: chunks of {} queries and {} keys", dense.name, rows, dense.shape[3]);
  if (rows <= layout.least) return dense;
  const std::vector<std::vector<int64_t>> circles = Circles(model, layout, dense, session, batch, tap);
  const size_t places = circles.empty() ? 0 : circles[0].size(), chunks = places / chunk;
  const size_t columns = (size_t{layout.before} + 1 + layout.after) * chunk;
  OutputTensor out{dense.name, {dense.shape[0], heads, chunks, chunk, columns}, {}, {}};
  out.values.assign(circles.size() * places * columns, 0.0f);
  out.valid.assign(out.values.size(), 0);
  for (size_t matrix = 0; matrix < circles.size(); ++matrix) {
    const std::vector<int64_t>& circle = circles[matrix];
    const auto key_of = [&](size_t place, size_t column) {
      const size_t own = place / chunk, i = column / chunk;
      // A chunk that is a whole circle away is the query's own chunk.
      const bool near = i + chunks > layout.before && i < layout.before + chunks;
      return circle[(near ? (own + chunks + i - layout.before) % chunks : own) * chunk + column % chunk];
    };
    std::vector<std::vector<size_t>> places_of(rows);
    for (size_t place = 0; place < places; ++place) {
      if (circle[place] != kPadding) places_of[static_cast<size_t>(circle[place])].push_back(place);
    }
    for (size_t query = 0; query < rows; ++query) {
      const size_t row = matrix * rows + query;
      const auto valid = dense.valid.begin() + static_cast<ptrdiff_t>(row * rows);
      if (std::count(valid, valid + static_cast<ptrdiff_t>(rows), uint8_t{1}) == 0) continue;
      std::vector<double> weights(dense.values.begin() + static_cast<ptrdiff_t>(row * rows),
                                  dense.values.begin() + static_cast<ptrdiff_t>((row + 1) * rows));
      std::vector<uint32_t> times(rows);
      double all = 0;
      for (const size_t place : places_of[query]) {
        for (size_t column = 0; column < columns; ++column) {
          const int64_t key = key_of(place, column);
          if (key != kPadding && times[static_cast<size_t>(key)]++ == 0) all += weights[static_cast<size_t>(key)];
        }
      }
      for (const size_t place : places_of[query]) {
        float* to = out.values.data() + (matrix * places + place) * columns;
        std::fill_n(out.valid.begin() + (to - out.values.data()), columns, uint8_t{1});
        const auto share = [&](size_t column) {
          const int64_t key = key_of(place, column);
          return key == kPadding ? 0 : weights[static_cast<size_t>(key)] / times[static_cast<size_t>(key)];
        };
        double sum = 0, itself = 0;
        for (size_t column = 0; column < columns; ++column) {
          sum += share(column);
          itself += key_of(place, column) == circle[place];
        }
        for (size_t column = 0; column < columns; ++column) {
          const double only = key_of(place, column) == circle[place] ? 1 / itself : 0;
          to[column] = static_cast<float>(all * (sum == 0 ? only : share(column) / sum));
        }
      }
    }
  }
  return out;
}

}  // namespace

AttentionLayout LayoutOf(const Model& model, uint32_t program, const std::string& step) {
  const char* words = model.Metadata("layout." + step);
  if (words == nullptr) return {};
  std::istringstream text(words);
  std::string kind, value;
  AttentionLayout layout;
  text >> kind;
  bool good = true;
  if (kind == "keys_first") {
    layout.kind = AttentionLayout::Kind::kKeysFirst;
  } else if (kind == "flat") {
    layout.kind = AttentionLayout::Kind::kFlat;
  } else if (kind == "repeated") {
    layout.kind = AttentionLayout::Kind::kRepeated;
    text >> layout.block >> layout.times >> layout.full_up_to;
    good = layout.block > 0 && layout.times > 0 && layout.full_up_to >= layout.block;
  } else if (kind == "band") {
    layout.kind = AttentionLayout::Kind::kBand;
    text >> layout.side >> value;
    good = layout.side <= INT32_MAX;
  } else if (kind == "chunked") {
    layout.kind = AttentionLayout::Kind::kChunked;
    text >> layout.chunk >> layout.before >> layout.after >> layout.multiple >> layout.least;
    good = layout.chunk > 0 && layout.multiple > 0 && layout.multiple <= INT32_MAX / layout.chunk &&
           layout.before <= INT16_MAX && layout.after <= INT16_MAX;
    if (!text.eof()) text >> value;
  } else {
    good = false;
  }
  good = good && !text.fail();
  if (!value.empty()) layout.value = model.FindValue(program, value);
  if (!good || (!value.empty() && !layout.value)) Fail("{}: metadata layout.{} is {}", model.name(), step, words);
  return layout;
}

OutputTensor LayOut(const Model& model, const AttentionLayout& layout, OutputTensor dense, const Session& session,
                    const Batch& batch, uint32_t tap) {
  if (batch.ragged) return dense;
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
    case AttentionLayout::Kind::kFlat:
      dense.shape = {dense.shape[0] * dense.shape[1], dense.shape[2], dense.shape[3]};
      break;
    case AttentionLayout::Kind::kChunked:
      return Chunked(model, layout, dense, session, batch, tap);
  }
  return dense;
}

}  // namespace fovea::tools
