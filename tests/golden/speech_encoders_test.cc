// Encoders of speech beyond their golden cases: against a plain reference in f64, which meets the golden ones, what
// padding of a batch changed there, and every branch of the configuration that no golden shows.
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/golden/golden_support.h"
#include "tests/golden/speech_reference.h"
#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/model/batch.h"

namespace fovea::test {
namespace {

using tools::Json;
using tools::SafetensorsReader;

std::vector<float> Flat(const Rows& rows) {
  std::vector<float> flat;
  for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  return flat;
}

// As golden values are compared.
void ExpectNear(const std::vector<float>& found, const std::vector<float>& expected, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  double largest = 0;
  for (const float x : expected) largest = std::max(largest, std::fabs(double{x}));
  EXPECT_LE(LargestDifference(found.data(), expected), 1e-4 * largest + 1e-5) << what;
}

// A golden model with other tensors and another configuration.
class Speech {
 public:
  explicit Speech(const std::string& published) {
    const SafetensorsReader stored(InData("hf/" + published + "/model.safetensors"));
    for (const auto& [name, tensor] : stored.tensors()) tensors[name] = {tensor.shape, tools::ToFloats(tensor)};
    config = tools::ReadJson(InData("hf/" + published + "/config.json"));
    directory_ = std::filesystem::path(::testing::TempDir()) / ("speech-" + std::to_string(getpid()));
  }
  ~Speech() { std::filesystem::remove_all(directory_); }

  void Rename(const std::string& from, const std::string& to) {
    SpeechTensors renamed;
    for (auto& [name, tensor] : tensors) {
      renamed[name.rfind(from, 0) == 0 ? to + name.substr(from.size()) : name] = std::move(tensor);
    }
    tensors = std::move(renamed);
  }
  void Move(const std::string& from, const std::string& to) {
    tensors[to] = tensors.at(from);
    tensors.erase(from);
  }
  void Add(const std::string& name, const std::vector<uint64_t>& shape, float around = 0, float spread = 0.3f) {
    SpeechTensor tensor = {shape, {}};
    uint64_t count = 1;
    for (const uint64_t size : shape) count *= size;
    for (uint64_t i = 0; i < count; ++i) {
      tensor.values.push_back(around + spread * std::sin(static_cast<float>(++seed_) * 1.37f));
    }
    tensors[name] = tensor;
  }
  void AddLinear(const std::string& name, uint64_t rows, uint64_t width, bool biased = true) {
    Add(name + ".weight", {rows, width});
    if (biased) Add(name + ".bias", {rows});
  }
  void AddNorm(const std::string& name, uint64_t width) {
    Add(name + ".weight", {width}, 1);
    Add(name + ".bias", {width});
  }

  // Classes of clips or frames, from the last hidden state or a weighted sum of three.
  void AddClasses(bool weighed, bool frames) {
    config["use_weighted_layer_sum"] = weighed;
    config["architectures"] = Json::array({frames ? "XForAudioFrameClassification" : "XForSequenceClassification"});
    if (weighed) Add("layer_weights", {3}, 0, 1);
    if (!frames) AddLinear("projector", 14, 36);
    AddLinear("classifier", 5, frames ? 36 : 14);
  }

  Converted Convert(const std::string& task = "", DType weights = DType::kF32) const {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    const std::string text = config.dump();
    tools::WriteFile((directory_ / "config.json").string(), text.data(), text.size());
    tools::SafetensorsWriter writer;
    for (const auto& [name, tensor] : tensors) writer.AddFloats(name, tensor.shape, tensor.values.data());
    writer.Write((directory_ / "model.safetensors").string());
    return Converted(directory_.string(), weights, "", FOVEA_BACKEND_DEFAULT, task);
  }
  std::string Refusal(const std::string& task = "") const {
    try {
      Convert(task);
    } catch (const tools::Failure& failure) {
      return failure.what();
    }
    return "nothing is refused";
  }

  Json config;
  SpeechTensors tensors;

