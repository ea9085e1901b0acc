// Heads of golden models that a published model of the family has and the golden one has not: beside the head's formula
// on hidden states, which the golden models prove.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "tests/support/paths.h"
#include "tests/tools/changed_model.h"

namespace fovea::test {
namespace {

using Ids = std::vector<int64_t>;

const char kThree[] = R"("id2label": {"0": "a", "1": "b", "2": "c"})";

std::string Golden(const std::string& name) { return InData("hf/" + name); }

struct EncoderDecoder {
  const char* golden;
  const char* classes;  // class ..ForSequenceClassification; empty: not supported
  const char* answers;  // class ..ForQuestionAnswering
  const char* prefix;   // prefix of stored names, with the first class
  uint64_t width;
  Ids ids;
  std::optional<int64_t> start;  // the decoder's first token; absent: the text's last one
};

// The decoder's last hidden states for the text, shifted by one token.
Stored ShiftedStates(const EncoderDecoder& c) {
  const std::string name = std::string(c.golden) + "-plain";
  const std::string folder = Changed(Golden(c.golden), name, "{}", [](StoredTensors&) {});
  const tools::Json config = tools::ReadJson(folder + "/config.json");
  const int layers = config.contains("decoder_layers")       ? config["decoder_layers"].get<int>()
                     : config.contains("num_decoder_layers") ? config["num_decoder_layers"].get<int>()
                                                             : config["num_layers"].get<int>();
  const std::string state = "decoder_hidden_states." + std::to_string(layers);
  Ids shifted = {c.start.value_or(c.ids.back())};
  shifted.insert(shifted.end(), c.ids.begin(), c.ids.end() - 1);
  return Outputs(BlobOfDirectory(folder, "seq2seq-lm"), {{"input_ids", c.ids}, {"decoder_input_ids", shifted}},
                 {"--program", "score", "--values", state})
      .at(state);
}

TEST(Heads, DecodersThatReadTheTextItself) {
  const EncoderDecoder cases[] = {
      {"bart", "BartForSequenceClassification", "BartForQuestionAnswering", "", 32, {0, 17, 44, 9, 101, 2}, 2},
      {"led", "LEDForSequenceClassification", "LEDForQuestionAnswering", "", 32, {0, 17, 44, 9, 101, 63, 2}, 2},
      {"mbart", "", "MBartForQuestionAnswering", "", 36, {17, 44, 9, 50, 2, 4}, std::nullopt},
      {"t5", "T5ForSequenceClassification", "T5ForQuestionAnswering", "transformer.", 32, {17, 44, 9, 101, 1}, 0},
  };
  for (const EncoderDecoder& c : cases) {
    SCOPED_TRACE(c.golden);
    const Stored states = ShiftedStates(c);
    const size_t rows = c.ids.size();
    const std::string classes = c.classes;
    if (!classes.empty()) {
      const std::string folder =
          Changed(Golden(c.golden), std::string(c.golden) + "-classes",
                  R"({"architectures": [")" + classes + R"("], )" + kThree + "}", [&](StoredTensors& tensors) {
                    StoredTensors renamed;
                    for (const auto& [name, tensor] : tensors) renamed[c.prefix + name] = tensor;
                    tensors = renamed;
                    AddLinear(tensors, "classification_head.dense", c.width, c.width, 3);
                    AddLinear(tensors, "classification_head.out_proj", 3, c.width, 4);
                  });
      const StoredTensors tensors = ReadTensors(folder + "/model.safetensors");
      const Row expected = Dense(tensors, "classification_head.out_proj",
                                 Tanh(Dense(tensors, "classification_head.dense", RowOf(states, rows - 1))));
      ExpectNear(RowOf(Outputs(BlobOfDirectory(folder), {{"input_ids", c.ids}}).at("logits"), 0), expected, 2e-4);
    }
    const std::string folder =
        Changed(Golden(c.golden), std::string(c.golden) + "-answers",
                R"({"architectures": [")" + std::string(c.answers) + R"("], "id2label": null})",
                [&](StoredTensors& tensors) { AddLinear(tensors, "qa_outputs", 2, c.width, 5); });
    const StoredTensors tensors = ReadTensors(folder + "/model.safetensors");
    const StoredTensors outputs = Outputs(BlobOfDirectory(folder), {{"input_ids", c.ids}});
    for (size_t i = 0; i < rows; ++i) {
      const Row expected = Dense(tensors, "qa_outputs", RowOf(states, i));
      ExpectNear({outputs.at("start_logits").values[i], outputs.at("end_logits").values[i]}, expected, 2e-4);
    }
  }
}

TEST(Heads, DecodersWithoutSuchAHead) {
  const auto refused = [](const std::string& golden, const std::string& head, const std::string& config = "{}") {
    const std::string folder = Changed(Golden(golden), golden + "-refused", config, [](StoredTensors&) {});
    return FoveaError({"convert", folder, "-o", Temporary("none.fovea"), "--task", head});
  };
  EXPECT_NE(refused("bart", "sequence-classification").find("no tensor classification_head.dense.weight"),
            std::string::npos);
  EXPECT_NE(refused("mbart", "sequence-classification").find("--task encoder"), std::string::npos);
  EXPECT_NE(
      refused("bart", "question-answering", R"({"decoder_start_token_id": 120})").find("decoder_start_token_id 120"),
      std::string::npos);
  EXPECT_NE(refused("longformer-seqcls", "question-answering").find("--task embedding"), std::string::npos);
}

TEST(Heads, TokensOfT5) {
  const Ids ids = {17, 44, 9, 1};
  const std::string folder = Changed(Golden("t5"), "t5-tokens",
                                     std::string(R"({"architectures": ["T5ForTokenClassification"], )") + kThree + "}",
                                     [](StoredTensors& tensors) {
                                       StoredTensors renamed;
                                       for (const auto& [name, tensor] : tensors) {
                                         if (name.rfind("decoder.", 0) != 0) renamed["transformer." + name] = tensor;
                                       }
                                       tensors = renamed;
                                       AddLinear(tensors, "classifier", 3, 32, 6);
                                     });
  const StoredTensors tensors = ReadTensors(folder + "/model.safetensors");
  const Stored states = Outputs(BlobOfDirectory(folder, "encoder"), {{"input_ids", ids}}).at("last_hidden_state");
  const Stored logits = Outputs(BlobOfDirectory(folder), {{"input_ids", ids}}).at("logits");
  for (size_t i = 0; i < ids.size(); ++i) {
    ExpectNear(RowOf(logits, i), Dense(tensors, "classifier", RowOf(states, i)), 1e-4);
  }
}

// Tags and answers have the same layers there.
TEST(Heads, AnswersOfModernBert) {
  const Ids ids = {1, 17, 44, 9, 2};
  const auto made = [](const std::string& name, const std::string& head) {
    return BlobOfDirectory(Changed(Golden("modernbert-seqcls"), name,
                                   R"({"id2label": {"2": null}, "architectures": ["ModernBertFor)" + head + R"("]})",
                                   [](StoredTensors& tensors) { AddLinear(tensors, "classifier", 2, 32, 7); }));
  };
  const Stored tags = Outputs(made("modernbert-tags", "TokenClassification"), {{"input_ids", ids}}).at("logits");
  const StoredTensors answers = Outputs(made("modernbert-answers", "QuestionAnswering"), {{"input_ids", ids}});
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(RowOf(tags, i), (Row{answers.at("start_logits").values[i], answers.at("end_logits").values[i]}));
  }
}

// ---- speakers ----

Row Relu(Row x) {
  for (double& value : x) value = std::max(value, 0.0);
  return x;
}

// Each row sees `kernel` rows, `dilation` apart; no padding.
std::vector<Row> Convolved(const StoredTensors& tensors, const std::string& name, const std::vector<Row>& x,
                           size_t kernel, size_t dilation) {
  std::vector<Row> y;
  for (size_t i = 0; i + (kernel - 1) * dilation < x.size(); ++i) {
    Row seen;
    for (size_t k = 0; k < kernel; ++k) seen.insert(seen.end(), x[i + k * dilation].begin(), x[i + k * dilation].end());
    y.push_back(Relu(Dense(tensors, name, seen)));
  }
  return y;
}

// Means of columns, then their standard deviations.
Row Statistics(const std::vector<Row>& x) {
  const size_t width = x[0].size();
  const auto count = static_cast<double>(x.size());
  Row statistics(2 * width);
  for (size_t j = 0; j < width; ++j) {
    double sum = 0, squares = 0;
    for (const Row& row : x) sum += row[j];
    for (const Row& row : x) squares += (row[j] - sum / count) * (row[j] - sum / count);
    statistics[j] = sum / count;
    statistics[width + j] = sqrt(squares / (count - 1));
  }
  return statistics;
}

StoredTensors OutputsOfSound(const std::string& blob, const std::vector<float>& samples) {
  tools::SafetensorsWriter writer;
  writer.AddFloats("input_values", {1, samples.size()}, samples.data());
  writer.Write(Temporary("sound.safetensors"));
  const std::string out = Temporary("speaker.safetensors");
  const CommandResult result = Fovea({"run", blob, "--input", Temporary("sound.safetensors"), "--output", out});
  EXPECT_EQ(result.status, 0) << result.err;
  return ReadTensors(out);
}

TEST(Heads, EmbeddingsOfSpeakers) {
  const std::string folder =
      Changed(Golden("wav2vec2-ctc"), "x-vector",
              R"({"architectures": ["Wav2Vec2ForXVector"], "tdnn_dim": [6, 5, 7], "tdnn_kernel": [3, 2, 1],
                  "tdnn_dilation": [2, 3, 1], "xvector_output_dim": 4})",
              [](StoredTensors& tensors) {
                tensors.erase("lm_head.weight");
                tensors.erase("lm_head.bias");
                AddLinear(tensors, "projector", 6, 36, 1);
                AddLinear(tensors, "tdnn.0.kernel", 6, 18, 2);
                AddLinear(tensors, "tdnn.1.kernel", 5, 12, 3);
                AddLinear(tensors, "tdnn.2.kernel", 7, 5, 4);
                AddLinear(tensors, "feature_extractor", 4, 14, 5);
                AddLinear(tensors, "classifier", 4, 4, 6);
              });
  const StoredTensors tensors = ReadTensors(folder + "/model.safetensors");
  const std::string blob = BlobOfDirectory(folder), encoder = BlobOfDirectory(folder, "embedding");
  for (const size_t length : {400u, 200u}) {
    std::vector<float> samples(length);
    for (size_t i = 0; i < length; ++i) samples[i] = static_cast<float>(sin(0.05 * static_cast<double>(i * i % 997)));
    const Stored states = OutputsOfSound(encoder, samples).at("last_hidden_state");
    std::vector<Row> rows;
    for (size_t i = 0; i < states.shape[1]; ++i) rows.push_back(Dense(tensors, "projector", RowOf(states, i)));
    rows = Convolved(tensors, "tdnn.0.kernel", rows, 3, 2);
    rows = Convolved(tensors, "tdnn.1.kernel", rows, 2, 3);
    rows = Convolved(tensors, "tdnn.2.kernel", rows, 1, 1);
    ASSERT_GT(rows.size(), 1u);
    const Row embedding = Dense(tensors, "feature_extractor", Statistics(rows));
    const StoredTensors outputs = OutputsOfSound(blob, samples);
    ExpectNear(RowOf(outputs.at("embeddings"), 0), embedding, 1e-4);
    ExpectNear(RowOf(outputs.at("logits"), 0), Dense(tensors, "classifier", embedding), 2e-4);
  }
  const std::string without =
      Changed(folder, "no-x-vector", "{}", [](StoredTensors& t) { t.erase("projector.weight"); });
  EXPECT_NE(FoveaError({"convert", without, "-o", Temporary("none.fovea")}).find("no tensor projector.weight"),
            std::string::npos);
}

}  // namespace
}  // namespace fovea::test
