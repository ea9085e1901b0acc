// Attention maps of a decoder while it generates.
#include "tools/attend/written.h"

#include <algorithm>

#include "tools/attend/steps.h"
#include "tools/attend/subject.h"
#include "tools/base/fail.h"
#include "tools/generate/decoder_session.h"
#include "tools/generate/defaults.h"
#include "tools/generate/room.h"
#include "tools/generate/sound_chunks.h"
#include "tools/text/text_inputs.h"

namespace fovea::tools {
namespace {

// A text built from tokens: its bytes, and the label of each token.
struct Writing {
  std::string text;
  std::vector<std::string> labels;
  std::vector<uint32_t> begin, end;
};

// Tokens in `end` have no text.
Writing Write(const Model& model, const std::vector<int32_t>& tokens, const std::vector<int32_t>& ends) {
  Writing writing;
  TextStream stream(model, {});
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool ended = i + 1 == tokens.size() && std::find(ends.begin(), ends.end(), tokens[i]) != ends.end();
    writing.begin.push_back(static_cast<uint32_t>(writing.text.size()));
    if (!ended) writing.text += stream.Add(tokens[i]);
    if (i + 1 == tokens.size()) writing.text += stream.End();
    writing.end.push_back(static_cast<uint32_t>(writing.text.size()));
    const std::string own = writing.text.substr(writing.begin.back());
    writing.labels.push_back(own.empty() ? GeneratedPiece(model, tokens[i]) : own);
  }
  return writing;
}

// Rows of a decoder: the prompt, then the generated tokens except the last, which was not read.
struct Target {
  Tokens tokens;
  std::string text;
  std::vector<std::string> writes;
  uint32_t first = 0;  // first generated row
};

Target TargetOf(const Model& model, Tokens front, const std::string& front_text, const std::vector<int32_t>& tokens) {
  const Writing writing = Write(model, tokens, DefaultsOf(model).stop_ids);
  Target target = {std::move(front), front_text + writing.text, {}, 0};
  Tokens& all = target.tokens;
  target.first = static_cast<uint32_t>(all.ids.size());
  target.writes.resize(all.ids.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!target.writes.empty()) target.writes.back() = writing.labels[i];
    if (i + 1 == tokens.size()) break;
    all.ids.push_back(tokens[i]);
    all.types.push_back(0);
    all.special.push_back(writing.begin[i] == writing.end[i] ? 1 : 0);
    all.begin.push_back(static_cast<uint32_t>(front_text.size()) + writing.begin[i]);
    all.end.push_back(static_cast<uint32_t>(front_text.size()) + writing.end[i]);
    target.writes.emplace_back();
  }
  return target;
}

Tokens SpecialTokens(const std::vector<int32_t>& ids) {
  Tokens tokens;
  tokens.ids = ids;
  tokens.types.resize(ids.size());
  tokens.special.resize(ids.size(), 1);
  tokens.begin.resize(ids.size());
  tokens.end.resize(ids.size());
  return tokens;
}

// Sets an input of ids from texts, and other inputs of ids of its space to their defaults.
void AddIds(const Model& model, uint32_t value, const std::vector<Tokens>& texts, Subject* subject) {
  const uint32_t space = model.Value(subject->program, value).space;
  std::vector<uint32_t> lengths;
  for (const Tokens& text : texts) lengths.push_back(static_cast<uint32_t>(text.ids.size()));
  AddSegments(model, space, MakeSegments(lengths), &subject->batch);
  for (const uint32_t input : InputsOf(model, subject->program)) {
    const fovea_value_info info = model.Value(subject->program, input);
    if (info.space != space) continue;
    const std::optional<int32_t> usual = DefaultId(model, info);
    if (input != value && !usual) Fail("{}: input '{}' cannot be made from text", model.name(), info.name);
    std::vector<int32_t>& ids = subject->batch.ids[input];
    for (const Tokens& text : texts) {
      if (input == value) ids.insert(ids.end(), text.ids.begin(), text.ids.end());
      if (input != value) ids.insert(ids.end(), text.ids.size(), *usual);
    }
  }
}

