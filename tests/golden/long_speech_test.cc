// Files longer than a window through the golden whisper, against a plain version of the original's loop over a run that
// gets all tokens at once; words against the attention maps of that run; weights in int8.
#include "tests/golden/speech_teacher.h"
#include "tests/support/parsed_json.h"
#include "tests/support/plain_time_rules.h"
#include "tools/convert/description.h"
#include "tools/generate/alignment_heads.h"
#include "tools/generate/model_listener.h"

namespace fovea::test {
namespace {

using nlohmann::json;
using Tokens = std::vector<int32_t>;

constexpr size_t kWords = 130, kStep = 400;  // 41 times in a second, the last 41 tokens
constexpr PlainTimes kTimes = {89, 80, 88, 10};
constexpr int32_t kStart = 81, kZh = 82, kDe = 83, kTranslate = 84, kTranscribe = 85, kPrevious = 86, kNoSpeech = 87;

constexpr char kToldTimes[] = R"({"decoder_start_token_id": 81, "eos_token_id": 80, "pad_token_id": 0,
  "lang_to_id": {"<|zh|>": 82, "<|de|>": 83}, "task_to_id": {"transcribe": 85, "translate": 84},
  "no_timestamps_token_id": 88, "prev_sot_token_id": 86, "max_initial_timestamp_index": 10,
  "suppress_tokens": [5, 6, 81, 82, 83, 84, 85, 86, 87], "begin_suppress_tokens": [7, 80],
  "alignment_heads": [[0, 1], [1, 0], [1, 3]]})";

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A plain run of the whole algorithm at temperature 0.
struct PlainSegment {
  double begin, end;
  Tokens tokens;
  double log_probability, no_speech;
};

class PlainListener {
 public:
  PlainListener(const Teacher& teacher, const Tokens& told, bool previous)
      : teacher_(teacher), told_(told), previous_(previous) {}

  std::vector<PlainSegment> Listen(const std::vector<float>& sound) {
    std::vector<PlainSegment> segments;
    Tokens before;
    for (size_t seek = 0; seek < sound.size();) {
      const size_t length = std::min(kSecond, sound.size() - seek);
      if (seek > 0 && length < 160) break;
      const Features window = WindowOf(sound, seek);
      Tokens prompt;
      if (!before.empty()) {
        prompt = {kPrevious};
        prompt.insert(prompt.end(), before.size() > 23 ? before.end() - 23 : before.begin(), before.end());
      }
      prompt.push_back(kStart);
      const double no_speech = std::exp(teacher_.LogProbabilities(window, prompt).back()[kNoSpeech]);
      prompt.insert(prompt.end(), told_.begin(), told_.end());
      double log_probability = 0;
      const Tokens text = Write(window, prompt, &log_probability);
      const auto is_time = [&](size_t i) { return text[i] >= kTimes.first; };
      const auto at = [&](size_t i) {
        return static_cast<double>(seek + static_cast<size_t>(text[i] - kTimes.first) * kStep) / 16000;
      };
      std::vector<PlainSegment> current;
      size_t last = 0, next = seek + length;
      for (size_t i = 1; i < text.size(); ++i) {
        if (!is_time(i - 1) || !is_time(i)) continue;
        current.push_back(
            {at(last), at(i - 1), Tokens(text.begin() + last, text.begin() + i), log_probability, no_speech});
        last = i;
      }
      const bool ends_early = text.size() >= 2 && is_time(text.size() - 1) && !is_time(text.size() - 2);
      if (last == 0) {
        double end = static_cast<double>(seek + length) / 16000;
        for (size_t i = 0; i < text.size(); ++i) {
          if (text[i] > kTimes.first) end = at(i);
        }
        current.push_back({static_cast<double>(seek) / 16000, end, text, log_probability, no_speech});
      } else if (ends_early) {
        current.push_back(
            {at(last), at(text.size() - 1), Tokens(text.begin() + last, text.end()), log_probability, no_speech});
      } else {
        next = seek + static_cast<size_t>(text[last - 1] - kTimes.first) * kStep;
      }
      ++windows;
      heard_again += next < seek + length ? 1 : 0;
      seek = next;
      for (const PlainSegment& segment : current) {
        const auto is_text = [](int32_t t) { return t < kTimes.stop; };
        if (segment.begin == segment.end || std::none_of(segment.tokens.begin(), segment.tokens.end(), is_text))
          continue;
        // Times of the silence after the sound are its end.
        const double all = static_cast<double>(sound.size()) / 16000;
        segments.push_back(segment);
        segments.back().begin = std::min(segment.begin, all), segments.back().end = std::min(segment.end, all);
        if (previous_) before.insert(before.end(), segment.tokens.begin(), segment.tokens.end());
      }
    }
    return segments;
  }

