// Nomic BERT against a plain reference in f64, as there is no golden: rotary positions on all or half of a head, gates,
// norms after the sums, with and without biases and token types.
#include <unistd.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/golden/golden_support.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/base/mapped_file.h"
#include "tools/model/batch.h"
#include "tools/text/text_inputs.h"

namespace fovea::test {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;
using tools::Json;

struct Tensor {
  size_t rows, width;
  std::vector<float> values;
};

struct Setting {
  bool biases, typed;
  double fraction;
  const char* activation;
  bool interleaved;
};

constexpr size_t kWidth = 24, kHeads = 3, kSize = 8, kInner = 20, kWords = 30, kLayers = 2;

class Reference {
 public:
  explicit Reference(const Setting& setting) : setting_(setting) {
    Add("embeddings.word_embeddings.weight", kWords, kWidth, 0);
    if (setting.typed) Add("embeddings.token_type_embeddings.weight", 2, kWidth, 0);
    AddNorm("emb_ln");
    for (size_t i = 0; i < kLayers; ++i) {
      const std::string at = Layer(i);
      AddLinear(at + "attn.Wqkv", 3 * kWidth, kWidth);
      AddLinear(at + "attn.out_proj", kWidth, kWidth);
      AddNorm(at + "norm1");
      AddLinear(at + "mlp.fc11", kInner, kWidth);
      AddLinear(at + "mlp.fc12", kInner, kWidth);
      AddLinear(at + "mlp.fc2", kWidth, kInner);
      AddNorm(at + "norm2");
    }
  }
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }

  Rows States(const std::vector<int64_t>& ids, const std::vector<int64_t>& types) const {
    Rows x;
    for (size_t i = 0; i < ids.size(); ++i) {
      Row row(kWidth);
      for (size_t c = 0; c < kWidth; ++c) {
        row[c] = At("embeddings.word_embeddings.weight", static_cast<size_t>(ids[i]), c);
        if (setting_.typed) row[c] += At("embeddings.token_type_embeddings.weight", static_cast<size_t>(types[i]), c);
      }
      x.push_back(Norm(row, "emb_ln"));
    }
    for (size_t i = 0; i < kLayers; ++i) x = Layered(x, Layer(i));
    return x;
  }

 private:
  static std::string Layer(size_t i) { return "encoder.layers." + std::to_string(i) + "."; }
  void Add(const std::string& name, size_t rows, size_t width, float around) {
    Tensor tensor = {rows, width, {}};
    for (size_t i = 0; i < rows * width; ++i) {
      tensor.values.push_back(around + static_cast<float>(std::sin(static_cast<double>(++seed_) * 1.37) * 0.4));
    }
    tensors_[name] = tensor;
  }
  void AddNorm(const std::string& name) {
    Add(name + ".weight", 1, kWidth, 1);
    Add(name + ".bias", 1, kWidth, 0);
  }
  void AddLinear(const std::string& name, size_t rows, size_t width) {
    Add(name + ".weight", rows, width, 0);
    if (setting_.biases) Add(name + ".bias", 1, rows, 0);
  }
  double At(const std::string& name, size_t row, size_t column) const {
    const Tensor& tensor = tensors_.at(name);
    return tensor.values[row * tensor.width + column];
  }
  Row Norm(const Row& x, const std::string& name) const {
    double mean = 0, variance = 0;
    for (const double v : x) mean += v / kWidth;
    for (const double v : x) variance += (v - mean) * (v - mean) / kWidth;
    Row out(kWidth);
    for (size_t c = 0; c < kWidth; ++c) {
      out[c] = (x[c] - mean) / std::sqrt(variance + 1e-5) * At(name + ".weight", 0, c) + At(name + ".bias", 0, c);
    }
    return out;
  }
  Row Linear(const Row& x, const std::string& name) const {
    const size_t rows = tensors_.at(name + ".weight").rows;
    Row out(rows);
    for (size_t r = 0; r < rows; ++r) {
      if (setting_.biases) out[r] = At(name + ".bias", 0, r);
      for (size_t c = 0; c < x.size(); ++c) out[r] += At(name + ".weight", r, c) * x[c];
    }
    return out;
  }
  // One head of a query or key, from `first` on.
  void Turn(Row& x, size_t first, size_t position) const {
    const auto dims = static_cast<size_t>(kSize * setting_.fraction);
    for (size_t i = 0; i < dims / 2; ++i) {
      const double angle =
          static_cast<double>(position) * std::pow(1000.0, -2.0 * static_cast<double>(i) / static_cast<double>(dims));
      double& a = x[first + (setting_.interleaved ? 2 * i : i)];
      double& b = x[first + (setting_.interleaved ? 2 * i + 1 : i + dims / 2)];
      const double turned = a * std::cos(angle) - b * std::sin(angle);
      b = b * std::cos(angle) + a * std::sin(angle);
      a = turned;
    }
  }
  Rows Layered(const Rows& x, const std::string& at) const {
    Rows projected, out;
    for (size_t i = 0; i < x.size(); ++i) {
      projected.push_back(Linear(x[i], at + "attn.Wqkv"));
      for (size_t head = 0; head < 2 * kHeads; ++head) Turn(projected[i], head * kSize, i);
    }
    for (size_t i = 0; i < x.size(); ++i) {
      Row attended(kWidth);
      for (size_t head = 0; head < kHeads; ++head) {
        Row weights(x.size());
        double sum = 0;
        for (size_t j = 0; j < x.size(); ++j) {
          double score = 0;
          for (size_t c = head * kSize; c < (head + 1) * kSize; ++c)
            score += projected[i][c] * projected[j][kWidth + c];
          sum += weights[j] = std::exp(score / std::sqrt(static_cast<double>(kSize)));
        }
        for (size_t j = 0; j < x.size(); ++j) {
          for (size_t c = head * kSize; c < (head + 1) * kSize; ++c) {
            attended[c] += weights[j] / sum * projected[j][2 * kWidth + c];
          }
        }
      }
      const Row middle = Norm(Sum(Linear(attended, at + "attn.out_proj"), x[i]), at + "norm1");
      Row up = Linear(middle, at + "mlp.fc11");
      const Row gate = Linear(middle, at + "mlp.fc12");
      for (size_t c = 0; c < kInner; ++c) {
        const double share = setting_.activation == std::string("geglu") ? (1 + std::erf(gate[c] / std::sqrt(2.0))) / 2
                                                                         : 1 / (1 + std::exp(-gate[c]));
        up[c] *= gate[c] * share;
      }
      out.push_back(Norm(Sum(Linear(up, at + "mlp.fc2"), middle), at + "norm2"));
    }
    return out;
  }
  static Row Sum(Row a, const Row& b) {
    for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  }

