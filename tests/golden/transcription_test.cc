// Texts of sound files: the command writes the most likely text after the prompt that it must use, by a run that gets
// all tokens at once; samples give the same text as the features computed from them.
#include "tools/generate/transcription.h"

#include <numeric>

#include "tests/golden/speech_teacher.h"
#include "tests/support/parsed_json.h"
#include "tools/generate/overlap.h"

namespace fovea::test {
namespace {

using nlohmann::json;
using Tokens = std::vector<int32_t>;

constexpr char kTold[] = R"({"decoder_start_token_id": 3, "eos_token_id": 2, "pad_token_id": 0,
  "lang_to_id": {"<|en|>": 30, "<|de|>": 31}, "task_to_id": {"transcribe": 32, "translate": 33},
  "no_timestamps_token_id": 40, "prev_sot_token_id": 41, "suppress_tokens": [8]})";

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class Transcription : public SpeechFiles {
 protected:
  // The command's text for each file or clip, without times.
  static json Texts(const std::string& blob, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"transcribe", blob, "--json", "--cut", "clips"});
    const CommandResult said = Fovea(arguments);
    EXPECT_EQ(said.status, 0) << said.err;
    return said.status == 0 ? ParsedJson(said.out) : json();
  }
};

TEST_F(Transcription, OfSamplesIsThatOfTheirFeatures) {
  const std::string heard = Blob(Directory("whisper", kWhisper, kTold));
  const std::string given = Blob(Directory("whisper", "", kTold));
  EXPECT_TRUE(Has(Fovea({"inspect", given}).out, "layout.input_features"));
  EXPECT_FALSE(Has(Fovea({"inspect", heard}).out, "layout.input_features")) << "it is not an input";
  // A file of two clips and a rest of nothing, and one of less than a clip.
  const std::vector<float> longer = Clip(2 * kSecond + 159, 1), shorter = Clip(11000, 2);
  const std::vector<std::string> sounds = {"--wav", Wav("longer.wav", longer), "--wav", Wav("shorter.wav", shorter)};
  const std::string features = Features({Part(longer, 0, kSecond), Part(longer, kSecond, 2 * kSecond), shorter});
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--language", "en"}, {"--language", "de", "--task", "translate", "--beams", "3"}}) {
    std::vector<std::string> listens = more, reads = more;
    listens.insert(listens.end(), sounds.begin(), sounds.end());
    reads.insert(reads.end(), {"--input", features});
    const json files = Texts(heard, listens), clips = Texts(given, reads);
    ASSERT_EQ(files.size(), 2u);
    ASSERT_EQ(clips.size(), 3u);
    ASSERT_EQ(files[0]["clips"].size(), 2u);
    EXPECT_EQ(files[0]["clips"][0]["tokens"], clips[0]["clips"][0]["tokens"]);
    EXPECT_EQ(files[0]["clips"][1]["tokens"], clips[1]["clips"][0]["tokens"]);
    EXPECT_EQ(files[1]["clips"][0]["tokens"], clips[2]["clips"][0]["tokens"]);
    for (const json& clip : clips) {
      for (const json& token : clip["clips"][0]["tokens"]) EXPECT_NE(token, 8) << "it is suppressed";
    }
    // Batches and the form of what is printed change no text.
    for (const char* size : {"1", "2"}) {
      std::vector<std::string> plain = {"transcribe", heard, "--cut", "clips", "--batch-size", size};
      plain.insert(plain.end(), listens.begin(), listens.end());
      EXPECT_EQ(Fovea(plain).out, std::string(files[0]["text"]) + "\n" + std::string(files[1]["text"]) + "\n");
    }
    const std::string text = files[0]["text"], first = files[0]["clips"][0]["text"],
                      second = files[0]["clips"][1]["text"];
    EXPECT_EQ(text, first + " " + second);
    EXPECT_FALSE(Has(text, "  ")) << text;
    EXPECT_NE(text.back(), ' ');
  }
}