  size_t windows = 0, heard_again = 0;

 private:
  Tokens Write(const Features& window, const Tokens& prompt, double* log_probability) const {
    Tokens text, all = prompt;
    for (bool ended = false; !ended && text.size() < 24 && all.size() <= 48;) {
      std::vector<double> logits = teacher_.LogProbabilities(window, all).back();
      for (const int32_t t : {5, 6, 81, 82, 83, 84, 85, 86, 87}) Hide(&logits, t, t + 1);
      if (text.empty()) Hide(&logits, 7, 8), Hide(&logits, 80, 81);
      ApplyPlainTimeRules(kTimes, text, &logits);
      const auto best = std::max_element(logits.begin(), logits.end());
      double sum = 0;
      for (const double x : logits) sum += std::exp(x);
      *log_probability += *best - std::log(sum);
      const auto token = static_cast<int32_t>(best - logits.begin());
      ended = token == kTimes.stop;
      if (!ended) text.push_back(token), all.push_back(token);
    }
    *log_probability /= static_cast<double>(text.size() + 1);
    return text;
  }

  const Teacher& teacher_;
  const Tokens told_;
  const bool previous_;
};

class LongSpeech : public SpeechFiles {
 protected:
  // The golden model, but that it likes words better: sums of times are above them often, not always.
  std::string Model(const std::string& preprocessor, const std::string& told = kToldTimes) const {
    const std::string directory = Directory("whisper", preprocessor, told);
    std::map<std::string, std::pair<std::vector<uint64_t>, std::vector<float>>> tensors;
    {
      const tools::SafetensorsReader stored(directory + "/model.safetensors");
      for (const auto& [name, tensor] : stored.tensors()) tensors[name] = {tensor.shape, tools::ToFloats(tensor)};
    }
    std::vector<float>& table = tensors.at("model.decoder.embed_tokens.weight").second;
    const size_t width = table.size() / kWords;
    for (size_t i = 0; i < 81 * width; ++i) table[i] *= 1.2f;
    std::filesystem::remove(directory + "/model.safetensors");
    tools::SafetensorsWriter writer;
    for (const auto& [name, tensor] : tensors) writer.AddFloats(name, tensor.first, tensor.second.data());
    writer.Write(directory + "/model.safetensors");
    return directory;
  }
  static json Heard(const std::string& blob, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"transcribe", blob, "--json", "--temperatures", "0"});
    return FoveaJson(arguments);
  }
  static void Expect(const json& file, const std::vector<PlainSegment>& expected) {
    const json& segments = file["segments"];
    ASSERT_EQ(segments.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(segments[i]["tokens"], expected[i].tokens) << i;
      EXPECT_NEAR(segments[i]["begin"], expected[i].begin, 1e-9) << i;
      EXPECT_NEAR(segments[i]["end"], expected[i].end, 1e-9) << i;
      EXPECT_NEAR(segments[i]["log_probability"], expected[i].log_probability, 1e-4) << i;
      EXPECT_NEAR(segments[i]["no_speech_probability"], expected[i].no_speech, 1e-5) << i;
      EXPECT_EQ(segments[i]["temperature"], 0);
    }
  }
};

// Loud for two windows, then so quiet that the loud part sets the floor of its features.
std::vector<float> QuietAfterLoud() {
  std::vector<float> sound = Clip(57000, 4);
  for (size_t i = 2 * kSecond; i < sound.size(); ++i) sound[i] *= 1e-3f;
  return sound;
}

