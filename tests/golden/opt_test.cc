// OPT in all of its forms, with random weights, against its definition in double precision.
#include <unistd.h>

#include <map>
#include <random>

#include "tests/golden/golden_support.h"
#include "tools/text/text_inputs.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<double>;  // one after the other

constexpr size_t kWidth = 24, kHeads = 3, kWide = 40, kVocabulary = 50, kPositions = 30, kLayers = 2;

struct Form {
  const char* name;
  size_t words = kWidth;  // width of word embeddings
  bool norms_before = true, removes_final_norm = false, biases = true, weighed_norms = true;
  const char* activation = "relu";
};
const Form kForms[] = {{"before"},
                       {"after", 16, false},
                       {"narrow", 8, true},
                       {"without_final_norm", 16, true, true},
                       {"without_biases", kWidth, true, false, false, true, "gelu"},
                       {"plain_norms", kWidth, true, false, false, false},
                       {"plain_norms_after", 16, false, false, true, false, "gelu"}};
void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

// The model as its authors define it.
class Opt {
 public:
  explicit Opt(const Form& form) : form_(form) {
    Add("embed_tokens.weight", kVocabulary, form.words);
    Add("embed_positions.weight", kPositions + 2, kWidth);
    if (form.words != kWidth)
      Add("project_in.weight", kWidth, form.words), Add("project_out.weight", form.words, kWidth);
    if (FinalNorm()) AddNorm("final_layer_norm");
    for (size_t i = 0; i < kLayers; ++i) {
      for (const char* name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj"}) {
        AddLinear(At(i) + name, kWidth, kWidth);
      }
      AddLinear(At(i) + "fc1", kWide, kWidth), AddLinear(At(i) + "fc2", kWidth, kWide);
      AddNorm(At(i) + "self_attn_layer_norm"), AddNorm(At(i) + "final_layer_norm");
    }
  }

  void Write(const fs::path& directory) const {
    tools::SafetensorsWriter writer;
    for (const auto& [name, tensor] : tensors_) {
      writer.AddFloats("model.decoder." + name, tensor.shape, tensor.values.data());
    }
    writer.Write((directory / "model.safetensors").string());
    const auto flag = [](bool on) { return on ? "true" : "false"; };
    std::ofstream(directory / "config.json")
        << "{\"architectures\": [\"OPTForCausalLM\"], \"model_type\": \"opt\", \"hidden_size\": " << kWidth
        << ", \"ffn_dim\": " << kWide << ", \"num_hidden_layers\": " << kLayers
        << ", \"num_attention_heads\": " << kHeads << ", \"vocab_size\": " << kVocabulary
        << ", \"max_position_embeddings\": " << kPositions << ", \"word_embed_proj_dim\": " << form_.words
        << ", \"do_layer_norm_before\": " << flag(form_.norms_before)
        << ", \"_remove_final_layer_norm\": " << flag(form_.removes_final_norm)
        << ", \"enable_bias\": " << flag(form_.biases)
        << ", \"layer_norm_elementwise_affine\": " << flag(form_.weighed_norms) << ", \"activation_function\": \""
        << form_.activation << "\", \"bos_token_id\": 2, \"eos_token_id\": 2, \"pad_token_id\": 1}";
  }

