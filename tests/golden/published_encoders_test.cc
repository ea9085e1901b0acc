// Every published encoder architecture against what the original library computed: every case, every traced value.
#include "runtime/blob/numbers.h"
#include "tests/golden/golden_support.h"
#include "tests/support/fewer_cases.h"
#include "tests/support/heap_trap.h"
#include "tools/check/golden_check.h"
#include "tools/model/batch.h"

namespace fovea::test {
namespace {

struct Published {
  const char* name;
  bool has_decoder = false;  // which is not converted
  // Empty: all. Omitted cases are checked elsewhere in a test or, for images of other sizes, with a separate blob.
  std::vector<std::string> cases = {};
  const char* image_size = "";
  double sharper = 1;  // scales the allowed distance of shorter types' cosines from 1
};

void PrintTo(const Published& published, std::ostream* out) { *out << published.name; }

// The rest is in long_encoders_test.cc, funnel_test.cc, text_encoders_test.cc and speech_encoders_test.cc.
const std::vector<std::string> kBigBirdCases = {"eval_a", "eval_b", "short"};

const Published kPublished[] = {{"bert"},
                                {"bert-mlm"},
                                {"bert-seqcls"},
                                {"bert-tokcls"},
                                {"roberta"},
                                {"roberta-mlm"},
                                {"roberta-seqcls"},
                                {"xlm-roberta-mlm"},
                                {"distilbert"},
                                {"distilbert-mlm"},
                                {"distilbert-seqcls"},
                                {"albert"},
                                {"albert-mlm"},
                                {"mpnet-mlm"},
                                {"modernbert"},
                                {"modernbert-mlm"},
                                {"modernbert-seqcls"},
                                {"gemma3-embed"},
                                {"t5", true},
                                {"t5-v1_1", true},
                                {"deberta-mlm"},
                                {"deberta-v2-mlm"},
                                {"deberta-v2-conv"},
                                {"longformer"},
                                {"longformer-mlm"},
                                {"longformer-seqcls"},
                                {"big_bird", false, kBigBirdCases},
                                {"big_bird-mlm", false, kBigBirdCases},
                                {"squeezebert-mlm", false, {"b", "pad"}},
                                {"esm-mlm"},
                                {"mobilebert", false, {"a", "b"}},
                                {"mobilebert-mlm", false, {"a", "b"}},
                                {"roformer-mlm"},
                                {"rembert-mlm"},
                                {"funnel", false, {"a", "b"}},
                                {"wav2vec2-ctc", false, {"a", "b"}},
                                {"wav2vec2-stable"},
                                {"hubert", false, {"a", "b"}},
                                {"wav2vec2-bert-ctc"},
                                {"ast"},
                                {"vit", false, {"a", "b"}},
                                {"vit", false, {"interp"}, "32x40"},
                                {"vit-pool"},
                                {"deit"},
                                {"swin"},
                                {"swin-pad"},
                                {"swin-rect", false, {"a"}},
                                {"swin-rect", false, {"b"}, "36x52"},
                                // Scores of one head are cosines times 100.
                                {"swinv2", false, {}, "", 2},
                                {"segformer", false, {"a"}, "32x48"},
                                {"segformer", false, {"b"}, "64x32"},
                                {"segformer-cls", false, {"a"}, "32x48"},
                                {"segformer-cls", false, {"b"}, "36x52"},
                                {"sam-vision"},
                                {"clip-text"},
                                {"clip-vision", false, {"a", "b"}},
                                {"clip-vision", false, {"interp"}, "35x49"},
                                {"siglip-text", false, {"a", "b"}},
                                {"siglip-vision", false, {"a", "b"}},
                                {"siglip-vision", false, {"interp"}, "35x49"},
                                {"dinov2", false, {"a", "b"}},
                                {"dinov2", false, {"size"}, "35x56"},
                                {"dinov2-swiglu"},
                                {"dinov2-registers", false, {"a", "b"}},
                                {"dinov2-registers", false, {"size"}, "35x56"},
                                {"dinov3", false, {"a", "b"}},
                                {"dinov3", false, {"size"}, "16x36"},
                                {"beit", false, {"a", "b"}},
                                {"beit", false, {"interp"}, "36x30"}};

class PublishedEncoder : public ::testing::TestWithParam<Published> {
 protected:
  std::string Path() const { return InData("hf/") + GetParam().name; }
  tools::ConvertOptions Options(DType weights) const {
    tools::ConvertOptions options = Converted::OptionsOf(Path(), weights, "", GetParam().has_decoder ? "encoder" : "");
    if (*GetParam().image_size != '\0') options.image_sizes = {GetParam().image_size};
    return options;
  }
  Converted Convert(DType weights, uint32_t backend = FOVEA_BACKEND_DEFAULT) const {
    return Converted(Options(weights), backend);
  }
  // The report lists inputs and outputs of the decoder as skipped; everything else is compared.
  void ExpectAllOk(const tools::Model& model, const tools::StoredTensors& golden, tools::CheckOptions options) const {
    options.skip_unknown = GetParam().has_decoder;
    options.cases = GetParam().cases;
    size_t compared = 0;
    for (const tools::CheckLine& line : tools::CheckGolden(model, golden, options)) {
      EXPECT_TRUE(line.ok) << tools::LineText(line);
      compared += line.compared ? 1 : 0;
      EXPECT_TRUE(line.compared || line.tensor.rfind("encoder_", 0) != 0) << tools::LineText(line);
    }
    size_t stored = 0;  // images of other sizes have few outputs
    for (const auto& [name, golden_case] : tools::CasesOf(golden)) {
      const std::vector<std::string>& cases = options.cases;
      if (cases.empty() || std::count(cases.begin(), cases.end(), name) != 0) stored += golden_case.out.size();
    }
    EXPECT_GE(compared, std::min<size_t>(stored, 3));
    EXPECT_GE(compared, 1u);
  }
};

TEST_P(PublishedEncoder, F32IsWithinRounding) {
  const tools::SafetensorsReader golden(Path() + "/golden.safetensors");
  tools::CheckOptions options;  // 1e-4 of the largest magnitude + 1e-5
  for (const uint32_t backend : {FOVEA_BACKEND_DEFAULT, FOVEA_BACKEND_HIGHWAY}) {
    const Converted converted = Convert(DType::kF32, backend);
    for (const uint32_t workers : {1u, 3u}) {
      options.workers = workers;
      ExpectAllOk(converted.model, golden.tensors(), options);
    }
  }
}

TEST_P(PublishedEncoder, F16WeightsAreCloseAndIntegerWeightsRun) {
  const tools::SafetensorsReader golden(Path() + "/golden.safetensors");
  // These models are tiny and random, so integers lose more than on trained weights.
  const std::pair<DType, double> types[] = {{DType::kF16, 0.9999}, {DType::kI8, 0.99}, {DType::kI4, 0.5}};
  for (const auto& [type, cosine] : types) {
    const Converted converted = Convert(type);
    tools::CheckOptions options;
    options.cosine = 1 - (1 - cosine) * GetParam().sharper;
    ExpectAllOk(converted.model, golden.tensors(), options);
  }
}

TEST_P(PublishedEncoder, ShorterKeysValuesAndProductsAreClose) {
  const tools::SafetensorsReader golden(Path() + "/golden.safetensors");
  const struct {
    DType keys;
    Products products;
    double cosine;
  } kinds[] = {{DType::kF16, Products::kF32, 0.99999}, {DType::kBf16, Products::kF32, 0.9999},
               {DType::kI8, Products::kF32, 0.9995},   {DType::kF32, Products::kBf16, 0.9999},
               {DType::kF32, Products::kI8, 0.9995},   {DType::kBf16, Products::kBf16, 0.9999},
               {DType::kI8, Products::kI8, 0.999},     {DType::kF32, Products::kI16, 0.99999}};
  for (const auto& [keys, products, cosine] : kinds) {
    SCOPED_TRACE(::testing::Message() << static_cast<int>(keys) << " " << static_cast<int>(products));
    tools::ConvertOptions wanted = Options(DType::kF32);
    wanted.keys = keys;
    wanted.products = products;
    const Converted converted(wanted);
    tools::CheckOptions options;
    options.cosine = 1 - (1 - cosine) * GetParam().sharper;
    options.workers = 2;
    ExpectAllOk(converted.model, golden.tensors(), options);
  }
}

TEST_P(PublishedEncoder, RunsWithoutHeap) {
  if (!fovea::testing::HeapTrap::Works()) GTEST_SKIP() << "the heap cannot be watched in this build";
  for (const DType type : {DType::kF32, DType::kF16, DType::kI8, DType::kI4}) {
    if (FewerCases() && (type == DType::kF16 || type == DType::kI4)) continue;
    const Converted converted = Convert(type);
    const tools::Model highway(converted.blob.data(), converted.blob.size(), "highway", {FOVEA_BACKEND_HIGHWAY, false});
    for (const tools::Model* model : {&converted.model, &highway}) {
      const uint32_t space = model->Value(0, tools::InputsOf(*model, 0)[0]).space;
      const uint32_t longest = std::min(40u, model->Space(space).max_segment_rows);
      for (uint32_t workers = 1; workers <= 4; workers += FewerCases() ? 3 : 1)
        ExpectNoHeap(*model, {20, 3, longest}, workers);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PublishedEncoder, ::testing::ValuesIn(kPublished), [](const auto& published) {
  std::string name = published.param.name;
  if (*published.param.image_size != '\0') name += std::string("_") + published.param.image_size;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace fovea::test