uint32_t InputNamed(const Model& model, uint32_t program, const char* name) {
  const std::optional<uint32_t> value = model.FindValue(program, name);
  if (!value) Fail("{}: program {} has no input {}", model.name(), model.Program(program).name, name);
  return *value;
}

// Sets an input to the decoder's texts, after the texts that the record already has.
void AddTargets(const Model& model, const char* input, const std::vector<Target>& targets, Subject* subject) {
  const uint32_t value = InputNamed(model, subject->program, input);
  std::vector<Tokens> tokens;
  std::vector<std::string> texts;
  for (const Target& target : targets) {
    tokens.push_back(target.tokens);
    texts.push_back(target.text);
  }
  AddIds(model, value, tokens, subject);
  const uint32_t space = model.Value(subject->program, value).space;
  const auto first = static_cast<uint32_t>(subject->record.texts.size());
  subject->rows.SetTexts(space, texts, tokens, first);
  subject->record.texts.insert(subject->record.texts.end(), texts.begin(), texts.end());
}

// Runs the subject with the chosen taps.
AttentionRecord RunScore(const Model& model, const AttendRequest& request, const std::vector<Target>& targets,
                         const char* target_input, bool only_bytes, Subject subject) {
  const std::optional<Session> session = RunTapped(model, request, only_bytes, &subject);
  AttentionRecord record = std::move(subject.record);
  if (!session) return record;
  RecordGeneration generation;
  generation.shift = true;
  generation.target_space = subject.rows.Add(*session, InputNamed(model, subject.program, target_input), &record);
  const auto is_cross = [](const RecordStep& step) { return step.part == "cross"; };
  const auto cross = std::find_if(record.steps.begin(), record.steps.end(), is_cross);
  if (cross != record.steps.end()) generation.source_space = static_cast<int>(cross->key_space);
  for (const Target& target : targets) {
    generation.first.push_back(target.first);
    std::vector<std::string>& writes = record.spaces[generation.target_space].rows.writes;
    writes.insert(writes.end(), target.writes.begin(), target.writes.end());
  }
  record.generation = generation;
  return record;
}

// The encoder's input.
struct Source {
  Batch batch;                                // for the encoder's program
  std::vector<Tokens> tokens;                 // if it reads texts
  std::vector<Sound> sounds;                  // if it reads sounds
  std::vector<std::vector<int32_t>> prompts;  // for the decoder
  std::vector<std::string> notes;             // parts of sounds that are left out
};

constexpr uint64_t kMostClips = 10;  // clips of a file: a page is for looking

void AddClips(const std::string& file, uint32_t rate, uint64_t length, Source* source) {
  const ChunkLengths clips = {length, 0, 0};
  SoundReader sound(file, rate);
  std::optional<SoundReader> first;
  if (length != 0 && sound.CountUpTo(kMostClips * length + 1) > kMostClips * length) {
    first.emplace(sound.Part(0, kMostClips * length));
    source->notes.push_back(fmt::format("{}: the first {} clips, {:.0f} s, are shown; the rest is left out", file,
                                        kMostClips, static_cast<double>(kMostClips * length) / rate));
  }
  for (Sound& clip : CutSound(first ? &*first : &sound, clips)) source->sounds.push_back(std::move(clip));
}

Source SourceOf(const Model& model, const AttendRequest& request, const GenerationRequest& generation) {
  Source source;
  const uint32_t encode = EncoderProgram(model);
  if (!request.sources.empty()) {
    const uint32_t program = SourceProgram(model);
    for (const std::string& text : request.sources) {
      source.tokens.push_back(SourceTokens(model, request.languages, text));
    }
    source.batch = BatchFromTokens(model, program, source.tokens);
  } else if (!request.sounds.empty()) {
    const std::optional<SoundInput> input = FindSoundInput(model, encode);
    if (!input) Fail("{}: program '{}' does not read audio", model.name(), model.Program(encode).name);
    for (const std::string& file : request.sounds) {
      AddClips(file, input->rate, LongestClip(model, *input), &source);
    }
    source.batch = BatchFromSounds(model, *input, encode, source.sounds);
  } else {
    Subject pictures(model, encode);
    AddPictures(model, request.pictures, &pictures);
    source.batch = std::move(pictures.batch);
  }
  const size_t texts = !source.tokens.empty()  ? source.tokens.size()
                       : source.sounds.empty() ? request.pictures.size()
                                               : source.sounds.size();
  std::vector<int32_t> prompt;
  const std::optional<int32_t> start = generation.start ? generation.start : DefaultsOf(model).start;
  if (start) prompt.push_back(*start);
  prompt.insert(prompt.end(), generation.prefix.begin(), generation.prefix.end());
  source.prompts.assign(texts, prompt);
  return source;
}

