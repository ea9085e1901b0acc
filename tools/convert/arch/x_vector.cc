// Embeddings of speakers.
#include "tools/convert/arch/x_vector.h"

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

constexpr char kKept[] = "x_vector_frames";     // rows whose convolutions end within the clip
constexpr char kFurther[] = "x_vector_others";  // one less
constexpr uint64_t kMostRows = 4096;            // that a convolution sees, and that a clip loses

std::vector<uint32_t> Numbers(const Config& config, const char* key, std::vector<uint32_t> absent) {
  const JsonView list = config.View(key);
  if (list.IsNull()) return absent;
  std::vector<uint32_t> numbers;
  for (size_t i = 0; i < list.List().size(); ++i) numbers.push_back(list.At(i).Number({1, kMostRows}));
  return numbers;
}

// Filters by row, then channel, with columns of zeros for the rows that a dilation leaves out.
Constant Dilated(const Constant& filters, uint32_t kernel, uint32_t dilation) {
  const uint32_t channels = filters.width / kernel, seen = (kernel - 1) * dilation + 1;
  return {filters.rows, seen * channels, [=] {
            const std::vector<float> from = filters.load();
            std::vector<float> to(size_t{filters.rows} * seen * channels);
            for (size_t row = 0; row < filters.rows; ++row) {
              for (size_t k = 0; k < kernel; ++k) {
                std::copy_n(from.begin() + static_cast<ptrdiff_t>((row * kernel + k) * channels), channels,
                            to.begin() + static_cast<ptrdiff_t>((row * seen + k * dilation) * channels));
              }
            }
            return to;
          }};
}

class XVector {
 public:
  XVector(const Config& config, Weights& weights, ProgramBuilder& builder)
      : config_(config), weights_(weights), b_(builder) {}

  // Rows of the same space as `x`: the last `lost_` ones of a clip saw zeros beyond its end.
  std::string Convolutions(std::string x) {
    const std::vector<uint32_t> dims = Numbers(config_, "tdnn_dim", {512, 512, 512, 512, 1500});
    const std::vector<uint32_t> kernels = Numbers(config_, "tdnn_kernel", {5, 3, 3, 1, 1});
    const std::vector<uint32_t> dilations = Numbers(config_, "tdnn_dilation", {1, 2, 3, 1, 1});
    // The original makes as many layers as there are widths.
    if (dims.empty() || dims.size() > 64 || kernels.size() < dims.size() || dilations.size() < dims.size()) {
      Fail("config.json: {} tdnn_dim, {} tdnn_kernel and {} tdnn_dilation: each layer needs one of each", dims.size(),
           kernels.size(), dilations.size());
    }
    for (size_t i = 0; i < dims.size(); ++i) x = Convolution(i, kernels[i], dilations[i], x);
    return x;
  }

  // Mean and standard deviation over the rows that saw no zeros.
  std::string Statistics(const std::string& x, const std::string& space) {
    b_.Op("fill", {}, {One()}, "x_vector.ones", Json::object(), space);
    Choose("kept", lost_, kKept);
    Choose("further", lost_ + 1, kFurther);
    b_.Op("gather", {x, "x_vector.kept"}, {}, "x_vector.rows");
    b_.Op("pool", {"x_vector.rows"}, {}, "x_vector.mean", {{"kind", "mean"}});
    b_.Op("scale", {"x_vector.mean"}, {}, "x_vector.minus_mean", {{"scale", -1.0}});
    b_.Op("broadcast", {"x_vector.minus_mean", "x_vector.rows"}, {}, "x_vector.centered",
          {{"rows", "all"}, {"combine", "add"}});
    // A column c, centered, times itself standardized, s, is c * c / deviation. Of n rows, sum(c * s) / sqrt(n) is
    // sqrt(sum(c * c)); the original's deviation is this divided by sqrt(n - 1).
    b_.Op("standardize", {"x_vector.rows"}, {}, "x_vector.standardized");
    b_.Op("gate", {"x_vector.standardized", "x_vector.centered"}, {}, "x_vector.products", {{"activation", "none"}});
    b_.Op("pool", {"x_vector.products"}, {}, "x_vector.length", {{"kind", "mean_sqrt"}});
    // 1 / sqrt(n - 1): a one among n - 1 rows.
    b_.Op("gather", {"x_vector.ones", "x_vector.further"}, {}, "x_vector.others");
    b_.Op("scale", {"x_vector.others"}, {}, "x_vector.zeros", {{"scale", 0.0}});
    b_.Op("fill", {}, {One()}, "x_vector.one", Json::object(), "clips");
    b_.Op("broadcast", {"x_vector.one", "x_vector.zeros"}, {}, "x_vector.single",
          {{"rows", "first"}, {"combine", "replace"}});
    b_.Op("pool", {"x_vector.single"}, {}, "x_vector.share", {{"kind", "mean_sqrt"}});
    b_.Op("gate", {"x_vector.share", "x_vector.length"}, {}, "x_vector.deviation", {{"activation", "none"}});
    return b_.Op("concat", {"x_vector.mean", "x_vector.deviation"}, {}, "x_vector.statistics");
  }