 private:
  std::filesystem::path directory_;
  uint64_t seed_ = 0;
};

// A value for all clips, concatenated; the number of input rows of each clip is given.
std::vector<float> ValuesOf(const Converted& converted, const std::vector<std::vector<float>>& clips,
                            const std::string& value) {
  const tools::Model& model = converted.model;
  const uint32_t input = tools::InputsOf(model, 0)[0];
  const fovea_value_info info = model.Value(0, input);
  tools::Batch batch;
  std::vector<uint32_t> lengths;
  for (const std::vector<float>& clip : clips) {
    lengths.push_back(static_cast<uint32_t>(clip.size() / info.width));
    std::vector<float>& numbers = batch.numbers[input];
    numbers.insert(numbers.end(), clip.begin(), clip.end());
  }
  tools::AddSegments(model, info.space, tools::MakeSegments(lengths), &batch);
  std::vector<float> first;
  for (const uint32_t workers : {1u, 3u}) {
    tools::SessionRequest request;
    request.workers = workers;
    request.keep = {ValueOf(model, value)};
    if (model.Value(0, request.keep[0]).role == FOVEA_ROLE_OUTPUT) request.keep.clear();
    tools::Session session = tools::SessionFor(model, batch, request);
    session.Run();
    const std::vector<float> found = session.Output(ValueOf(model, value)).values;
    if (first.empty()) first = found;
    EXPECT_EQ(found, first) << "the same bits for any number of workers";
  }
  return first;
}

// The same of a reference, each clip by itself.
template <typename Reference>
std::vector<float> Expected(const std::vector<std::vector<float>>& clips, const Reference& reference) {
  std::vector<float> all;
  for (const std::vector<float>& clip : clips) {
    const std::vector<float> flat = Flat(reference(clip));
    all.insert(all.end(), flat.begin(), flat.end());
  }
  return all;
}

const std::vector<std::vector<float>>& Clips() {
  static const std::vector<std::vector<float>> clips = {Clip(777, 1), Clip(431, 2), Clip(50, 3), Clip(800, 4)};
  return clips;
}

// `head`: "" for the rows as they are.
void ExpectWav2Vec2(const Speech& speech, const std::string& prefix, const std::string& head, const std::string& task) {
  const Wav2Vec2Reference reference(speech.config, speech.tensors, prefix);
  const auto scores = [&](const std::vector<float>& clip) {
    const auto result = reference.Run(clip);
    return head.empty() ? result.last : reference.Scores(head, result.states, result.last);
  };
  ExpectNear(ValuesOf(speech.Convert(task), Clips(), head.empty() ? "last_hidden_state" : "logits"),
             Expected(Clips(), scores), "f32");
}

std::vector<std::vector<float>> RowsOf(const std::string& published, const std::string& name) {
  const SafetensorsReader golden(InData("hf/" + published + "/golden.safetensors"));
  const tools::StoredTensor& tensor = golden.Get(name);
  const std::vector<float> values = tools::ToFloats(tensor);
  const auto each = static_cast<ptrdiff_t>(values.size() / tensor.shape[0]);
  std::vector<std::vector<float>> rows;
  for (uint64_t i = 0; i < tensor.shape[0]; ++i) {
    const auto begin = values.begin() + static_cast<ptrdiff_t>(i) * each;
    rows.emplace_back(begin, begin + each);
  }
  return rows;
}

// Group norm of the published code counts padding, so a shorter clip of a padded batch differs from what it is alone.
TEST(SpeechEncoders, PaddingCountsInGroupNorm) {
  for (const std::string published : {"wav2vec2-ctc", "hubert", "wav2vec2-stable"}) {
    const Speech speech(published);
    const bool scored = published == "wav2vec2-ctc";
    const std::string prefix = scored ? "wav2vec2." : "", value = scored ? "logits" : "last_hidden_state";
    const Wav2Vec2Reference reference(speech.config, speech.tensors, prefix);
    const auto made = [&](const std::vector<float>& clip, size_t valid) {
      const auto result = reference.Run(clip, valid);
      return scored ? reference.Scores("ctc", result.states, result.last) : result.last;
    };
    const auto clips = RowsOf(published, "pad.in.input_values"), golden = RowsOf(published, "pad.out." + value);
    const size_t lengths[] = {777, 431}, frames[] = {48, 26};
    const Converted converted = speech.Convert();
    std::vector<std::vector<float>> alone;
    for (size_t i = 0; i < 2; ++i) {
      const size_t numbers = frames[i] * golden[i].size() / 48;
      const std::vector<float> valid(golden[i].begin(), golden[i].begin() + static_cast<ptrdiff_t>(numbers));
      ExpectNear(Flat(made(clips[i], lengths[i])), valid, published + ": the reference pads as the original does");
      alone.emplace_back(clips[i].begin(), clips[i].begin() + static_cast<ptrdiff_t>(lengths[i]));
      const std::vector<float> found = ValuesOf(converted, {alone.back()}, value);
      if (i == 0 || published == "wav2vec2-stable") {
        ExpectNear(found, valid, published);
      } else {
        const double cosine = Cosine(found.data(), valid.data(), valid.size());
        std::cout << published << ": cosine of a clip alone and in a padded batch " << cosine << "\n";
        EXPECT_GT(cosine, 0.9);
      }
    }
    ExpectNear(ValuesOf(converted, alone, value),
               Expected(alone, [&](const std::vector<float>& clip) { return made(clip, 0); }), published);
  }
}

TEST(SpeechEncoders, BothFormsOfWeightNorm) {
  Speech speech("wav2vec2-ctc");
  ExpectWav2Vec2(speech, "wav2vec2.", "ctc", "");
  const std::string conv = "wav2vec2.encoder.pos_conv_embed.conv.";
  speech.Move(conv + "parametrizations.weight.original0", conv + "weight_g");
  speech.Move(conv + "parametrizations.weight.original1", conv + "weight_v");
  ExpectWav2Vec2(speech, "wav2vec2.", "ctc", "");
}

TEST(SpeechEncoders, ActivationsBiasesAndNorms) {
  for (const char* norm : {"group", "layer"}) {
    for (const bool biased : {false, true}) {
      for (const bool stable : {false, true}) {
        Speech speech("wav2vec2-stable");
        speech.config["feat_extract_norm"] = norm;
        speech.config["conv_bias"] = biased;
        speech.config["do_stable_layer_norm"] = stable;
        speech.config["feat_extract_activation"] = biased ? "relu" : "gelu";
        speech.config["hidden_act"] = stable ? "relu" : "gelu";
        speech.config["layer_norm_eps"] = 1e-2;
        for (size_t i = 0; i < 3; ++i) {
          const std::string at = "feature_extractor.conv_layers." + std::to_string(i) + ".";
          if (!biased) speech.tensors.erase(at + "conv.bias");
          if (norm[0] == 'l' || i == 0) continue;
          speech.tensors.erase(at + "layer_norm.weight");
          speech.tensors.erase(at + "layer_norm.bias");
        }
        ExpectWav2Vec2(speech, "", "", "");
      }
    }
  }
}

// One group, more groups than an operation joins, kernels of one row and more rows than a clip has.
TEST(SpeechEncoders, GroupsOfPositions) {
  for (const uint64_t groups : {1u, 2u, 36u}) {
    for (const uint64_t kernel : {1u, 2u, 64u, 127u}) {
      Speech speech("wav2vec2-stable");
      speech.config["num_conv_pos_embedding_groups"] = groups;
      speech.config["num_conv_pos_embeddings"] = kernel;
      const std::string conv = "encoder.pos_conv_embed.conv.parametrizations.weight.original";
      speech.Add(conv + "0", {1, 1, kernel}, 1);
      speech.Add(conv + "1", {36, 36 / groups, kernel});
      ExpectWav2Vec2(speech, "", "", "");
    }
  }
}

TEST(SpeechEncoders, AdaptersThatShorten) {
  for (const bool projected : {false, true}) {
    Speech speech("wav2vec2-stable");
    const uint64_t width = projected ? 20 : 36;
    speech.config["add_adapter"] = true;
    speech.config["output_hidden_size"] = width;
    speech.config["num_adapter_layers"] = 2;
    if (projected) {
      speech.AddLinear("adapter.proj", width, 36);
      speech.AddNorm("adapter.proj_layer_norm", width);
    }
    for (size_t i = 0; i < 2; ++i) {
      const std::string name = "adapter.layers." + std::to_string(i) + ".conv";
      speech.Add(name + ".weight", {2 * width, width, 3});
      speech.Add(name + ".bias", {2 * width});
    }
    ExpectWav2Vec2(speech, "", "", "");
    speech.Rename("", "wav2vec2.");
    speech.AddLinear("lm_head", 29, width);
    speech.config["architectures"] = Json::array({"Wav2Vec2ForCTC"});
    ExpectWav2Vec2(speech, "wav2vec2.", "ctc", "");
  }
}

TEST(SpeechEncoders, AdaptersOfLayers) {
  Speech speech("wav2vec2-stable");
  speech.config["adapter_attn_dim"] = 5;
  for (size_t i = 0; i < 2; ++i) {
    const std::string at = "encoder.layers." + std::to_string(i) + ".adapter_layer.";
    speech.AddNorm(at + "norm", 36);
    speech.AddLinear(at + "linear_1", 5, 36);
    speech.AddLinear(at + "linear_2", 36, 5);
  }
  ExpectWav2Vec2(speech, "", "", "");
}

TEST(SpeechEncoders, Classes) {
  for (const bool weighed : {false, true}) {
    for (const char* published : {"wav2vec2-stable", "hubert"}) {
      const std::string prefix = published[0] == 'h' ? "hubert." : "wav2vec2.";
      for (const bool frames : {false, true}) {
        Speech speech(published);
        speech.Rename("", prefix);
        speech.AddClasses(weighed, frames);
        ExpectWav2Vec2(speech, prefix, frames ? "frames" : "classes", "");
      }
    }
  }
}

TEST(SpeechEncoders, Hubert) {
  Speech speech("hubert");
  ExpectWav2Vec2(speech, "", "", "");
  speech.config["feat_proj_layer_norm"] = true;
  speech.AddNorm("feature_projection.layer_norm", 16);
  ExpectWav2Vec2(speech, "", "", "");
  // Columns are normed before the zeros beyond the ends of a clip come in.
  speech.config["conv_pos_batch_norm"] = true;
  const std::string at = "encoder.pos_conv_embed.";
  speech.tensors.erase(at + "conv.parametrizations.weight.original0");
  speech.Move(at + "conv.parametrizations.weight.original1", at + "conv.weight");
  speech.AddNorm(at + "batch_norm", 36);
  speech.Add(at + "batch_norm.running_mean", {36});
  speech.Add(at + "batch_norm.running_var", {36}, 1);
  ExpectWav2Vec2(speech, "", "", "");
}

TEST(SpeechEncoders, UniSpeech) {
  for (const std::string name : {"unispeech", "unispeech-sat"}) {
    for (const char* published : {"wav2vec2-stable", "wav2vec2-ctc"}) {
      Speech speech(published);
      const std::string prefix = name == "unispeech" ? "unispeech." : "unispeech_sat.";
      const bool scored = published == std::string("wav2vec2-ctc");
      speech.config["model_type"] = name;
      if (scored) speech.Rename("wav2vec2.", prefix);
      ExpectWav2Vec2(speech, scored ? prefix : "", scored ? "ctc" : "", "");
    }
  }
}

TEST(SpeechEncoders, Data2Vec) {
  for (const uint64_t kernel : {4u, 19u}) {
    Speech speech("wav2vec2-stable");
    speech.config["model_type"] = "data2vec-audio";
    speech.config.erase("do_stable_layer_norm");
    speech.config.erase("feat_extract_norm");
    speech.config["num_conv_pos_embeddings"] = 3;
    speech.config["conv_pos_kernel_size"] = kernel;
    for (const char* end : {"parametrizations.weight.original0", "parametrizations.weight.original1", "bias"}) {
      speech.tensors.erase(std::string("encoder.pos_conv_embed.conv.") + end);
    }
    for (size_t i = 0; i < 3; ++i) {
      const std::string conv = "encoder.pos_conv_embed.layers." + std::to_string(i) + ".conv.";
      speech.Add(conv + "weight", {36, 9, kernel});
      speech.Add(conv + "bias", {36});
    }
    ExpectWav2Vec2(speech, "", "", "");
  }
}

TEST(SpeechEncoders, WavLm) {
  for (const char* published : {"wav2vec2-stable", "wav2vec2-ctc"}) {
    for (const int buckets : {320, 16}) {
      Speech speech(published);
      const bool scored = published == std::string("wav2vec2-ctc");
      const std::string prefix = scored ? "wavlm." : "";
      speech.config["model_type"] = "wavlm";
      speech.config["num_buckets"] = buckets;
      speech.config["max_bucket_distance"] = buckets == 16 ? 20 : 800;
      if (scored) speech.Rename("wav2vec2.", prefix);
      for (size_t i = 0; i < 2; ++i) {
        const std::string at = prefix + "encoder.layers." + std::to_string(i) + ".attention.";
        speech.AddLinear(at + "gru_rel_pos_linear", 8, 12);
        speech.Add(at + "gru_rel_pos_const", {1, 3, 1, 1}, 1);
      }
      speech.Add(prefix + "encoder.layers.0.attention.rel_attn_embed.weight", {static_cast<uint64_t>(buckets), 3}, 0,
                 2);
      ExpectWav2Vec2(speech, prefix, scored ? "ctc" : "", "");
    }
  }
}

// ---- wav2vec2-BERT ----

const std::vector<std::vector<float>>& Features() {
  static const std::vector<std::vector<float>> clips = [] {
    std::vector<std::vector<float>> made;
    for (const size_t frames : {27u, 1u, 13u}) {
      made.emplace_back();
      for (size_t i = 0; i < frames * 22; ++i) {
        made.back().push_back(std::sin(static_cast<float>(i + frames) * 0.73f) + 0.1f * static_cast<float>(i % 22));
      }
    }
    return made;
  }();
  return clips;
}

void ExpectWav2Vec2Bert(const Speech& speech, const std::string& head) {
  const Wav2Vec2BertReference reference(speech.config, speech.tensors, "wav2vec2_bert.");
  const auto scores = [&](const std::vector<float>& clip) {
    Rows rows;
    for (size_t i = 0; i < clip.size(); i += 22) {
      rows.emplace_back(clip.begin() + static_cast<ptrdiff_t>(i), clip.begin() + static_cast<ptrdiff_t>(i + 22));
    }
    const auto result = reference.Run(rows);
    return head.empty() ? result.last : reference.Scores(head, result.states, result.last);
  };
  ExpectNear(ValuesOf(speech.Convert(head.empty() ? "embedding" : ""), Features(),
                      head.empty() ? "last_hidden_state" : "logits"),
             Expected(Features(), scores), head);
}

Speech Bert() {
  Speech speech("wav2vec2-bert-ctc");
  for (const char* end : {"weight", "bias"}) speech.tensors.erase(std::string("lm_head.") + end);
  return speech;
}

void WithoutKeys(Speech& speech) {
  for (size_t i = 0; i < 2; ++i) {
    speech.tensors.erase("wav2vec2_bert.encoder.layers." + std::to_string(i) + ".self_attn.distance_embedding.weight");
  }
}

TEST(SpeechEncoders, BertsPositions) {
  ExpectWav2Vec2Bert(Speech("wav2vec2-bert-ctc"), "ctc");
  for (const auto& [left, right] : {std::pair{0, 0}, std::pair{3, 9}, std::pair{40, 1}}) {
    Speech speech("wav2vec2-bert-ctc");
    speech.config["left_max_position_embeddings"] = left;
    speech.config["right_max_position_embeddings"] = right;
    for (size_t i = 0; i < 2; ++i) {
      speech.Add("wav2vec2_bert.encoder.layers." + std::to_string(i) + ".self_attn.distance_embedding.weight",
                 {static_cast<uint64_t>(left + right + 1), 12});
    }
    ExpectWav2Vec2Bert(speech, "ctc");
  }
  Speech none("wav2vec2-bert-ctc");
  WithoutKeys(none);
  none.config["position_embeddings_type"] = nullptr;
  ExpectWav2Vec2Bert(none, "ctc");
  Speech turned = none;
  turned.config["position_embeddings_type"] = "rotary";
  turned.config["rotary_embedding_base"] = 500;
  ExpectWav2Vec2Bert(turned, "ctc");
  Speech relative = none;
  relative.config["position_embeddings_type"] = "relative";
  for (size_t i = 0; i < 2; ++i) {
    const std::string at = "wav2vec2_bert.encoder.layers." + std::to_string(i) + ".self_attn.";
    relative.AddLinear(at + "linear_pos", 36, 36, false);
    relative.Add(at + "pos_bias_u", {3, 12});
    relative.Add(at + "pos_bias_v", {3, 12});
  }
  ExpectWav2Vec2Bert(relative, "ctc");
  // Distances are known up to the longest clip.
  relative.config["max_source_positions"] = 27;
  ExpectWav2Vec2Bert(relative, "ctc");
  relative.config["max_source_positions"] = 26;
  EXPECT_THROW(ExpectWav2Vec2Bert(relative, "ctc"), std::exception);
}

TEST(SpeechEncoders, BertsHeadsAndAdapters) {
  for (const bool weighed : {false, true}) {
    for (const bool frames : {false, true}) {
      Speech speech = Bert();
      speech.AddClasses(weighed, frames);
      ExpectWav2Vec2Bert(speech, frames ? "frames" : "classes");
    }
  }
  for (const bool adapted : {false, true}) {
    for (const bool projected : {false, true}) {
      Speech speech = Bert();
      const std::string at = "wav2vec2_bert.";
      const uint64_t width = projected && adapted ? 24 : 36;
      speech.config["use_intermediate_ffn_before_adapter"] = projected || !adapted;
      speech.config["add_adapter"] = adapted;
      speech.config["output_hidden_size"] = width;
      speech.config["num_adapter_layers"] = 2;
      speech.config["adapter_act"] = projected ? "gelu" : "relu";
      if (projected || !adapted) {
        speech.AddLinear(at + "intermediate_ffn.intermediate_dense", 52, 36);
        speech.AddLinear(at + "intermediate_ffn.output_dense", 36, 52);
      }
      if (width != 36) {
        speech.AddLinear(at + "adapter.proj", width, 36);
        speech.AddNorm(at + "adapter.proj_layer_norm", width);
      }
      for (size_t i = 0; i < 2 && adapted; ++i) {
        const std::string layer = at + "adapter.layers." + std::to_string(i) + ".";
        for (const char* norm : {"residual_layer_norm", "self_attn_layer_norm", "ffn_layer_norm"}) {
          speech.AddNorm(layer + norm, width);
        }
        for (const char* conv : {"residual_conv", "self_attn_conv"}) {
          speech.Add(layer + conv + ".weight", {2 * width, width, 3});
          speech.Add(layer + conv + ".bias", {2 * width});
        }
        for (const char* part : {"q", "k", "v", "out"}) {
          speech.AddLinear(layer + "self_attn.linear_" + part, width, width);
        }
        speech.AddLinear(layer + "ffn.intermediate_dense", 52, width);
        speech.AddLinear(layer + "ffn.output_dense", width, 52);
      }
      ExpectWav2Vec2Bert(speech, "");
      speech.AddLinear("lm_head", 29, width);
      ExpectWav2Vec2Bert(speech, "ctc");
    }
  }
}

// ---- what is refused ----

TEST(SpeechEncoders, WhatIsRefused) {
  const auto refusal = [](const char* published, const Json& changes, const std::string& task = "") {
    Speech speech(published);
    speech.config.merge_patch(changes);
    return speech.Refusal(task);
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_PRED2(has, refusal("wav2vec2-ctc", {{"feat_extract_norm", "batch"}}), "feat_extract_norm batch");
  EXPECT_PRED2(has, refusal("wav2vec2-ctc", {{"conv_stride", {4, 2, 1}}}), "conv_stride 1");
  EXPECT_PRED2(has, refusal("wav2vec2-ctc", {{"conv_stride", {4, 2}}}), "3 conv_kernel and 2 conv_stride");
  EXPECT_PRED2(has, refusal("wav2vec2-ctc", {{"conv_kernel", {8, 4, 2}}}), "not filters over 12 x 4");
  EXPECT_PRED2(has, refusal("wav2vec2-ctc", {{"conv_kernel", {8, 0, 2}}}), "conv_kernel");
  EXPECT_PRED2(has, refusal("wav2vec2-ctc", {{"num_feat_extract_layers", 4}}), "num_feat_extract_layers 4");
  EXPECT_PRED2(has, refusal("wav2vec2-ctc", {{"num_conv_pos_embedding_groups", 5}}), "not 5 groups");
  EXPECT_PRED2(has, refusal("wav2vec2-ctc", {{"num_conv_pos_embeddings", 9}}), "groups of filters over 9 rows");
  EXPECT_PRED2(has, refusal("wav2vec2-ctc", {{"feat_extract_activation", "mish"}}), "mish");
  EXPECT_PRED2(has, refusal("wav2vec2-ctc", {{"add_adapter", true}}), "adapter.layers.0.conv");
  EXPECT_PRED2(has, refusal("wav2vec2-ctc", {{"add_adapter", true}, {"adapter_stride", 1}}), "adapter_stride 1");
  EXPECT_PRED2(has, refusal("wav2vec2-ctc", {{"architectures", Json::array({"Wav2Vec2ForRegions"})}}),
               "Wav2Vec2ForRegions");
  EXPECT_PRED2(has, refusal("wav2vec2-ctc", {{"architectures", Json::array({"Wav2Vec2ForPreTraining"})}}),
               "Wav2Vec2ForPreTraining");
  EXPECT_PRED2(has, refusal("wav2vec2-ctc", {{"model_type", "wavlm"}}), "rel_attn_embed");
  EXPECT_PRED2(has, refusal("wav2vec2-ctc", {{"model_type", "sew"}}), "sew");
  EXPECT_PRED2(has, refusal("hubert", {{"feat_proj_layer_norm", true}}), "feature_projection.layer_norm");
  EXPECT_PRED2(has, refusal("wav2vec2-stable", {{"adapter_attn_dim", 4}}), "adapter_layer");
  EXPECT_PRED2(has, refusal("wav2vec2-bert-ctc", {{"position_embeddings_type", "absolute"}}), "absolute");
  EXPECT_PRED2(has, refusal("wav2vec2-bert-ctc", {{"left_max_position_embeddings", 7}}), "not [11, 12]");
  EXPECT_PRED2(has, refusal("wav2vec2-bert-ctc", {{"num_attention_heads", 5}}), "num_attention_heads 5");
  EXPECT_PRED2(has, refusal("wav2vec2-bert-ctc", {{"num_attention_heads", 12}, {"position_embeddings_type", "rotary"}}),
               "3 columns");
  EXPECT_PRED2(has, refusal("ast", {{"patch_size", 9}}), "not of 9 x 9");
  EXPECT_PRED2(has, refusal("ast", {{"patch_size", 21}}), "patch_size 21");
  EXPECT_PRED2(has, refusal("ast", {{"max_length", 54}}), "position_embeddings has 26 rows");
  EXPECT_PRED2(has, refusal("ast", {{"time_stride", 0}}), "time_stride");
  EXPECT_PRED2(has, refusal("ast", {{"qkv_bias", false}}), "qkv_bias");
  EXPECT_PRED2(has, refusal("ast", Json::object(), "masked-lm"), "--task embedding");
}

}  // namespace
}  // namespace fovea::test
