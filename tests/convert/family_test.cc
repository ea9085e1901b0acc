// Models of an unknown type, read as a known one: the bytes equal the known model's, and similar types are suggested.
#include "tests/convert/architecture_support.h"
#include "tools/convert/description.h"

namespace fovea::tools {
namespace {

class Family : public Architecture {
 protected:
  std::vector<uint8_t> BlobAs(const std::string& family) {
    ConvertOptions options = Options();
    options.family = family;
    report_ = {};
    return BuildBlob(Describe(options), options, report_);
  }
  std::string Refusal(const std::string& family = "") {
    try {
      BlobAs(family);
    } catch (const Failure& failure) {
      return failure.what();
    }
    ADD_FAILURE() << "was not refused";
    return "";
  }
};

TEST_F(Family, OfItsOwnNamesIsReadAsTheOneItIsNamed) {
  Copy("roberta-mlm");
  Rename("roberta.", "");  // as the encoder alone is stored
  const std::vector<uint8_t> expected = Blob();
  Change(R"({"model_type": "another-text", "architectures": ["AnotherTextForMaskedLM"]})");
  Rename("roberta.", "another_text.");
  EXPECT_EQ(BlobAs("roberta"), expected);
  const std::string refusal = Refusal();
  EXPECT_NE(refusal.find("model_type another-text is not supported, but its tensors fit roberta"), std::string::npos)
      << refusal;
  EXPECT_NE(refusal.find("--as roberta"), std::string::npos) << refusal;
}

TEST_F(Family, ThatFitsIsNamed) {
  const struct {
    const char* golden;
    const char* family;
  } cases[] = {{"bert", "bert"},     {"distilbert-mlm", "distilbert"},
               {"llama", "llama"},   {"gpt_neox", "gpt_neox"},
               {"vit", "vit"},       {"swinv2", "swinv2"},
               {"t5", "t5"},         {"wav2vec2-ctc", "wav2vec2"},
               {"gemma2", "gemma2"}, {"whisper", "whisper"}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.golden);
    Copy(c.golden);
    const std::vector<uint8_t> expected = Blob();
    Change(R"({"model_type": "another"})");
    const std::string refusal = Refusal();
    EXPECT_NE(refusal.find("its tensors fit "), std::string::npos) << refusal;
    EXPECT_NE((refusal + ",").find(std::string(" ") + c.family), std::string::npos) << refusal;
    EXPECT_EQ(BlobAs(c.family), expected);
  }
}

TEST_F(Family, ThatDoesNotFitIsNot) {
  Copy("bert");
  Change(R"({"model_type": "another", "num_hidden_layers": 5})");
  EXPECT_NE(Refusal().find("model_type another is not supported; these are: albert, "), std::string::npos);
  EXPECT_NE(Refusal("bert").find("no tensor "), std::string::npos);

  Change(R"({"model_type": "another"})");
  ChangeWeights([](Tensors& tensors) {
    tensors["embeddings.task_type_embeddings.weight"] = tensors.at("embeddings.token_type_embeddings.weight");
  });
  EXPECT_NE(Refusal().find("model_type another is not supported; these are: "), std::string::npos);
  EXPECT_NE(Refusal("bert").find("tensor embeddings.task_type_embeddings.weight is not used by this architecture"),
            std::string::npos);
}

TEST_F(Family, OfCodeOfItsOwnIsAPersonsWord) {
  Copy("bert");
  const std::vector<uint8_t> expected = Blob();
  Change(R"({"auto_map": {"AutoModel": "modeling.Model"}, "architectures": ["OtherBertModel"]})");
  EXPECT_NE(Refusal().find("--as bert"), std::string::npos);
  EXPECT_EQ(BlobAs("bert"), expected);
}

TEST_F(Family, IsOneOfThoseKnown) {
  Copy("bert");
  EXPECT_NE(Refusal("bart-like").find("family bart-like is unknown; these are known: albert, "), std::string::npos);
  ConvertOptions options = Options();
  options.input = test::InData("own/model.gguf");
  options.family = "bert";
  EXPECT_THROW(Describe(options), Failure);
}

TEST_F(Family, OfAHeadThatIsNotKnown) {
  Copy("bert");
  Change(R"({"model_type": "another", "architectures": ["AnotherForSomething"]})");
  EXPECT_NE(Refusal().find("its tensors fit bert"), std::string::npos) << Refusal();
  EXPECT_NE(Refusal("bert").find("head AnotherForSomething is not supported"), std::string::npos);
}

}  // namespace
}  // namespace fovea::tools
