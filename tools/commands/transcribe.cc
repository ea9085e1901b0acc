// fovea transcribe: speech recognition on audio files.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "tools/base/clock.h"
#include "tools/base/json.h"
#include "tools/base/utf8_path.h"
#include "tools/commands/commands.h"
#include "tools/commands/generation_arguments.h"
#include "tools/generate/ctc_transcription.h"
#include "tools/generate/decoder_session.h"
#include "tools/generate/defaults.h"
#include "tools/generate/target_tokens.h"
#include "tools/media/notes.h"
#include "tools/model/interrupt.h"
#include "tools/sound/sound_reader.h"
#include "tools/transcribe/clips.h"
#include "tools/transcribe/long_files.h"
#include "tools/transcribe/position.h"

namespace fovea::tools {
namespace {

enum class Times { kNone, kUsual, kSegment, kWord };

struct Arguments {
  ModelArguments model;
  GenerationArguments generation;
  std::vector<std::string> sounds;
  std::string features;
  SpeechTask task;
  std::string initial_prompt;
  std::optional<bool> at_times;  // --cut times; nothing: the model's default
  std::optional<bool> previous;
  LongSpeechOptions listening;
  CtcOptions frames;  // CTC models
  Times times = Times::kNone;
  uint32_t batch_size = 0;  // 0: the default
  TranscriptFormat format = TranscriptFormat::kText;
  ListForm list = ListForm::kText;
  bool stats = false;
};

constexpr uint32_t kBatchSize = 8;

bool IsJson(TranscriptFormat format) {
  return format == TranscriptFormat::kJson || format == TranscriptFormat::kJsonLines;
}

// Options that some models do not have.
const char* const kOfGeneration[] = {"--language",
                                     "--task",
                                     "--cut",
                                     "--condition-on-previous",
                                     "--initial-prompt",
                                     "--temperatures",
                                     "--compression-ratio-threshold",
                                     "--logprob-threshold",
                                     "--no-speech-threshold",
                                     "--seed",
                                     "--max-tokens",
                                     "--min-tokens",
                                     "--beams",
                                     "--hypotheses",
                                     "--length-penalty",
                                     "--early-stopping",
                                     "--suppress",
                                     "--cache",
                                     "--no-repeat-ngram-size",
                                     "--encoder-no-repeat-ngram-size"};
const char* const kOfParts[] = {"--chunk", "--stride"};
const char* const kOfTimes[] = {"--initial-prompt",    "--temperatures",        "--compression-ratio-threshold",
                                "--logprob-threshold", "--no-speech-threshold", "--seed"};

template <size_t kCount>
void Refuse(Command command, const char* const (&options)[kCount], const std::string& why) {
  for (const char* option : options) {
    if (command.Given(option)) Fail("{} cannot be combined with {}; leave it out", option, why);
  }
}

// Words and tokens with their times; in seconds where the duration of a frame is known.
Transcript TranscriptOf(const CtcSource& source) {
  const double frame = source.frame_seconds == 0 ? 1 : source.frame_seconds;
  const auto list = [&](const std::vector<CtcPart>& parts) {
    OrderedJson entries = OrderedJson::array();
    for (const CtcPart& part : parts) {
      entries.push_back({{"text", part.text},
                         {"tokens", part.ids},
                         {"begin", static_cast<double>(part.begin) * frame},
                         {"end", static_cast<double>(part.end) * frame},
                         {"log_probability", part.log_probability}});
    }
    return entries;
  };
  Transcript transcript = {source.name, LineOf(source.text.text), {}, {{"input", source.name}}};
  for (const CtcPart& word : source.text.words) {
    transcript.lines.push_back(
        {static_cast<double>(word.begin) * frame, static_cast<double>(word.end) * frame, word.text});
  }
  if (source.seconds != 0) transcript.json["seconds"] = source.seconds;
  transcript.json["text"] = transcript.text;
  transcript.json["words"] = list(source.text.words);
  transcript.json["tokens"] = list(source.text.tokens);
  transcript.notes = source.notes;
  return transcript;
}

void CheckModel(const Model& model) {
  if (ContinuesTexts(model)) Fail("{}: cannot transcribe: it has no encoder", model.name());
  if (!model.FindValue(EncoderProgram(model), "input_ids")) return;
  if (FindGeneratePrograms(model)) {
    Fail("{}: cannot transcribe: its encoder reads text; use 'fovea translate'", model.name());
  }
  Fail("{}: cannot transcribe: it reads text; 'fovea run' prints its results", model.name());
}

// Checks all files before any is transcribed, so that a wrong path is reported at once.
SoundInput CheckSounds(const Model& model, uint32_t program, const std::vector<std::string>& paths) {
  const std::optional<SoundInput> input = FindSoundInput(model, program);
  if (!input) {
    Fail("{}: reads features, not audio; give --input, or convert it again with its preprocessor_config.json",
         model.name());
  }
  for (const std::string& path : paths) {
    std::error_code error;
    const bool is_file = std::filesystem::is_regular_file(Utf8Path(path), error);
    if (path != "-" && (is_file || !std::filesystem::exists(Utf8Path(path), error)))
      SoundReader(path, 0);  // pipes are read once
  }
  return *input;
}

template <typename Worker>
void TakeFiles(const std::vector<std::string>& paths, const SoundInput& input, Worker* worker) {
  for (const std::string& path : paths) {
    if (!Interrupt::Happened()) worker->AddFile(path, input);
  }
  worker->EndBatch(input);
}

class Transcriber {
 public:
  Transcriber(const Arguments& arguments, Command command, Console* console)
      : arguments_(arguments),
        command_(command),
        console_(console),
        model_(arguments.model.Open()),
        writer_(arguments.format, arguments.times != Times::kNone, console->out),
        position_(console->err, arguments.format == TranscriptFormat::kText && !times()) {}