TEST_F(LongSpeech, IsWhatThePlainLoopSays) {
  const std::string blob = Blob(Model(kWhisper));
  const Teacher teacher(Model(""));
  const std::vector<std::vector<float>> sounds = {Clip(53711, 1), Clip(9000, 2), Clip(40000, 3), QuietAfterLoud()};
  std::vector<std::string> all;
  for (size_t i = 0; i < sounds.size(); ++i) {
    all.insert(all.end(), {"--wav", Wav(std::to_string(i) + ".wav", sounds[i])});
  }
  // Without the rule no window counts as silent.
  all.insert(all.end(), {"--no-speech-threshold", "none"});
  size_t windows = 0, heard_again = 0, segments = 0;
  for (const bool previous : {true, false}) {
    for (const auto& [language, task] :
         std::vector<std::pair<std::string, std::string>>{{"de", "translate"}, {"zh", "transcribe"}}) {
      std::vector<std::string> arguments = {"--language", language, "--task", task};
      if (!previous) arguments.insert(arguments.end(), {"--condition-on-previous", "off"});
      arguments.insert(arguments.end(), all.begin(), all.end());
      const json found = Heard(blob, arguments);
      ASSERT_EQ(found.size(), sounds.size());
      arguments.insert(arguments.end(), {"--batch-size", "2"});
      EXPECT_EQ(Heard(blob, arguments), found) << "batches change no text";
      for (size_t i = 0; i < sounds.size(); ++i) {
        PlainListener plain(teacher, {language == "de" ? kDe : kZh, task == "translate" ? kTranslate : kTranscribe},
                            previous);
        const std::vector<PlainSegment> expected = plain.Listen(sounds[i]);
        Expect(found[i], expected);
        windows += plain.windows, heard_again += plain.heard_again, segments += expected.size();
      }
    }
  }
  std::cout << windows << " windows, " << heard_again << " transcribed again in part, " << segments << " segments\n";
  EXPECT_GT(heard_again, 8u);
  EXPECT_GT(windows, heard_again + 8);
}

// Rows of the encoder's input for any place of a sound, from its first row to the silence after its end.
TEST_F(LongSpeech, FeaturesOfTheWholeSound) {
  const Converted heard(Model(kWhisper), DType::kF32);
  const tools::MelWindows windows(heard.model, kSecond, 1);
  const std::vector<float> samples = QuietAfterLoud();
  tools::SoundReader sound(tools::Sound{16000, samples});
  const size_t frames = kSecond / kHop, rows = samples.size() / kHop + frames;
  const Rows expected = WhisperLogs(samples, rows * kHop, kHop, kFilters);
  for (const size_t first : {size_t{0}, size_t{1}, frames - 1, frames, 2 * frames + 6, rows - 2 * frames}) {
    const std::vector<float> found = windows.Rows(&sound, first, frames);
    ASSERT_EQ(found.size(), frames * kFilters);
    for (size_t i = 0; i < found.size(); ++i) {
      const double wanted = expected[first + i / kFilters][i % kFilters];
      EXPECT_NEAR(found[i] / std::log(10.0), wanted, 2e-3) << first << " + " << i / kFilters;
    }
  }
}

// Blobs of converters that did not split the encoder in two process each window separately, and the command reports
// this.
TEST_F(LongSpeech, OlderBlobs) {
  const std::string directory = Model(kWhisper);
  const tools::ConvertOptions options = Converted::OptionsOf(directory, DType::kF32, "", "");
  tools::Description description = tools::Describe(options);
  std::vector<tools::Program>& programs = description.programs;
  const auto part = [](const tools::Program& program) { return !program.of.empty(); };
  programs.erase(std::remove_if(programs.begin(), programs.end(), part), programs.end());
  tools::ConvertReport report;
  const std::vector<uint8_t> bytes = tools::BuildBlob(description, options, report);
  tools::WriteFile(At("old.fovea"), bytes.data(), bytes.size());
  const std::vector<std::string> arguments = {"--language", "de",    "--no-speech-threshold",
                                              "none",       "--wav", Wav("sound.wav", Clip(40000, 3))};
  std::vector<std::string> old = {"transcribe", At("old.fovea"), "--json"};
  old.insert(old.end(), arguments.begin(), arguments.end());
  const CommandResult told = Fovea(old);
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_PRED2(Has, told.err, "converted by an older fovea: features are computed for each window alone");
  EXPECT_GT(ParsedJson(told.out)[0]["segments"].size(), 0u);
  old[1] = Blob(directory);
  EXPECT_EQ(Fovea(old).err, "");
}

