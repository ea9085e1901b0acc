// Layers that work on a part of the rows, in models that were trained with all of them.
#include "tools/convert/selected_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "runtime/blob/attributes.h"
#include "tests/convert/architecture_support.h"
#include "tools/base/workers.h"
#include "tools/convert/blob_attributes.h"
#include "tools/convert/encoder.h"
#include "tools/convert/laid_pattern.h"
#include "tools/convert/loaded_blob.h"
#include "tools/convert/resolve.h"
#include "tools/measure/synthetic_batch.h"
#include "tools/model/batch.h"
#include "tools/model/session.h"
#include "tools/text/tokenizer.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kHeadsOfBert = 4;

class SelectedRows : public Architecture {
 protected:
  std::vector<uint8_t> Selected(const std::string& selections, const std::string& task = "") {
    ConvertOptions options = Options(task);
    options.pattern.selections = ReadSelections(selections);
    report_ = {};
    return BuildBlob(Describe(options), options, report_);
  }
  void ExpectSelectRefused(const std::string& selections, const std::string& reason, const std::string& task = "") {
    try {
      Selected(selections, task);
      ADD_FAILURE() << "not refused: " << reason;
    } catch (const Failure& failure) {
      EXPECT_NE(std::string(failure.what()).find(reason), std::string::npos) << failure.what();
    }
  }
};

uint32_t ValueOf(const Model& model, const std::string& name) {
  for (uint32_t value = 0; value < model.Program(0).value_count; ++value) {
    if (model.Value(0, value).name == name) return value;
  }
  ADD_FAILURE() << "no value " << name;
  return 0;
}

// Two texts, or pictures; the second is shorter where that is possible.
Batch BatchFor(const Model& model, uint32_t rows) { return SyntheticBatch(model, 0, {rows, rows * 2 / 3}); }

// The model whose layers from `layer` on have an input that masks keys.
BlobContent Masked(const Description& description, uint32_t layer) {
  Resolved resolved = Resolve(description);
  Workers workers;
  resolved.content.tensors = EncodeAll(resolved, TypesFor(resolved, DType::kF32), workers, {}).tensors;
  BlobContent& content = resolved.content;
  content.programs.resize(1);
  BlobProgram& program = content.programs[0];
  uint32_t count = 0, space = 0;
  for (BlobOperation& operation : program.operations) {
    for (uint32_t& input : operation.inputs) ++input;
    ++operation.output;
  }
  program.values.insert(program.values.begin(), BlobValue{"hidden_keys", 0, 1, DType::kF32, ValueRole::kInput});
  for (BlobOperation& operation : program.operations) {
    if (!IsLayer(content, program, operation) || count++ < layer) continue;
    space = program.values[operation.inputs[0]].space;
    EXPECT_EQ(NumberOr(operation, Attribute::kKeyBias, 0), 0u);
    SetNumber(operation, Attribute::kKeyBias, 1);
    operation.inputs.insert(operation.inputs.begin() + 3, 0);
  }
  program.values[0].space = space;
  return content;
}

struct Kind {
  const char* golden;
  const char* task;
  const char* changes;
  uint32_t rows;
  const char* state;  // what rows that are not chosen stay; "": not compared
};