  void Run() {
    if (CtcDecoder::Fits(model_)) {
      RunFrames();
    } else {
      CheckModel(model_);
      Write();
    }
    writer_.End();
    if (arguments_.stats) console_->err << Stats();
  }

 private:
  // "stats: 3 transcripts, 61.2 s of sound in 4.05 s (15.1 times real time)".
  std::string Stats() const {
    const double seconds = static_cast<double>(NanosecondClock() - begin_) / 1e9;
    const std::string heard = heard_ == 0 ? "" : fmt::format(", {:.4g} s of sound", heard_);
    const std::string rate = heard_ == 0 ? "" : fmt::format(" ({:.3g} times real time)", heard_ / seconds);
    return fmt::format("stats: {} transcript{}{} in {:.3g} s{}\n", done_, done_ == 1 ? "" : "s", heard, seconds, rate);
  }

  bool features() const { return !arguments_.features.empty(); }
  // Shows the position in a file.
  auto Shows(const std::string& what) {
    return
        [this, what](const std::string& name, double seconds, double all) { position_.Show(what, name, seconds, all); };
  }
  void WriteLine(const std::string& name, const TimedLine& line) {
    position_.Clear(true);
    writer_.WriteLine(name, line);
  }
  bool times() const { return arguments_.times != Times::kNone; }

  void RunFrames() {
    Refuse(command_, kOfGeneration, "a CTC model");
    if (arguments_.times == Times::kSegment)
      Fail("--times segment cannot be combined with a CTC model; use --times word");
    CtcOptions options = arguments_.frames;
    options.batch_size = std::max(arguments_.batch_size, 1u);
    options.workers = arguments_.generation.request.workers;
    CtcTranscription worker(model_, options, [&](const CtcSource& source) { Done(TranscriptOf(source)); });
    if (features()) return worker.AddFeatures(arguments_.features);
    const SoundInput input = CheckSounds(model_, model_.FindProgram(""), arguments_.sounds);
    worker.OnReached(Shows("transcribed"));
    const bool whole_only = !times() && CtcDecoder(model_).cleans_up();
    if (!whole_only) worker.OnFound([this](const CtcSource& part) { Found(part); });
    TakeFiles(arguments_.sounds, input, &worker);
  }

