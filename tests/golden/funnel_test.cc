// Funnel-Transformer beyond its golden cases: padded batches, every setting of its configuration, token types, texts of
// one or a few tokens and several texts at once, against a plain reference that the golden batch is held to as well.
#include <unistd.h>

#include "tests/golden/funnel_reference.h"
#include "tests/golden/golden_support.h"
#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/description.h"
#include "tools/model/batch.h"
#include "tools/text/text_inputs.h"

namespace fovea::test {
namespace {

using Rows = FunnelReference::Rows;
using tools::Json;

struct Text {
  std::vector<int64_t> ids, types;
};

// Lengths at which a block has nothing to pool, and odd ones; the token types that the published tokenizer gives, and
// different ones.
std::vector<Text> Texts() {
  std::vector<Text> texts;
  for (const size_t length : {5u, 1u, 2u, 3u, 4u, 23u, 6u, 7u, 8u, 9u, 37u, 16u}) {
    Text text;
    for (size_t i = 0; i < length; ++i) {
      text.ids.push_back(static_cast<int64_t>((i * 37 + length * 11) % 120));
      text.types.push_back(i < length / 2 ? 0 : 1);
    }
    text.types[0] = length == 23 ? 1 : 2;
    if (length == 37) text.types[20] = 2;
    texts.push_back(text);
  }
  return texts;
}

class Funnel : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = InData("hf/funnel");
    golden_ = std::make_unique<tools::SafetensorsReader>(path_ + "/golden.safetensors");
    weights_ = std::make_unique<tools::SafetensorsReader>(path_ + "/model.safetensors");
    directory_ = std::filesystem::path(::testing::TempDir()) / ("funnel-" + std::to_string(getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    std::filesystem::copy(path_ + "/model.safetensors", directory_ / "model.safetensors");
  }
  void TearDown() override {
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }

  // The published configuration with these changes; null removes a key.
  void Change(const Json& changes) {
    Json config = tools::ReadJson(path_ + "/config.json");
    config.merge_patch(changes);
    const std::string text = config.dump();
    tools::WriteFile((directory_ / "config.json").string(), text.data(), text.size());
  }
  // The published weights, with or without the decoder's, and additional weights.
  struct Added {
    std::string name;
    std::vector<uint64_t> shape;
    std::vector<float> values;
  };
  void Store(bool decoder, const std::vector<Added>& added) {
    tools::SafetensorsWriter file;
    for (const auto& [name, tensor] : weights_->tensors()) {
      if (decoder || name.find("decoder") == std::string::npos) {
        file.Add(name, tensor.type, tensor.shape, tensor.data);
      }
    }
    for (const Added& tensor : added) file.AddFloats(tensor.name, tensor.shape, tensor.values.data());
    std::filesystem::remove(directory_ / "model.safetensors");
    file.Write((directory_ / "model.safetensors").string());
  }
  Converted Convert(const std::string& task = "", uint32_t backend = FOVEA_BACKEND_DEFAULT) const {
    return Converted(directory_.string(), DType::kF32, "", backend, task);
  }
  void ExpectRefused(const Json& changes, const std::string& reason, const std::string& task = "") {
    Change(changes);
    try {
      Convert(task);
      ADD_FAILURE() << changes << " was not refused";
    } catch (const tools::Failure& failure) {
      EXPECT_NE(std::string(failure.what()).find(reason), std::string::npos) << failure.what();
    }
  }

  // Rows of one text after the other, of texts that run as one batch.
  static std::vector<float> Run(const Converted& converted, const std::vector<Text>& texts, const std::string& value,
                                uint32_t workers = 1, uint32_t tile_rows = 0) {
    std::vector<tools::Tokens> tokens(texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      tokens[i].ids.assign(texts[i].ids.begin(), texts[i].ids.end());
      tokens[i].types.assign(texts[i].types.begin(), texts[i].types.end());
    }
    const tools::Batch batch = tools::BatchFromTokens(converted.model, 0, tokens);
    tools::SessionRequest request;
    request.workers = workers;
    request.tile_rows = tile_rows;
    tools::Session session = tools::SessionFor(converted.model, batch, request);
    session.Run();
    return session.Output(ValueOf(converted.model, value)).values;
  }

  static void ExpectNear(const std::vector<float>& found, const Rows& expected, const std::string& what) {
    ASSERT_EQ(found.size(), expected.empty() ? 0 : expected.size() * expected[0].size()) << what;
    double largest = 0, worst = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      const double value = expected[i / expected[0].size()][i % expected[0].size()];
      largest = std::max(largest, std::fabs(value));
      worst = std::max(worst, Distance(found[i], value));
    }
    EXPECT_LE(worst, 1e-4 * largest + 1e-5) << what << ", largest " << largest;
  }

