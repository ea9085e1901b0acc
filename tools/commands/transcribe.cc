// fovea transcribe: what is said in sound files, a line for each.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "tools/commands/commands.h"
#include "tools/commands/generation_arguments.h"
#include "tools/common/padded.h"
#include "tools/generate/ctc_transcription.h"
#include "tools/generate/defaults.h"
#include "tools/generate/interrupt.h"
#include "tools/generate/transcription.h"

namespace fovea::tools {
namespace {

struct Arguments {
  ModelArguments model;
  GenerationArguments generation;
  std::vector<std::string> sounds;
  std::string features;
  SpeechTask task;
  bool previous = false;
  CtcOptions frames;  // of models that score each frame by itself
  bool times = false;
  uint32_t batch_size = 0;  // 0: as many as are usual
  bool json = false;
};

constexpr uint32_t kBatchSize = 8;

// On one line, without spaces at either end.
std::string LineOf(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  const size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

// A sound file, or a clip of features.
struct Source {
  std::string name;
  double seconds = 0;  // 0: nobody knows
  size_t clips = 0;
  std::string language = "";  // one that was found
  std::vector<Generation> made = {};

  // What was written of it so far, without the tokens that ended its parts.
  std::vector<int32_t> Tokens(const std::vector<int32_t>& stop_ids) const {
    std::vector<int32_t> tokens;
    for (const Generation& clip : made) {
      std::copy_if(clip.tokens.begin(), clip.tokens.end(), std::back_inserter(tokens),
                   [&](int32_t token) { return std::find(stop_ids.begin(), stop_ids.end(), token) == stop_ids.end(); });
    }
    return tokens;
  }
};

// Clips in, lines out, a batch at a time.
class Transcriber {
 public:
  Transcriber(const Arguments& arguments, const Model& model, Console* console)
      : arguments_(arguments),
        model_(model),
        console_(console),
        request_(arguments.generation.RequestFor(model)),
        prompts_(model, arguments.task),
        stop_ids_(DefaultsOf(model).stop_ids),
        batch_size_(arguments.previous          ? 1
                    : arguments.batch_size == 0 ? kBatchSize
                                                : arguments.batch_size) {
    if (arguments.previous) prompts_.CheckPrevious();
  }

  void AddFile(const std::string& path, const SoundInput& input) {
    const Sound sound = ReadSound(path, input.rate);
    std::vector<Sound> clips = ClipsOf(model_, input, sound);
    sources_.push_back({path, sound.seconds(), clips.size()});
    for (Sound& clip : clips) {
      clips_.push_back(std::move(clip));
      owners_.push_back(sources_.size() - 1);
      if (clips_.size() == batch_size_) EndBatch(input);
    }
  }

  // What remains of a batch of sounds.
  void EndBatch(const SoundInput& input) {
    if (clips_.empty() || Interrupt::Happened()) return;
    Transcribe(BatchFromSounds(model_, input, EncoderProgram(model_), clips_));
    clips_.clear();
    owners_.clear();
  }

  // A batch of features, a line for each clip.
  void AddFeatures(const std::string& path) {
    const SafetensorsReader reader(path);
    const Batch batch = BatchFromTensors(model_, EncoderProgram(model_), reader.tensors());
    size_t clips = 0;
    for (const auto& [space, segments] : batch.spaces) clips = std::max(clips, segments.lengths.size());
    for (size_t i = 0; i < clips; ++i) {
      sources_.push_back({fmt::format("{}", i), 0, 1});
      owners_.push_back(i);
    }
    Transcribe(batch);
  }

  void End() const {
    if (arguments_.json) PrintJson(console_->out, list_);
  }

 private:
  void Transcribe(const Batch& batch) {
    const Session encode = Encode(model_, batch, request_.workers);
    FindLanguages(encode);
    if (Interrupt::Happened()) return;  // no half lines
    std::vector<std::vector<int32_t>> prompts;
    for (const size_t owner : owners_) {
      const Source& source = sources_[owner];
      prompts.push_back(
          prompts_.Prompt(source.language, arguments_.previous ? source.Tokens(stop_ids_) : std::vector<int32_t>()));
    }
    std::vector<Generation> made = Generate(model_, encode, prompts, request_);
    if (Interrupt::Happened()) return;
    for (size_t i = 0; i < made.size(); ++i) sources_[owners_[i]].made.push_back(std::move(made[i]));
    for (; written_ < sources_.size() && sources_[written_].made.size() == sources_[written_].clips; ++written_) {
      Write(sources_[written_]);
      sources_[written_].made.clear();
      sources_[written_].made.shrink_to_fit();
    }
  }

  // A source has the language of its first clip.
  void FindLanguages(const Session& encode) {
    const auto lacks = [&](size_t owner) { return sources_[owner].language.empty(); };
    if (!prompts_.needs_language() || std::none_of(owners_.begin(), owners_.end(), lacks)) return;
    const std::vector<std::string> found = prompts_.FindLanguages(encode, owners_.size(), request_);
    for (size_t i = 0; i < found.size(); ++i) {
      if (lacks(owners_[i])) sources_[owners_[i]].language = found[i];
    }
  }

  void Write(const Source& source) {
    std::string line;
    OrderedJson parts = OrderedJson::array();
    for (const Generation& clip : source.made) {
      const std::string text = LineOf(clip.text);
      line += (line.empty() || text.empty() ? "" : " ") + text;
      parts.push_back({{"text", text}, {"tokens", clip.tokens}});
      if (!clip.hypotheses.empty()) parts.back()["hypotheses"] = HypothesesJson(clip);
    }
    if (!arguments_.json) {
      if (!source.language.empty()) {
        console_->err << fmt::format("fovea: {}: language {}\n", source.name, source.language);
      }
      console_->out << line << std::endl;
      return;
    }
    OrderedJson entry = {{"input", source.name}};
    if (source.seconds != 0) entry["seconds"] = source.seconds;
    const std::string& language = source.language.empty() ? arguments_.task.language : source.language;
    if (!language.empty()) entry["language"] = language;
    entry["text"] = line;
    entry["clips"] = parts;
    list_.push_back(entry);
  }

  const Arguments& arguments_;
  const Model& model_;
  Console* const console_;
  const GenerationRequest request_;
  const SpeechPrompts prompts_;
  const std::vector<int32_t> stop_ids_;
  const size_t batch_size_;
  std::vector<Source> sources_;
  size_t written_ = 0;          // of the sources
  std::vector<Sound> clips_;    // of the next batch
  std::vector<size_t> owners_;  // the source of each
  OrderedJson list_ = OrderedJson::array();
};

// Options that only one of both kinds of models has.
const char* const kOfGeneration[] = {"--language",
                                     "--task",
                                     "--previous",
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
const char* const kOfFrames[] = {"--chunk", "--stride", "--times"};

template <size_t kCount>
void Refuse(const CLI::App& command, const char* const (&options)[kCount], const std::string& why) {
  for (const char* option : options) {
    if (command.count(option) != 0) Fail("{} does not go with {}", option, why);
  }
}

// Words and tokens with their times, in seconds where those of frames are known.
class FrameWriter {
 public:
  FrameWriter(const Arguments& arguments, Console* console) : arguments_(arguments), console_(console) {}

  void Write(const CtcSource& source) {
    if (arguments_.json) {
      list_.push_back(Entry(source));
    } else if (!arguments_.times) {
      console_->out << LineOf(source.text.text) << std::endl;
    } else {
      console_->out << Printable(source.name) << "\n";
      for (const CtcPart& word : source.text.words) {
        console_->out << fmt::format("{:8.2f} {:8.2f}  {}\n", Time(source, word.begin), Time(source, word.end),
                                     LineOf(word.text));
      }
      console_->out << std::flush;
    }
  }

  void End() const {
    if (arguments_.json) PrintJson(console_->out, list_);
  }

 private:
  static double Time(const CtcSource& source, uint64_t frame) {
    return static_cast<double>(frame) * (source.frame_seconds == 0 ? 1 : source.frame_seconds);
  }

  static OrderedJson Parts(const CtcSource& source, const std::vector<CtcPart>& parts) {
    OrderedJson list = OrderedJson::array();
    for (const CtcPart& part : parts) {
      list.push_back({{"text", part.text},
                      {"tokens", part.ids},
                      {"begin", Time(source, part.begin)},
                      {"end", Time(source, part.end)},
                      {"log_probability", part.log_probability}});
    }
    return list;
  }

  static OrderedJson Entry(const CtcSource& source) {
    OrderedJson entry = {{"input", source.name}};
    if (source.seconds != 0) entry["seconds"] = source.seconds;
    entry["text"] = LineOf(source.text.text);
    entry["words"] = Parts(source, source.text.words);
    entry["tokens"] = Parts(source, source.text.tokens);
    return entry;
  }

  const Arguments& arguments_;
  Console* const console_;
  OrderedJson list_ = OrderedJson::array();
};

void CheckModel(const Model& model) {
  if (ContinuesTexts(model)) Fail("{}: has no encoder to listen with", model.name());
  if (model.FindValue(EncoderProgram(model), "input_ids")) Fail("{}: reads texts, not speech", model.name());
}

// All files are looked at before one is worked on: who gave a wrong one learns it at once.
SoundInput CheckSounds(const Model& model, uint32_t program, const std::vector<std::string>& paths) {
  const std::optional<SoundInput> input = FindSoundInput(model, program);
  if (!input) {
    Fail("{}: reads features, no sound: give --input, or convert it with its preprocessor_config.json", model.name());
  }
  for (const std::string& path : paths) {
    if (ReadWav(path).samples.empty()) Fail("{}: has no samples", path);
  }
  return *input;
}

// Whatever takes files, or features in place of them.
template <typename Worker>
void Take(const Arguments& arguments, const Model& model, uint32_t program, Worker* worker) {
  if (!arguments.features.empty()) return worker->AddFeatures(arguments.features);
  const SoundInput input = CheckSounds(model, program, arguments.sounds);
  for (const std::string& path : arguments.sounds) {
    if (!Interrupt::Happened()) worker->AddFile(path, input);
  }
  worker->EndBatch(input);
}

void RunFrames(const Arguments& arguments, const Model& model, Console* console) {
  CtcOptions options = arguments.frames;
  options.batch_size = std::max(arguments.batch_size, 1u);
  options.workers = arguments.generation.request.workers;
  FrameWriter writer(arguments, console);
  CtcTranscription transcription(model, options, [&](const CtcSource& source) { writer.Write(source); });
  Take(arguments, model, model.FindProgram(""), &transcription);
  writer.End();
}

void Run(const Arguments& arguments, const CLI::App& command, Console* console) {
  if (arguments.sounds.empty() && arguments.features.empty()) Fail("give --wav or --input");
  if (arguments.generation.request.hypotheses > 1 && !arguments.json) Fail("--hypotheses are written by --json");
  const Model model = arguments.model.Open();
  const Interrupt interrupt;
  if (CtcDecoder::Fits(model)) {
    Refuse(command, kOfGeneration, "a model that scores each frame by itself");
    RunFrames(arguments, model, console);
  } else {
    Refuse(command, kOfFrames, "a model that writes one token after the other");
    CheckModel(model);
    Transcriber transcriber(arguments, model, console);
    Take(arguments, model, EncoderProgram(model), &transcriber);
    transcriber.End();
  }
  if (Interrupt::Happened()) console->status = kExitInterrupted;
}

}  // namespace

void AddTranscribe(CLI::App* app, Console* console) {
  CLI::App* command = app->add_subcommand("transcribe", "Write down what is said in sound files");
  auto arguments = std::make_shared<Arguments>();
  arguments->model.AddTo(command);
  CLI::Option* sounds = AddRepeated(command, "--wav", &arguments->sounds, "Sound file, RIFF WAVE")->type_name("FILE");
  command->add_option("--input", arguments->features, "Safetensors file with what the encoder reads instead")
      ->type_name("FILE")
      ->excludes(sounds);
  command
      ->add_option("--language", arguments->task.language,
                   "Of the speech, as the model calls it: en, de, ..; default: the one that the model finds")
      ->type_name("NAME");
  command->add_option("--task", arguments->task.task, "transcribe, or translate into English")
      ->check(CLI::IsMember({"transcribe", "translate"}));
  command
      ->add_flag("--previous", arguments->previous,
                 "Tell the model what it wrote of a file's clips before; they are worked on one by one")
      ->needs(sounds);
  command
      ->add_option("--chunk,--chunk-length", arguments->frames.chunk,
                   "Of models that score each frame: longer files are worked on in overlapping parts of so many "
                   "seconds; 0: as a whole")
      ->check(CLI::Range(0.0, 1e5))
      ->type_name("SECONDS")
      ->capture_default_str();
  command
      ->add_option("--stride,--stride-length", arguments->frames.strides,
                   "Of them: seconds at the ends of parts that are only listened to, on both sides or left and right; "
                   "default: a sixth of a part")
      ->check(CLI::Range(0.0, 1e5))
      ->expected(1, 2)
      ->type_name("SECONDS");
  command->add_flag("--times", arguments->times, "Of them: a line for each word, with seconds from where to where");
  command
      ->add_option("--batch-size", arguments->batch_size,
                   "Clips at a time; default: 8, of models that score each frame 1")
      ->check(CLI::Range(1, 4096));
  arguments->generation.AddSearch(command);
  AddJson(command, &arguments->json);
  command->footer(
      "One line comes out for each file. What is longer than the model's clips is cut in consecutive ones, wherever a\n"
      "word stands; models that score each frame by itself (CTC) hear parts that overlap, so that no word is cut.\n"
      "Other rates are resampled. --input has a line for each clip. A language that is found is that of\n"
      "a file's first clip; it goes to standard error, or with --json into the list.\n"
      "Examples:\n"
      "  fovea transcribe whisper.fovea --wav talk.wav\n"
      "  fovea transcribe whisper.fovea --language de --task translate --wav rede.wav --json\n"
      "  fovea transcribe wav2vec2.fovea --wav talk.wav --times");
  command->callback([=] { Run(*arguments, *command, console); });
}

}  // namespace fovea::tools
