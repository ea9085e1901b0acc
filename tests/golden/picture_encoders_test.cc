// BEiT and DINO with configurations that no golden case covers: made-up weights against plain code in double precision.
#include <unistd.h>

#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/golden/golden_support.h"
#include "tools/base/json.h"
#include "tools/base/mapped_file.h"
#include "tools/model/batch.h"

namespace fovea::test {
namespace {

using tools::Json;
using Rows = std::vector<std::vector<double>>;

constexpr uint32_t kWidth = 24, kHeads = 2, kMiddle = 20, kPatch = 4, kChannels = 3, kDown = 3, kAcross = 2;
constexpr uint32_t kHeight = kDown * kPatch, kColumns = kAcross * kPatch, kLayers = 2;
constexpr double kEpsilon = 1e-5;

// A model directory with random weights.
class MadeUp {
 public:
  MadeUp() : directory_(std::filesystem::path(::testing::TempDir()) / ("pictures-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(directory_);
  }
  ~MadeUp() { std::filesystem::remove_all(directory_); }

  void Add(const std::string& name, const std::vector<uint64_t>& shape, double mean = 0) {
    uint64_t count = 1;
    for (const uint64_t size : shape) count *= size;
    std::normal_distribution<float> draw(static_cast<float>(mean), 0.25f);
    std::vector<float>& values = values_[name];
    for (uint64_t i = 0; i < count; ++i) values.push_back(draw(random_));
    writer_.AddFloats(name, shape, values.data());
  }
  void Layer(const std::string& name, uint64_t out, uint64_t in, bool bias = true) {
    Add(name + ".weight", {out, in});
    if (bias) Add(name + ".bias", {out});
  }
  void Norm(const std::string& name) {
    Add(name + ".weight", {kWidth}, 1);
    Add(name + ".bias", {kWidth});
  }
  const std::vector<float>& operator[](const std::string& name) const { return values_.at(name); }
  bool Has(const std::string& name) const { return values_.count(name) != 0; }
  double At(const std::string& name, size_t i) const { return values_.at(name)[i]; }

  std::vector<float> Pixels() {
    std::vector<float> pixels(kChannels * kHeight * kColumns);
    for (float& pixel : pixels) pixel = std::normal_distribution<float>(0, 1)(random_);
    return pixels;
  }

  // The converted model's rows of these outputs for a picture.
  std::map<std::string, Rows> Run(Json config, const std::vector<float>& pixels) const {
    config.update({{"image_size", {kHeight, kColumns}},
                   {"patch_size", kPatch},
                   {"num_channels", kChannels},
                   {"hidden_size", kWidth},
                   {"intermediate_size", kMiddle},
                   {"num_hidden_layers", kLayers},
                   {"num_attention_heads", kHeads},
                   {"layer_norm_eps", kEpsilon}});
    const std::string text = config.dump();
    tools::WriteFile((directory_ / "config.json").string(), text.data(), text.size());
    writer_.Write((directory_ / "model.safetensors").string());
    const Converted converted(directory_.string(), DType::kF32);
    tools::Batch batch;
    const uint32_t input = tools::InputsOf(converted.model, 0)[0], space = converted.model.Value(0, input).space;
    batch.numbers[input] = pixels;
    tools::AddSegments(converted.model, space, tools::MakeSegments({converted.model.Space(space).max_segment_rows}),
                       &batch);
    tools::Session session = tools::SessionFor(converted.model, batch);
    session.Run();
    std::map<std::string, Rows> outputs;
    for (const uint32_t value : tools::OutputsOf(converted.model, 0)) {
      const tools::Matrix rows = session.Output(value);
      Rows& output = outputs[converted.model.Value(0, value).name];
      for (uint32_t i = 0; i < rows.rows; ++i) output.emplace_back(rows.Row(i), rows.Row(i) + rows.width);
    }
    return outputs;
  }

 private:
  std::filesystem::path directory_;
  std::mt19937 random_{11};
  std::map<std::string, std::vector<float>> values_;
  tools::SafetensorsWriter writer_;
};

// ---- The same by plain code ----

Rows Linear(const MadeUp& m, const Rows& x, const std::string& name) {
  const std::vector<float>& weight = m[name + ".weight"];
  const size_t in = x[0].size(), out = weight.size() / in;
  Rows made(x.size(), std::vector<double>(out));
  for (size_t r = 0; r < x.size(); ++r) {
    for (size_t o = 0; o < out; ++o) {
      double sum = m.Has(name + ".bias") ? m.At(name + ".bias", o) : 0;
      for (size_t i = 0; i < in; ++i) sum += x[r][i] * weight[o * in + i];
      made[r][o] = sum;
    }
  }
  return made;
}

Rows Normed(const MadeUp& m, Rows x, const std::string& name) {
  for (auto& row : x) {
    double mean = 0, square = 0;
    for (const double value : row) mean += value / static_cast<double>(row.size());
    for (const double value : row) square += (value - mean) * (value - mean) / static_cast<double>(row.size());
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = (row[i] - mean) / std::sqrt(square + kEpsilon) * m.At(name + ".weight", i) + m.At(name + ".bias", i);
    }
  }
  return x;
}

// `factors`: of the branch, a tensor; empty: none.
void AddTo(Rows& x, const Rows& branch, const MadeUp& m, const std::string& factors) {
  for (size_t r = 0; r < x.size(); ++r) {
    for (size_t i = 0; i < x[r].size(); ++i) x[r][i] += branch[r][i] * (factors.empty() ? 1 : m.At(factors, i));
  }
}

using Bias = std::function<double(size_t head, size_t query, size_t key)>;

Rows Attended(const Rows& q, const Rows& k, const Rows& v, const Bias& bias) {
  const size_t size = q[0].size() / kHeads;
  Rows made(q.size(), std::vector<double>(q[0].size()));
  for (size_t h = 0; h < kHeads; ++h) {
    for (size_t i = 0; i < q.size(); ++i) {
      std::vector<double> weights;
      double sum = 0;
      for (size_t j = 0; j < k.size(); ++j) {
        double score = 0;
        for (size_t c = h * size; c < (h + 1) * size; ++c) score += q[i][c] * k[j][c];
        weights.push_back(std::exp(score / std::sqrt(double(size)) + (bias ? bias(h, i, j) : 0)));
        sum += weights.back();
      }
      for (size_t j = 0; j < k.size(); ++j) {
        for (size_t c = h * size; c < (h + 1) * size; ++c) made[i][c] += weights[j] / sum * v[j][c];
      }
    }
  }
  return made;
}

Rows Patches(const MadeUp& m, const std::vector<float>& pixels, const std::string& projection) {
  Rows flat;
  for (uint32_t p = 0; p < kDown * kAcross; ++p) {
    flat.emplace_back();
    for (uint32_t c = 0; c < kChannels; ++c) {
      for (uint32_t y = p / kAcross * kPatch; y < (p / kAcross + 1) * kPatch; ++y) {
        for (uint32_t x = p % kAcross * kPatch; x < (p % kAcross + 1) * kPatch; ++x) {
          flat.back().push_back(pixels[(c * kHeight + y) * kColumns + x]);
        }
      }
    }
  }
  return Linear(m, flat, projection);
}

std::vector<double> Row(const MadeUp& m, const std::string& name, size_t row) {
  const auto begin = m[name].begin() + static_cast<ptrdiff_t>(row * kWidth);
  return {begin, begin + kWidth};
}

double Silu(double x) { return x / (1 + std::exp(-x)); }

void ExpectNear(const Rows& found, const Rows& expected) {
  ASSERT_EQ(found.size(), expected.size());
  double most = 0;
  for (const auto& row : expected) {
    for (const double value : row) most = std::max(most, std::fabs(value));
  }
  for (size_t r = 0; r < found.size(); ++r) {
    ASSERT_EQ(found[r].size(), expected[r].size());
    for (size_t i = 0; i < found[r].size(); ++i) {
      EXPECT_NEAR(found[r][i], expected[r][i], 1e-4 * most + 1e-5) << r << " " << i;
    }
  }
}

// ---- BEiT ----

// A table of offsets of a grid that is no square, as the original resamples it: its columns taken for rows.
double Offset(const MadeUp& m, const std::string& name, size_t head, int down, int across) {
  const int rows = 2 * kDown - 1, columns = 2 * kAcross - 1;
  const auto place = [](int at, int from, int to) { return std::max(0.0, (at + 0.5) * from / to - 0.5); };
  const double y = place(down + static_cast<int>(kDown) - 1, columns, rows);
  const double x = place(across + static_cast<int>(kAcross) - 1, rows, columns);
  double sum = 0;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      const int top = std::min(static_cast<int>(y) + i, columns - 1),
                left = std::min(static_cast<int>(x) + j, rows - 1);
      const double fy = y - std::floor(y), fx = x - std::floor(x);
      sum += (i == 0 ? 1 - fy : fy) * (j == 0 ? 1 - fx : fx) *
             m.At(name, static_cast<size_t>(top * rows + left) * kHeads + head);
    }
  }
  return sum;
}