TEST_F(Transcription, TheModelIsToldLanguageAndTask) {
  const std::string given = Blob(Directory("whisper", "", kTold));
  const Teacher teacher(Directory("whisper", "", kTold));
  const std::vector<float> clip = Clip(kSecond, 3);
  const std::string features = Features({clip});
  const std::vector<std::pair<std::vector<std::string>, Tokens>> cases = {
      {{"--language", "en"}, {3, 30, 32, 40}},
      {{"--language", "de", "--task", "transcribe"}, {3, 31, 32, 40}},
      {{"--language", "de", "--task", "translate"}, {3, 31, 33, 40}}};
  for (const auto& [told, prompt] : cases) {
    std::vector<std::string> arguments = {"--input", features, "--max-tokens", "12",
                                          "--beams", "3",      "--hypotheses", "3"};
    arguments.insert(arguments.end(), told.begin(), told.end());
    const json hypotheses = Texts(given, arguments)[0]["clips"][0]["hypotheses"];
    ASSERT_EQ(hypotheses.size(), 3u);
    for (const json& hypothesis : hypotheses) {
      const Tokens text = hypothesis["tokens"];
      EXPECT_NEAR(hypothesis["score"], teacher.Score(clip, prompt, text), 1e-4);
      for (const auto& [other, wrong] : cases) {
        if (wrong == prompt) continue;
        EXPECT_GT(std::fabs(double{hypothesis["score"]} - teacher.Score(clip, wrong, text)), 1e-3);
      }
    }
  }
}

// Without lists of languages and tasks the prompt is the model's whole prefix, or empty.
TEST_F(Transcription, TheModelsOwnPrompt) {
  const std::vector<float> clip = Clip(kSecond, 3);
  const std::string features = Features({clip});
  const std::vector<std::pair<const char*, Tokens>> cases = {
      {R"({"forced_decoder_ids": [[1, 50], [2, 51]], "no_timestamps_token_id": 40})", {3, 50, 51, 40}},
      {R"({"forced_decoder_ids": [[1, 50], [2, 40]], "no_timestamps_token_id": 40})", {3, 50, 40}},
      {R"({"no_timestamps_token_id": 40})", {3, 40}},
      {"{}", {3}}};
  for (const auto& [changes, prompt] : cases) {
    json told = ParsedJson(R"({"decoder_start_token_id": 3, "eos_token_id": 2, "pad_token_id": 0})");
    told.merge_patch(ParsedJson(changes));
    const std::string directory = Directory("whisper", "", told.dump());
    const json found = Texts(Blob(directory), {"--input", features, "--max-tokens", "12", "--beams", "2"});
    const json best = found[0]["clips"][0]["hypotheses"][0];
    EXPECT_NEAR(best["score"], Teacher(directory).Score(clip, prompt, Tokens(best["tokens"])), 1e-4) << changes;
  }
}