  void Write() {
    const GenerationRequest request = arguments_.generation.RequestFor(model_);
    const auto done = [&](const Transcript& transcript) { Done(transcript); };
    const auto found = [&](const std::string& name, const std::string& language) {
      if (!IsJson(arguments_.format)) {
        language_ = fmt::format("fovea: {}: language {}\n", name, language);
      }
    };
    std::optional<SoundInput> input;
    std::optional<TimeFormat> format;
    if (!features()) {
      input = CheckSounds(model_, EncoderProgram(model_), arguments_.sounds);
      format = FindTimeFormat(model_, *input);
    }
    const uint32_t batch_size = arguments_.batch_size == 0 ? kBatchSize : arguments_.batch_size;
    const bool wants_times = arguments_.at_times.value_or(times());
    if (wants_times && features()) Fail("--times and subtitles need audio; give --wav instead of --input");
    if (wants_times && !format) {
      Fail("{}: has no timestamp tokens, or was converted by an older fovea; leave out --times, or convert it again",
           model_.name());
    }
    if (format && arguments_.at_times.value_or(true)) {
      Refuse(command_, kOfParts, "--cut times");
      if (request.hypotheses > 1) Fail("--hypotheses needs --cut clips");
      LongSpeechOptions options = arguments_.listening;
      options.words = arguments_.times == Times::kWord;
      options.previous = arguments_.previous.value_or(model_.Metadata("transcribe.previous") != nullptr);
      if (!MelWindows::Fits(model_)) {
        PrintNotes(console_->err, model_.name(),
                   {"converted by an older fovea: features are computed for each window alone, so quiet windows "
                    "after loud ones differ from the original; convert it again"});
      }
      if (!arguments_.initial_prompt.empty()) options.initial = TargetTokens(model_, " " + arguments_.initial_prompt);
      // A single file's lines are written as they are found.
      const auto line = [&](const std::string& name, const TimedLine& part) { WriteLine(name, part); };
      LongFiles worker(model_, *format, arguments_.task, request, options, batch_size, done, found, line);
      worker.OnReached(Shows("scanned"), Shows("transcribed"));
      return TakeFiles(arguments_.sounds, *input, &worker);
    }
    if (times()) Fail("--times needs --cut times");
    Refuse(command_, kOfTimes, format ? "--cut clips" : "a model without timestamps");
    ClipOptions options = {arguments_.task, arguments_.previous.value_or(false), batch_size};
    options.chunk = arguments_.frames.chunk, options.strides = arguments_.frames.strides;
    options.bounded = arguments_.generation.request.max_tokens == 0;
    // Whisper's window has a fixed length: its clips do not overlap.
    if (format && options.strides.empty()) options.strides = {0};
    ClipTranscription worker(model_, options, request, done, found);
    if (features()) return worker.AddFeatures(arguments_.features);
    worker.OnReached(Shows("transcribed"));
    if (!times())
      worker.OnFound([this](const std::string& name, const std::string& text) { WriteLine(name, {0, 0, text}); });
    TakeFiles(arguments_.sounds, *input, &worker);
  }

  // Words of a CTC model, or text, before their file is done.
  void Found(const CtcSource& part) {
    if (!times()) return WriteLine(part.name, {0, 0, part.text.text});
    for (const TimedLine& line : TranscriptOf(part).lines) WriteLine(part.name, line);
  }

  void Done(Transcript transcript) {
    position_.Clear(false);
    position_.EndText();
    ++done_;
    if (transcript.json.contains("seconds")) heard_ += transcript.json["seconds"].get<double>();
    if (!transcript.notes.empty()) transcript.json["notes"] = transcript.notes;
    writer_.Write(transcript);
    // After the end of a line of text that was written in pieces.
    console_->err << language_;
    language_.clear();
    PrintNotes(console_->err, transcript.name, transcript.notes);
  }