// Adds the prompts for sounds; detects the language if necessary.
void AddSpeechPrompts(const Model& model, const AttendRequest& request, const Session& encode, Source* source) {
  const SpeechPrompts prompts(model, request.speech);
  std::vector<std::string> languages(source->prompts.size());
  if (prompts.needs_language()) {
    languages = prompts.FindLanguages(encode, languages.size(), request.generation);
    languages.resize(source->prompts.size());
  }
  for (size_t i = 0; i < languages.size(); ++i) {
    const std::vector<int32_t> prompt = prompts.Prompt(languages[i], {});
    if (!prompt.empty()) source->prompts[i] = prompt;
  }
}

AttentionRecord ScoreWritten(const Model& model, const AttendRequest& request, const Source& source,
                             const std::vector<Generation>& made, bool only_bytes) {
  Subject subject(model, model.FindProgram("score"));
  if (!request.sources.empty()) {
    const uint32_t value = InputNamed(model, subject.program, "input_ids");
    AddIds(model, value, source.tokens, &subject);
    subject.rows.SetTexts(model.Value(subject.program, value).space, request.sources, source.tokens);
    subject.record.texts = request.sources;
    NoteCuts(source.tokens, &subject.record);
  } else if (!request.sounds.empty()) {
    const std::optional<SoundInput> input = FindSoundInput(model, subject.program);
    if (!input) Fail("{}: program score does not read audio", model.name());
    subject.batch = BatchFromSounds(model, *input, subject.program, source.sounds);
    AddSounds(model, *input, source.sounds, &subject);
    subject.record.notes = source.notes;
  } else {
    AddPictures(model, request.pictures, &subject);
  }
  std::vector<Target> targets;
  for (size_t i = 0; i < made.size(); ++i) {
    targets.push_back(TargetOf(model, SpecialTokens(source.prompts[i]), "", made[i].tokens));
  }
  AddTargets(model, "decoder_input_ids", targets, &subject);
  return RunScore(model, request, targets, "decoder_input_ids", only_bytes, std::move(subject));
}

AttentionRecord Continue(const Model& model, const AttendRequest& request, bool only_bytes) {
  if (!model.HasProgram("score"))
    Fail("{}: has no program score, which is needed to record attention maps", model.name());
  std::vector<Tokens> prompts;
  std::vector<std::vector<int32_t>> ids;
  for (const std::string& prompt : request.prompts) {
    prompts.push_back(PromptTokens(model, prompt, request.generation));
    ids.push_back(prompts.back().ids);
  }
  const std::vector<Generation> made = Generate(model, ids, request.generation);
  std::vector<Target> targets;
  for (size_t i = 0; i < made.size(); ++i) {
    targets.push_back(TargetOf(model, prompts[i], request.prompts[i], made[i].tokens));
  }
  Subject subject(model, model.FindProgram("score"));
  NoteCuts(prompts, &subject.record);
  AddTargets(model, "input_ids", targets, &subject);
  return RunScore(model, request, targets, "input_ids", only_bytes, std::move(subject));
}

// Collects attention maps step by step, from taps that have one row for each text.
class StepLines {
 public:
  StepLines(const Model& model, const TapPlan& plan, size_t texts)
      : model_(model), plan_(plan), lines_(plan.steps.size(), std::vector<std::vector<float>>(texts)), rows_(texts) {}