  // The input of each layer, and last the output of the decoder.
  std::vector<Rows> States(const std::vector<int32_t>& ids) const {
    Rows words, x;
    const Tensor &table = tensors_.at("embed_tokens.weight"), &positions = tensors_.at("embed_positions.weight");
    for (const int32_t id : ids) {
      const auto row = table.values.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(id) * form_.words);
      words.insert(words.end(), row, row + static_cast<ptrdiff_t>(form_.words));
    }
    x = form_.words == kWidth ? words : Linear(words, "project_in");
    for (size_t i = 0; i < x.size(); ++i) x[i] += positions.values[i + 2 * kWidth];
    std::vector<Rows> states;
    for (size_t i = 0; i < kLayers; ++i) {
      states.push_back(x);
      x = Layer(At(i), x);
    }
    if (FinalNorm()) x = Norm(x, "final_layer_norm");
    if (form_.words != kWidth) x = Linear(x, "project_out");
    states.push_back(x);
    return states;
  }
  Rows Logits(const Rows& last) const { return Linear(last, "embed_tokens"); }

 private:
  struct Tensor {
    std::vector<uint64_t> shape;
    std::vector<float> values;
  };

  static std::string At(size_t i) { return "layers." + std::to_string(i) + "."; }
  bool FinalNorm() const { return form_.norms_before && !form_.removes_final_norm; }
  void Add(const std::string& name, size_t rows, size_t width, float mean = 0) {
    std::normal_distribution<float> normal(mean, 0.2f);
    Tensor& tensor = tensors_[name];
    tensor.shape = rows == 0 ? std::vector<uint64_t>{width} : std::vector<uint64_t>{rows, width};
    for (size_t i = 0; i < std::max<size_t>(rows, 1) * width; ++i) tensor.values.push_back(normal(random_));
  }
  void AddLinear(const std::string& name, size_t rows, size_t width) {
    Add(name + ".weight", rows, width);
    if (form_.biases) Add(name + ".bias", 0, rows);
  }
  void AddNorm(const std::string& name) {
    if (form_.weighed_norms) Add(name + ".weight", 0, kWidth, 1), Add(name + ".bias", 0, kWidth);
  }

  Rows Linear(const Rows& x, const std::string& name) const {
    const Tensor& weight = tensors_.at(name + ".weight");
    const auto bias = tensors_.find(name + ".bias");
    const size_t out = weight.shape[0], in = weight.shape[1];
    Rows y;
    for (size_t row = 0; row < x.size() / in; ++row) {
      for (size_t o = 0; o < out; ++o) {
        double sum = bias == tensors_.end() ? 0 : bias->second.values[o];
        for (size_t i = 0; i < in; ++i) sum += x[row * in + i] * weight.values[o * in + i];
        y.push_back(sum);
      }
    }
    return y;
  }
  Rows Norm(const Rows& x, const std::string& name) const {
    const auto weight = tensors_.find(name + ".weight"), bias = tensors_.find(name + ".bias");
    Rows y;
    for (size_t at = 0; at < x.size(); at += kWidth) {
      double mean = 0, variance = 0;
      for (size_t i = 0; i < kWidth; ++i) mean += x[at + i] / kWidth;
      for (size_t i = 0; i < kWidth; ++i) variance += (x[at + i] - mean) * (x[at + i] - mean) / kWidth;
      for (size_t i = 0; i < kWidth; ++i) {
        const double normed = (x[at + i] - mean) / std::sqrt(variance + 1e-5);
        const bool weighed = weight != tensors_.end();
        y.push_back(weighed ? normed * weight->second.values[i] + bias->second.values[i] : normed);
      }
    }
    return y;
  }
  Rows Attention(const Rows& x, const std::string& at) const {
    const Rows q = Linear(x, at + "q_proj"), k = Linear(x, at + "k_proj"), v = Linear(x, at + "v_proj");
    constexpr size_t kSize = kWidth / kHeads;
    Rows y(x.size());
    for (size_t row = 0; row < x.size() / kWidth; ++row) {
      for (size_t first = 0; first < kWidth; first += kSize) {
        double total = 0;
        for (size_t key = 0; key <= row; ++key) {
          double score = 0;
          for (size_t i = first; i < first + kSize; ++i) score += q[row * kWidth + i] * k[key * kWidth + i];
          const double weight = std::exp(score / std::sqrt(double{kSize}));
          total += weight;
          for (size_t i = first; i < first + kSize; ++i) y[row * kWidth + i] += weight * v[key * kWidth + i];
        }
        for (size_t i = first; i < first + kSize; ++i) y[row * kWidth + i] /= total;
      }
    }
    return Linear(y, at + "out_proj");
  }
  Rows Layer(const std::string& at, Rows x) const {
    const auto add = [&](const Rows& branch) {
      for (size_t i = 0; i < x.size(); ++i) x[i] += branch[i];
    };
    const std::string norm = at + "self_attn_layer_norm", last = at + "final_layer_norm";
    add(Attention(form_.norms_before ? Norm(x, norm) : x, at + "self_attn."));
    if (!form_.norms_before) x = Norm(x, norm);
    Rows wide = Linear(form_.norms_before ? Norm(x, last) : x, at + "fc1");
    const bool relu = form_.activation == std::string("relu");
    for (double& w : wide) w = relu ? std::max(w, 0.0) : 0.5 * w * (1 + std::erf(w / std::sqrt(2.0)));
    add(Linear(wide, at + "fc2"));
    return form_.norms_before ? x : Norm(x, last);
  }

  const Form form_;
  std::mt19937 random_{7};
  std::map<std::string, Tensor> tensors_;
};