// Selected rows have the values that they would have with the remaining rows masked; the remaining rows are unchanged.
TEST_F(SelectedRows, ComputeAsIfTheOthersWereHidden) {
  const Kind kinds[] = {{"bert", "", "{}", 30, "hidden_states.1"},
                        {"modernbert", "", R"({"global_attn_every_n_layers": 1})", 40, ""},  // rotary positions
                        {"deberta-v2-mlm", "", "{}", 30, ""},                                // distances and content
                        {"t5", "encoder", "{}", 30, ""},                                     // biases by distance
                        {"esm-mlm", "", "{}", 30, ""},
                        {"vit", "", "{}", 1, ""},
                        {"mobilebert", "", "{}", 30, ""}};
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(kind.golden);
    Copy(kind.golden);
    Change(kind.changes);
    const LoadedBlob selected(Selected("0.5@1", kind.task), kind.golden);
    const LoadedBlob masked(WriteBlob(Masked(Describe(Options(kind.task)), 1)), kind.golden);
    const Batch batch = BatchFor(selected.model, kind.rows);
    SessionRequest request;
    request.workers = 2;
    const uint32_t rows_value = ValueOf(selected.model, "select.1.rows");
    request.keep = {rows_value};
    Session some = SessionFor(selected.model, batch, request);
    some.Run();
    const Matrix chosen = some.Output(rows_value);
    const uint32_t space = selected.model.Value(0, ValueOf(selected.model, "select.1.received")).space;
    const std::vector<uint32_t> lengths = some.Lengths(space);
    const uint32_t rows = std::accumulate(lengths.begin(), lengths.end(), 0u);
    EXPECT_EQ(chosen.rows, std::accumulate(lengths.begin(), lengths.end(), 0u,
                                           [](uint32_t sum, uint32_t length) { return sum + (length + 1) / 2; }));
    std::vector<bool> is_chosen(rows, false);
    for (const float row : chosen.values) is_chosen[static_cast<size_t>(row)] = true;
    uint32_t begin = 0;
    for (const uint32_t length : lengths) {
      EXPECT_TRUE(is_chosen[begin]) << "the first row";
      begin += length;
    }

    Batch with_mask;
    with_mask.spaces = batch.spaces;
    for (const auto& [value, ids] : batch.ids) with_mask.ids[value + 1] = ids;
    for (const auto& [value, numbers] : batch.numbers) with_mask.numbers[value + 1] = numbers;
    for (const bool is : is_chosen) with_mask.numbers[0].push_back(is ? 0 : -INFINITY);
    request.keep.clear();
    if (*kind.state != 0) request.keep = {ValueOf(masked.model, kind.state)};
    Session all = SessionFor(masked.model, with_mask, request);
    all.Run();
    const std::vector<uint32_t> outputs = OutputsOf(selected.model, 0);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Matrix made = some.Output(outputs[i]), expected = all.Output(OutputsOf(masked.model, 0)[i]);
      const bool by_row = selected.model.Value(0, outputs[i]).space == space;  // else of first rows
      const Matrix state = *kind.state != 0 ? all.Output(request.keep[0]) : expected;
      ASSERT_EQ(expected.rows, made.rows);
      ASSERT_EQ(expected.width, made.width);
      double largest = 0;
      for (const float v : expected.values) largest = std::max(largest, std::fabs(double{v}));
      for (uint32_t row = 0; row < made.rows; ++row) {
        const bool left_out = by_row && !is_chosen[row];
        if (left_out && *kind.state == 0) continue;
        for (uint32_t k = 0; k < made.width; ++k) {
          const float other = (left_out ? state : expected).Row(row)[k];
          ASSERT_NEAR(made.Row(row)[k], other, 1e-5 * largest) << "row " << row << (left_out ? " left out" : "");
        }
      }
    }
  }
}

// The rows with the largest sums of weights, as a tap of the model itself has them.
TEST_F(SelectedRows, AreThoseThatReceiveMost) {
  Copy("bert");
  const LoadedBlob selected(Selected("0.4@2"), "bert"), plain(Blob(), "bert");
  const Batch batch = BatchFor(plain.model, 33);
  SessionRequest request;
  std::vector<uint32_t> attentions;
  for (uint32_t step = 0; step < plain.model.Program(0).step_count; ++step) {
    if (std::string(plain.model.Step(0, step).op) == "attention") attentions.push_back(step);
  }
  request.taps = {TapOf(attentions[1])};
  Session session = SessionFor(plain.model, batch, request);
  session.Run();
  const fovea_attention_map weights = session.AttentionMap(0);
  request.taps.clear();
  request.keep = {ValueOf(selected.model, "select.2.rows")};
  Session some = SessionFor(selected.model, batch, request);
  some.Run();
  std::vector<float> expected;
  uint32_t begin = 0;
  const float* line = weights.data;
  for (const uint32_t length : {33u, 22u}) {
    std::vector<double> received(length);
    for (uint32_t i = 0; i < length * kHeadsOfBert; ++i, line += weights.stride) {
      for (uint32_t key = 0; key < length; ++key) received[key] += line[key];
    }
    std::vector<uint32_t> order(length - 1);
    std::iota(order.begin(), order.end(), 1u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return received[a] > received[b]; });
    order.resize(static_cast<size_t>(std::ceil(0.4 * length)) - 1);
    order.push_back(0);
    std::sort(order.begin(), order.end());
    for (const uint32_t row : order) expected.push_back(static_cast<float>(begin + row));
    begin += length;
  }
  EXPECT_EQ(some.Output(request.keep[0]).values, expected);
}

