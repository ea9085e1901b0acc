// Fields of measurements, equal on every system (ports/bench.h), and the inputs of systems without files
// (ports/inputs.h) against the command's.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "ports/bench.h"
#include "ports/inputs.h"
#include "tests/support/parsed_json.h"
#include "tests/support/paths.h"
#include "tests/tools/tiny_bert.h"
#include "tools/measure/synthetic_batch.h"
#include "tools/model/batch.h"

namespace fovea::test {
namespace {

using nlohmann::json;
using tools::Batch;
using tools::Model;
using tools::Session;

std::string Converted(const std::string& directory, const std::string& name, const std::string& keys = "f32") {
  const std::string blob = Temporary(name + "." + keys + ".measured.fovea");
  const CommandResult made = Fovea({"convert", directory, "-o", blob, "--compare", "none", "--keys", keys});
  EXPECT_EQ(made.status, 0) << made.err;
  return blob;
}

// At least `percent` of the numbers are at most the percentile, and no smaller number has that property.
uint64_t PlainPercentile(const std::vector<uint64_t>& numbers, uint32_t percent) {
  uint64_t best = UINT64_MAX;
  for (const uint64_t candidate : numbers) {
    uint64_t below = 0;
    for (const uint64_t number : numbers) below += number <= candidate;
    if (below * 100 >= percent * numbers.size()) best = std::min(best, candidate);
  }
  return best;
}

struct Measured {
  Measured() : model(TinyBlob("sequence"), Model::Options()) {
    const Batch batch = tools::SyntheticBatch(model, 0, {7});
    session.emplace(tools::SessionFor(model, batch));
    session->Run();
    bench.model_name = "a \"b\" \\ \n\x01 \xc3\xa9";
    bench.system = bench.architecture = bench.processor = "";
    bench.clock = "board";
    bench.counts = "cycles";
    bench.ticks_per_second = 25000000;
    bench.model_ticks = 3;
    bench.rows = 7;
    bench.texts = 1;
  }
  std::string Text() {
    std::string text(fovea_bench_json(&bench, model.get(), session->get(), nullptr, 0) + 1, '?');
    EXPECT_EQ(fovea_bench_json(&bench, model.get(), session->get(), &text[0], text.size()), text.size() - 1);
    EXPECT_EQ(text.back(), '\0');
    text.pop_back();
    return text;
  }