double BeitBias(const MadeUp& m, const std::string& name, size_t head, size_t query, size_t key) {
  const size_t extra = (2 * kDown - 1) * (2 * kAcross - 1);
  if (query == 0) return m.At(name, (extra + (key == 0 ? 2 : 0)) * kHeads + head);
  if (key == 0) return m.At(name, (extra + 1) * kHeads + head);
  const auto at = [](size_t row) {
    return std::pair(static_cast<int>((row - 1) / kAcross), static_cast<int>((row - 1) % kAcross));
  };
  return Offset(m, name, head, at(query).first - at(key).first, at(query).second - at(key).second);
}

TEST(Beit, EveryBranchOfItsConfiguration) {
  for (const bool own : {false, true}) {
    for (const bool shared : {false, true}) {
      const bool absolute = own != shared, averages = shared, scaled = own;
      SCOPED_TRACE(::testing::Message() << "own " << own << " shared " << shared);
      MadeUp m;
      const std::string table = "relative_position_bias.relative_position_bias_table";
      const uint64_t offsets = (2 * kDown - 1) * (2 * kAcross - 1) + 3;
      m.Add("embeddings.cls_token", {1, 1, kWidth});
      m.Add("embeddings.patch_embeddings.projection.weight", {kWidth, kChannels, kPatch, kPatch});
      m.Add("embeddings.patch_embeddings.projection.bias", {kWidth});
      if (absolute) m.Add("embeddings.position_embeddings", {1, kDown * kAcross + 1, kWidth});
      if (shared) m.Add("encoder." + table, {offsets, kHeads});
      for (uint32_t i = 0; i < kLayers; ++i) {
        const std::string at = fmt::format("encoder.layer.{}.", i);
        for (const char* name : {"query", "key", "value"}) {
          m.Layer(at + "attention.attention." + name, kWidth, kWidth, name != std::string("key"));
        }
        if (own) m.Add(at + "attention.attention." + table, {offsets, kHeads});
        m.Layer(at + "attention.output.dense", kWidth, kWidth);
        m.Layer(at + "intermediate.dense", kMiddle, kWidth);
        m.Layer(at + "output.dense", kWidth, kMiddle);
        m.Norm(at + "layernorm_before");
        m.Norm(at + "layernorm_after");
        if (scaled) m.Add(at + "lambda_1", {kWidth}, 1);
        if (scaled) m.Add(at + "lambda_2", {kWidth}, 1);
      }
      m.Norm(averages ? "pooler.layernorm" : "layernorm");
      const std::vector<float> pixels = m.Pixels();

      Rows x = Patches(m, pixels, "embeddings.patch_embeddings.projection");
      x.insert(x.begin(), Row(m, "embeddings.cls_token", 0));
      for (size_t r = 0; absolute && r < x.size(); ++r) {
        for (uint32_t i = 0; i < kWidth; ++i) x[r][i] += m.At("embeddings.position_embeddings", r * kWidth + i);
      }
      for (uint32_t i = 0; i < kLayers; ++i) {
        const std::string at = fmt::format("encoder.layer.{}.", i), self = at + "attention.attention.";
        const Rows in = Normed(m, x, at + "layernorm_before");
        const Bias bias = [&](size_t h, size_t q, size_t k) {
          return (own ? BeitBias(m, self + table, h, q, k) : 0) +
                 (shared ? BeitBias(m, "encoder." + table, h, q, k) : 0);
        };
        const Rows attended =
            Attended(Linear(m, in, self + "query"), Linear(m, in, self + "key"), Linear(m, in, self + "value"), bias);
        AddTo(x, Linear(m, attended, at + "attention.output.dense"), m, scaled ? at + "lambda_1" : "");
        Rows up = Linear(m, Normed(m, x, at + "layernorm_after"), at + "intermediate.dense");
        for (auto& row : up) {
          for (double& value : row) value = std::max(value, 0.0);
        }
        AddTo(x, Linear(m, up, at + "output.dense"), m, scaled ? at + "lambda_2" : "");
      }
      Rows pooled = {std::vector<double>(kWidth)};
      if (averages) {
        for (size_t r = 1; r < x.size(); ++r) {
          for (uint32_t i = 0; i < kWidth; ++i) pooled[0][i] += x[r][i] / (kDown * kAcross);
        }
        pooled = Normed(m, pooled, "pooler.layernorm");
      } else {
        x = Normed(m, x, "layernorm");
        pooled = {x[0]};
      }
      const auto found = m.Run({{"model_type", shared ? "beit" : "data2vec-vision"},
                                {"architectures", {"Model"}},
                                {"hidden_act", "relu"},
                                {"use_mean_pooling", averages},
                                {"use_absolute_position_embeddings", absolute},
                                {"use_relative_position_bias", own},
                                {"use_shared_relative_position_bias", shared},
                                {"layer_scale_init_value", scaled ? 0.1 : 0.0}},
                               pixels);
      ExpectNear(found.at("last_hidden_state"), x);
      ExpectNear(found.at("pooler_output"), pooled);
    }
  }
}