// A share of nearly all rows is all rows of short texts: the same bits.
TEST_F(SelectedRows, ChangeNothingWhereAllAreChosen) {
  const std::pair<const char*, const char*> models[] = {
      {"bert", ""},           {"bert-mlm", ""},  {"bert-tokcls", ""}, {"modernbert-mlm", ""},
      {"deberta-v2-mlm", ""}, {"t5", "encoder"}, {"albert", ""},      {"distilbert", ""},
      {"mpnet-mlm", ""},      {"hubert", ""},    {"layoutlmv3", ""},  {"vit", ""},
      {"dinov2", ""},         {"dinov3", ""},    {"clip-vision", ""}, {"bert-seqcls", ""}};
  for (const auto& [golden, task] : models) {
    SCOPED_TRACE(golden);
    Copy(golden);
    const LoadedBlob before(Blob(task), golden), after(Selected("0.999@1", task), golden);
    const uint32_t rows = std::string(golden) == "hubert" ? 2000 : 24;
    const Batch batch = BatchFor(before.model, rows);
    Session was = SessionFor(before.model, batch), is = SessionFor(after.model, batch);
    was.Run();
    is.Run();
    const std::vector<uint32_t> outputs = OutputsOf(before.model, 0), now = OutputsOf(after.model, 0);
    ASSERT_EQ(outputs.size(), now.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_STREQ(before.model.Value(0, outputs[i]).name, after.model.Value(0, now[i]).name);
      EXPECT_EQ(was.Output(outputs[i]).values, is.Output(now[i]).values);
    }
    EXPECT_EQ(report_.metadata.back(), std::make_pair(std::string("attention.laid"), std::string("select 0.999@1")));
  }
}

// Each selection chooses from the rows that the previous one kept.
TEST_F(SelectedRows, OneAfterTheOther) {
  Copy("bert");
  const LoadedBlob blob(Selected("0.5@1,0.5@2"), "bert");
  const Batch batch = BatchFor(blob.model, 24);
  SessionRequest request;
  request.keep = {ValueOf(blob.model, "select.1.rows"), ValueOf(blob.model, "select.2.rows")};
  Session session = SessionFor(blob.model, batch, request);
  session.Run();
  EXPECT_EQ(session.Output(request.keep[0]).rows, 12u + 8u);
  EXPECT_EQ(session.Output(request.keep[1]).rows, 6u + 4u);
  EXPECT_EQ(session.Output(OutputsOf(blob.model, 0)[0]).rows, 24u + 16u);
}

TEST_F(SelectedRows, RefusesWhatDoesNotFit) {
  Copy("bert");
  ExpectSelectRefused("0.5@3", "no program has layer 3");
  for (const char* text :
       {"0.5", "@1", "0.5@", "0@1", "1@1", "-0.5@1", "nan@1", "0.5@0", "0.5x@1", "0.5@2,0.5@1", ""}) {
    EXPECT_THROW(ReadSelections(text), Failure) << text;
  }
  Copy("gpt2");
  ExpectSelectRefused("0.5@1", "attention is causal", "embedding");
  ExpectSelectRefused("0.5@1", "attention is causal", "causal-lm");
  Copy("swin");
  ExpectSelectRefused("0.5@1", "layer");
  Copy("longformer");
  ExpectSelectRefused("0.5@1", "attention with global_keys depends on the positions of rows");
}

}  // namespace
}  // namespace fovea::tools