  Model model;
  std::optional<Session> session;
  fovea_bench bench = {};
};

TEST(Measurement, PercentilesAreThoseOfPlainCodeForAnyNumberOfRuns) {
  Measured measured;
  std::mt19937_64 random(7);
  for (const size_t count : {1, 2, 3, 5, 8, 99, 100, 101, 1000}) {
    std::vector<uint64_t> ticks(count);
    for (uint64_t& tick : ticks) tick = 1 + random() % (count < 10 ? 3 : 100000);
    const std::vector<uint64_t> unsorted = ticks;
    measured.bench.run_ticks = ticks.data();
    measured.bench.run_count = count;
    const json fields = ParsedJson(measured.Text());
    EXPECT_EQ(fields["runs"], count);
    for (const auto& [name, percent] :
         std::map<std::string, uint32_t>{{"min", 0}, {"p50", 50}, {"p90", 90}, {"p99", 99}}) {
      const double expected = static_cast<double>(PlainPercentile(unsorted, percent)) * 1e3 / 25e6;
      EXPECT_NEAR(fields["latency_ms"][name].get<double>(), expected, 0.6e-9) << count << " " << name;
    }
    const double seconds = fields["latency_ms"]["p50"].get<double>() / 1e3;
    EXPECT_NEAR(fields["rows_per_second"].get<double>() * seconds, 7, 1e-5);
    EXPECT_NEAR(fields["gops"].get<double>() * seconds, fields["gop_per_run"].get<double>(), 1e-9);
    EXPECT_EQ(fields["load_ms"]["model"].get<double>(), 0.00012);
  }
}

TEST(Measurement, AnyTextIsJsonAndACutOneEndsWithAZero) {
  Measured measured;
  uint64_t tick = 0;  // a clock too coarse
  measured.bench.run_ticks = &tick;
  measured.bench.run_count = 1;
  const std::string whole = measured.Text();
  EXPECT_EQ(ParsedJson(whole)["model"], measured.bench.model_name);
  EXPECT_EQ(ParsedJson(whole)["gops"], 0);
  EXPECT_EQ(ParsedJson(whole)["bytes"]["blob"], measured.model.Info().blob_bytes);
  for (const size_t capacity : {size_t{1}, size_t{10}, whole.size()}) {
    std::string cut(capacity + 1, '?');
    EXPECT_EQ(fovea_bench_json(&measured.bench, measured.model.get(), measured.session->get(), &cut[0], capacity),
              whole.size());
    EXPECT_EQ(cut, whole.substr(0, capacity - 1) + '\0' + '?');
  }
}

// The KV cache is cleared before the next run, or texts would exceed the session's limit.
TEST(Measurement, EachRunIsTheFirstOfItsTexts) {
  const std::string blob = Converted(InData("hf/t5"), "t5", "f16");
  const CommandResult one =
      Fovea({"bench", blob, "--program", "decode", "--rows", "4", "--seconds", "0", "--steps", "--json"});
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_GE(ParsedJson(one.out)["runs"], FOVEA_BENCH_RUNS);
  const CommandResult two =
      Fovea({"bench", blob, "--program", "decode", "--rows", "4", "--seconds", "0", "--compare", blob});
  EXPECT_EQ(two.status, 0) << two.err;
}

// Bytes of the scratch, in which nothing but inputs matters before a run.
std::vector<uint8_t*> OutsideInputs(const Model& model, const Session& session) {
  auto* const scratch = static_cast<uint8_t*>(session.sizes().scratch);
  std::vector<bool> inside(session.sizes().scratch_size);
  for (const uint32_t value : tools::InputsOf(model, session.request().program)) {
    fovea_view view = {};
    EXPECT_EQ(fovea_session_get_input(session.get(), value, &view, nullptr), FOVEA_OK);
    auto* const data = static_cast<uint8_t*>(view.data);
    if (data < scratch || data >= scratch + inside.size()) continue;  // carried
    std::fill_n(inside.begin() + (data - scratch), size_t{view.rows} * view.row_bytes, true);
  }
  std::vector<uint8_t*> outside;
  for (size_t i = 0; i < inside.size(); ++i) {
    if (!inside[i]) outside.push_back(scratch + i);
  }
  return outside;
}

TEST(Measurement, InputsBindTheRowsThatTheCommandBinds) {
  std::vector<std::string> blobs = {TinyBlob("sequence")};
  for (const char* name : {"gru-seq2seq", "hierarchy-three-levels", "query-three-hops", "task-concat"}) {
    blobs.push_back(Converted(InSource("tools/convert/examples/") + name + "/graph.json", name));
  }
  for (const char* name : {"vit", "longformer"}) blobs.push_back(Converted(InData("hf/") + name, name));
  for (const char* keys : {"f32", "f16", "bf16", "int8"}) blobs.push_back(Converted(InData("hf/t5"), "t5", keys));
  for (const std::string& blob : blobs) {
    const Model model(blob, Model::Options());
    for (uint32_t program = 0; program < model.Info().program_count; ++program) {
      uint32_t rows = 5;
      for (const uint32_t value : tools::InputsOf(model, program)) {
        rows = std::min(rows, model.Space(model.Value(program, value).space).max_segment_rows);
      }
      const Batch batch = tools::SyntheticBatch(model, program, {rows});
      tools::SessionRequest request;
      request.program = program;
      Session session = tools::SessionFor(model, batch, request);
      const std::vector<uint8_t*> outside = OutsideInputs(model, session);
      for (uint8_t* byte : outside) *byte = 0xa5;
      uint64_t bound = 0;
      fovea_error error = {};
      ASSERT_EQ(fovea_inputs_write(session.get(), model.get(), program, rows, &bound, &error), FOVEA_OK)
          << blob << ": " << error.text;
      EXPECT_EQ(bound, batch.Rows()) << blob << ", program " << program;
      for (const uint8_t* byte : outside) ASSERT_EQ(*byte, 0xa5) << blob << ", program " << program;
      for (uint32_t space = 0; space < model.Info().space_count; ++space) {
        const auto segments = batch.spaces.find(space);
        const uint32_t told = fovea_inputs_rows(model.get(), program, space, rows);
        EXPECT_EQ(told != 0, segments != batch.spaces.end()) << blob << ", space " << space;
        if (told == 0 || segments == batch.spaces.end()) continue;
        EXPECT_EQ(session.Lengths(space), segments->second.lengths) << blob << ", space " << space;
      }
      session.Run();
    }
  }
}

}  // namespace
}  // namespace fovea::test