  // The last state of the decoder, or of the encoder, of every text.
  Rows Expected(const FunnelShape& shape, const std::vector<Text>& texts, bool encoder) const {
    const FunnelReference reference(shape, *weights_);
    Rows rows;
    for (const Text& text : texts) {
      const std::vector<Rows> states = reference.States(text.ids, text.types);
      const Rows& last = encoder ? states[reference.EncoderStates() - 1] : states.back();
      rows.insert(rows.end(), last.begin(), last.end());
    }
    return rows;
  }
  // Compares the changed configuration with the reference, with and without decoder, in batches and in tiles.
  void ExpectVariant(const Json& changes, const FunnelShape& shape) {
    SCOPED_TRACE(changes.dump());
    Change(changes);
    for (const bool encoder : {false, true}) {
      const Converted converted = Convert(encoder ? "encoder" : "embedding");
      const std::vector<float> found = Run(converted, Texts(), "last_hidden_state");
      ExpectNear(found, Expected(shape, Texts(), encoder), encoder ? "encoder" : "decoder");
      for (const uint32_t tile_rows : {1u, 5u, 16u}) {
        EXPECT_EQ(Run(converted, Texts(), "last_hidden_state", 3, tile_rows), found) << tile_rows;
      }
    }
  }

  std::string path_;
  std::unique_ptr<tools::SafetensorsReader> golden_, weights_;
  std::filesystem::path directory_;
};

TEST_F(Funnel, Settings) {
  ExpectVariant(Json::object(), FunnelShape());
  ExpectVariant({{"attention_type", "factorized"}}, FunnelShape());
  FunnelShape shape;
  shape.truncated = false;
  ExpectVariant({{"truncate_seq", false}}, shape);
  shape.max = true;
  shape.only_queries = false;
  ExpectVariant({{"truncate_seq", false}, {"pooling_type", "max"}, {"pool_q_only", false}}, shape);
  shape.separate = false;
  ExpectVariant({{"separate_cls", false}, {"pooling_type", "max"}, {"pool_q_only", false}}, shape);
  shape.only_queries = true;
  shape.repeats = {1, 2, 3};
  ExpectVariant({{"separate_cls", false}, {"pooling_type", "max"}, {"block_repeats", {1, 2, 3}}}, shape);
  shape = FunnelShape();
  shape.decoder_layers = 0;
  shape.repeats = {2, 1, 1};
  Store(false, {});
  ExpectVariant({{"num_decoder_layers", 0}, {"block_repeats", {2, 1, 1}}}, shape);
}

// In a padded batch the original library also pools padding, and drops the last row of the longest text only: the
// result for a shorter text depends on its neighbours, by more than rounding. The reference that pools the same padding
// meets the golden batch, and the model meets that reference without padding, so that nothing else differs.
TEST_F(Funnel, PaddedBatchesDifferByTheirPaddingOnly) {
  Change(Json::object());
  const Converted converted = Convert();
  const FunnelReference reference(FunnelShape(), *weights_);
  const std::vector<int64_t> ids = tools::ToIntegers(golden_->Get("pad.in.input_ids"));
  const std::vector<float> logits = tools::ToFloats(golden_->Get("pad.out.logits"));
  const size_t padded = golden_->Get("pad.in.input_ids").shape[1], words = golden_->Get("pad.out.logits").shape[2];
  const size_t lengths[] = {17, 11, 4};
  ASSERT_EQ(ids.size(), std::size(lengths) * padded);
  std::vector<Text> texts;
  std::vector<float> stored;
  for (size_t i = 0; i < std::size(lengths); ++i) {
    const auto begin = static_cast<ptrdiff_t>(i * padded), count = static_cast<ptrdiff_t>(lengths[i]);
    texts.push_back({{ids.begin() + begin, ids.begin() + begin + count}, std::vector<int64_t>(lengths[i])});
    const auto first = logits.begin() + begin * static_cast<ptrdiff_t>(words);
    const std::vector<float> golden(first, first + count * static_cast<ptrdiff_t>(words));
    Rows in_batch = reference.Logits(reference.States(texts[i].ids, texts[i].types, padded).back());
    in_batch.resize(lengths[i]);
    ExpectNear(golden, in_batch, "padded to " + std::to_string(padded));
    const std::vector<float> found = Run(converted, {texts[i]}, "logits");
    ExpectNear(found, reference.Logits(reference.States(texts[i].ids, texts[i].types).back()), "alone");
    EXPECT_EQ(LargestDifference(found.data(), golden) <= 5e-4, lengths[i] == padded);
    EXPECT_GT(Cosine(found.data(), golden.data(), golden.size()), 0.9);
    stored.insert(stored.end(), found.begin(), found.end());
  }
  EXPECT_EQ(Run(converted, texts, "logits", 2), stored);
}

// Where nothing is truncated, padding does not matter to a text whose rows fill whole groups in every block.
TEST_F(Funnel, WholeGroupsDoNotMeetTheirPadding) {
  FunnelShape shape;
  shape.truncated = false;
  const FunnelReference reference(shape, *weights_);
  const std::vector<int64_t> ids = {2, 36, 31, 23, 74, 116, 45, 76, 44, 36}, types(10);
  for (const size_t length : {9u, 10u}) {
    const std::vector<int64_t> text(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(length));
    const Rows alone = reference.States(text, types).back(), padded = reference.States(text, types, 17).back();
    double worst = 0;
    for (size_t i = 0; i < length; ++i) {
      for (size_t c = 0; c < alone[i].size(); ++c) worst = std::max(worst, Distance(alone[i][c], padded[i][c]));
    }
    EXPECT_EQ(worst < 1e-9, length == 9) << worst;
  }
}

// Classes of texts are made of the encoder's first row, classes of tokens of the decoder's rows.
TEST_F(Funnel, Heads) {
  const std::vector<float> dense(32 * 32, 0.01f), bias(32, 0.1f);
  std::vector<float> out(3 * 32);
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(i % 7) - 3;
  Store(false, {{"classifier.linear_hidden.weight", {32, 32}, dense},
                {"classifier.linear_hidden.bias", {32}, bias},
                {"classifier.linear_out.weight", {3, 32}, out}});
  Change({{"architectures", {"FunnelForSequenceClassification"}}});
  const FunnelReference reference(FunnelShape(), *weights_);
  Rows expected;
  for (const Text& text : Texts()) {
    const Rows last = reference.States(text.ids, text.types)[reference.EncoderStates() - 1];
    const double hidden = std::tanh(0.1 + 0.01f * std::accumulate(last[0].begin(), last[0].end(), 0.0));
    std::vector<double> scores(3);
    for (size_t i = 0; i < out.size(); ++i) scores[i / 32] += hidden * out[i];
    expected.push_back(scores);
  }
  ExpectNear(Run(Convert(), Texts(), "logits"), expected, "classes of texts");
  // A model without a decoder is the base model.
  Change({{"architectures", {"FunnelBaseModel"}}});
  ExpectNear(Run(Convert(), Texts(), "last_hidden_state"), Expected(FunnelShape(), Texts(), true), "base model");

  Store(true, {{"classifier.weight", {3, 32}, out}});
  Change({{"architectures", {"FunnelForTokenClassification"}}});
  expected.clear();
  for (const std::vector<double>& row : Expected(FunnelShape(), Texts(), false)) {
    std::vector<double> scores(3);
    for (size_t i = 0; i < out.size(); ++i) scores[i / 32] += row[i % 32] * out[i];
    expected.push_back(scores);
  }
  ExpectNear(Run(Convert(), Texts(), "logits"), expected, "classes of tokens");
}

TEST_F(Funnel, BackendsAndLongTexts) {
  Change({{"max_position_embeddings", 37}});
  for (const uint32_t backend : {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY}) {
    ExpectNear(Run(Convert("embedding", backend), Texts(), "last_hidden_state"),
               Expected(FunnelShape(), Texts(), false), "as long as distances reach");
  }
  const Converted converted = Convert();
  Text text;
  text.ids.assign(38, 5);
  text.types.assign(38, 0);
  EXPECT_THROW(Run(converted, {text}, "logits"), tools::Failure);
}

TEST_F(Funnel, Refusals) {
  ExpectRefused({{"attention_type", "linear"}}, "attention_type linear");
  ExpectRefused({{"pooling_type", "min"}}, "pooling_type min");
  ExpectRefused({{"block_repeats", {1, 1}}}, "must have the same length");
  ExpectRefused({{"block_sizes", {1, 0, 1}}}, "block_sizes [1,0,1]");
  ExpectRefused({{"type_vocab_size", 4}}, "3 types");
  ExpectRefused({{"max_position_embeddings", 10000}}, "max_position_embeddings 10000");
  ExpectRefused({{"architectures", {"FunnelForRegions"}}}, "FunnelForRegions");
}

}  // namespace
}  // namespace fovea::test
