// What encoders of sound read.
#include "tools/convert/arch/sound_features.h"

#include <math.h>

#include <filesystem>

#include "runtime/blob/format.h"
#include "tools/base/fail.h"
#include "tools/convert/constants.h"
#include "tools/convert/sound_constants.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

constexpr WholeRange kFrame = {2, kMaxTransform}, kCount = {1, kMaxRecords};

uint32_t Rate(const Config& config) { return config.View("sampling_rate").Number({100, 1000000}, 16000); }

// Logarithms of what mel filters let through of the spectrum of "samples".
std::string LogMel(ProgramBuilder& builder, Json spectrum, double floor, const std::string& out) {
  builder.Op("spectrum", {"samples"}, {"sound.roots", "sound.window"}, "sound.powers", std::move(spectrum), "frames");
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
  if (samples % hop != 0 || samples / hop > kMaxRecords) Fail("clips of {} samples are no frames of {}", samples, hop);
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
  const double ten = log(10);
  return {
      {{"clips"}, {"samples", "clips"}, frames}, mel.filters, {}, [=](ProgramBuilder& builder, const std::string& out) {
        LogMel(builder, spectrum, 1e-10, "sound.logs");
        builder.Op("dynamic_range", {"sound.logs"}, {}, "sound.bounded", {{"range", 8 * ten}});
        return builder.Op("scale", {"sound.bounded"}, {}, out, {{"scale", 1 / (4 * ten)}, {"shift", 1.0}});
      }};
}

// Kaldi's filter banks of samples that are 16-bit numbers: 25 ms every 10 ms.
SoundFeatures OfSpeechToText(const Config& config, Weights& weights) {
  const uint32_t rate = Rate(config), length = rate / 40, hop = rate / 100;
  uint32_t size = 2;
  while (size < length) size *= 2;
  config.Only("dither", 0.0);
  const uint32_t filters = config.View("num_mel_bins").Number(kCount, 80);
  config.Only("feature_size", filters);
  const bool normed = config.Flag("do_ceptral_normalize", true);
  if (normed) {
    config.Only("normalize_means", true);
    config.Only("normalize_vars", true);
  }
  MelSpec mel;
  mel.filters = filters;
  mel.size = size;
  mel.rate = rate;
  mel.lowest = 20;
  mel.highest = rate / 2;
  mel.straight_in_mel = true;
  Constant window = Scale(Window({length, "povey", false}), 32768);
  window.exact = true;
  weights.Add("sound.roots", RootsOfUnity(size));
  weights.Add("sound.window", window);
  weights.Add("sound.mel", MelFilters(mel));
  Space frames = {"frames"};
  frames.strides = "samples";
  frames.by = hop;
  frames.last = length - 1;  // whole frames only
  const Json spectrum = {{"hop", hop}, {"power", true}, {"remove_mean", true}, {"preemphasis", 0.97}};
  return {
      {{"clips"}, {"samples", "clips"}, frames}, mel.filters, {}, [=](ProgramBuilder& builder, const std::string& out) {
        const std::string logs = LogMel(builder, spectrum, 1.192092955078125e-07, normed ? "sound.logs" : out);
        return normed ? builder.Op("standardize", {logs}, {}, out) : logs;
      }};
}

SoundFeatures OfWav2Vec2(const Config& config, Description& description) {
  config.Only("feature_size", 1);
  const bool normed = config.Flag("do_normalize", true);
  if (!normed) description.SetMetadata("alias.input_values", "samples");
  return {{{"clips"}, {"samples", "clips"}}, 1, {}, [=](ProgramBuilder& builder, const std::string& out) {
            return normed ? builder.Op("standardize", {"samples"}, {}, out, {{"epsilon", 1e-7}}) : "samples";
          }};
}

SoundFeatures FeaturesOf(const Config& config, Description& description) {
  const std::string type = config.Text("feature_extractor_type");
  if (type == "WhisperFeatureExtractor") return OfWhisper(config, description);
  if (type == "Speech2TextFeatureExtractor") return OfSpeechToText(config, description.weights);
  if (type == "Wav2Vec2FeatureExtractor") return OfWav2Vec2(config, description);
  Fail("feature_extractor_type {} is not supported", type);
}

}  // namespace

std::optional<SoundFeatures> ReadSoundFeatures(const Checkpoint& checkpoint, Description& description) {
  const std::string path = (fs::path(checkpoint.directory) / "preprocessor_config.json").string();
  if (!fs::exists(path)) return std::nullopt;
  const Config config(path);
  SoundFeatures features = FeaturesOf(config, description);
  features.samples = {"samples", "samples", false, 1};
  description.SetMetadata("sampling_rate.samples", std::to_string(Rate(config)));
  return features;
}

}  // namespace fovea::tools