class OptForms : public ::testing::TestWithParam<Form> {
 protected:
  OptForms() : model_(GetParam()), ids_({2, 17, 49, 3, 3, 20, 11, 0, 48, 5, 31}) {
    directory_ = fs::path(::testing::TempDir()) / ("opt-" + std::to_string(getpid()));
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    model_.Write(directory_);
    states_ = model_.States(ids_);
  }
  ~OptForms() override { fs::remove_all(directory_); }

  // A value of a run over the text.
  static void ExpectNear(tools::Session& session, const tools::Model& model, uint32_t program, const std::string& name,
                         const Rows& expected) {
    const auto value = model.FindValue(program, name);
    ASSERT_TRUE(value.has_value()) << name;
    const tools::Matrix found = session.Output(*value);
    ASSERT_EQ(found.values.size(), expected.size()) << name;
    double largest = 0;
    for (const double x : expected) largest = std::max(largest, std::fabs(x));
    EXPECT_LE(LargestDifference(found.values.data(), {expected.begin(), expected.end()}), 1e-4 * largest + 1e-5)
        << name;
  }
  tools::Batch BatchOf(const tools::Model& model, uint32_t program) const {
    tools::Tokens tokens;
    tokens.ids = ids_;
    tokens.types.assign(ids_.size(), 0);
    return tools::BatchFromTokens(model, program, {tokens});
  }

  const Opt model_;
  const std::vector<int32_t> ids_;
  fs::path directory_;
  std::vector<Rows> states_;
};

TEST_P(OptForms, ScoresAndStatesAreThoseOfTheDefinition) {
  for (const uint32_t backend : {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY}) {
    const Converted converted(directory_.string(), DType::kF32, "", backend);
    tools::SessionRequest request;
    const uint32_t score = converted.model.FindProgram("score");
    request.program = score;
    for (uint32_t i = 0; i <= kLayers; ++i) {
      request.keep.push_back(*converted.model.FindValue(score, "hidden_states." + std::to_string(i)));
    }
    tools::Session session = tools::SessionFor(converted.model, BatchOf(converted.model, score), request);
    session.Run();
    for (uint32_t i = 0; i <= kLayers; ++i) {
      ExpectNear(session, converted.model, score, "hidden_states." + std::to_string(i), states_[i]);
    }
    const Rows logits = model_.Logits(states_.back());
    ExpectNear(session, converted.model, score, "logits", logits);
    tools::SessionRequest next;
    next.program = converted.model.FindProgram("decode");
    tools::Session decode = tools::SessionFor(converted.model, BatchOf(converted.model, next.program), next);
    decode.Run();
    ExpectNear(decode, converted.model, next.program, "next_logits",
               {logits.end() - static_cast<ptrdiff_t>(kVocabulary), logits.end()});
  }
}

TEST_P(OptForms, AsAnEmbedder) {
  const Converted converted(directory_.string(), DType::kF32, "", FOVEA_BACKEND_DEFAULT, "embedding");
  tools::Session session = tools::SessionFor(converted.model, BatchOf(converted.model, 0));
  session.Run();
  ExpectNear(session, converted.model, 0, "last_hidden_state", states_.back());
}

INSTANTIATE_TEST_SUITE_P(All, OptForms, ::testing::ValuesIn(kForms),
                         [](const auto& form) { return std::string(form.param.name); });

}  // namespace
}  // namespace fovea::test
