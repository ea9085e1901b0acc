// Reformer against what the original library computed with the same random rotations: every output and traced value.
// Causal models are compared with its run in float64, whose sums do not lose what tokens see that see only themselves.
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <random>

#include "tests/golden/golden_support.h"
#include "tests/golden/reformer_reference.h"
#include "tests/support/heap_trap.h"
#include "tests/support/parsed_json.h"
#include "tools/base/fail.h"
#include "tools/check/golden_check.h"
#include "tools/convert/description.h"
#include "tools/model/batch.h"
#include "tools/tensors/padded_inputs.h"

namespace fovea::test {
namespace {

using tools::StoredTensor;
using tools::StoredTensors;

using Published = ReformerShape;
const Published kPublished[] = {
    {"reformer-lm", 2, 8, {8}, {8, 1, 0}, {8, 1, 0}, {false, true, false, true}, true, false},
    {"reformer-mlm", 3, 8, {4, 2}, {8, 1, 1}, {16, 1, 1}, {true, false, true}, false, true}};
constexpr uint32_t kHeads = kReformerHeads;

class Reformer : public ::testing::TestWithParam<Published> {
 protected:
  void SetUp() override {
    const std::filesystem::path golden = InData("hf/") + GetParam().name;
    file_ = std::make_unique<tools::SafetensorsReader>((golden / "golden.safetensors").string());
    directory_ = std::filesystem::path(::testing::TempDir()) / ("reformer-" + std::to_string(getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    for (const char* name : {"config.json", "model.safetensors"})
      std::filesystem::copy(golden / name, directory_ / name);
    tools::SafetensorsWriter rotations;
    for (const char* i : {"0", "1"}) {
      const StoredTensor& first = file_->Get(std::string("a.rec.rotations.") + i);
      rotations.Add(i, first.type, first.shape, first.data);
      for (const char* name : {"b", "pad"}) {
        const StoredTensor& other = file_->Get(name + std::string(".rec.rotations.") + i);
        ASSERT_EQ(memcmp(first.data, other.data, first.bytes), 0);
      }
    }
    rotations.Write((directory_ / "rotations.safetensors").string());
  }
  void TearDown() override {
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }

  // The configuration that is there, with these changes.
  void ChangeConfig(const tools::Json& changes) {
    const std::string path = (directory_ / "config.json").string();
    tools::Json config;
    std::ifstream(path) >> config;
    config.merge_patch(changes);
    std::ofstream(path) << config;
  }

  Converted Convert(DType weights, uint32_t backend = FOVEA_BACKEND_DEFAULT) const {
    return Converted(directory_.string(), weights, "", backend);
  }

  // The first `count` entries of dimension 1, of the first text: what the library pads is left out.
  static StoredTensor Cut(StoredTensor tensor, uint64_t count) {
    uint64_t row = 1;
    for (size_t i = 2; i < tensor.shape.size(); ++i) row *= tensor.shape[i];
    tensor.shape[0] = 1;
    tensor.shape[1] = count;
    tensor.bytes = count * row * tools::ElementBytes(tensor.type);
    return tensor;
  }

  // The part of the golden file that can be compared directly. From the padded batch only the longest text: where
  // chunks of padding separate the rounds, and the end from the beginning, the library attends to these and not to the
  // text.
  StoredTensors Golden() {
    StoredTensors golden;
    for (const auto& [name, tensor] : file_->tensors()) {
      const std::string kind = name.substr(name.find('.') + 1), case_name = name.substr(0, name.find('.'));
      const uint64_t length = file_->Get(case_name + ".in.input_ids").shape[1];
      const bool weights = kind.rfind("out.attentions.", 0) == 0;
      if (kind.rfind("rec.", 0) != 0) golden[name] = weights ? tensor : Cut(tensor, length);
    }
    return golden;
  }

  std::filesystem::path directory_;
  std::unique_ptr<tools::SafetensorsReader> file_;
};

TEST_P(Reformer, F32IsWithinRounding) {
  const StoredTensors golden = Golden();
  for (const uint32_t backend : {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY}) {
    const Converted converted = Convert(DType::kF32, backend);
    for (const uint32_t workers : {1u, 3u}) {
      tools::CheckOptions options;
      options.workers = workers;
      const auto lines = tools::CheckGolden(converted.model, golden, options);
      EXPECT_GE(lines.size(), GetParam().causal ? 20u : 15u);
      for (const tools::CheckLine& line : lines) {
        // Stored in float32 only, after a layer of which that loses up to 0.5 %.
        const bool coarse = GetParam().causal && line.case_name == "a" &&
                            (line.tensor == "attentions.2" || line.tensor == "attentions.3");
        EXPECT_TRUE(coarse ? line.max_diff <= 5e-3 : line.ok) << tools::LineText(line);
      }
    }
  }
}

// The library's recorded values of the first text of one case.
class Recorded {
 public:
  Recorded(const tools::SafetensorsReader& file, const Converted& converted, const std::string& name,
           const Published& published)
      : file_(file), name_(name), published_(published) {
    const StoredTensor& ids = file.Get(name + ".in.input_ids");
    length_ = static_cast<uint32_t>(ids.shape[1]);
    StoredTensor first = ids;
    first.shape[0] = 1;
    first.bytes = length_ * tools::ElementBytes(ids.type);
    const tools::Batch batch = tools::BatchFromTensors(converted.model, 0, {{"input_ids", first}});
    tools::SessionRequest request;
    for (const char* value : {"buckets.0", "buckets.1"}) request.keep.push_back(ValueOf(converted.model, value));
    tools::Session session = tools::SessionFor(converted.model, batch, request);
    session.Run();
    for (const uint32_t value : request.keep) buckets_.push_back(session.Output(value).values);
  }

  uint32_t length() const { return length_; }

  // The bucket of a token, as the model and as the library has it.
  int64_t Bucket(uint32_t i, uint32_t head, uint32_t round, uint32_t row) const {
    return static_cast<int64_t>(buckets_[i][(size_t{row} * kHeads + head) * published_.rounds + round]);
  }
  int64_t StoredBucket(uint32_t i, uint32_t head, uint32_t round, uint32_t row) const {
    const StoredTensor& stored = file_.Get(name_ + ".rec.buckets." + std::to_string(i));
    const size_t columns = stored.shape[2], padded = columns / published_.rounds;
    const std::vector<int64_t>& all = Integers(i, stored);
    const bool padding = padded != length_ || stored.shape[0] > 1;  // then there is a bucket more
    return all[head * columns + round * padded + row] - int64_t{round} * (published_.buckets + (padding ? 1 : 0));
  }

 private:
  const std::vector<int64_t>& Integers(uint32_t i, const StoredTensor& stored) const {
    if (integers_[i].empty()) integers_[i] = tools::ToIntegers(stored);
    return integers_[i];
  }

  const tools::SafetensorsReader& file_;
  const std::string name_;
  const Published& published_;
  uint32_t length_ = 0;
  std::vector<std::vector<float>> buckets_;
  mutable std::vector<int64_t> integers_[2];
};

TEST_P(Reformer, BucketsAreTheLibrarys) {
  const Converted converted = Convert(DType::kF32);
  for (const char* name : {"a", "b", "pad"}) {
    const Recorded recorded(*file_, converted, name, GetParam());
    for (uint32_t i = 0; i < 2; ++i) {
      for (uint32_t head = 0; head < kHeads; ++head) {
        for (uint32_t round = 0; round < GetParam().rounds; ++round) {
          for (uint32_t row = 0; row < recorded.length(); ++row) {
            ASSERT_EQ(recorded.Bucket(i, head, round, row), recorded.StoredBucket(i, head, round, row))
                << name << " layer " << i << " head " << head << " round " << round << " row " << row;
          }
        }
      }
    }
  }
}

// The second text of the padded batch: 43 tokens, which the library pads to 80. The reference padded like that equals
// the library, and the reference padded to whole chunks equals the runtime, so nothing else differs.
TEST_P(Reformer, DiffersInPaddingByWholeChunksOnly) {
  const tools::SafetensorsReader weights((directory_ / "model.safetensors").string());
  const tools::SafetensorsReader rotations((directory_ / "rotations.safetensors").string());
  const ReformerReference reference(GetParam(), weights, rotations);
  const StoredTensor& stored_ids = file_->Get("pad.in.input_ids");
  const std::vector<int64_t> both = tools::ToIntegers(stored_ids);
  const std::vector<int64_t> ids(both.begin() + 80, both.begin() + 80 + 43);
  const StoredTensor* exact = file_->Find("pad.out64.logits");
  const std::vector<float> logits = tools::ToFloats(exact != nullptr ? *exact : file_->Get("pad.out.logits"));
  const StoredTensor text = {
      tools::ElementType::kI64, {1, 43}, stored_ids.data + 80 * sizeof(int64_t), 43 * sizeof(int64_t)};
  const Converted converted = Convert(DType::kF32);
  const tools::Batch batch = tools::BatchFromTensors(converted.model, 0, {{"input_ids", text}});
  tools::Session session = tools::SessionFor(converted.model, batch);
  session.Run();
  const tools::Matrix found = session.Output(ValueOf(converted.model, "logits"));
  const auto padded_to_80 = reference.Logits(ids, 80), padded_to_48 = reference.Logits(ids, 48);
  double library = 0, runtime = 0, both_ways = 0;
  for (size_t row = 0; row < ids.size(); ++row) {
    for (size_t i = 0; i < found.width; ++i) {
      const double padded = padded_to_80[row][i], alone = padded_to_48[row][i];
      library = std::max(library, Distance(logits[(80 + row) * found.width + i], padded));
      runtime = std::max(runtime, Distance(found.values[row * found.width + i], alone));
      both_ways = std::max(both_ways, Distance(padded, alone));
    }
  }
  EXPECT_LE(library, 7e-4);  // 1e-4 of the largest magnitude
  EXPECT_LE(runtime, 7e-4);
  EXPECT_GE(both_ways, 0.1);
}

// The first text is so short that the chunks before and after may be the same one, whose keys then count twice.
TEST_P(Reformer, WeightsChunkByChunk) {
  const tools::SafetensorsReader weights((directory_ / "model.safetensors").string());
  const tools::SafetensorsReader rotations((directory_ / "rotations.safetensors").string());
  const ReformerReference reference(GetParam(), weights, rotations);
  const StoredTensor& stored_ids = file_->Get("b.in.input_ids");
  const Converted converted = Convert(DType::kF32);
  for (const uint32_t length : {27u, 35u}) {
    std::vector<int64_t> ids = tools::ToIntegers(stored_ids);
    ids.resize(length);
    reference.Logits(ids, GetParam().Padded(length));
    StoredTensors golden = {
        {"x.in.input_ids", {tools::ElementType::kI64, {1, length}, stored_ids.data, length * sizeof(int64_t)}}};
    for (size_t layer = 0; layer < GetParam().hashed.size(); ++layer) {
      const std::vector<float>& expected = reference.weights()[layer];
      const ReformerChunks& chunks = GetParam().ChunksOf(layer);
      const uint64_t columns = uint64_t{chunks.before + 1 + chunks.after} * chunks.length;
      golden["x.out.attentions." + std::to_string(layer)] = {
          tools::ElementType::kF32,
          {1, kHeads, expected.size() / (kHeads * chunks.length * columns), chunks.length, columns},
          reinterpret_cast<const uint8_t*>(expected.data()),
          expected.size() * sizeof(float)};
    }
    const auto lines = tools::CheckGolden(converted.model, golden, {});
    EXPECT_EQ(lines.size(), GetParam().hashed.size());
    for (const tools::CheckLine& line : lines) EXPECT_TRUE(line.ok && line.compared) << tools::LineText(line);
  }
}

// Chunks of any length, with any number of chunks before and after: the library's padding separates the rounds, and the
// end from the beginning of the circle.
TEST_P(Reformer, ChunksOfPadding) {
  const struct {
    ReformerChunks hashed, local;
    uint32_t rounds;
    bool causal;
  } settings[] = {{{4, 1, 0}, {6, 1, 1}, 1, false}, {{6, 1, 1}, {4, 2, 1}, 3, true},  {{8, 2, 0}, {12, 1, 2}, 2, false},
                  {{4, 3, 3}, {10, 1, 0}, 2, true}, {{16, 1, 0}, {6, 3, 0}, 1, true}, {{5, 1, 1}, {5, 4, 5}, 3, false},
                  {{4, 1, 0}, {32, 1, 1}, 2, true}};
  const tools::SafetensorsReader weights((directory_ / "model.safetensors").string());
  const std::vector<int64_t> all_ids = tools::ToIntegers(file_->Get("b.in.input_ids"));
  const std::vector<uint64_t> stored = file_->Get("a.rec.rotations.0").shape;
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (const auto& setting : settings) {
    Published shape = GetParam();
    shape.hashed_chunks = setting.hashed;
    shape.local_chunks = setting.local;
    shape.rounds = setting.rounds;
    shape.causal = setting.causal;
    ChangeConfig({{"lsh_attn_chunk_length", setting.hashed.length},
                  {"lsh_num_chunks_before", setting.hashed.before},
                  {"lsh_num_chunks_after", setting.hashed.after},
                  {"local_attn_chunk_length", setting.local.length},
                  {"local_num_chunks_before", setting.local.before},
                  {"local_num_chunks_after", setting.local.after},
                  {"num_hashes", setting.rounds},
                  {"is_decoder", setting.causal}});
    std::vector<float> values[2];
    tools::SafetensorsWriter writer;
    for (size_t i = 0; i < 2; ++i) {
      values[i].resize(stored[0] * stored[1] * setting.rounds * stored[3]);
      for (float& value : values[i]) value = normal(random);
      writer.AddFloats(std::to_string(i), {stored[0], stored[1], setting.rounds, stored[3]}, values[i].data());
    }
    writer.Write((directory_ / "rotations.safetensors").string());
    const tools::SafetensorsReader rotations((directory_ / "rotations.safetensors").string());
    const ReformerReference reference(shape, weights, rotations);
    const Converted converted = Convert(DType::kF32);
    for (const uint32_t length : {1u, 4u, 5u, 9u, 13u, 24u, 25u, 37u}) {
      const std::vector<int64_t> ids(all_ids.begin(), all_ids.begin() + length);
      const StoredTensor text = {tools::ElementType::kI64,
                                 {1, length},
                                 reinterpret_cast<const uint8_t*>(ids.data()),
                                 length * sizeof(int64_t)};
      tools::Session session =
          tools::SessionFor(converted.model, tools::BatchFromTensors(converted.model, 0, {{"input_ids", text}}));
      session.Run();
      const tools::Matrix found = session.Output(ValueOf(converted.model, "logits"));
      const auto expected = reference.Logits(ids, shape.Padded(length));
      double largest = 0, difference = 0;
      for (size_t row = 0; row < length; ++row) {
        for (size_t i = 0; i < found.width; ++i) {
          largest = std::max(largest, std::fabs(expected[row][i]));
          difference = std::max(difference, Distance(found.values[row * found.width + i], expected[row][i]));
        }
      }
      EXPECT_LE(difference, 1e-4 * largest)
          << "LSH chunks of " << setting.hashed.length << ", local ones of " << setting.local.length << ", "
          << setting.rounds << " rounds, " << length << " tokens";
    }
  }
}

TEST_P(Reformer, F16WeightsAreCloseAndIntegerWeightsRun) {
  const StoredTensors golden = Golden();
  // Other weights are other buckets, so a token may see other keys.
  const std::pair<DType, double> types[] = {{DType::kF16, 0.99}, {DType::kI8, 0.98}, {DType::kI4, 0.5}};
  for (const auto& [type, cosine] : types) {
    const Converted converted = Convert(type);
    tools::CheckOptions options;
    options.cosine = -1;
    double lowest_logits = 1, lowest = 1;
    for (const tools::CheckLine& line : tools::CheckGolden(converted.model, golden, options)) {
      EXPECT_TRUE(line.ok) << tools::LineText(line);
      if (line.tensor.rfind("attentions", 0) == 0) continue;
      (line.tensor == "logits" ? lowest_logits : lowest) =
          std::min(line.tensor == "logits" ? lowest_logits : lowest, line.cosine);
    }
    std::cout << GetParam().name << " type " << static_cast<uint32_t>(type) << ": lowest cosine of logits "
              << lowest_logits << ", of hidden states " << lowest << "\n";
    EXPECT_GE(lowest_logits, cosine);
    EXPECT_GE(lowest, cosine);
  }
}

// Without stored rotations they are made from a seed, the same each time.
TEST_P(Reformer, MakesItsOwnRotations) {
  const auto stored = Converted::Build(Converted::OptionsOf(directory_.string(), DType::kF32));
  std::filesystem::remove(directory_ / "rotations.safetensors");
  const auto once = Converted::Build(Converted::OptionsOf(directory_.string(), DType::kF32));
  const auto twice = Converted::Build(Converted::OptionsOf(directory_.string(), DType::kF32));
  ASSERT_EQ(once.size(), twice.size());
  EXPECT_EQ(memcmp(once.data(), twice.data(), once.size()), 0);
  EXPECT_NE(memcmp(once.data(), stored.data(), std::min(once.size(), stored.size())), 0);
}

// Accepted configurations, and refused ones, which are reported with key and value.
TEST_P(Reformer, Configurations) {
  const std::string config = (directory_ / "config.json").string();
  tools::Json original;
  std::ifstream(config) >> original;
  const auto message = [&](const char* changes) -> std::string {
    tools::Json changed = original;
    changed.merge_patch(ParsedJson(changes));
    std::ofstream(config) << changed;
    try {
      tools::ConvertOptions options;
      options.input = directory_.string();
      tools::ConvertReport report;
      tools::BuildBlob(tools::Describe(options), options, report);
      std::string warnings;
      for (const std::string& warning : report.warnings) warnings += warning + "\n";
      return warnings;
    } catch (const tools::Failure& failure) {
      return failure.what();
    }
  };
  const struct {
    const char* changes;
    const char* message;
  } cases[] = {
      {R"({"attn_layers": ["local", "full"]})", "a layer of \"full\" is not supported"},
      {R"({"attn_layers": null})", "attn_layers is missing"},
      {R"({"num_hidden_layers": 7})", "num_hidden_layers"},
      {R"({"num_buckets": [2, 2, 2]})", "num_buckets [2,2,2] is not supported"},
      {R"({"num_buckets": 7})", "num_buckets 7 is not supported"},
      {R"({"num_buckets": 0})", "num_buckets 0 is not supported"},
      {R"({"num_buckets": []})", "num_buckets [] is not supported"},
      {R"({"num_buckets": 16})", "rotations.safetensors: tensor 0 is"},
      {R"({"lsh_attn_chunk_length": 0})", "a chunk of 0 tokens"},
      {R"({"is_decoder": true, "architectures": ["ReformerForRegions"]})", "is not supported"},
      {R"({"axial_pos_shape": [4, 32]})", GetParam().causal ? "axial_pos_shape" : ""},
  };
  for (const auto& c : cases) EXPECT_NE(message(c.changes).find(c.message), std::string::npos) << message(c.changes);
  std::filesystem::remove(directory_ / "rotations.safetensors");
  EXPECT_NE(message("{}").find("random rotations are generated with seed 17"), std::string::npos) << message("{}");
  EXPECT_NE(message(R"({"hash_seed": null})").find("seed 0 + number of the layer"), std::string::npos);
  EXPECT_NE(message(R"({"hash_seed": -1})").find("hash_seed -1 is not supported"), std::string::npos);
  EXPECT_EQ(message(R"({"num_buckets": 64})").find("not supported"), std::string::npos);
  // As the library derives it for a text of 128 tokens in 16 chunks: 32, in two factors because that is more than 16.
  EXPECT_NE(message(R"({"num_buckets": null})").find("num_buckets is not set; 4 x 8 is used,"), std::string::npos);
}

TEST_P(Reformer, RunsWithoutHeap) {
  if (!fovea::testing::HeapTrap::Works()) GTEST_SKIP() << "the heap cannot be watched in this build";
  for (const DType type : {DType::kF32, DType::kI8}) {
    const Converted converted = Convert(type);
    for (const uint32_t workers : {1u, 3u}) ExpectNoHeap(converted.model, {20, 3, 0, 61}, workers);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Reformer, ::testing::ValuesIn(kPublished),
                         [](const auto& published) { return std::string(published.param.name + 9); });

}  // namespace
}  // namespace fovea::test
