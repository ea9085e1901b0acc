// Text encoders beyond their golden cases: effects of padding in a batch, scores in place of weights, groups of any
// number, and heads without a golden file, whose weights come from a model with one.
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/golden/golden_support.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/base/mapped_file.h"
#include "tools/check/golden_check.h"
#include "tools/model/batch.h"
#include "tools/text/text_inputs.h"

namespace fovea::test {
namespace {

using tools::Json;
using tools::SafetensorsReader;
using tools::SafetensorsWriter;
using tools::StoredTensor;

// A published directory under another configuration, with other tensors.
class TextEncoder : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(::testing::TempDir()) / ("text-encoder-" + std::to_string(getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override {
    golden_.reset();  // a mapped file cannot be removed on Windows
    std::filesystem::remove_all(directory_);
  }

  void Begin(const std::string& published) {
    golden_ = std::make_unique<SafetensorsReader>(InData("hf/" + published + "/golden.safetensors"));
    stored_ = std::make_unique<SafetensorsReader>(InData("hf/" + published + "/model.safetensors"));
    config_ = tools::ReadJson(InData("hf/" + published + "/config.json"));
  }
  void BeginWithBoxes(const std::string& published) {
    Begin(published);
    SafetensorsWriter file;
    for (const auto& [name, tensor] : golden_->tensors()) {
      const size_t at = name.find(".in.bbox");
      if (at == std::string::npos) {
        file.Add(name, tensor.type, tensor.shape, tensor.data);
        continue;
      }
      const std::vector<int64_t> boxes = tools::ToIntegers(tensor);
      const char* const names[] = {"left", "top", "right", "bottom", "width", "height"};
      for (size_t i = 0; i < 6; ++i) {
        std::vector<int64_t> values;
        for (size_t box = 0; box < boxes.size(); box += 4) {
          values.push_back(i < 4 ? boxes[box + i] : boxes[box + i - 2] - boxes[box + i - 4]);
        }
        file.AddIntegers(name.substr(0, at) + ".in." + names[i], {tensor.shape[0], tensor.shape[1]}, values.data());
      }
    }
    file.Write((directory_ / "golden.safetensors").string());
    golden_ = std::make_unique<SafetensorsReader>((directory_ / "golden.safetensors").string());
  }
  void Write(const Json& changes, const SafetensorsWriter& weights) {
    Json config = config_;
    config.merge_patch(changes);
    const std::string text = config.dump();
    tools::WriteFile((directory_ / "config.json").string(), text.data(), text.size());
    weights.Write((directory_ / "model.safetensors").string());
  }
  // The stored tensors under the names that `rename` gives them, without those to which it gives none.
  template <typename Rename>
  void Renamed(SafetensorsWriter& out, const Rename& rename) const {
    for (const auto& [name, tensor] : stored_->tensors()) {
      const std::string given = rename(name);
      if (!given.empty()) out.Add(given, tensor.type, tensor.shape, tensor.data);
    }
  }
  Converted Convert(const std::string& task = "") const {
    return Converted(directory_.string(), DType::kF32, "", FOVEA_BACKEND_DEFAULT, task);
  }
  void ExpectGolden(const Converted& converted, const std::vector<std::string>& cases = {}) const {
    tools::CheckOptions options;
    options.cases = cases;
    const auto lines = tools::CheckGolden(converted.model, golden_->tensors(), options);
    for (const tools::CheckLine& line : lines) EXPECT_TRUE(line.ok) << tools::LineText(line);
    EXPECT_GE(lines.size(), 3u);
  }
  std::vector<float> Floats(const std::string& name) const { return tools::ToFloats(golden_->Get(name)); }

  // `value` of one text, whose ids are the first `length` of row 0 of the case.
  std::vector<float> Run(const Converted& converted, const std::string& name, size_t length, const std::string& value) {
    const std::vector<int64_t> ids = tools::ToIntegers(golden_->Get(name + ".in.input_ids"));
    std::vector<tools::Tokens> texts(1);
    texts[0].ids.assign(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(length));
    if (const StoredTensor* types = golden_->Find(name + ".in.token_type_ids")) {
      const std::vector<int64_t> all = tools::ToIntegers(*types);
      texts[0].types.assign(all.begin(), all.begin() + static_cast<ptrdiff_t>(length));
    }
    const tools::Batch batch = tools::BatchFromTokens(converted.model, 0, texts);
    tools::Session session = tools::SessionFor(converted.model, batch, {});
    session.Run();
    return session.Output(ValueOf(converted.model, value)).values;
  }
  static void ExpectNear(const std::vector<float>& found, const std::vector<float>& expected, size_t first_of) {
    ASSERT_GE(expected.size(), first_of);
    ASSERT_EQ(found.size(), first_of);
    double largest = 0;
    for (size_t i = 0; i < first_of; ++i) largest = std::max(largest, std::fabs(double{expected[i]}));
    const std::vector<float> part(expected.begin(), expected.begin() + static_cast<ptrdiff_t>(first_of));
    EXPECT_LE(LargestDifference(found.data(), part), 1e-4 * largest + 1e-5);
  }

  std::filesystem::path directory_;
  std::unique_ptr<SafetensorsReader> golden_, stored_;
  Json config_;
};

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// The published code lets the last token of a shorter text see the padding behind it; the longest one has none.
TEST_F(TextEncoder, MobileBertsLongestTextOfAPaddedBatch) {
  Begin("mobilebert");
  const Converted whole(InData("hf/mobilebert"), DType::kF32);
  ExpectNear(Run(whole, "pad", 17, "last_hidden_state"), Floats("pad.out.last_hidden_state"), 17 * 36);
  Begin("mobilebert-mlm");
  const Converted words(InData("hf/mobilebert-mlm"), DType::kF32);
  ExpectNear(Run(words, "pad", 13, "logits"), Floats("pad.out.logits"), 13 * 71);
}

// Without a bottleneck, with one feed-forward, plain norms and embeddings of one token it is BERT.
TEST_F(TextEncoder, MobileBertWithoutItsOptionsIsBert) {
  const Json plain = {{"model_type", "mobilebert"},         {"use_bottleneck", false},
                      {"normalization_type", "layer_norm"}, {"trigram_input", false},
                      {"num_feedforward_networks", 1},      {"embedding_size", 32}};
  for (const char* published : {"bert", "bert-mlm", "bert-seqcls", "bert-tokcls"}) {
    Begin(published);
    SafetensorsWriter file;
    Renamed(file, [](const std::string& name) { return name.rfind("bert.", 0) == 0 ? "mobile" + name : name; });
    Json changes = plain;
    changes["architectures"] = {Replaced(config_["architectures"][0].get<std::string>(), "Bert", "MobileBert")};
    Write(changes, file);
    ExpectGolden(Convert());
  }
}

// Each of its options against the published setting with weights that make it the same: affine bottlenecks can be
// multiplied into what reads them, columns of neighbours can be zero.
TEST_F(TextEncoder, MobileBertsOptions) {
  Begin("mobilebert");
  const auto floats = [&](const std::string& name) { return tools::ToFloats(stored_->Get(name)); };
  const size_t wide = 36, narrow = 24, embedded = 20;
  const auto shape_of = [&](const std::string& name) { return stored_->Get(name).shape; };
  using Added = std::map<std::string, std::pair<std::vector<uint64_t>, std::vector<float>>>;
  // Layer `of`, which reads narrow rows, as one that reads the wide rows that `bottleneck` narrows.
  const auto merge = [&](Added& added, const std::string& name, const std::vector<float>& of,
                         const std::string& bottleneck) {
    const std::vector<float> w = floats(bottleneck + ".dense.weight"), b = floats(bottleneck + ".dense.bias"),
                             g = floats(bottleneck + ".LayerNorm.weight"), h = floats(bottleneck + ".LayerNorm.bias"),
                             bias = floats(name + ".bias");
    std::vector<float> merged(narrow * wide), merged_bias(narrow);
    for (size_t row = 0; row < narrow; ++row) {
      double sum = bias[row];
      for (size_t i = 0; i < narrow; ++i) {
        sum += double{of[row * narrow + i]} * (double{g[i]} * b[i] + h[i]);
        for (size_t j = 0; j < wide; ++j) {
          merged[row * wide + j] += static_cast<float>(double{of[row * narrow + i]} * g[i] * w[i * wide + j]);
        }
      }
      merged_bias[row] = static_cast<float>(sum);
    }
    added[name + ".weight"] = {{narrow, wide}, merged};
    added[name + ".bias"] = {{narrow}, merged_bias};
  };
  const auto run = [&](const Json& changes, const Added& added, const std::string& without) {
    SafetensorsWriter file;
    for (const auto& [name, tensor] : stored_->tensors()) {
      if (added.count(name) == 0 && (without.empty() || name.find(without) == std::string::npos)) {
        file.Add(name, tensor.type, tensor.shape, tensor.data);
      }
    }
    for (const auto& [name, tensor] : added) file.AddFloats(name, tensor.first, tensor.second.data());
    Write(changes, file);
    return Run(Convert(), "b", 31, "last_hidden_state");
  };

  const std::string transformation = "embeddings.embedding_transformation.weight";
  ASSERT_EQ(shape_of(transformation), (std::vector<uint64_t>{wide, 3 * embedded}));
  Added own, alone;
  own[transformation] = {{wide, 3 * embedded}, floats(transformation)};
  alone[transformation] = {{wide, embedded}, {}};
  for (size_t i = 0; i < wide * 3 * embedded; ++i) {
    float& weight = own[transformation].second[i];
    if (i / embedded % 3 == 1) {
      alone[transformation].second.push_back(weight);
    } else {
      weight = 0;
    }
  }
  std::vector<float> expected = run(Json::object(), own, "");
  ExpectNear(run({{"trigram_input", false}}, alone, ""), expected, expected.size());

  Added apart, narrow_values, narrowed;
  for (const char* layer : {"encoder.layer.0.", "encoder.layer.1."}) {
    const std::string at = layer, self = at + "attention.self.";
    for (const char* which : {"query", "key"}) {
      merge(apart, self + which, floats(self + which + ".weight"), at + "bottleneck.attention");
    }
    std::vector<float> values(narrow * narrow);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(std::sin(static_cast<double>(i)) * 0.3);
    narrow_values[self + "value.weight"] = {{narrow, narrow}, values};
    merge(narrowed, self + "value", values, at + "bottleneck.input");
    for (const char* part : {".dense.weight", ".dense.bias", ".LayerNorm.weight", ".LayerNorm.bias"}) {
      const std::string input = at + "bottleneck.input" + part;
      narrowed[at + "bottleneck.attention" + part] = {shape_of(input), floats(input)};
    }
  }
  expected = run(Json::object(), {}, "");
  ExpectNear(run({{"key_query_shared_bottleneck", false}}, apart, "bottleneck.attention"), expected, expected.size());
  expected = run(Json::object(), narrowed, "");
  ExpectNear(run({{"use_bottleneck_attention", true}}, narrow_values, "bottleneck.attention"), expected,
             expected.size());
}

// Each part of the score alone is the golden's model whose other parts are zero; fewer parts divide by less.
TEST_F(TextEncoder, DebertasPartsOfTheScore) {
  Begin("deberta-mlm");
  const size_t width = 36, size = 12;
  for (const std::string parts : {"c2p", "p2c", ""}) {
    std::vector<float> found, expected;
    for (const bool whole : {false, true}) {
      const auto factor = static_cast<float>(whole ? std::sqrt(parts.empty() ? 3.0 : 1.5) : 1.0);
      SafetensorsWriter file;
      for (const auto& [name, tensor] : stored_->tensors()) {
        const bool from_query = name.find("pos_proj") != std::string::npos;
        const bool from_key = name.find("pos_q_proj") != std::string::npos;
        const bool unused = (from_query && parts != "c2p") || (from_key && parts != "p2c");
        if (unused && !whole) continue;
        std::vector<float> values = tools::ToFloats(tensor);
        for (size_t i = 0; i < values.size(); ++i) {
          const bool asks = name.find("in_proj") != std::string::npos && i / width / size % 3 == 0;
          if (unused) values[i] = 0;
          if (asks || from_key || name.find("q_bias") != std::string::npos) values[i] *= factor;
        }
        file.AddFloats(name, tensor.shape, values.data());
      }
      Json changes = Json::object();
      if (!whole) changes["pos_att_type"] = parts.empty() ? Json::array() : Json(parts);
      Write(changes, file);
      (whole ? expected : found) = Run(Convert(), "b", 31, "logits");
    }
    ExpectNear(found, expected, expected.size());
  }
}

// SqueezeBERT's output "attentions" holds scores.
TEST_F(TextEncoder, SqueezeBertsScoresAreItsWeightsBeforeTheSoftmax) {
  Begin("squeezebert-mlm");
  const Converted converted(InData("hf/squeezebert-mlm"), DType::kF32);
  SafetensorsWriter file;
  std::vector<std::vector<float>> weights;
  for (const auto& [name, tensor] : golden_->tensors()) {
    if (name.rfind("a.", 0) != 0) continue;
    if (name.find("attentions") == std::string::npos) {
      file.Add(name, tensor.type, tensor.shape, tensor.data);
      continue;
    }
    std::vector<float> scores = tools::ToFloats(tensor);
    const size_t keys = tensor.shape[3];
    for (size_t row = 0; row < scores.size(); row += keys) {
      double sum = 0;
      for (size_t i = row; i < row + keys; ++i) sum += std::exp(double{scores[i]});
      for (size_t i = row; i < row + keys; ++i) scores[i] = static_cast<float>(std::exp(double{scores[i]}) / sum);
    }
    file.AddFloats(name, tensor.shape, scores.data());
  }
  file.Write((directory_ / "golden.safetensors").string());
  golden_ = std::make_unique<SafetensorsReader>((directory_ / "golden.safetensors").string());
  ExpectGolden(converted);
}

// One group, as many as columns, more than one operation joins, none that divides: against the same layers as matrices
// with zeros.
TEST_F(TextEncoder, SqueezeBertTakesAnyNumberOfGroups) {
  Begin("squeezebert-mlm");
  const struct {
    const char* key;
    const char* layer;
    uint32_t groups, width, rows;
  } layers[] = {{"q_groups", "attention.query", 48, 48, 48},
                {"k_groups", "attention.key", 16, 48, 48},
                {"v_groups", "attention.value", 24, 48, 48},
                {"post_attention_groups", "post_attention.conv1d", 1, 48, 48},
                {"intermediate_groups", "intermediate.conv1d", 3, 48, 96},
                {"output_groups", "output.conv1d", 8, 96, 48}};
  std::vector<float> of_groups;
  for (const bool matrices : {false, true}) {
    SafetensorsWriter file;
    Json changes = Json::object();
    for (const auto& layer : layers) changes[layer.key] = matrices ? 1u : layer.groups;
    for (const auto& [name, tensor] : stored_->tensors()) {
      bool replaced = false;
      for (const auto& layer : layers) {
        if (name.find(std::string(layer.layer) + ".weight") == std::string::npos) continue;
        const uint32_t own = layer.width / layer.groups;
        std::vector<float> values(size_t{layer.rows} * (matrices ? layer.width : own));
        for (uint32_t row = 0; row < layer.rows; ++row) {
          const uint32_t first = matrices ? row / (layer.rows / layer.groups) * own : 0;
          for (uint32_t i = 0; i < own; ++i) {
            values[size_t{row} * (matrices ? layer.width : own) + first + i] =
                static_cast<float>(static_cast<int>((row * 31 + i * 17 + name.size()) % 23) - 11) / 40;
          }
        }
        file.AddFloats(name, {layer.rows, matrices ? layer.width : own, 1}, values.data());
        replaced = true;
      }
      if (!replaced) file.Add(name, tensor.type, tensor.shape, tensor.data);
    }
    Write(changes, file);
    const std::vector<float> logits = Run(Convert(), "b", 27, "logits");
    if (matrices) {
      ExpectNear(of_groups, logits, logits.size());
    } else {
      of_groups = logits;
    }
  }
}

TEST_F(TextEncoder, SqueezeBertRefusesGroupsThatDoNotDivide) {
  Begin("squeezebert-mlm");
  SafetensorsWriter file;
  Renamed(file, [](const std::string& name) { return name; });
  for (const uint32_t groups : {0u, 5u}) {
    Write({{"k_groups", groups}}, file);
    EXPECT_THROW(Convert(), tools::Failure) << groups;
  }
}

// RemBERT's encoder is ELECTRA's under other names: narrow embeddings that are normed, then projected.
std::string ElectraName(std::string name) {
  name = Replaced(name, "rembert.", "electra.");
  name = Replaced(name, "encoder.embedding_hidden_mapping_in", "embeddings_project");
  name = Replaced(name, "cls.predictions.decoder", "generator_lm_head");
  return Replaced(name, "cls.predictions", "generator_predictions");
}
const Json kElectra = {{"model_type", "electra"}, {"embedding_size", 20}, {"tie_word_embeddings", false}};

TEST_F(TextEncoder, ElectrasMaskedWords) {
  Begin("rembert-mlm");
  SafetensorsWriter file;
  Renamed(file, ElectraName);
  Json changes = kElectra;
  changes["architectures"] = {"ElectraForMaskedLM"};
  Write(changes, file);
  ExpectGolden(Convert());
}

// Scores of a discriminator, and hidden states without a head, from the golden's last hidden state.
TEST_F(TextEncoder, ElectrasDiscriminator) {
  Begin("rembert-mlm");
  const size_t width = 36, tokens = 27;
  std::vector<float> dense(width * width), bias(width), scores(width);
  for (size_t i = 0; i < dense.size(); ++i)
    dense[i] = static_cast<float>(std::sin(0.37 * static_cast<double>(i)) * 0.3);
  for (size_t i = 0; i < width; ++i) {
    bias[i] = static_cast<float>(std::cos(static_cast<double>(i)) * 0.2);
    scores[i] = static_cast<float>(std::sin(1.7 * static_cast<double>(i)));
  }
  const float score_bias = 0.21f;
  const std::vector<float> last = Floats("b.out.hidden_states.2");
  for (const char* activation : {"gelu", "relu"}) {
    SafetensorsWriter file;
    Renamed(file, [](const std::string& name) {
      const std::string given = ElectraName(name);
      return given.rfind("generator", 0) == 0 ? std::string() : given;
    });
    file.AddFloats("discriminator_predictions.dense.weight", {width, width}, dense.data());
    file.AddFloats("discriminator_predictions.dense.bias", {width}, bias.data());
    file.AddFloats("discriminator_predictions.dense_prediction.weight", {1, width}, scores.data());
    file.AddFloats("discriminator_predictions.dense_prediction.bias", {1}, &score_bias);
    Json changes = kElectra;
    changes["architectures"] = {"ElectraForPreTraining"};
    changes["hidden_act"] = activation;
    Write(changes, file);
    const Converted head = Convert(), encoder = Convert("embedding");
    const std::vector<float> rows = Run(encoder, "b", tokens, "last_hidden_state");
    if (activation == std::string("gelu")) ExpectNear(rows, last, tokens * width);
    std::vector<float> expected;
    for (size_t token = 0; token < tokens; ++token) {
      double score = score_bias;
      for (size_t i = 0; i < width; ++i) {
        double x = bias[i];
        for (size_t j = 0; j < width; ++j) x += double{dense[i * width + j]} * rows[token * width + j];
        const double made =
            activation == std::string("gelu") ? x / 2 * (1 + std::erf(x / std::sqrt(2.0))) : std::max(x, 0.0);
        score += made * scores[i];
      }
      expected.push_back(static_cast<float>(score));
    }
    ExpectNear(Run(head, "b", tokens, "logits"), expected, tokens);
    EXPECT_STREQ(head.model.Metadata("task"), "token-classification");
  }
}

// The golden's boxes as six inputs.
TEST_F(TextEncoder, LayoutLmTakesSidesHeightAndWidth) {
  BeginWithBoxes("layoutlm");
  for (const uint32_t backend : {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY}) {
    ExpectGolden(Converted(InData("hf/layoutlm"), DType::kF32, "", backend));
  }
  tools::CheckOptions options;
  options.cosine = 0.99;
  const Converted short_weights(InData("hf/layoutlm"), DType::kI8);
  for (const auto& line : tools::CheckGolden(short_weights.model, golden_->tensors(), options)) {
    EXPECT_TRUE(line.ok) << tools::LineText(line);
  }
}

// Text and picture in one program, text alone in the other.
TEST_F(TextEncoder, LayoutLmV3ReadsTextWithAndWithoutPicture) {
  BeginWithBoxes("layoutlmv3");
  const std::pair<const char*, std::vector<std::string>> programs[] = {{"encode", {"a", "b"}},
                                                                       {"encode_text", {"pad"}}};
  for (const auto& [program, cases] : programs) {
    tools::CheckOptions options;
    options.program = program;
    options.cases = cases;
    for (const uint32_t backend : {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY}) {
      for (options.workers = 1; options.workers <= 3; options.workers += 2) {
        const Converted converted(InData("hf/layoutlmv3"), DType::kF32, "", backend);
        const auto lines = tools::CheckGolden(converted.model, golden_->tensors(), options);
        EXPECT_EQ(lines.size(), program == std::string("encode") ? 7u : 1u);
        for (const auto& line : lines) EXPECT_TRUE(line.ok && line.compared) << tools::LineText(line);
      }
    }
    options.cosine = 0.99;
    const Converted short_weights(InData("hf/layoutlmv3"), DType::kI8);
    for (const auto& line : tools::CheckGolden(short_weights.model, golden_->tensors(), options)) {
      EXPECT_TRUE(line.ok) << tools::LineText(line);
    }
  }
}

// A text of nothing but masked tokens has embeddings of zero; the published code divides 0 by 0.
TEST_F(TextEncoder, EsmTakesATextOfMaskedTokensAlone) {
  Begin("esm-mlm");
  const Converted converted(InData("hf/esm-mlm"), DType::kF32);
  std::vector<tools::Tokens> texts(2);
  texts[0].ids = {32, 32, 32};
  texts[1].ids = {5, 32, 7, 8};
  const tools::Batch batch = tools::BatchFromTokens(converted.model, 0, texts);
  tools::Session session = tools::SessionFor(converted.model, batch, {});
  session.Run();
  for (const float x : session.Output(ValueOf(converted.model, "logits")).values) EXPECT_TRUE(std::isfinite(x));
}

TEST_F(TextEncoder, WhatIsNotConvertedIsRefused) {
  const std::pair<const char*, Json> refused[] = {{"esm-mlm", {{"position_embedding_type", "relative_key"}}},
                                                  {"esm-mlm", {{"is_folding_model", true}}},
                                                  {"esm-mlm", {{"mask_token_id", 33}}},
                                                  {"deberta-mlm", {{"talking_head", true}}},
                                                  {"rembert-mlm", {{"tie_word_embeddings", true}}},
                                                  {"roformer-mlm", {{"hidden_size", 44}}},
                                                  {"mobilebert", {{"normalization_type", "rms"}}},
                                                  {"mobilebert", {{"num_feedforward_networks", 0}}},
                                                  {"squeezebert-mlm", {{"layer_norm_eps", 1e-5}}}};
  for (const auto& [published, changes] : refused) {
    Begin(published);
    SafetensorsWriter file;
    Renamed(file, [](const std::string& name) { return name; });
    Write(changes, file);
    EXPECT_THROW(Convert(), tools::Failure) << published << " " << changes;
  }
}

}  // namespace
}  // namespace fovea::test