 private:
  std::string Convolution(size_t i, uint32_t kernel, uint32_t dilation, const std::string& x) {
    const std::string name = fmt::format("tdnn.{}.kernel", i), out = fmt::format("x_vector.{}", i);
    const Constant filters = weights_.Get(name + ".weight");
    const uint64_t seen = uint64_t{kernel - 1} * dilation + 1;
    lost_ += seen - 1;
    if (filters.width % kernel != 0 || lost_ > kMostRows) {
      Fail("tensor {}.weight is [{}, {}]: filters over {} rows are not supported", name, filters.rows, filters.width,
           seen);
    }
    std::vector<std::string> tensors = {name + ".weight"};
    std::string rows = x;
    if (seen > 1) rows = b_.Op("unfold", {x}, {}, out + ".unfolded", {{"before", 0u}, {"after", seen - 1}});
    if (dilation > 1 && kernel > 1) {
      tensors[0] = name + ".dilated";
      weights_.Add(tensors[0], Dilated(filters, kernel, dilation));
    }
    if (weights_.Has(name + ".bias")) tensors.push_back(name + ".bias");
    return b_.Op("linear", {rows}, tensors, out, {{"activation", "relu"}});
  }

  std::string One() {
    const std::string name = "x_vector.one";
    if (!weights_.Has(name)) weights_.Add(name, Literal(1, 1, {1}));
    return name;
  }

  // Indices of the rows that `rows` more follow in their clip.
  void Choose(const std::string& name, uint64_t rows, const char* space) {
    const std::string at = "x_vector." + name;
    b_.Op("unfold", {"x_vector.ones"}, {}, at + ".unfolded", {{"before", 0u}, {"after", rows}});
    b_.Op("slice", {at + ".unfolded"}, {}, at + ".marks", {{"begin", rows}, {"width", 1u}});
    b_.Op("select", {at + ".marks"}, {}, at, {{"kind", "nonzero"}}, space);
  }

  const Config& config_;
  Weights& weights_;
  ProgramBuilder& b_;
  uint64_t lost_ = 0;
};

}  // namespace

void AddXVectorSpaces(const std::string& of, std::vector<Space>& spaces) {
  for (const char* name : {kKept, kFurther}) {
    Space space;
    space.name = name;
    space.selects = of;
    spaces.push_back(space);
  }
}

// The original: transformers/models/wav2vec2/modeling_wav2vec2.py: Wav2Vec2ForXVector, TDNNLayer.
void FinishXVector(const std::string& last, const std::string& space, const Checkpoint& checkpoint,
                   Description& description, ProgramBuilder& builder) {
  Weights& weights = description.weights;
  for (const char* name : {"projector", "tdnn.0.kernel", "feature_extractor"}) {
    if (weights.Has(name + std::string(".weight"))) continue;
    Fail("no tensor {}.weight: the head for speakers is not stored; --task embedding converts the encoder without it",
         name);
  }
  description.SetMetadata("task", "embedding");
  XVector head(checkpoint.config, weights, builder);
  const std::string x = head.Convolutions(builder.Linear(last, "projector", "x_vector.projected"));
  builder.Linear(head.Statistics(x, space), "feature_extractor", "embeddings");
  std::vector<std::string> outputs = {"embeddings"};
  if (weights.Has("classifier.weight")) outputs.push_back(builder.Linear("embeddings", "classifier", "logits"));
  builder.Outputs(outputs);
  builder.End();
}

}  // namespace fovea::tools