TEST_F(LongSpeech, TheModelFindsTheLanguage) {
  const std::string blob = Blob(Model(kWhisper));
  const Teacher teacher(Model(""));
  std::vector<std::string> arguments = {"--no-speech-threshold", "none"};
  std::vector<std::vector<float>> sounds;
  for (uint32_t i = 0; i < 6; ++i) {
    sounds.push_back(Clip(1000 << i, 30 + i));
    arguments.insert(arguments.end(), {"--wav", Wav(std::to_string(i) + ".wav", sounds[i])});
  }
  const json found = Heard(blob, arguments);
  for (size_t i = 0; i < sounds.size(); ++i) {
    const int32_t language = teacher.Best(WindowOf(sounds[i], 0), {kStart}, {kZh, kDe});
    EXPECT_EQ(found[i]["language"], language == kZh ? "zh" : "de");
    PlainListener plain(teacher, {language, kTranscribe}, true);
    Expect(found[i], plain.Listen(sounds[i]));
  }
  const CommandResult said = Fovea({"transcribe", blob, "--wav", At("0.wav")});
  EXPECT_EQ(said.status, 0);
  EXPECT_EQ(said.err, "fovea: " + At("0.wav") + ": language " + std::string(found[0]["language"]) + "\n");
}

// Models of one language: the prompt only asks for times, which the models' files forbid.
TEST_F(LongSpeech, ModelsOfOneLanguage) {
  json told = ParsedJson(kToldTimes);
  for (const char* key : {"lang_to_id", "task_to_id"}) told.erase(key);
  told["forced_decoder_ids"] = ParsedJson("[[1, 88]]");
  const std::string blob = Blob(Model(kWhisper, told.dump()));
  const Teacher teacher(Model("", told.dump()));
  const std::vector<float> sound = Clip(30000, 4);
  const std::string wav = Wav("sound.wav", sound);
  PlainListener plain(teacher, {}, true);
  Expect(Heard(blob, {"--no-speech-threshold", "none", "--wav", wav})[0], plain.Listen(sound));
  EXPECT_PRED2(Has, FoveaError({"transcribe", blob, "--language", "de", "--wav", wav}), "has no language 'de'");
  EXPECT_PRED2(Has, FoveaError({"transcribe", blob, "--task", "translate", "--wav", wav}), "has no task 'translate'");
}

// Searches and drawn texts keep to the rules, and are the same in each run.
TEST_F(LongSpeech, BeamsAndTemperatures) {
  const std::string blob = Blob(Model(kWhisper));
  const std::string wav = Wav("sound.wav", Clip(40000, 6));
  std::set<double> temperatures;
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--beams", "3", "--temperatures", "0"},
                                             {"--temperatures", "1"},
                                             {"--logprob-threshold", "-1.5", "--beams", "2"}}) {
    std::vector<std::string> arguments = {
        "transcribe", blob, "--json", "--language", "de", "--wav", wav, "--no-speech-threshold", "none"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const json found = FoveaJson(arguments);
    EXPECT_EQ(FoveaJson(arguments), found);
    ASSERT_GT(found[0]["segments"].size(), 1u);
    double last = 0;
    for (const json& segment : found[0]["segments"]) {
      const Tokens tokens = segment["tokens"];
      EXPECT_GE(tokens.front(), kTimes.first);
      EXPECT_GE(double{segment["begin"]}, last);
      EXPECT_LE(double{segment["end"]}, 2.5);
      const bool after = double{segment["begin"]} == 2.5;  // a text of the silence after the sound
      EXPECT_EQ(double{segment["end"]} > double{segment["begin"]}, !after);
      last = segment["end"];
      for (size_t i = 1; i + 1 < tokens.size(); ++i) EXPECT_LT(tokens[i], kTimes.stop);
      temperatures.insert(double{segment["temperature"]});
      EXPECT_LT(double{segment["log_probability"]}, 0);
    }
    arguments.insert(arguments.end(), {"--seed", "5"});
    const bool draws = more[0] != "--beams";
    EXPECT_EQ(FoveaJson(arguments) != found, draws) << more[0];
  }
  EXPECT_EQ(temperatures.count(0.0) + temperatures.count(1.0), 2u);
}