  const Arguments& arguments_;
  const Command command_;
  Console* const console_;
  const Model model_;
  TranscriptWriter writer_;
  PositionLine position_;
  std::string language_;  // a line on the language of the next transcript
  const uint64_t begin_ = NanosecondClock();
  size_t done_ = 0;
  double heard_ = 0;  // seconds of sound
};

void Run(Arguments arguments, Command command, Console* console) {
  if (arguments.sounds.empty() && arguments.features.empty()) Fail("no input; give --wav or --input");
  if (arguments.list == ListForm::kArray) arguments.format = TranscriptFormat::kJson;
  if (arguments.list == ListForm::kLines) arguments.format = TranscriptFormat::kJsonLines;
  const bool json = IsJson(arguments.format);
  if (arguments.generation.request.hypotheses > 1 && !json) Fail("--hypotheses needs --json or --jsonl");
  if (!json && arguments.format != TranscriptFormat::kText) {
    if (arguments.sounds.size() != 1) Fail("subtitles are written for one file; give --wav once");
    if (arguments.times == Times::kNone) arguments.times = Times::kUsual;
  }
  const Interrupt interrupt;
  Transcriber(arguments, command, console).Run();
  if (Interrupt::Happened()) console->status = kExitInterrupted;
}

void AddLong(Command command, Arguments* arguments) {
  const Options long_files = command.Under(Heading::kLongFiles);
  LongSpeechOptions* const listening = &arguments->listening;
  long_files
      .AddChoice<std::optional<bool>>(
          "--cut", &arguments->at_times, {{"times", true}, {"clips", false}},
          "Cut long files at the timestamps that the model generates (default if it does), or into consecutive "
          "clips without timestamps")
      .Placeholder("WHERE");
  long_files
      .AddChoice<std::optional<bool>>(
          "--condition-on-previous", &arguments->previous, {{"on", true}, {"off", false}},
          "Prompt the model with its previous text of the file; default with --cut times, if the "
          "model supports it. Clips then run one by one")
      .Placeholder("WHETHER");
  long_files
      .Add("--initial-prompt", &arguments->initial_prompt,
           "With --cut times: prompt the first window of each file with this text, which names and spells what "
           "occurs in it")
      .Placeholder("TEXT");
  long_files
      .Add("--temperatures", &listening->temperatures,
           "With --cut times: temperatures to try in this order until a text passes the thresholds")
      .Commas()
      .Range(0.0, 1e6)
      .ShowDefault();
  long_files.AddLimit("--compression-ratio-threshold", &listening->compression_ratio,
                      "Reject a text whose compression ratio is above X: it repeats itself");
  long_files.AddLimit("--logprob-threshold", &listening->log_probability,
                      "Reject a text whose mean log-probability of tokens is below X");
  long_files.AddLimit("--no-speech-threshold", &listening->no_speech,
                      "Treat a rejected window as silence if the no-speech probability is above X");
  long_files.Add("--seed", &arguments->generation.request.sampling.seed, "Seed of the random numbers for temperatures")
      .NonNegative();
}

}  // namespace

void AddTranscribe(Command app, Console* console) {
  const Command command =
      app.AddCommand(CommandGroup::kGeneration, "transcribe", "Transcribe or translate speech in audio files");
  const Options input = command.Under(Heading::kInput);
  const Options long_files = command.Under(Heading::kLongFiles);
  const Options output = command.Under(Heading::kOutput);
  const Options machine = command.Under(Heading::kMachine);
  auto arguments = std::make_shared<Arguments>();
  arguments->model.AddTo(command);
  const Option sounds = input
                            .AddRepeated("--wav", &arguments->sounds,
                                         "Audio file: WAV, or FLAC, MP3, Ogg by libsndfile; '-': standard input")
                            .Placeholder("FILE");
  input.Add("--input", &arguments->features, "Read the encoder's inputs from a safetensors file instead")
      .Placeholder("FILE")
      .Excludes(sounds);
  input
      .Add("--language", &arguments->task.language,
           "Language of the speech, by its code in the model or its English name: de, german, ...;\n"
           "default: detected by the model")
      .Placeholder("NAME");
  input.Add("--task", &arguments->task.task, "transcribe, or translate into English")
      .OneOf({"transcribe", "translate"});
  AddLong(command, arguments.get());
  long_files
      .Add("--chunk,--chunk-length", &arguments->frames.chunk,
           "Without timestamps: split longer files into overlapping chunks of X seconds, or the model's maximum "
           "if less; 0: the model's maximum")
      .Range(0.0, 1e5)
      .Placeholder("SECONDS")
      .ShowDefault();
  long_files
      .Add("--stride,--stride-length", &arguments->frames.strides,
           "Seconds by which chunks overlap, at both ends or left and right; "
           "default: a sixth of a chunk")
      .Range(0.0, 1e5)
      .Count(1, 2)
      .Placeholder("SECONDS");
  output
      .AddChoice<Times>(
          "--times", &arguments->times, {{"", Times::kUsual}, {"segment", Times::kSegment}, {"word", Times::kWord}},
          "Print a line for each segment or word with its start and end in seconds; default: segments, for "
          "CTC models words")
      .Count(0, 1)
      .Placeholder("[OF]");
  output
      .AddChoice<TranscriptFormat>("--format", &arguments->format,
                                   {{"text", TranscriptFormat::kText},
                                    {"srt", TranscriptFormat::kSrt},
                                    {"vtt", TranscriptFormat::kVtt},
                                    {"json", TranscriptFormat::kJson},
                                    {"jsonl", TranscriptFormat::kJsonLines}},
                                   "Write text, JSON, JSON Lines, or subtitles of one file (srt, vtt)")
      .Placeholder("FORMAT");
  machine.Add("--batch-size", &arguments->batch_size, "Run N files or clips at a time; default: 8, for CTC models 1")
      .Range(1, 4096);
  arguments->generation.AddSearch(command);
  AddJsonList(command, &arguments->list);
  output.AddFlag("--stats", &arguments->stats, "Print the duration of the sounds and the time taken at the end");
  command.Footer(
      R"(Prints one line for each file. A model that generates timestamps (Whisper) reads a long file window by window;
a window begins where the text of the one before was finished. Other models read longer files in consecutive clips,
which may split a word; CTC models read overlapping chunks, so that no word is split.
Other sampling rates are resampled. --input gives one line for each clip. The language is detected at the beginning of
a file; it is printed on standard error, or with --json in the result.
Examples:
  fovea transcribe whisper.fovea --wav talk.wav
  fovea transcribe whisper.fovea --wav talk.wav --format srt
  fovea transcribe whisper.fovea --language de --task translate --wav rede.wav --times word
  fovea transcribe wav2vec2.fovea --wav talk.wav --times)");
  command.Runs([=] { Run(*arguments, command, console); });
}

}  // namespace fovea::tools