// ---- DINOv3: gates, all biases; DINOv2 with registers: gates and classes ----

TEST(Dino, GatesRegistersAndClasses) {
  for (const bool third : {false, true}) {
    SCOPED_TRACE(third ? "dinov3" : "dinov2 with registers");
    MadeUp m;
    constexpr uint32_t kRegisters = 2, kHead = kWidth / kHeads;
    const std::string base = third ? "" : "dinov2_with_registers.";
    const std::string projection =
        base + (third ? "embeddings.patch_embeddings" : "embeddings.patch_embeddings.projection");
    m.Add(base + "embeddings.cls_token", {1, 1, kWidth});
    m.Add(base + "embeddings.register_tokens", {1, kRegisters, kWidth});
    m.Add(projection + ".weight", {kWidth, kChannels, kPatch, kPatch});
    m.Add(projection + ".bias", {kWidth});
    if (!third) m.Add(base + "embeddings.position_embeddings", {1, kDown * kAcross + 1, kWidth});
    const auto name = [&](uint32_t i, const char* second, const char* thirds) {
      return fmt::format("{}{}{}.{}", base, third ? "layer." : "encoder.layer.", i, third ? thirds : second);
    };
    for (uint32_t i = 0; i < kLayers; ++i) {
      m.Layer(name(i, "attention.attention.query", "attention.q_proj"), kWidth, kWidth, third);
      m.Layer(name(i, "attention.attention.key", "attention.k_proj"), kWidth, kWidth, third);
      m.Layer(name(i, "attention.attention.value", "attention.v_proj"), kWidth, kWidth, third);
      m.Layer(name(i, "attention.output.dense", "attention.o_proj"), kWidth, kWidth);
      if (third) m.Layer(name(i, "", "mlp.gate_proj"), kMiddle, kWidth);
      m.Layer(name(i, "mlp.weights_in", "mlp.up_proj"), third ? kMiddle : 2 * kMiddle, kWidth);
      m.Layer(name(i, "mlp.weights_out", "mlp.down_proj"), kWidth, kMiddle);
      m.Norm(name(i, "norm1", "norm1"));
      m.Norm(name(i, "norm2", "norm2"));
      m.Add(name(i, "layer_scale1.lambda1", "layer_scale1.lambda1"), {kWidth}, 1);
      m.Add(name(i, "layer_scale2.lambda1", "layer_scale2.lambda1"), {kWidth}, 1);
    }
    m.Norm(base + (third ? "norm" : "layernorm"));
    if (!third) m.Layer("classifier", 5, 2 * kWidth);
    const std::vector<float> pixels = m.Pixels();

    Rows x = Patches(m, pixels, projection);
    x.insert(x.begin(), Row(m, base + "embeddings.cls_token", 0));
    for (size_t r = 0; !third && r < x.size(); ++r) {
      for (uint32_t i = 0; i < kWidth; ++i) x[r][i] += m.At(base + "embeddings.position_embeddings", r * kWidth + i);
    }
    for (uint32_t r = 0; r < kRegisters; ++r) {
      x.insert(x.begin() + 1 + r, Row(m, base + "embeddings.register_tokens", r));
    }
    const auto turned = [&](Rows rows) {
      for (uint32_t p = 0; third && p < kDown * kAcross; ++p) {
        std::vector<double>& row = rows[1 + kRegisters + p];
        const double place[] = {2 * (p / kAcross + 0.5) / kDown - 1, 2 * (p % kAcross + 0.5) / kAcross - 1};
        const std::vector<double> was = row;
        for (uint32_t h = 0; h < kHeads; ++h) {
          for (uint32_t i = 0; i < kHead / 2; ++i) {
            const double angle =
                2 * std::acos(-1.0) * place[i / (kHead / 4)] * std::pow(30.0, -4.0 * (i % (kHead / 4)) / kHead);
            const size_t a = h * kHead + i, b = a + kHead / 2;
            row[a] = was[a] * std::cos(angle) - was[b] * std::sin(angle);
            row[b] = was[b] * std::cos(angle) + was[a] * std::sin(angle);
          }
        }
      }
      return rows;
    };
    for (uint32_t i = 0; i < kLayers; ++i) {
      const Rows in = Normed(m, x, name(i, "norm1", "norm1"));
      const Rows attended = Attended(turned(Linear(m, in, name(i, "attention.attention.query", "attention.q_proj"))),
                                     turned(Linear(m, in, name(i, "attention.attention.key", "attention.k_proj"))),
                                     Linear(m, in, name(i, "attention.attention.value", "attention.v_proj")), {});
      AddTo(x, Linear(m, attended, name(i, "attention.output.dense", "attention.o_proj")), m,
            name(i, "layer_scale1.lambda1", "layer_scale1.lambda1"));
      const Rows next = Normed(m, x, name(i, "norm2", "norm2"));
      const Rows up = Linear(m, next, name(i, "mlp.weights_in", "mlp.up_proj"));
      const Rows gate = third ? Linear(m, next, name(i, "", "mlp.gate_proj")) : up;
      Rows middle(x.size(), std::vector<double>(kMiddle));
      for (size_t r = 0; r < x.size(); ++r) {
        for (uint32_t c = 0; c < kMiddle; ++c) middle[r][c] = Silu(gate[r][c]) * up[r][third ? c : kMiddle + c];
      }
      AddTo(x, Linear(m, middle, name(i, "mlp.weights_out", "mlp.down_proj")), m,
            name(i, "layer_scale2.lambda1", "layer_scale2.lambda1"));
    }
    x = Normed(m, x, base + (third ? "norm" : "layernorm"));
    const auto found = m.Run({{"model_type", third ? "dinov3_vit" : "dinov2_with_registers"},
                              {"architectures", {third ? "Model" : "ForImageClassification"}},
                              {"hidden_act", third ? "silu" : "gelu"},
                              {"num_register_tokens", kRegisters},
                              {"use_gated_mlp", true},
                              {"use_swiglu_ffn", true},
                              {"qkv_bias", false},
                              {"key_bias", true},
                              {"rope_theta", 30.0}},
                             pixels);
    if (third) {
      ExpectNear(found.at("last_hidden_state"), x);
      ExpectNear(found.at("pooler_output"), {x[0]});
      continue;
    }
    Rows both = {x[0]};
    both[0].resize(2 * kWidth);
    for (size_t r = 1 + kRegisters; r < x.size(); ++r) {
      for (uint32_t i = 0; i < kWidth; ++i) both[0][kWidth + i] += x[r][i] / (kDown * kAcross);
    }
    ExpectNear(found.at("logits"), Linear(m, both, "classifier"));
  }
}

}  // namespace
}  // namespace fovea::test
