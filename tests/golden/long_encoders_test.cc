// Longformer and BigBird beyond their golden cases: texts without marks; blocks that were really drawn; padded batches.
#include <unistd.h>

#include "tests/golden/golden_support.h"
#include "tools/check/golden_check.h"
#include "tools/convert/description.h"
#include "tools/text/text_inputs.h"

namespace fovea::test {
namespace {

using tools::StoredTensor;
using tools::StoredTensors;

// A model description that can be changed before it becomes a blob.
struct Changed {
  explicit Changed(const tools::Description& description)
      : blob(Build(description)), model(blob.data(), blob.size(), "changed", {FOVEA_BACKEND_DEFAULT, false}) {}
  static AlignedBytes Build(const tools::Description& description) {
    tools::ConvertReport report;
    return AlignedBytes(tools::BuildBlob(description, {}, report));
  }
  AlignedBytes blob;
  tools::Model model;
};

// Without an input that marks rows as global, as for texts from the command line, no row is global.
TEST(Longformer, TextsHaveNoGlobalRowsUnlessTheyAreMarked) {
  const std::string path = InData("hf/longformer");
  const Converted converted(path, DType::kF32);
  const tools::SafetensorsReader golden(path + "/golden.safetensors");
  const std::vector<int64_t> ids = tools::ToIntegers(golden.Get("c.in.input_ids"));  // a case without marks
  tools::Tokens tokens;
  tokens.ids.assign(ids.begin(), ids.end());
  tokens.types.assign(ids.size(), 0);
  const tools::Batch batch = tools::BatchFromTokens(converted.model, 0, {tokens, tokens});
  tools::Session session = tools::SessionFor(converted.model, batch);
  session.Run();
  const std::vector<float> expected = tools::ToFloats(golden.Get("c.out.last_hidden_state"));
  const tools::Matrix found = session.Output(ValueOf(converted.model, "last_hidden_state"));
  ASSERT_EQ(found.values.size(), 2 * expected.size());
  EXPECT_LE(LargestDifference(found.values.data(), expected), 3e-4);
  EXPECT_LE(LargestDifference(found.values.data() + expected.size(), expected), 3e-4);
}

class BigBird : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    path_ = InData("hf/") + GetParam();
    golden_ = std::make_unique<tools::SafetensorsReader>(path_ + "/golden.safetensors");
    directory_ = std::filesystem::path(::testing::TempDir()) / ("big-bird-" + std::to_string(getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    for (const char* file : {"model.safetensors", "config.json"}) {
      std::filesystem::copy(std::filesystem::path(path_) / file, directory_ / file);
    }
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // The model with the blocks that were drawn for a case.
  tools::Description WithBlocksOf(const std::string& name) {
    tools::SafetensorsWriter file;
    for (uint32_t layer = 0;; ++layer) {
      const StoredTensor* drawn = golden_->Find(name + ".rec.rand_blocks." + std::to_string(layer));
      if (drawn == nullptr) break;
      file.Add(std::to_string(layer), drawn->type, drawn->shape, drawn->data);
    }
    file.Write((directory_ / "random_blocks.safetensors").string());
    tools::ConvertOptions options;
    options.input = directory_.string();
    return tools::Describe(options);
  }

  // One text of a padded batch as a separate case, without its padding.
  struct Text {
    uint64_t length, padded;
    StoredTensors tensors;
  };
  std::vector<Text> TextsOf(const std::string& name) const {
    const StoredTensor& mask = golden_->Get(name + ".in.attention_mask");
    const std::vector<int64_t> bits = tools::ToIntegers(mask);
    std::vector<Text> texts(mask.shape[0]);
    for (uint64_t i = 0; i < texts.size(); ++i) {
      Text& text = texts[i];
      text.padded = mask.shape[1];
      text.length = static_cast<uint64_t>(std::count(bits.begin() + static_cast<ptrdiff_t>(i * text.padded),
                                                     bits.begin() + static_cast<ptrdiff_t>((i + 1) * text.padded), 1));
      for (const auto& [key, whole] : golden_->tensors()) {
        if (key.rfind(name + ".", 0) != 0 || key.find(".rec.") != std::string::npos ||
            key.find("mask") != std::string::npos) {
          continue;
        }
        StoredTensor part = whole;
        part.bytes /= texts.size();
        part.data += i * part.bytes;
        part.shape[0] = 1;
        if (part.shape.size() > 1 && part.shape[1] == text.padded) {
          part.shape[1] = text.length;
          part.bytes = part.bytes / text.padded * text.length;
        }
        text.tensors[key] = part;
      }
    }
    return texts;
  }

  static void ExpectAllOk(const tools::Model& model, const StoredTensors& tensors, const tools::CheckOptions& options) {
    size_t compared = 0;
    for (const tools::CheckLine& line : tools::CheckGolden(model, tensors, options)) {
      EXPECT_TRUE(line.ok && line.compared) << tools::LineText(line);
      ++compared;
    }
    EXPECT_GE(compared, 1u);
  }

  std::string path_;
  std::unique_ptr<tools::SafetensorsReader> golden_;
  std::filesystem::path directory_;
};

TEST_P(BigBird, SeesTheBlocksThatWereDrawn) {
  for (const std::string name : {"rand_a", "rand_b", "rand_c"}) {
    const Changed model(WithBlocksOf(name));
    tools::CheckOptions options;
    options.cases = {name};
    for (options.workers = 1; options.workers <= 2; ++options.workers) {
      ExpectAllOk(model.model, golden_->tensors(), options);
    }
  }
}

// The original library takes the last block of a padded batch from the longest text, and chooses full attention by that
// text's length. A shorter text so has no last block (it is in the padding, where a mask hides it) and attends in
// blocks however short it is: its result depends on its neighbours. Here every text is computed as it would be alone,
// so that only texts that reach the last block of the batch can agree. For the shorter texts the reference is met, row
// for row, by the same model without `last` and `full_up_to`, which shows that nothing else differs.
TEST_P(BigBird, PaddedBatchesDifferInTheLastBlockOnly) {
  const uint64_t block = GetParam() == std::string("big_bird") ? 4 : 8;
  for (const std::string name : {"pad_eval", "pad_rand"}) {
    tools::Description description = WithBlocksOf(name);  // pad_eval: all zeros were recorded
    const Changed model(description);
    for (tools::Operation& operation : description.programs[0].operations) {
      operation.attributes.erase("global_last");
      operation.attributes.erase("full_up_to");
    }
    const Changed padded(description);
    size_t alike = 0;
    for (const Text& text : TextsOf(name)) {
      const bool reaches_last = (text.length + block - 1) / block == (text.padded + block - 1) / block;
      alike += reaches_last ? 1 : 0;
      ExpectAllOk(reaches_last ? model.model : padded.model, text.tensors, {});
      EXPECT_EQ(tools::AllOk(tools::CheckGolden(model.model, text.tensors, {})), reaches_last) << text.length;
    }
    EXPECT_EQ(alike, 1u);
  }
}

// The file can also specify that every choice is block 0.
TEST_P(BigBird, BlocksOfTheEvaluationMode) {
  const Changed model(WithBlocksOf("eval_b"));
  tools::CheckOptions options;
  options.cases = {"eval_b", "short"};
  ExpectAllOk(model.model, golden_->tensors(), options);
}

INSTANTIATE_TEST_SUITE_P(All, BigBird, ::testing::Values("big_bird", "big_bird-mlm"),
                         [](const auto& name) { return name.index == 0 ? "hidden_states" : "masked_lm"; });

}  // namespace
}  // namespace fovea::test