TEST_F(LongSpeech, SilenceIsNoText) {
  const std::string blob = Blob(Model(kWhisper));
  const std::string wav = Wav("sound.wav", Clip(20000, 6));
  const std::vector<std::string> arguments = {"--language", "de", "--wav", wav, "--logprob-threshold", "0"};
  std::vector<std::string> silent = arguments;
  silent.insert(silent.end(), {"--no-speech-threshold", "0"});
  EXPECT_EQ(Heard(blob, silent)[0]["segments"].size(), 0u);
  EXPECT_GT(Heard(blob, arguments)[0]["segments"].size(), 0u);
}

// Attention of the heads that the model's files name, in the run that gets all tokens.
TEST_F(LongSpeech, Words) {
  const Converted heard(Model(kWhisper), DType::kF32);
  const Teacher teacher(Model(""));
  const tools::SoundInput input = *tools::FindSoundInput(heard.model, tools::EncoderProgram(heard.model));
  const tools::TimeFormat format = *tools::FindTimeFormat(heard.model, input);
  EXPECT_EQ(format.step, kStep);
  EXPECT_EQ(format.tokens.latest_first, 10u);
  tools::GenerationRequest request;
  request.sampling = tools::Sized<fovea_sampling>();
  tools::ModelListener listener(heard.model, input, format, {"zh", ""}, request);
  const std::vector<std::vector<float>> clips = {Clip(16000, 1), Clip(9100, 2)};  // 40 frames and 22
  std::vector<tools::SoundReader> sounds;
  for (const std::vector<float>& clip : clips) sounds.emplace_back(tools::Sound{16000, clip});
  listener.Hear({{&sounds[0], 0, {0, clips[0].size()}}, {&sounds[1], 1, {0, clips[1].size()}}});
  std::vector<fovea_tap> taps;
  for (const auto& [layer, heads] : std::vector<std::pair<std::string, uint64_t>>{{"0", 2}, {"1", 9}}) {
    const tools::Model& model = teacher.model();
    taps.push_back(tools::TapOf(*model.FindAttention(model.FindProgram("score"), "cross_attentions." + layer)));
    taps.back().heads = heads;
  }
  for (size_t clip = 0; clip < clips.size(); ++clip) {
    const size_t frames = clips[clip].size() / kStep;
    const Tokens text = {9, 17, 3, 60, 22, 22, 41, 70, 1};
    Tokens all = {kStart, kZh, kTranscribe, kTimes.none};
    all.insert(all.end(), text.begin(), text.end());
    all.push_back(kTimes.stop);
    const tools::Session session = teacher.Run(WindowOf(clips[clip], 0), all, taps);
    tools::HeadWeights weights = {3, all.size(), frames, {}};
    for (uint32_t tap = 0; tap < taps.size(); ++tap) {
      const fovea_attention_map found = session.AttentionMap(tap);
      for (uint32_t head = 0; head < found.heads; ++head) {
        for (uint32_t row = 0; row < all.size(); ++row) {
          const float* const from = found.data + (size_t{row} * found.heads + head) * found.stride;
          weights.values.insert(weights.values.end(), from, from + frames);
        }
      }
    }
    const std::vector<size_t> begins = tools::FirstFrames(weights, 7, 3, all.size() - 1);
    const std::vector<tools::TimedWord> words = listener.Words(clip, text);
    ASSERT_EQ(words.size(), text.size());
    for (size_t i = 0; i < words.size(); ++i) {
      EXPECT_EQ(words[i].tokens, Tokens{text[i]});
      EXPECT_NEAR(words[i].begin, static_cast<double>(begins[i]) * 0.025, 1e-9) << i;
      EXPECT_NEAR(words[i].end, static_cast<double>(begins[i + 1]) * 0.025, 1e-9) << i;
    }
    EXPECT_GT(words.back().end, words.front().begin);
  }
}