  void Add(const Session& decode, const fovea_generated& step) {
    for (uint32_t text = 0; text < step.texts; ++text) rows_[text] += step.tokens[text] >= 0 ? 1 : 0;
    for (uint32_t tap = 0; tap < plan_.steps.size(); ++tap) {
      const fovea_attention_map weights = decode.AttentionMap(tap);
      const std::vector<uint32_t> lengths = decode.Lengths(weights.key_space);
      for (uint32_t r = 0; r < weights.rows; ++r) {
        const uint32_t text = weights.query_rows[r];
        if (text >= step.texts || step.tokens[text] < 0) continue;
        for (size_t head = 0; head < weights.heads; ++head) {
          const float* line = weights.data + (r * size_t{weights.heads} + head) * weights.stride;
          lines_[tap][text].insert(lines_[tap][text].end(), line, line + lengths[text]);
        }
      }
    }
    // The placement of the sources' rows is the same in every step.
    if (keys_.empty()) {
      for (uint32_t tap = 0; tap < plan_.steps.size(); ++tap) {
        keys_.push_back(decode.Lengths(decode.AttentionMap(tap).key_space));
      }
    }
  }

  // `written`: the record's space of generated tokens.
  void AddTo(uint32_t written, const std::vector<uint32_t>& key_spaces, uint32_t program,
             AttentionRecord* record) const {
    for (uint32_t tap = 0; tap < plan_.steps.size(); ++tap) {
      RecordStep step;
      const fovea_tap& asked = plan_.taps[tap];
      step.name = plan_.steps[tap].name;
      step.layer = plan_.steps[tap].layer;
      step.part = "cross";
      step.query_space = written;
      step.key_space = key_spaces[tap];
      step.heads = KeptHeads(asked, model_.Step(program, plan_.steps[tap].step).heads);
      if (asked.reduce != FOVEA_REDUCE_NONE) step.reduced = asked.reduce == FOVEA_REDUCE_MEAN ? "mean" : "max";
      step.scores = asked.what == FOVEA_KEEP_SCORES;
      step.line_offsets = {0};
      for (size_t text = 0; text < rows_.size(); ++text) {
        for (uint32_t i = 0; i < rows_[text]; ++i) {
          step.rows.push_back(static_cast<uint32_t>(step.rows.size()));
          for (uint32_t head = 0; head < step.line_heads(); ++head) {
            step.line_offsets.push_back(step.line_offsets.back() + keys_[tap][text]);
          }
        }
        step.weights.insert(step.weights.end(), lines_[tap][text].begin(), lines_[tap][text].end());
      }
      record->steps.push_back(std::move(step));
    }
  }

 private:
  const Model& model_;
  const TapPlan& plan_;
  std::vector<std::vector<std::vector<float>>> lines_;  // [tap][text]
  std::vector<uint32_t> rows_;                          // generated rows of each text
  std::vector<std::vector<uint32_t>> keys_;             // [tap]: rows of each source
};