TEST_F(Transcription, TheModelFindsTheLanguage) {
  json told = ParsedJson(kTold);
  Tokens languages, all(130);
  std::iota(all.begin(), all.end(), 0);
  told["lang_to_id"] = json::object();
  for (int32_t token = 42; token < 130; token += 5) {
    languages.push_back(token);
    told["lang_to_id"]["<|l" + std::to_string(token) + "|>"] = token;
  }
  const std::string heard = Blob(Directory("whisper", kWhisper, told.dump()));
  const Teacher teacher(Directory("whisper", "", told.dump()));
  std::vector<std::vector<std::vector<float>>> files;  // their clips
  Tokens expected;
  size_t restricted = 0;
  for (uint32_t i = 0; i < 5; ++i) {
    files.push_back({Clip(1000 << i, 10 + i)});
    expected.push_back(teacher.Best(files[i][0], {3}, languages));
    restricted += teacher.Best(files[i][0], {3}, all) != expected[i] ? 1 : 0;
  }
  EXPECT_GT(restricted, 0u) << "languages are the best tokens anyway";
  // A file of two languages has that of its first clip.
  const auto other = std::find_if(expected.begin(), expected.end(), [&](int32_t l) { return l != expected[0]; });
  ASSERT_NE(other, expected.end()) << "all clips are alike";
  files.push_back({files[0][0], files[static_cast<size_t>(other - expected.begin())][0]});
  files.back()[0].resize(kSecond);
  expected.push_back(expected[0]);

  std::vector<std::string> arguments = {"--max-tokens", "8", "--beams", "2"};
  for (size_t i = 0; i < files.size(); ++i) {
    std::vector<float> sound;
    for (const std::vector<float>& clip : files[i]) sound.insert(sound.end(), clip.begin(), clip.end());
    arguments.insert(arguments.end(), {"--wav", Wav(std::to_string(i) + ".wav", sound)});
  }
  for (const char* size : {"8", "2"}) {
    std::vector<std::string> with_size = arguments;
    with_size.insert(with_size.end(), {"--batch-size", size});
    const json found = Texts(heard, with_size);
    ASSERT_EQ(found.size(), files.size());
    for (size_t i = 0; i < files.size(); ++i) {
      EXPECT_EQ(found[i]["language"], "l" + std::to_string(expected[i]));
      ASSERT_EQ(found[i]["clips"].size(), files[i].size());
      for (size_t k = 0; k < files[i].size(); ++k) {
        const json best = found[i]["clips"][k]["hypotheses"][0];
        EXPECT_NEAR(best["score"], teacher.Score(files[i][k], {3, expected[i], 32, 40}, best["tokens"]), 1e-4);
      }
    }
  }
  const CommandResult plain = Fovea({"transcribe", heard, "--cut", "clips", "--wav", At("1.wav"), "--max-tokens", "3"});
  EXPECT_EQ(plain.status, 0);
  EXPECT_EQ(plain.err, "fovea: " + At("1.wav") + ": language l" + std::to_string(expected[1]) + "\n");
}

// The last tokens of a file's earlier clips, in half of the 48 positions, after a token that introduces them.
TEST_F(Transcription, TheModelIsToldWhatItWroteBefore) {
  const Teacher teacher(Directory("whisper", "", kTold));
  const std::vector<float> sound = Clip(3 * kSecond, 5);
  // Returns what was written without tokens that end texts, and how many there were of these.
  const auto written = [&](int32_t stop) {
    json told = ParsedJson(kTold);
    told["eos_token_id"] = stop;
    const std::string wav = Wav("sound.wav", sound);
    const json files = Texts(Blob(Directory("whisper", kWhisper, told.dump())),
                             {"--wav", wav, "--language", "de", "--max-tokens", "15", "--beams", "2",
                              "--condition-on-previous", "on", "--wav", wav});
    EXPECT_EQ(files.at(0), files.at(1)) << "a file's prompt has text of another file";
    std::pair<Tokens, size_t> all;
    Tokens& before = all.first;
    for (size_t i = 0; i < 3; ++i) {
      Tokens prompt = i == 0 ? Tokens() : Tokens{41};
      prompt.insert(prompt.end(), before.size() > 23 ? before.end() - 23 : before.begin(), before.end());
      prompt.insert(prompt.end(), {3, 31, 32, 40});
      const json best = files[0]["clips"][i]["hypotheses"][0];
      Tokens text = best["tokens"];
      EXPECT_NEAR(best["score"], teacher.Score(Part(sound, i * kSecond, (i + 1) * kSecond), prompt, text), 1e-4) << i;
      if (text.back() == stop) text.pop_back(), ++all.second;
      before.insert(before.end(), text.begin(), text.end());
    }
    return all;
  };
  const auto [text, ended] = written(2);
  EXPECT_GT(text.size(), 23u) << "nothing was left out";
  EXPECT_GT(written(text[3]).second, ended);
}