TEST_F(LongSpeech, WhatIsWritten) {
  const std::string blob = Blob(Model(kWhisper));
  const std::string wav = Wav("sound.wav", Clip(40000, 3));
  const std::vector<std::string> usual = {
      "transcribe", blob, "--language", "zh", "--temperatures", "0", "--no-speech-threshold", "none", "--wav", wav};
  const auto written = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = usual;
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult said = Fovea(arguments);
    EXPECT_EQ(said.status, 0) << said.err;
    return said.out;
  };
  const json file = ParsedJson(written({"--format", "json"}))[0];
  EXPECT_EQ(written({}), std::string(file["text"]) + "\n");
  EXPECT_EQ(file["language"], "zh");
  EXPECT_EQ(file["seconds"], 2.5);
  const json& segments = file["segments"];
  ASSERT_GT(segments.size(), 2u);
  std::string lines = wav + "\n", srt, vtt = "WEBVTT\n\n";
  for (size_t i = 0; i < segments.size(); ++i) {
    const double begin = segments[i]["begin"], end = segments[i]["end"];
    const std::string text = segments[i]["text"];
    lines += fmt::format("{:8.2f} {:8.2f}  {}\n", begin, end, text);
    srt += fmt::format("{}\n00:00:0{:.3f} --> 00:00:0{:.3f}\n{}\n\n", i + 1, begin, end, text);
    vtt += fmt::format("00:0{:.3f} --> 00:0{:.3f}\n{}\n\n", begin, end, text);
  }
  for (size_t at = 0; (at = srt.find('.', at)) != std::string::npos;) srt[at] = ',';
  EXPECT_EQ(written({"--times"}), lines);
  EXPECT_EQ(written({"--times", "segment"}), lines);
  EXPECT_EQ(written({"--format", "srt"}), srt);
  EXPECT_EQ(written({"--format", "vtt"}), vtt);
  // Words have their own times, and windows begin after the last one.
  const json words = ParsedJson(written({"--times", "word", "--json"}))[0];
  std::string word_lines = wav + "\n";
  double last = 0;
  for (const json& segment : words["segments"]) {
    ASSERT_FALSE(segment["words"].empty());
    EXPECT_EQ(segment["begin"], segment["words"].front()["begin"]);
    Tokens tokens;
    for (const json& word : segment["words"]) {
      EXPECT_GE(double{word["end"]}, double{word["begin"]});
      EXPECT_GE(double{word["begin"]}, last - 1e-9);
      last = word["begin"];
      EXPECT_GT(double{word["probability"]}, 0);
      const Tokens own = word["tokens"];
      tokens.insert(tokens.end(), own.begin(), own.end());
      std::string text = word["text"];
      text.erase(text.find_last_not_of(' ') + 1);
      word_lines += fmt::format("{:8.2f} {:8.2f}  {}\n", double{word["begin"]}, double{word["end"]}, text);
    }
    Tokens text = segment["tokens"];
    text.erase(std::remove_if(text.begin(), text.end(), [](int32_t t) { return t >= kTimes.stop; }), text.end());
    EXPECT_EQ(tokens, text);
  }
  EXPECT_EQ(written({"--times", "word"}), word_lines);
}

TEST_F(LongSpeech, SaysWhatIsWrong) {
  const std::string blob = Blob(Model(kWhisper)), wav = Wav("sound.wav", Clip(4000, 1));
  const auto error = [&](const std::string& of, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"transcribe", of, "--wav", wav});
    return FoveaError(arguments);
  };
  EXPECT_PRED2(Has, error(blob, {"--wav", wav, "--format", "srt"}), "subtitles are written for one file");
  EXPECT_PRED2(Has, error(blob, {"--cut", "clips", "--times"}), "--times needs --cut times");
  EXPECT_PRED2(Has, error(blob, {"--cut", "clips", "--format", "vtt"}), "--times needs --cut times");
  EXPECT_PRED2(Has, error(blob, {"--cut", "clips", "--temperatures", "0,1"}),
               "--temperatures cannot be combined with --cut clips");
  EXPECT_PRED2(Has, error(blob, {"--beams", "2", "--hypotheses", "2", "--json"}), "--hypotheses needs --cut clips");
  EXPECT_PRED2(Has, error(blob, {"--logprob-threshold", "low"}), "low is not a number");
  EXPECT_PRED2(Has, error(blob, {"--times", "letter"}), "letter");
  EXPECT_PRED2(Has, error(blob, {"--chunk", "3"}), "--chunk cannot be combined with");
  // Without a token for no times, or without tokens for times.
  json told = ParsedJson(kToldTimes);
  told.erase("no_timestamps_token_id");
  const std::string none = Blob(Model(kWhisper, told.dump()));
  EXPECT_PRED2(Has, error(none, {"--times"}), "has no timestamp tokens");
  EXPECT_PRED2(Has, error(none, {"--cut", "times"}), "has no timestamp tokens");
  EXPECT_PRED2(Has, error(none, {"--no-speech-threshold", "0.5"}),
               "cannot be combined with a model without timestamps");
  EXPECT_EQ(Fovea({"transcribe", none, "--wav", wav, "--language", "de"}).status, 0) << "in clips";
  told["no_timestamps_token_id"] = 129;
  EXPECT_PRED2(Has, error(Blob(Model(kWhisper, told.dump())), {"--times"}), "has no timestamp tokens");
  // Without a token for the previous text.
  told = ParsedJson(kToldTimes);
  told.erase("prev_sot_token_id");
  const std::string deaf = Blob(Model(kWhisper, told.dump()));
  EXPECT_PRED2(Has, error(deaf, {"--condition-on-previous", "on"}), "does not support previous text");
  EXPECT_EQ(Fovea({"transcribe", deaf, "--wav", wav, "--language", "de"}).status, 0);
  told = ParsedJson(kToldTimes);
  told["alignment_heads"] = ParsedJson("[[0, 4]]");
  EXPECT_PRED2(Has,
               error(Blob(Model(kWhisper, told.dump())),
                     {"--times", "word", "--temperatures", "0", "--no-speech-threshold", "none"}),
               "layer 0 has 4 heads");
  told["alignment_heads"] = ParsedJson("[[2, 0]]");
  EXPECT_PRED2(Has,
               error(Blob(Model(kWhisper, told.dump())),
                     {"--times", "word", "--temperatures", "0", "--no-speech-threshold", "none"}),
               "no cross-attention in layer 2");
}

