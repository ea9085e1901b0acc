// Encoders of images in cases that no golden file covers: other sizes, windows that shrink, biases turned off. Each
// part is computed again from the model's own output before it, by plain loops in double.
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/golden/golden_support.h"
#include "tests/support/random_floats.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/base/mapped_file.h"
#include "tools/measure/synthetic_batch.h"
#include "tools/model/batch.h"

namespace fovea::test {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;
using tools::Json;
using tools::SafetensorsReader;
using tools::SafetensorsWriter;

Rows Zeros(size_t rows, size_t width) { return Rows(rows, Row(width)); }

double Gelu(double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }

class ImageEncoder : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(::testing::TempDir()) / ("image-encoder-" + std::to_string(getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // A published model with another configuration and without tensors whose names end so.
  void Begin(const std::string& published, const Json& changes, const std::vector<std::string>& without = {}) {
    const SafetensorsReader stored(InData("hf/" + published + "/model.safetensors"));
    SafetensorsWriter kept;
    tensors_.clear();
    for (const auto& [name, tensor] : stored.tensors()) {
      const auto ends = [&, stored_as = name](const std::string& end) {
        return stored_as.size() >= end.size() && stored_as.compare(stored_as.size() - end.size(), end.size(), end) == 0;
      };
      if (std::any_of(without.begin(), without.end(), ends)) continue;
      kept.Add(name, tensor.type, tensor.shape, tensor.data);
      tensors_[name] = {tensor.shape, tools::ToFloats(tensor)};
    }
    kept.Write((directory_ / "model.safetensors").string());
    Json config = tools::ReadJson(InData("hf/" + published + "/config.json"));
    config.merge_patch(changes);
    const std::string text = config.dump();
    tools::WriteFile((directory_ / "config.json").string(), text.data(), text.size());
  }

  // Runs two pictures of this size and keeps these values.
  void Run(const std::string& size, const std::vector<std::string>& values) {
    tools::ConvertOptions options = Converted::OptionsOf(directory_.string(), DType::kF32);
    if (!size.empty()) options.image_sizes = {size};
    model_ = std::make_unique<Converted>(options);
    const tools::Batch batch = tools::SyntheticBatch(model_->model, 0, {1, 1});
    tools::SessionRequest request;
    for (const std::string& name : values) {
      const uint32_t value = ValueOf(model_->model, name);
      if (model_->model.Value(0, value).role != FOVEA_ROLE_OUTPUT) request.keep.push_back(value);
    }
    tools::Session session = tools::SessionFor(model_->model, batch, request);
    session.Run();
    values_.clear();
    for (const std::string& name : values) {
      const tools::Matrix matrix = session.Output(ValueOf(model_->model, name));
      Rows rows;
      for (size_t at = 0; at < matrix.values.size(); at += matrix.width) {
        rows.emplace_back(matrix.values.begin() + static_cast<ptrdiff_t>(at),
                          matrix.values.begin() + static_cast<ptrdiff_t>(at + matrix.width));
      }
      values_[name] = rows;
    }
  }
  // Those of the second picture.
  Rows Second(const std::string& name) const {
    const Rows& all = values_.at(name);
    return Rows(all.begin() + static_cast<ptrdiff_t>(all.size() / 2), all.end());
  }
  void ExpectSecond(const std::string& name, const Rows& expected) const {
    const Rows found = Second(name);
    ASSERT_EQ(found.size(), expected.size()) << name;
    double largest = 0, most = 0;
    for (size_t r = 0; r < found.size(); ++r) {
      ASSERT_EQ(found[r].size(), expected[r].size()) << name;
      for (size_t c = 0; c < found[r].size(); ++c) {
        largest = std::max(largest, Distance(found[r][c], expected[r][c]));
        most = std::max(most, std::fabs(expected[r][c]));
      }
    }
    EXPECT_LE(largest, 1e-4 * most + 1e-5) << name;
  }

  bool Has(const std::string& name) const { return tensors_.count(name) != 0; }
  const std::vector<float>& T(const std::string& name) const { return tensors_.at(name).second; }
  size_t Size(const std::string& name, size_t i) const { return tensors_.at(name).first.at(i); }
  Row Linear(const Row& x, const std::string& name) const {
    const size_t rows = Size(name + ".weight", 0);
    Row out(rows);
    for (size_t r = 0; r < rows; ++r) {
      if (Has(name + ".bias")) out[r] = T(name + ".bias")[r];
      for (size_t c = 0; c < x.size(); ++c) out[r] += double{T(name + ".weight")[r * x.size() + c]} * x[c];
    }
    return out;
  }
  Row Norm(const Row& x, const std::string& name, double epsilon) const {
    const auto n = static_cast<double>(x.size());
    double mean = 0, variance = 0;
    for (const double v : x) mean += v / n;
    for (const double v : x) variance += (v - mean) * (v - mean) / n;
    Row out(x.size());
    for (size_t c = 0; c < x.size(); ++c) {
      out[c] = (x[c] - mean) / std::sqrt(variance + epsilon) * T(name + ".weight")[c] + T(name + ".bias")[c];
    }
    return out;
  }
  static Row Plus(Row a, const Row& b) {
    for (size_t c = 0; c < a.size(); ++c) a[c] += b[c];
    return a;
  }
  // Softmax of scores over values, in this head's columns.
  static void Attend(const Row& scores, const Rows& values, size_t head, size_t size, Row* out) {
    double most = -INFINITY, sum = 0;
    for (const double score : scores) most = std::max(most, score);
    for (const double score : scores) sum += std::exp(score - most);
    for (size_t j = 0; j < scores.size(); ++j) {
      for (size_t c = head * size; c < (head + 1) * size; ++c) {
        (*out)[c] += std::exp(scores[j] - most) / sum * values[j][c];
      }
    }
  }

  std::filesystem::path directory_;
  std::map<std::string, std::pair<std::vector<uint64_t>, std::vector<float>>> tensors_;
  std::map<std::string, Rows> values_;
  std::unique_ptr<Converted> model_;
};

// ---- Swin v2 ----

struct SwinBlock {
  std::string at;
  size_t rows, columns, heads, window, shift, trained;
};

class SwinV2 : public ImageEncoder {
 protected:
  double Bias(const SwinBlock& b, size_t head, int dy, int dx) const {
    const std::string network = b.at + "attention.self.continuous_position_bias_mlp.";
    const double whole = b.trained > 0 ? static_cast<double>(b.trained) - 1 : static_cast<double>(b.window) - 1;
    const auto measured = [&](int d) {
      const double x = whole > 0 ? 8 * d / whole : d;
      return (x < 0 ? -1 : 1) * std::log2(std::fabs(x) + 1) / std::log2(8.0);
    };
    double sum = 0;
    for (size_t i = 0; i < Size(network + "0.bias", 0); ++i) {
      const std::vector<float>& w = T(network + "0.weight");
      const double x = w[2 * i] * measured(dy) + w[2 * i + 1] * measured(dx) + T(network + "0.bias")[i];
      sum += std::max(x, 0.0) * T(network + "2.weight")[head * Size(network + "0.bias", 0) + i];
    }
    return 16 / (1 + std::exp(-sum));
  }

  Rows Block(const Rows& x, const SwinBlock& b) const {
    const size_t width = x[0].size(), size = width / b.heads, side = b.window;
    const size_t down = (b.rows + side - 1) / side * side, across = (b.columns + side - 1) / side * side;
    Rows attended = Zeros(x.size(), width);
    const int reach = static_cast<int>(side) - 1;
    std::vector<double> biases;  // by head, dy and dx
    for (size_t head = 0; head < b.heads; ++head) {
      for (int dy = -reach; dy <= reach; ++dy) {
        for (int dx = -reach; dx <= reach; ++dx) biases.push_back(Bias(b, head, dy, dx));
      }
    }
    const auto part = [&](size_t place, size_t padded) {
      return b.shift == 0 || place < padded - side ? 0 : place < padded - b.shift ? 1 : 2;
    };
    for (size_t top = 0; top < down; top += side) {
      for (size_t left = 0; left < across; left += side) {
        std::vector<size_t> ys, xs;
        Rows q, k, v;
        for (size_t i = 0; i < side * side; ++i) {
          ys.push_back(top + i / side), xs.push_back(left + i % side);
          const size_t from_y = (ys[i] + b.shift) % down, from_x = (xs[i] + b.shift) % across;
          const bool inside = from_y < b.rows && from_x < b.columns;
          const Row row = inside ? x[from_y * b.columns + from_x] : Row(width);
          q.push_back(Linear(row, b.at + "attention.self.query"));
          k.push_back(Linear(row, b.at + "attention.self.key"));
          v.push_back(Linear(row, b.at + "attention.self.value"));
        }
        for (size_t i = 0; i < side * side; ++i) {
          const size_t to_y = (ys[i] + b.shift) % down, to_x = (xs[i] + b.shift) % across;
          if (to_y >= b.rows || to_x >= b.columns) continue;
          for (size_t head = 0; head < b.heads; ++head) {
            const double scale =
                std::exp(std::min<double>(T(b.at + "attention.self.logit_scale")[head], std::log(100)));
            Row scores;
            for (size_t j = 0; j < side * side; ++j) {
              double qk = 0, qq = 0, kk = 0;
              for (size_t c = head * size; c < (head + 1) * size; ++c) {
                qk += q[i][c] * k[j][c], qq += q[i][c] * q[i][c], kk += k[j][c] * k[j][c];
              }
              const int dy = static_cast<int>(i / side) - static_cast<int>(j / side);
              const int dx = static_cast<int>(i % side) - static_cast<int>(j % side);
              double score = qk / std::max(std::sqrt(qq), 1e-12) / std::max(std::sqrt(kk), 1e-12) * scale;
              const size_t offsets = 2 * side - 1;
              score += biases[(head * offsets + static_cast<size_t>(dy + reach)) * offsets +
                              static_cast<size_t>(dx + reach)];
              const bool together =
                  part(ys[i], down) == part(ys[j], down) && part(xs[i], across) == part(xs[j], across);
              scores.push_back(together ? score : -INFINITY);
            }
            Attend(scores, v, head, size, &attended[to_y * b.columns + to_x]);
          }
        }
      }
    }
    Rows out;
    for (size_t r = 0; r < x.size(); ++r) {
      const Row middle =
          Plus(x[r], Norm(Linear(attended[r], b.at + "attention.output.dense"), b.at + "layernorm_before", 1e-5));
      Row up = Linear(middle, b.at + "intermediate.dense");
      for (double& value : up) value = Gelu(value);
      out.push_back(Plus(middle, Norm(Linear(up, b.at + "output.dense"), b.at + "layernorm_after", 1e-5)));
    }
    return out;
  }

  Rows Merge(const Rows& x, size_t rows, size_t columns, const std::string& at) const {
    Rows out;
    for (size_t y = 0; y < rows; y += 2) {
      for (size_t z = 0; z < columns; z += 2) {
        Row four;
        for (size_t k = 0; k < 4; ++k) {
          const size_t from_y = y + k % 2, from_x = z + k / 2;
          const bool inside = from_y < rows && from_x < columns;
          const Row part = inside ? x[from_y * columns + from_x] : Row(x[0].size());
          four.insert(four.end(), part.begin(), part.end());
        }
        out.push_back(Norm(Linear(four, at + "reduction"), at + "norm", 1e-5));
      }
    }
    return out;
  }
};

TEST_F(SwinV2, AnySizeAndWindow) {
  const struct {
    const char* image;  // as asked for
    Json changes;
    std::vector<std::string> without;
    size_t rows, columns;         // patches of the first stage
    size_t window, shift;         // first stage
    size_t second, second_shift;  // second stage
    size_t trained[2];
  } cases[] = {
      // Windows that divide nothing, on a picture that is not square; odd grids at the merge.
      {"42x28", {{"window_size", 3}, {"image_size", 64}}, {}, 11, 7, 3, 1, 3, 1, {0, 0}},
      // The second stage is no larger than the window by the configured size.
      {"36x36", {{"window_size", 5}, {"image_size", 32}}, {}, 9, 9, 5, 2, 4, 0, {0, 0}},
      {"", {{"window_size", 4}, {"image_size", 32}, {"pretrained_window_sizes", {6, 3}}}, {}, 8, 8, 4, 2, 4, 0, {6, 3}},
      {"",
       {{"window_size", 8}, {"image_size", 32}, {"qkv_bias", false}},
       {"query.bias", "value.bias"},
       8,
       8,
       8,
       0,
       4,
       0,
       {0, 0}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.changes.dump());
    Begin("swinv2", c.changes, c.without);
    Run(c.image, {"hidden_states.0", "hidden_states.1", "hidden_states.2"});
    const std::string layers = "swinv2.encoder.layers.";
    Rows x = Second("hidden_states.0");
    for (size_t i = 0; i < 2; ++i) {
      x = Block(x, {layers + "0.blocks." + std::to_string(i) + ".", c.rows, c.columns, 2, c.window, i * c.shift,
                    c.trained[0]});
    }
    ExpectSecond("hidden_states.1", Merge(x, c.rows, c.columns, layers + "0.downsample."));
    x = Second("hidden_states.1");
    for (size_t i = 0; i < 2; ++i) {
      x = Block(x, {layers + "1.blocks." + std::to_string(i) + ".", (c.rows + 1) / 2, (c.columns + 1) / 2, 3, c.second,
                    i * c.second_shift, c.trained[1]});
    }
    ExpectSecond("hidden_states.2", x);
  }
}

TEST_F(SwinV2, WhatDoesNotFitIsRefused) {
  const struct {
    Json changes;
    std::vector<std::string> without;
  } cases[] = {{{{"image_size", 4}}, {}},  // nothing is left of the second stage
               {{{"qkv_bias", false}}, {"query.bias"}},
               {{{"pretrained_window_sizes", {6}}}, {}},
               {{{"pretrained_window_sizes", {6, 1}}}, {}},
               {{{"num_heads", {2, 4}}}, {}},
               {{{"use_absolute_embeddings", true}}, {}}};
  for (const auto& c : cases) {
    Begin("swinv2", c.changes, c.without);
    EXPECT_THROW(Run("", {"logits"}), tools::Failure) << c.changes.dump();
  }
}

// ---- SegFormer ----

using SegFormer = ImageEncoder;

// Stages whose sizes are no multiples of each other, and the published code's order of things in the head.
TEST_F(SegFormer, HeadOverStagesOfAnySize) {
  Begin("segformer", Json::object());
  Run("36x52", {"hidden_states.0", "hidden_states.1", "hidden_states.2", "logits"});
  const size_t rows[] = {9, 5, 3}, columns[] = {13, 7, 4};
  Rows joined(rows[0] * columns[0]);
  for (size_t stage = 3; stage-- > 0;) {
    Rows projected;
    for (const Row& row : Second("hidden_states." + std::to_string(stage))) {
      projected.push_back(Linear(row, "decode_head.linear_c." + std::to_string(stage) + ".proj"));
    }
    for (size_t i = 0; i < joined.size(); ++i) {
      const auto place = [&](size_t at, size_t to, size_t from) {
        return std::max(0.0,
                        (static_cast<double>(at) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5);
      };
      const double y = place(i / columns[0], rows[0], rows[stage]),
                   x = place(i % columns[0], columns[0], columns[stage]);
      const auto y0 = static_cast<size_t>(y), x0 = static_cast<size_t>(x);
      const size_t y1 = std::min(y0 + 1, rows[stage] - 1), x1 = std::min(x0 + 1, columns[stage] - 1);
      const double down = y - static_cast<double>(y0), across = x - static_cast<double>(x0);
      for (size_t c = 0; c < projected[0].size(); ++c) {
        const auto at = [&](size_t row, size_t column) { return projected[row * columns[stage] + column][c]; };
        joined[i].push_back((1 - down) * ((1 - across) * at(y0, x0) + across * at(y0, x1)) +
                            down * ((1 - across) * at(y1, x0) + across * at(y1, x1)));
      }
    }
  }
  Rows expected;
  for (const Row& row : joined) {
    Row fused = Linear(row, "decode_head.linear_fuse");
    const std::string norm = "decode_head.batch_norm.";
    for (size_t c = 0; c < fused.size(); ++c) {
      const double deviation = std::sqrt(double{T(norm + "running_var")[c]} + 1e-5);
      fused[c] = (fused[c] - T(norm + "running_mean")[c]) / deviation * T(norm + "weight")[c] + T(norm + "bias")[c];
      fused[c] = std::max(fused[c], 0.0);
    }
    expected.push_back(Linear(fused, "decode_head.classifier"));
  }
  ExpectSecond("logits", expected);
}

TEST_F(SegFormer, WhatIsNotConvertedIsRefused) {
  Begin("segformer", {{"reshape_last_stage", false}});
  EXPECT_THROW(Run("32x32", {"logits"}), tools::Failure);
  Begin("segformer", Json::object());
  EXPECT_THROW(Run("", {"logits"}), tools::Failure);     // no source of a size
  EXPECT_THROW(Run("8x8", {"logits"}), tools::Failure);  // smaller than a stage's filters
  Begin("segformer", {{"depths", {1, 2}}});
  EXPECT_THROW(Run("32x32", {"logits"}), tools::Failure);
}

// ---- SAM ----

class Sam : public ImageEncoder {
 protected:
  // Row `at` of a stored table, resampled to `count` rows.
  double Relative(const std::string& name, size_t at, size_t count, size_t column) const {
    const size_t stored = Size(name, 0), width = Size(name, 1);
    const double place =
        std::max(0.0, (static_cast<double>(at) + 0.5) * static_cast<double>(stored) / static_cast<double>(count) - 0.5);
    const auto first = static_cast<size_t>(place);
    const size_t second = std::min(first + 1, stored - 1);
    const double share = place - static_cast<double>(first);
    return (1 - share) * T(name)[first * width + column] + share * T(name)[second * width + column];
  }

  // One layer on a grid, in windows unless `side` is 0.
  Rows Layer(const Rows& x, const std::string& at, size_t rows, size_t columns, size_t side, size_t heads,
             bool relative) const {
    const size_t width = x[0].size(), size = width / heads;
    const size_t down = side == 0 ? rows : side, across = side == 0 ? columns : side;
    Rows attended = Zeros(x.size(), width);
    for (size_t top = 0; top < rows; top += down) {
      for (size_t left = 0; left < columns; left += across) {
        Rows q, k, v;
        for (size_t i = 0; i < down * across; ++i) {
          const size_t y = top + i / across, z = left + i % across;
          const Row in = y < rows && z < columns ? Norm(x[y * columns + z], at + "layer_norm1", 1e-6) : Row(width);
          const Row all = Linear(in, at + "attn.qkv");
          const auto part = [&](size_t n) {
            return Row(all.begin() + static_cast<ptrdiff_t>(n * width),
                       all.begin() + static_cast<ptrdiff_t>((n + 1) * width));
          };
          q.push_back(part(0)), k.push_back(part(1)), v.push_back(part(2));
        }
        for (size_t i = 0; i < down * across; ++i) {
          const size_t y = top + i / across, z = left + i % across;
          if (y >= rows || z >= columns) continue;
          for (size_t head = 0; head < heads; ++head) {
            Row scores;
            for (size_t j = 0; j < down * across; ++j) {
              double score = 0;
              for (size_t c = 0; c < size; ++c) {
                const double query = q[i][head * size + c];
                score += query * k[j][head * size + c] / std::sqrt(static_cast<double>(size));
                if (!relative) continue;
                score += query * Relative(at + "attn.rel_pos_h", i / across + down - 1 - j / across, 2 * down - 1, c);
                score +=
                    query * Relative(at + "attn.rel_pos_w", i % across + across - 1 - j % across, 2 * across - 1, c);
              }
              scores.push_back(score);
            }
            Attend(scores, v, head, size, &attended[y * columns + z]);
          }
        }
      }
    }
    Rows out;
    for (size_t r = 0; r < x.size(); ++r) {
      const Row middle = Plus(x[r], Linear(attended[r], at + "attn.proj"));
      Row up = Linear(Norm(middle, at + "layer_norm2", 1e-6), at + "mlp.lin1");
      for (double& value : up) value = Gelu(value);
      out.push_back(Plus(middle, Linear(up, at + "mlp.lin2")));
    }
    return out;
  }
};

// Windows that divide neither side, tables of relative positions of another size, none at all, everything global.
TEST_F(Sam, AnySizeAndWindow) {
  const struct {
    const char* image;
    Json changes;
    size_t rows, columns;
    size_t sides[3];
    bool relative;
  } cases[] = {{"20x36", Json::object(), 5, 9, {3, 0, 3}, true},
               {"", {{"use_rel_pos", false}}, 8, 8, {3, 0, 3}, false},
               {"12x8", {{"window_size", 0}}, 3, 2, {0, 0, 0}, true}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.image + c.changes.dump());
    if (!c.relative) {
      Begin("sam-vision", c.changes, {"rel_pos_h"});
      EXPECT_THROW(Run(c.image, {"hidden_states.0"}), tools::Failure) << "the other axis is still stored";
    }
    Begin("sam-vision", c.changes,
          c.relative ? std::vector<std::string>() : std::vector<std::string>{"rel_pos_h", "rel_pos_w"});
    Run(c.image, {"hidden_states.0", "hidden_states.1", "hidden_states.2", "hidden_states.3"});
    for (size_t i = 0; i < 3; ++i) {
      ExpectSecond("hidden_states." + std::to_string(i + 1), Layer(Second("hidden_states." + std::to_string(i)),
                                                                   "vision_encoder.layers." + std::to_string(i) + ".",
                                                                   c.rows, c.columns, c.sides[i], 3, c.relative));
    }
  }
}

}  // namespace
}  // namespace fovea::test