TEST_F(Transcription, FirstTokensThatNeverAre) {
  const std::vector<float> clip = Clip(kSecond, 3);
  const std::vector<std::string> arguments = {"--input", Features({clip}), "--language", "en", "--max-tokens", "6"};
  const Tokens usual = Texts(Blob(Directory("whisper", "", kTold)), arguments)[0]["clips"][0]["tokens"];
  json told = ParsedJson(kTold);
  told["begin_suppress_tokens"] = {usual[0]};
  const std::string directory = Directory("whisper", "", told.dump());
  const Tokens other = Texts(Blob(directory), arguments)[0]["clips"][0]["tokens"];
  Tokens allowed(130);
  std::iota(allowed.begin(), allowed.end(), 0);
  const auto never = [&](int32_t token) { return token == usual[0] || token == 8; };
  allowed.erase(std::remove_if(allowed.begin(), allowed.end(), never), allowed.end());
  const Teacher teacher(directory);
  EXPECT_EQ(other[0], teacher.Best(clip, {3, 30, 32, 40}, allowed));
  Tokens prompt = {3, 30, 32, 40, other[0]};
  allowed.push_back(usual[0]);
  EXPECT_EQ(other[1], teacher.Best(clip, prompt, allowed)) << "it may come later";
}

TEST_F(Transcription, SaysWhatIsWrong) {
  const std::string heard = Blob(Directory("whisper", kWhisper, kTold)), given = Blob(Directory("whisper", "", kTold));
  const std::string wav = Wav("clip.wav", Clip(4000, 1)), empty = Wav("empty.wav", {});
  std::ofstream(At("text.wav")) << "no sound at all";
  const auto error = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "transcribe");
    return FoveaError(arguments);
  };
  const auto told_en = [&](const std::vector<std::string>& paths) {
    std::vector<std::string> arguments = {heard, "--language", "en"};
    for (const std::string& path : paths) arguments.insert(arguments.end(), {"--wav", path});
    return error(arguments);
  };
  EXPECT_PRED2(Has, told_en({wav, At("text.wav")}), "text.wav: it is not a RIFF WAVE file");
  EXPECT_PRED2(Has, told_en({wav, At("absent.wav")}), "absent.wav");
  EXPECT_PRED2(Has, told_en({wav, empty}), "empty.wav: has no samples");
  EXPECT_PRED2(Has, told_en({Wav("still.wav", Clip(10, 1), 0)}), "a sampling rate of 0 Hz");
  EXPECT_PRED2(Has, error({heard, "--language", "fr", "--wav", wav}), "has no language 'fr'; available: de, en");
  EXPECT_PRED2(Has, error({heard, "--task", "sing", "--wav", wav}), "sing");
  EXPECT_PRED2(Has, error({heard, "--language", "en"}), "give --wav or --input");
  EXPECT_PRED2(Has, error({heard, "--beams", "2", "--hypotheses", "2", "--wav", wav}), "--hypotheses");
  EXPECT_PRED2(Has, error({given, "--language", "en", "--wav", wav}), "reads features, not audio; give --input");
  EXPECT_PRED2(Has, error({given, "--cut", "times", "--input", wav}), "give --wav instead of --input");
  EXPECT_PRED2(Has, error({Blob(Directory("bart", "")), "--wav", wav}), "its encoder reads text");
  EXPECT_PRED2(Has, error({Blob(Directory("gpt2", "")), "--wav", wav}), "has no encoder");
  EXPECT_PRED2(Has, error({Blob(Directory("trocr", "")), "--wav", wav}), "reads features, not audio");
  const std::string bare = Blob(Directory("whisper", kWhisper));  // it knows of no languages
  EXPECT_PRED2(Has, error({bare, "--language", "en", "--wav", wav}), "has no language 'en'; available: none");
  EXPECT_PRED2(Has, error({bare, "--task", "translate", "--wav", wav}), "has no task 'translate'");
  EXPECT_PRED2(Has, error({bare, "--condition-on-previous", "on", "--wav", wav}), "does not support previous text");
  // Features that the model does not read.
  std::string wide = kWhisper;
  wide.replace(wide.find("\"feature_size\": 16"), 18, "\"feature_size\": 17");
  const CommandResult refused = Fovea({"convert", Directory("whisper", wide), "-o", At("wide.fovea")});
  EXPECT_EQ(refused.status, 2);
  EXPECT_PRED2(Has, refused.err, "makes frames of width 17, but the model reads frames of width 16");
}