AttentionRecord FollowSteps(const Model& model, const AttendRequest& request, GenerationRequest generation,
                            const Source& source, const Session& encode, bool only_bytes) {
  if (generation.beams)
    Fail("{}: attention is recorded step by step, which does not support beam search; give --beams 1", model.name());
  if (request.taps.rows != FOVEA_TAP_ROWS_ALL)
    Fail("{}: attention is recorded step by step, which keeps all rows; leave out --rows", model.name());
  if (request.vectors)
    Fail("{}: attention is recorded step by step, which keeps no queries and keys; leave out --vectors", model.name());
  SessionRequest decode = DecodeRequest(model, encode, source.prompts.size(), 1, generation);
  TapChoice choice = request.taps;
  if (choice.form != FormChoice::kAuto && choice.form != FormChoice::kDense) {
    Fail("{}: attention is recorded step by step, which gives dense weights; leave out --sparse and --pattern",
         model.name());
  }
  choice.form = FormChoice::kDense;
  TapPlan plan = PlanTaps(model, choice, decode, nullptr);
  for (const TappedStep& tapped : plan.steps) {
    const fovea_value_info queries = model.Value(decode.program, model.StepInput(decode.program, tapped.step, 0));
    if (model.Space(queries.space).parent != FOVEA_NONE) {
      Fail("{}: has no program score, and step {} does not have one row for each text", model.name(), tapped.name);
    }
  }
  Subject subject(model, decode.program);
  AttentionRecord& record = subject.record;
  record.tap_bytes = plan.tap_bytes;
  record.session_bytes = plan.session_bytes;
  if (only_bytes) return record;
  if (request.told) request.told(plan);
  StepLines lines(model, plan, source.prompts.size());
  // Spaces of a session that reads the source; known after the first step.
  std::vector<uint32_t> key_spaces;
  record.texts = request.sources;
  if (!request.sources.empty()) {
    const uint32_t ids = InputNamed(model, SourceProgram(model), "input_ids");
    subject.rows.SetTexts(model.Value(SourceProgram(model), ids).space, request.sources, source.tokens);
    NoteCuts(source.tokens, &record);
  }
  generation.taps = plan.taps;
  generation.after_step = [&](const Session& session, const fovea_generated& step) {
    if (key_spaces.empty()) {
      for (const TappedStep& tapped : plan.steps) {
        key_spaces.push_back(subject.rows.Add(session, model.StepInput(decode.program, tapped.step, 1), &record));
      }
    }
    lines.Add(session, step);
  };
  const bool plain = generation.prefix.empty();
  const std::vector<Generation> made = Generate(
      model, encode, plain ? std::vector<std::vector<int32_t>>(source.prompts.size()) : source.prompts, generation);
  if (key_spaces.empty()) Fail("{}: no text was generated", model.name());
  RecordSpace written;
  written.name = "written";
  written.parent = record.spaces[key_spaces[0]].parent;
  written.offsets = {0};
  for (const Generation& text : made) {
    const Writing writing = Write(model, text.tokens, DefaultsOf(model).stop_ids);
    const auto number = static_cast<uint32_t>(record.texts.size());
    const Utf16Places places(writing.text);
    record.texts.push_back(writing.text);
    written.offsets.push_back(written.offsets.back() + static_cast<uint32_t>(text.tokens.size()));
    for (size_t i = 0; i < text.tokens.size(); ++i) {
      written.rows.labels.push_back(writing.labels[i]);
      const auto [begin, end] = places.Whole(writing.begin[i], writing.end[i]);
      written.rows.places.push_back(
          begin < end ? std::optional<Place>(Place{number, places.Unit(begin), places.Unit(end)}) : std::nullopt);
    }
  }
  record.spaces.push_back(written);
  const auto index = static_cast<uint32_t>(record.spaces.size() - 1);
  lines.AddTo(index, key_spaces, decode.program, &record);
  record.generation =
      RecordGeneration{static_cast<int>(key_spaces[0]), index, false, std::vector<uint32_t>(made.size(), 0)};
  return record;
}

}  // namespace

AttentionRecord AttendWritten(const Model& model, const AttendRequest& request, bool only_bytes) {
  if (!FindGeneratePrograms(model)) Fail("{}: has no decoder; give --text instead", model.name());
  if (!request.prompts.empty()) {
    if (!ContinuesTexts(model)) Fail("{}: has an encoder; give its input with --source", model.name());
    return Continue(model, request, only_bytes);
  }
  if (ContinuesTexts(model)) Fail("{}: has no encoder; give --prompt, or --text to read a text", model.name());
  GenerationRequest generation = request.generation;
  Source source = SourceOf(model, request, generation);
  SetTarget(model, request.languages.target, &generation);
  const Session encode = Encode(model, source.batch, request.workers);
  if (!request.sounds.empty()) AddSpeechPrompts(model, request, encode, &source);
  if (!model.HasProgram("score")) return FollowSteps(model, request, generation, source, encode, only_bytes);
  if (generation.start) {
    for (std::vector<int32_t>& prompt : source.prompts) prompt[0] = *generation.start;
  }
  // If a prompt is longer than the start token, prompts are passed to the decoder; else it starts by itself.
  const bool told = std::any_of(source.prompts.begin(), source.prompts.end(),
                                [](const std::vector<int32_t>& prompt) { return prompt.size() > 1; });
  const std::vector<Generation> made = Generate(
      model, encode, told ? source.prompts : std::vector<std::vector<int32_t>>(source.prompts.size()), generation);
  return ScoreWritten(model, request, source, made, only_bytes);
}

}  // namespace fovea::tools