  const Setting setting_;
  std::map<std::string, Tensor> tensors_;
  size_t seed_ = 0;
};

TEST(NomicBert, IsThePlainReference) {
  const auto directory = std::filesystem::path(::testing::TempDir()) / ("nomic-" + std::to_string(getpid()));
  for (const Setting& setting : {Setting{false, true, 1.0, "swiglu", false}, Setting{true, false, 0.5, "geglu", true},
                                 Setting{false, true, 0.5, "swiglu", false}}) {
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);
    const Reference reference(setting);
    tools::SafetensorsWriter file;
    for (const auto& [name, tensor] : reference.tensors()) {
      const bool vector = tensor.rows == 1 && name.find("embeddings") == std::string::npos;
      file.AddFloats(name,
                     vector ? std::vector<uint64_t>{tensor.width} : std::vector<uint64_t>{tensor.rows, tensor.width},
                     tensor.values.data());
    }
    file.Write((directory / "model.safetensors").string());
    const Json config = {{"model_type", "nomic_bert"},
                         {"architectures", {"NomicBertModel"}},
                         {"n_embd", kWidth},
                         {"n_head", kHeads},
                         {"n_layer", kLayers},
                         {"n_inner", kInner},
                         {"n_positions", 64},
                         {"layer_norm_epsilon", 1e-5},
                         {"activation_function", setting.activation},
                         {"rotary_emb_fraction", setting.fraction},
                         {"rotary_emb_base", 1000},
                         {"rotary_emb_interleaved", setting.interleaved},
                         {"auto_map", {{"AutoModel", "own.Model"}}}};
    const std::string text = config.dump();
    tools::WriteFile((directory / "config.json").string(), text.data(), text.size());
    const Converted converted(directory.string(), DType::kF32);
    std::vector<tools::Tokens> texts;
    Rows expected;
    for (const size_t length : {1u, 13u, 31u}) {
      std::vector<int64_t> ids, types;
      for (size_t i = 0; i < length; ++i) {
        ids.push_back(static_cast<int64_t>((i * 7 + length) % kWords));
        types.push_back(i < length / 2 ? 0 : 1);
      }
      texts.emplace_back();
      texts.back().ids.assign(ids.begin(), ids.end());
      texts.back().types.assign(types.begin(), types.end());
      const Rows rows = reference.States(ids, types);
      expected.insert(expected.end(), rows.begin(), rows.end());
    }
    const tools::Batch batch = tools::BatchFromTokens(converted.model, 0, texts);
    tools::Session session = tools::SessionFor(converted.model, batch, {});
    session.Run();
    const std::vector<float> found = session.Output(ValueOf(converted.model, "last_hidden_state")).values;
    ASSERT_EQ(found.size(), expected.size() * kWidth);
    double largest = 0, worst = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      largest = std::max(largest, std::fabs(expected[i / kWidth][i % kWidth]));
      worst = std::max(worst, Distance(found[i], expected[i / kWidth][i % kWidth]));
    }
    EXPECT_LE(worst, 1e-4 * largest + 1e-5) << setting.activation << " " << setting.fraction;
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace fovea::test
