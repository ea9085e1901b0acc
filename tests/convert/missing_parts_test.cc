// Directories without a part that their configuration promises: a head, or a readable tokenizer.
#include "tests/convert/architecture_support.h"
#include "tools/convert/description.h"

namespace fovea::tools {
namespace {

// The original library would initialize it at random.
TEST_F(Architecture, AHeadThatIsMissingIsNotMadeUp) {
  Copy("llama");
  ChangeWeights([](Tensors& tensors) { tensors.erase("lm_head.weight"); });
  ExpectRefused("no tensor lm_head.weight: tie_word_embeddings is false", R"({"tie_word_embeddings": false})");
  ExpectRefused("--task embedding", R"({"tie_word_embeddings": null})");  // the class's default
  Change(R"({"tie_word_embeddings": true})");
  EXPECT_NO_THROW(Blob());
  Change(R"({"tie_word_embeddings": false})");
  EXPECT_NO_THROW(Blob("embedding"));
  Copy("bert-seqcls");
  ExpectRefused("id2label has 7 classes", R"({"id2label": {"0": "a", "1": "b", "2": "c", "3": "d", "4": "e", "5": "f",
                                                           "6": "g"}})");
}

TEST_F(Architecture, ATokenizerThatIsNotSupportedIsLeftOutWithAWarning) {
  Copy("gemma3-embed");
  const std::vector<uint8_t> without = Blob();
  Write("tokenizer.json", R"({"version": "1.0", "added_tokens": [], "normalizer": null, "pre_tokenizer": null,
    "post_processor": null, "decoder": null, "model": {"type": "Whole", "vocab": {"a": 0}, "unk_token": "a"}})");
  EXPECT_EQ(Blob(), without);
  ASSERT_EQ(report_.warnings.size(), 1u);
  EXPECT_NE(report_.warnings[0].find("accepts only token ids"), std::string::npos) << report_.warnings[0];
  EXPECT_NE(report_.warnings[0].find("Whole"), std::string::npos) << report_.warnings[0];
  Copy("gemma3-embed");
  Write("spm.model", "whatever");
  Write("tokenizer_config.json", R"({"do_lower_case": false, "vocab_type": "spm"})");
  EXPECT_EQ(Blob(), without);
  ASSERT_EQ(report_.warnings.size(), 1u);
  EXPECT_NE(report_.warnings[0].find("SentencePiece model"), std::string::npos) << report_.warnings[0];
  // A tokenizer that was explicitly requested must exist.
  ConvertOptions options;
  options.input = directory_.string();
  Description description = Describe(options);
  description.tokenizer = {{"type", "tokenizer.json"}, {"file", "tokenizer.json"}};
  Write("tokenizer.json", R"({"version": "1.0", "model": {"type": "Whole", "vocab": {"a": 0}, "unk_token": "a"}})");
  EXPECT_THROW(BuildBlob(description, options, report_), Failure);
}

}  // namespace
}  // namespace fovea::tools