// Moonshine's features are the samples.
TEST_F(Transcription, OfAnEncoderOfSamples) {
  const std::string rate = R"({"feature_extractor_type": "Wav2Vec2FeatureExtractor", "do_normalize": false})";
  const std::string heard = Blob(Directory("moonshine", rate)), given = Blob(Directory("moonshine", ""));
  std::vector<float> clip = Clip(2600, 3);
  tools::SafetensorsWriter writer;
  writer.AddFloats("input_values", {1, clip.size()}, clip.data());
  writer.Write(At("values.safetensors"));
  const auto tokens = [&](const std::string& blob, const std::string& option, const std::string& path) {
    return Texts(blob, {option, path, "--max-tokens", "12"})[0]["clips"][0]["tokens"];
  };
  const json expected = tokens(given, "--input", At("values.safetensors"));
  EXPECT_EQ(tokens(heard, "--wav", Wav("clip.wav", clip)), expected);
  EXPECT_EQ(tokens(heard, "--input", At("values.safetensors")), expected) << "by the published name";
  // A clip shorter than a filter is padded with silence.
  const auto scores = [&](size_t samples) {
    clip.resize(samples);
    return Texts(heard, {"--wav", Wav("clip.wav", clip), "--max-tokens", "12", "--beams", "2"})[0]["clips"];
  };
  const json shortest = scores(100);
  EXPECT_EQ(scores(127), shortest);
}

// Texts have at most 6.5 tokens for each second of their clip, as Moonshine's authors bound them, unless the user gives
// a bound.
TEST_F(Transcription, TokensOfASecond) {
  const std::string blob =
      Blob(Directory("moonshine", R"({"feature_extractor_type": "Wav2Vec2FeatureExtractor", "do_normalize": false})"));
  const std::vector<std::vector<float>> clips = {Clip(16000, 3), Clip(10000, 4), Clip(2000, 5)};
  std::vector<std::string> arguments = {"transcribe", blob, "--json"};
  for (size_t i = 0; i < clips.size(); ++i) {
    arguments.insert(arguments.end(), {"--wav", Wav(std::to_string(i) + ".wav", clips[i])});
  }
  const CommandResult bounded = Fovea(arguments);
  ASSERT_EQ(bounded.status, 0) << bounded.err;
  arguments.insert(arguments.end(), {"--max-tokens", "40"});
  const json found = ParsedJson(bounded.out), longer = FoveaJson(arguments);
  size_t cut = 0;
  for (size_t i = 0; i < clips.size(); ++i) {
    const size_t most = std::max<size_t>(1, clips[i].size() * 13 / 32000);
    Tokens tokens = found[i]["clips"][0]["tokens"], all = longer[i]["clips"][0]["tokens"];
    if (tokens.back() == 2) tokens.pop_back();
    if (all.back() == 2) all.pop_back();
    const bool shortened = all.size() > most;
    cut += shortened;
    if (shortened) all.resize(most);
    EXPECT_EQ(tokens, all) << i;
    EXPECT_EQ(found[i].contains("notes"), shortened) << i;
    EXPECT_EQ(Has(bounded.err, "cut off at " + std::to_string(most) + " tokens"), shortened) << bounded.err;
    EXPECT_FALSE(longer[i].contains("notes")) << i;
  }
  EXPECT_GT(cut, 0u);
}

