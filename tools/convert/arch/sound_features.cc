// Features of audio.
#include "tools/convert/arch/sound_features.h"

#include <math.h>

#include "runtime/blob/format.h"
#include "tools/base/fail.h"
#include "tools/convert/arch/processor_file.h"
#include "tools/convert/constants.h"
#include "tools/convert/sound_constants.h"

namespace fovea::tools {
namespace {

constexpr WholeRange kFrame = {2, kMaxTransform}, kCount = {1, kMaxRecords};

uint32_t Rate(const Config& config) { return config.View("sampling_rate").Number({100, 1000000}, 16000); }

// Logarithms of what mel filters let through of the spectrum of "samples".
std::string LogMel(ProgramBuilder& builder, Json spectrum, double floor, const std::string& out,
                   const std::string& frames = "frames") {
  builder.Op("spectrum", {"samples"}, {"sound.roots", "sound.window"}, "sound.powers", std::move(spectrum), frames);
  builder.Op("linear", {"sound.powers"}, {"sound.mel"}, "sound.filtered", {{"activation", "none"}});
  return builder.Op("activate", {"sound.filtered"}, {}, out, {{"activation", "log"}, {"floor", floor}});
}

SoundFeatures OfWhisper(const Config& config, Description& description) {
  Weights& weights = description.weights;
  const uint32_t size = config.View("n_fft").Number(kFrame, 400), hop = config.View("hop_length").Number(kCount, 160);
  const uint64_t samples = uint64_t{config.View("chunk_length").Number({1, 3600}, 30)} * Rate(config);
  config.Only("padding_value", 0.0);
  config.Only("dither", 0.0);
  config.Only("n_samples", samples);
  if (samples % hop != 0 || samples / hop > kMaxRecords)
    Fail("clips of {} samples cannot be divided into frames of {}", samples, hop);
  description.SetMetadata("clip_length.samples", std::to_string(samples));
  MelSpec mel;
  mel.filters = config.View("feature_size").Number(kCount, 80);
  mel.size = size;
  mel.rate = Rate(config);
  mel.highest = 8000;
  mel.scale = "slaney";
  mel.area = true;
  weights.Add("sound.roots", RootsOfUnity(size));
  weights.Add("sound.window", Window({size}));
  weights.Add("sound.mel", MelFilters(mel));
  Space frames = {"frames", "clips"};
  frames.each = static_cast<uint32_t>(samples / hop);
  const Json spectrum = {{"hop", hop}, {"before", size / 2}, {"reflect", true}, {"power", true}};
  // Decimal logarithms: at most 8 below the largest, then (x + 4) / 4.
  const double ten = log(10), range = 8 * ten;
  description.SetMetadata("log_mel.edge", std::to_string((size / 2 + hop - 1) / hop));
  description.SetMetadata("log_mel.range", fmt::format("{}", range));
  return {
      {{"clips"}, {"samples", "clips"}, frames}, mel.filters, {}, [=](ProgramBuilder& builder, const std::string& out) {
        LogMel(builder, spectrum, 1e-10, kLogMel);
        builder.Op("dynamic_range", {"sound.logs"}, {}, "sound.bounded", {{"range", range}});
        return builder.Op("scale", {"sound.bounded"}, {}, out, {{"scale", 1 / (4 * ten)}, {"shift", 1.0}});
      }};
}

// Kaldi's filter banks: 25 ms every 10 ms, whole frames only.
struct FilterBank {
  Space frames;
  Json spectrum;
  uint32_t length = 0;  // samples of a frame
};

// `scale`: of samples, before anything else.
FilterBank KaldiFilterBank(uint32_t rate, uint32_t filters, const char* window, float scale, Weights& weights) {
  const uint32_t length = rate / 40, hop = rate / 100;
  uint32_t size = 2;
  while (size < length) size *= 2;
  MelSpec mel;
  mel.filters = filters;
  mel.size = size;
  mel.rate = rate;
  mel.lowest = 20;
  mel.highest = rate / 2;
  mel.straight_in_mel = true;
  Constant scaled = Scale(Window({length, window, false}), scale);
  scaled.shortest = Shortest::kF32;
  weights.Add("sound.roots", RootsOfUnity(size));
  weights.Add("sound.window", scaled);
  weights.Add("sound.mel", MelFilters(mel));
  Space frames = {"frames"};
  frames.strides = "samples";
  frames.by = hop;
  frames.last = length - 1;
  return {frames, {{"hop", hop}, {"power", true}, {"remove_mean", true}, {"preemphasis", 0.97}}, length};
}

constexpr double kLeastPower = 1.192092955078125e-07;
constexpr float kOf16Bits = 32768;

// Speech2TextFeatureExtractor: samples are scaled to 16-bit numbers.
SoundFeatures OfSpeechToText(const Config& config, Weights& weights) {
  config.Only("dither", 0.0);
  const uint32_t filters = config.View("num_mel_bins").Number(kCount, 80);
  config.Only("feature_size", filters);
  const bool normed = config.Flag("do_ceptral_normalize", true);
  if (normed) {
    config.Only("normalize_means", true);
    config.Only("normalize_vars", true);
  }
  const FilterBank bank = KaldiFilterBank(Rate(config), filters, "povey", kOf16Bits, weights);
  return {{{"clips"}, {"samples", "clips"}, bank.frames},
          filters,
          {},
          [=](ProgramBuilder& builder, const std::string& out) {
            const std::string logs = LogMel(builder, bank.spectrum, kLeastPower, normed ? "sound.logs" : out);
            return normed ? builder.Op("standardize", {logs}, {}, out) : logs;
          }};
}

// Rows whose variance over n is 1 get variance 1 over n - 1: times sqrt((n - 1) / n), computed as (n - 1) over the root
// of n (n - 1). Tensor sound.one is 1.
std::string Unbiased(ProgramBuilder& builder, const std::string& in, const std::string& space, const std::string& out) {
  const Json as_is = {{"activation", "none"}};
  builder.Op("fill", {}, {"sound.one"}, out + ".ones", Json::object(), space);
  builder.Op("pool", {out + ".ones"}, {}, out + ".count", {{"kind", "sum"}}, "clips");
  builder.Op("scale", {out + ".count"}, {}, out + ".fewer", {{"scale", 1.0}, {"shift", -1.0}});
  builder.Op("gate", {out + ".count", out + ".fewer"}, {}, out + ".product", as_is);
  builder.Op("normalize", {out + ".fewer", out + ".product"}, {}, out + ".factor", {{"epsilon", 1e-6}});
  builder.Op("broadcast", {out + ".factor"}, {}, out + ".factors", Json::object(), space);
  return builder.Op("gate", {out + ".factors", in}, {}, out, as_is);
}

// SeamlessM4TFeatureExtractor: the same, with consecutive frames concatenated; an incomplete group is left out.
SoundFeatures OfSeamless(const Config& config, Weights& weights) {
  config.Only("dither", 0.0);
  const uint32_t filters = config.View("num_mel_bins").Number(kCount, 80);
  const uint32_t stride = config.View("stride").Number({2, 64}, 2);
  config.Only("feature_size", filters);
  FilterBank bank = KaldiFilterBank(Rate(config), filters, "povey", kOf16Bits, weights);
  bank.frames.name = "frames.single";
  Space frames = {"frames"};
  frames.strides = bank.frames.name;
  frames.by = stride;
  frames.last = stride - 1;
  weights.Add("sound.one", Literal(1, 1, {1.0f}));
  return {{{"clips"}, {"samples", "clips"}, bank.frames, frames},
          filters * stride,
          {},
          [=](ProgramBuilder& builder, const std::string& out) {
            LogMel(builder, bank.spectrum, kLeastPower, "sound.logs", bank.frames.name);
            builder.Op("standardize", {"sound.logs"}, {}, "sound.deviations", {{"epsilon", 1e-7}});
            const std::string normed = Unbiased(builder, "sound.deviations", bank.frames.name, "sound.normed");
            return builder.Op("unfold", {normed}, {}, out, {{"after", stride - 1}}, "frames");
          }};
}

// ASTFeatureExtractor: samples from -1 to 1; a fixed number of frames, padded with rows of zeros, all less a mean and
// divided by twice a deviation.
SoundFeatures OfAst(const Config& config, Weights& weights) {
  const uint32_t filters = config.View("num_mel_bins").Number(kCount, 128);
  const uint32_t longest = config.View("max_length").Number(kCount, 1024);
  const bool normed = config.Flag("do_normalize", true);
  const double mean = config.View("mean").Real({}, -4.2677393),
               deviation = config.View("std").Real({1e-6, 1e6}, 4.5689974);
  const FilterBank bank = KaldiFilterBank(Rate(config), filters, "hann", 1, weights);
  Space frames = {"frames", "clips"};
  frames.each = longest;
  weights.Add("sound.one", Literal(1, 1, {1.0f}));
  weights.Add("sound.every_sample", Window({bank.length, "ones"}));
  const auto rows = [=](ProgramBuilder& builder, const std::string& out) {
    const std::string logs = LogMel(builder, bank.spectrum, kLeastPower, "sound.logs");
    // The samples of a frame, counted: 1 for whole frames, else 0.
    builder.Op("fill", {}, {"sound.one"}, "sound.ones", Json::object(), "samples");
    builder.Op("spectrum", {"sound.ones"}, {"sound.roots", "sound.every_sample"}, "sound.counts",
               {{"hop", bank.spectrum["hop"]}}, "frames");
    builder.Op("slice", {"sound.counts"}, {}, "sound.count", {{"begin", 0u}, {"width", 1u}});
    builder.Op("scale", {"sound.count"}, {}, "sound.missing", {{"scale", 4.0}, {"shift", 2 - 4.0 * bank.length}});
    builder.Op("activate", {"sound.missing"}, {}, "sound.whole", {{"activation", "relu"}, {"limit", 1.0}});
    const std::string kept = normed ? "sound.kept" : out;
    builder.Op("gate", {"sound.whole", logs}, {}, kept, {{"activation", "none"}});
    if (!normed) return kept;
    return builder.Op("scale", {kept}, {}, out, {{"scale", 0.5 / deviation}, {"shift", -mean * 0.5 / deviation}});
  };
  return {{{"clips"}, {"samples", "clips"}, frames}, filters, {}, rows};
}

SoundFeatures OfWav2Vec2(const Config& config, Description& description) {
  config.Only("feature_size", 1);
  const bool normed = config.Flag("do_normalize", true);
  if (!normed) description.SetMetadata("alias.input_values", "samples");
  return {{{"clips"}, {"samples", "clips"}}, 1, {}, [=](ProgramBuilder& builder, const std::string& out) {
            return normed ? builder.Op("standardize", {"samples"}, {}, out, {{"epsilon", 1e-7}}) : "samples";
          }};
}

SoundFeatures FeaturesOf(const std::string& type, const Config& config, Description& description) {
  if (type == "WhisperFeatureExtractor") return OfWhisper(config, description);
  if (type == "Speech2TextFeatureExtractor") return OfSpeechToText(config, description.weights);
  if (type == "SeamlessM4TFeatureExtractor") return OfSeamless(config, description.weights);
  if (type == "ASTFeatureExtractor") return OfAst(config, description.weights);
  if (type == "Wav2Vec2FeatureExtractor") return OfWav2Vec2(config, description);
  if (type.empty()) Fail("{} is missing; add it", config.View("feature_extractor_type").name());
  Fail("feature_extractor_type {} is not supported", type);
}

}  // namespace

std::optional<SoundFeatures> ReadSoundFeatures(const Checkpoint& checkpoint, Description& description) {
  const std::optional<ProcessorFile> file = FindProcessor(checkpoint.directory, "feature_extractor");
  if (!file) return std::nullopt;
  const Config config = file->config();
  SoundFeatures features =
      FeaturesOf(SoundProcessorType(*file, checkpoint.config.Text("model_type", "")), config, description);
  features.samples = {"samples", "samples", false, 1};
  description.SetMetadata("sampling_rate.samples", std::to_string(Rate(config)));
  return features;
}

}  // namespace fovea::tools