// The feature extraction runs in f32 regardless of the weight type; scores are as near as int8 gets.
TEST_F(LongSpeech, WeightsInInt8) {
  const std::string directory = Model(kWhisper);
  const Converted heard(directory, DType::kI8);
  const Teacher teacher(Model(""));
  const std::vector<float> clip = Clip(kSecond, 8);
  const Tokens tokens = {kStart, kDe, kTranscribe, 92, 14, 33, 70, 2, 101};
  const tools::Model& model = heard.model;
  tools::SessionRequest request;
  request.program = model.FindProgram("score");
  request.keep = {*model.FindValue(request.program, "input_features")};
  const tools::SoundInput input = *tools::FindSoundInput(model, request.program);
  tools::Batch batch = tools::BatchFromSounds(model, input, request.program, {{16000, clip}});
  const uint32_t ids = *model.FindValue(request.program, "decoder_input_ids");
  batch.ids[ids] = tokens;
  tools::AddSegments(model, model.Value(request.program, ids).space,
                     tools::MakeSegments({static_cast<uint32_t>(tokens.size())}), &batch);
  tools::Session session = tools::SessionFor(model, batch, request);
  session.Run();
  const tools::Matrix features = session.Output(request.keep[0]);
  const Rows expected = Whisper(clip, kSecond, kHop, kFilters);
  ASSERT_EQ(features.rows, expected.size());
  for (uint32_t row = 0; row < features.rows; ++row) {
    for (size_t c = 0; c < kFilters; ++c) EXPECT_NEAR(features.Row(row)[c], expected[row][c], 1e-4) << row;
  }
  const tools::Session exact = teacher.Run(clip, tokens);
  const tools::Matrix found = session.Output(*model.FindValue(request.program, "logits"));
  const tools::Matrix wanted = exact.Output(*teacher.model().FindValue(exact.request().program, "logits"));
  ASSERT_EQ(found.rows, wanted.rows);
  double lowest = 1;
  for (uint32_t row = 0; row < found.rows; ++row)
    lowest = std::min(lowest, Cosine(found.Row(row), wanted.Row(row), kWords));
  std::cout << "lowest cosine " << lowest << "\n";
  EXPECT_GE(lowest, 0.98);

  const std::string blob = At("int8.fovea");
  const CommandResult made = Fovea({"convert", directory, "-o", blob, "--weights", "int8"});
  ASSERT_EQ(made.status, 0) << made.err;
  const json file =
      Heard(blob, {"--language", "de", "--no-speech-threshold", "none", "--wav", Wav("sound.wav", Clip(40000, 3))})[0];
  EXPECT_GT(file["segments"].size(), 1u);
}

}  // namespace
}  // namespace fovea::test
