// Audio spectrogram transformer: a spectrogram of fixed length in overlapping patches, after a class and a distillation
// token, through the layers of ViT; the rows of both tokens are averaged.
#include "tools/base/fail.h"
#include "tools/convert/arch/sound_front.h"
#include "tools/convert/arch/vit.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kTokens = 2;            // in front of the patches
constexpr uint32_t kMaxTables = 1u << 24;  // indices of all tables

struct Spectrogram {
  uint32_t frames, filters, patch, across_time, across_frequency;
  Grid patches;  // rows: frequencies, columns: time

  uint64_t all_rows() const { return kTokens + uint64_t{patches.rows} * patches.columns; }
  uint32_t rows() const { return static_cast<uint32_t>(all_rows()); }
};

Spectrogram ReadSpectrogram(const Config& config) {
  const WholeRange range = {1, 1 << 14};
  const auto number = [&](const char* key, uint32_t absent) { return config.View(key).Number(range, absent); };
  Spectrogram s = {number("max_length", 1024), number("num_mel_bins", 128),    number("patch_size", 16),
                   number("time_stride", 10),  number("frequency_stride", 10), {}};
  if (s.patch > s.frames || s.patch > s.filters) {
    Fail("config.json: patch_size {} exceeds the spectrogram of {} frames x {} filters", s.patch, s.frames, s.filters);
  }
  s.patches = {(s.filters - s.patch) / s.across_frequency + 1, (s.frames - s.patch) / s.across_time + 1};
  if (uint64_t{s.patches.rows} * s.all_rows() * s.patch > kMaxTables) {
    Fail("config.json: spectrograms of {} x {} are too large", s.frames, s.filters);
  }
  return s;
}

// The frames of patches of the frequencies `frequency`; none of other rows.
Constant PatchTable(const Spectrogram& s, uint32_t frequency) {
  std::vector<int32_t> table(size_t{s.rows()} * s.patch, -1);
  for (uint32_t t = 0; t < s.patches.columns; ++t) {
    const uint32_t row = kTokens + frequency * s.patches.columns + t;
    for (uint32_t i = 0; i < s.patch; ++i)
      table[size_t{row} * s.patch + i] = static_cast<int32_t>(t * s.across_time + i);
  }
  return Indices(s.rows(), s.patch, table);
}

// A row for each patch, frame by frame, of zeros for the tokens. Patches of different frequencies come out of different
// columns: each kind in its rows, between zeros, and their sum.
std::string AddPatches(const Spectrogram& s, ProgramBuilder& builder, const std::string& in, const std::string& out) {
  std::string sum;
  for (uint32_t f = 0; f < s.patches.rows; ++f) {
    const std::string at = fmt::format("{}.{}", out, f);
    builder.Op("slice", {in}, {}, at + ".columns", {{"begin", f * s.across_frequency}, {"width", s.patch}});
    const std::string rows = f + 1 == s.patches.rows && f == 0 ? out : at + ".rows";
    builder.Arrange(at + ".columns", fmt::format("patches.{}", f), "tokens", rows);
    sum = f == 0 ? rows : builder.Op("add", {sum, rows}, {}, f + 1 == s.patches.rows ? out : at);
  }
  return sum;
}

// The table that is added to the rows: tokens or the bias of patches, and positions.
Constant RowTable(const Spectrogram& s, const std::string& at, const Weights& weights) {
  const Constant positions = weights.Get(at + "position_embeddings");
  if (positions.rows != s.rows()) {
    Fail("tensor {}position_embeddings has {} rows, but {} tokens and {} x {} patches need {}", at, positions.rows,
         kTokens, s.patches.rows, s.patches.columns, s.rows());
  }
  std::vector<Constant> own = {weights.Get(at + "cls_token"), weights.Get(at + "distillation_token")};
  own.insert(own.end(), s.patches.count(), weights.Get(at + "patch_embeddings.projection.bias"));
  return Sum({positions, Concatenate(own)});
}

}  // namespace

// The original: transformers/models/audio_spectrogram_transformer/modeling_audio_spectrogram_transformer.py:
// ASTModel.
void DescribeAst(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const Spectrogram s = ReadSpectrogram(config);
  const std::string prefix = weights.Has("embeddings.cls_token") ? "" : "audio_spectrogram_transformer.";
  const std::string at = prefix + "embeddings.", projection = at + "patch_embeddings.projection";
  const Constant filters = weights.Get(projection + ".weight");
  if (filters.width != s.patch * s.patch) {
    Fail("tensor {}.weight has filters of {} numbers, not of {} x {}", projection, filters.width, s.patch, s.patch);
  }
  for (uint32_t f = 0; f < s.patches.rows; ++f) weights.Add(fmt::format("patches.{}", f), PatchTable(s, f));
  weights.Add("patches.filters", Permute(filters, {filters.rows, s.patch, s.patch}, {0, 2, 1}));
  weights.Add("rows", RowTable(s, at, weights));
  weights.Add("tokens.rows", Indices(kTokens, 1, {0, 1}));

  LayerStack stack;
  Space frames = {"frames", "clips"}, rows = {"tokens", "clips"}, tokens = {"leading", "clips"};
  frames.each = s.frames;
  rows.each = s.rows();
  tokens.each = kTokens;
  Front front = {{{"clips"}, frames, rows, tokens},
                 {"input_values", "frames", false, s.filters},
                 [=](ProgramBuilder& builder, const std::string& in, const std::string& out) {
                   return builder.Op("linear", {AddPatches(s, builder, in, "patches")}, {"patches.filters"}, out);
                 }};
  stack.front = FromSamples(front, checkpoint, description);
  stack.positions = "rows";
  stack.norms = {"layer", config.Real("layer_norm_eps", 1e-12)};
  stack.heads = config.Number("num_attention_heads", 12);
  stack.activation = config.Activation("hidden_act", "gelu");
  stack.final_norm = prefix + "layernorm";
  for (uint32_t i = 0; i < config.Number("num_hidden_layers", 12); ++i) {
    stack.layers.push_back(VitLayer(fmt::format("{}encoder.layer.{}.", prefix, i)));
  }
  RefuseBiases(checkpoint, weights, "qkv_bias", true,
               {"attention.attention.query", "attention.attention.key", "attention.attention.value"});
  config.Ignore({"hidden_size", "intermediate_size"});  // follow from the tensors
  description.must_use = {at, prefix + "encoder.", prefix + "layernorm."};

  ProgramBuilder builder(checkpoint, description, stack.norms, SpacesOf(stack), InputOf(stack));
  const std::string last = AddStack(stack, builder);
  builder.Arrange(last, "tokens.rows", "leading", "leading_rows");
  builder.Op("pool", {"leading_rows"}, {}, "pooler_output", {{"kind", "mean"}});
  if (checkpoint.task == Task::kAudioClassification) {
    description.SetMetadata("task", "audio-classification");
    builder.Norm("pooler_output", "classifier.layernorm", "head.normed");
    builder.Outputs({builder.Linear("head.normed", "classifier.dense", "logits")});
    builder.Labels("classifier.dense");
  } else if (checkpoint.task == Task::kEmbedding || checkpoint.task == Task::kEncoder) {
    description.SetMetadata("task", "embedding");
    builder.Outputs({last, "pooler_output"});
  } else {
    Fail("config.json: head {} is not supported; --task embedding converts the encoder without it",
         Shown(config.Get("architectures")));
  }
  builder.End();
}

}  // namespace fovea::tools