TEST_F(Transcription, OfSpeechToText) {
  const auto directory = [&](const std::string& norm) {
    return Directory("speech_to_text", R"({"feature_extractor_type": "Speech2TextFeatureExtractor", "num_mel_bins": 13,
        "feature_size": 13, "sampling_rate": 16000, "do_ceptral_normalize": )" +
                                           norm + "}");
  };
  const std::string heard = Blob(directory("true"));
  const auto text = [&](const std::string& blob, const std::vector<float>& clip) {
    return Texts(blob, {"--wav", Wav("clip.wav", clip), "--max-tokens", "12", "--beams", "2"})[0]["clips"];
  };
  EXPECT_NE(text(heard, Clip(9000, 4)), text(heard, Clip(9000, 5)));
  // A clip shorter than a window is padded with silence.
  const std::string as_it_is = Blob(directory("false"));
  std::vector<float> clip = Clip(300, 4);
  const json shorter = text(as_it_is, clip);
  EXPECT_NE(text(as_it_is, Part(clip, 0, 200)), shorter);
  clip.resize(400);
  EXPECT_EQ(text(as_it_is, clip), shorter);
}

// Files longer than a model's input are processed in overlapping parts: each like a separate file, joined where their
// texts agree.
TEST_F(Transcription, LongerThanTheModelTakes) {
  const auto check = [&](const std::string& blob, const std::vector<float>& sound, std::vector<std::string> options,
                         size_t length, size_t stride) {
    options.insert(options.end(), {"--max-tokens", "12"});
    const auto heard = [&](const std::vector<float>& samples) {
      std::vector<std::string> arguments = options;
      arguments.insert(arguments.end(), {"--wav", Wav("part.wav", samples)});
      arguments.insert(arguments.begin(), {"transcribe", blob, "--json"});
      return FoveaJson(arguments)[0];
    };
    const json whole = heard(sound);
    std::vector<Tokens> parts;
    for (size_t at = 0;; at += length - 2 * stride) {
      const json part = heard(Part(sound, at, std::min(sound.size(), at + length)));
      EXPECT_EQ(part["clips"].size(), 1u);
      ASSERT_LT(parts.size(), whole["clips"].size());
      EXPECT_EQ(whole["clips"][parts.size()]["tokens"], part["clips"][0]["tokens"]) << at;
      parts.push_back(part["clips"][0]["tokens"]);
      if (parts.back().back() == 2) parts.back().pop_back();
      if (at + length >= sound.size()) break;
    }
    EXPECT_EQ(parts.size(), whole["clips"].size());
    EXPECT_GT(parts.size(), 2u);
    std::string text;
    for (const int32_t token : tools::JoinOverlapping(parts)) text += (text.empty() ? "" : " ") + std::to_string(token);
    EXPECT_EQ(whole["text"], text);
  };
  const std::string rate = R"({"feature_extractor_type": "Wav2Vec2FeatureExtractor", "do_normalize": false})";
  const std::string moonshine = Blob(Directory("moonshine", rate));
  check(moonshine, Clip(9000, 3), {"--chunk", "0.2", "--stride", "0.03"}, 3200, 480);
  check(moonshine, Clip(8111, 4), {"--chunk", "0.12"}, 1920, 320);
  EXPECT_EQ(Texts(moonshine, {"--wav", Wav("clip.wav", Clip(9000, 3)), "--max-tokens", "3"})[0]["clips"].size(), 1u);
  EXPECT_PRED2(Has,
               FoveaError({"transcribe", moonshine, "--wav", At("clip.wav"), "--chunk", "0.1", "--stride", "0.05"}),
               "leave nothing of chunks");
  // As many frames as it has positions for: 64, each of four of 160 samples, of windows of 400.
  const std::string s2t = Blob(Directory("speech_to_text", R"({"feature_extractor_type": "Speech2TextFeatureExtractor",
      "num_mel_bins": 13, "feature_size": 13, "sampling_rate": 16000, "do_ceptral_normalize": false})"));
  const size_t longest = 400 + (4 * 64 - 1) * 160 + 159;
  const tools::Model model(s2t, {});
  EXPECT_EQ(tools::LongestClip(model, *tools::FindSoundInput(model, tools::EncoderProgram(model))), longest);
  check(s2t, Clip(100000, 4), {"--stride", "0.25"}, longest, 4000);
}

}  // namespace
}  // namespace fovea::test
