#include "tools/transcribe/clips.h"

#include <algorithm>
#include <iterator>

#include "tools/generate/defaults.h"
#include "tools/generate/hypotheses.h"
#include "tools/generate/overlap.h"
#include "tools/model/interrupt.h"
#include "tools/tensors/padded_inputs.h"

namespace fovea::tools {

ClipTranscription::ClipTranscription(const Model& model, const ClipOptions& options, const GenerationRequest& request,
                                     std::function<void(const Transcript&)> done,
                                     std::function<void(const std::string&, const std::string&)> found)
    : model_(model),
      options_(options),
      request_(request),
      done_(std::move(done)),
      found_(std::move(found)),
      prompts_(model, options.task),
      stop_ids_(DefaultsOf(model).stop_ids),
      batch_size_(options.previous ? 1 : options.batch_size) {
  if (options.previous) prompts_.CheckPrevious();
}

ChunkLengths ClipTranscription::LengthsOf(uint32_t rate, uint64_t longest) const {
  const double most = static_cast<double>(longest) / rate;
  const double chunk = options_.chunk == 0 ? most : std::min(options_.chunk, most);
  return ChunksOfSeconds(chunk, options_.strides, rate, 1);
}

void ClipTranscription::AddFile(const std::string& path, const SoundInput& input) {
  SoundReader sound(path, input.rate);
  const ChunkLengths lengths = LengthsOf(input.rate, LongestClip(model_, input));
  const bool overlaps = lengths.left + lengths.right > 0 && sound.CountUpTo(lengths.chunk + 1) > lengths.chunk;
  const size_t source = sources_.size();
  const size_t known = sound.notes().size();
  sources_.push_back({path, sound.ExpectedSeconds(), overlaps, sound.notes()});
  ChunkSequence chunks(lengths);
  while (const auto chunk = chunks.Next([&](uint64_t most) { return sound.CountUpTo(most); })) {
    if (IsShortRest(*chunk, input.rate)) break;
    clips_.push_back(sound.Part(chunk->begin, chunk->length));
    owners_.push_back(source);
    ends_.push_back(static_cast<double>(chunk->begin + chunk->length) / input.rate);
    ++sources_[source].clips;
    if (clips_.size() == batch_size_) EndBatch(input);
    if (Interrupt::Happened()) break;
    if (reached_) reached_(path, sources_[source].reached, sound.ExpectedSeconds());
  }
  if (Interrupt::Happened()) return GiveUp();
  sources_[source].seconds = sound.Seconds();
  // Notes on the end of a file go before the notes on its clips.
  std::vector<std::string>& notes = sources_[source].notes;
  if (sound.notes().size() > known) {
    notes.insert(notes.begin() + static_cast<ptrdiff_t>(known), sound.notes().begin() + static_cast<ptrdiff_t>(known),
                 sound.notes().end());
  }
  sources_[source].complete = true;
  Finish();
}

void ClipTranscription::EndBatch(const SoundInput& input) {
  if (Interrupt::Happened()) return GiveUp();
  if (clips_.empty()) return;
  Transcribe(BatchFromSounds(model_, input, EncoderProgram(model_), clips_));
  if (Interrupt::Happened()) return GiveUp();
  clips_.clear();
  owners_.clear();
  ends_.clear();
}

void ClipTranscription::AddFeatures(const std::string& path) {
  const SafetensorsReader reader(path);
  const Batch batch = BatchFromTensors(model_, EncoderProgram(model_), reader.tensors());
  const size_t clips = ClipCount(batch);
  for (size_t i = 0; i < clips; ++i) {
    Source source = {fmt::format("{}", i)};
    source.clips = 1, source.complete = true;
    sources_.push_back(std::move(source));
    owners_.push_back(i);
  }
  Transcribe(batch);
}

void ClipTranscription::Transcribe(const Batch& batch) {
  const Session encode = Encode(model_, batch, request_.workers);
  FindLanguages(encode);
  if (Interrupt::Happened()) return;  // print no incomplete lines
  std::vector<std::vector<int32_t>> prompts;
  for (const size_t owner : owners_) {
    const Source& source = sources_[owner];
    prompts.push_back(prompts_.Prompt(source.language, options_.previous ? TokensOf(source) : std::vector<int32_t>()));
  }
  const std::vector<std::optional<size_t>> most = MostTokensOfClips();
  std::vector<Generation> made = Generate(model_, encode, prompts, RequestFor(most));
  if (Interrupt::Happened()) return;
  for (size_t i = 0; i < made.size(); ++i) {
    Source& source = sources_[owners_[i]];
    if (most[i] && made[i].tokens.size() > *most[i]) {
      source.notes.push_back(fmt::format("a text is cut off at {} tokens, the limit for {:.2f} s of sound", *most[i],
                                         clips_[i].seconds()));
    }
    if (i < ends_.size()) source.reached = ends_[i];
    source.made.push_back(std::move(made[i]));
  }
  Finish();
  if (written_ < sources_.size() && !sources_[written_].overlaps) PassText(&sources_[written_]);
}

void ClipTranscription::PassText(Source* source) {
  for (; found_text_ && source->passed < source->made.size(); ++source->passed) {
    const std::string text = LineOf(source->made[source->passed].text);
    if (!text.empty()) found_text_(source->name, " " + text);
  }
}

void ClipTranscription::GiveUp() {
  clips_.clear();
  owners_.clear();
  ends_.clear();
  for (size_t i = written_; i < sources_.size(); ++i) {
    Source& source = sources_[i];
    source.notes.push_back(fmt::format("interrupted: the first {:.2f} s are transcribed", source.reached));
    source.clips = source.made.size(), source.complete = true;
  }
  Finish();
}

void ClipTranscription::Finish() {
  for (; written_ < sources_.size(); ++written_) {
    Source& source = sources_[written_];
    if (!source.complete || source.made.size() < source.clips) return;
    if (source.made.empty()) continue;  // interrupted before its first clip was done
    if (source.passed > 0) PassText(&source);
    if (!source.language.empty()) found_(source.name, source.language);
    done_(TranscriptOf(source));
    source.made.clear();
    source.made.shrink_to_fit();
  }
}

std::vector<std::optional<size_t>> ClipTranscription::MostTokensOfClips() const {
  std::vector<std::optional<size_t>> most(owners_.size());
  if (!options_.bounded) return most;
  for (size_t i = 0; i < clips_.size(); ++i) most[i] = MostTokens(model_, clips_[i].seconds());
  return most;
}

GenerationRequest ClipTranscription::RequestFor(const std::vector<std::optional<size_t>>& most) const {
  GenerationRequest request = request_;
  const bool bounded = std::any_of(most.begin(), most.end(), [](const auto& one) { return one.has_value(); });
  if (!bounded || stop_ids_.empty()) return request;
  request.allow_scored = [&most, stop = stop_ids_[0]](const ScoredText& text, uint32_t tokens, uint32_t* bits) {
    if (most[text.text] && text.count >= *most[text.text]) AllowOnly(stop, tokens, bits);
  };
  return request;
}

void ClipTranscription::FindLanguages(const Session& encode) {
  const auto lacks = [&](size_t owner) { return sources_[owner].language.empty(); };
  if (!prompts_.needs_language() || std::none_of(owners_.begin(), owners_.end(), lacks)) return;
  const std::vector<std::string> found = prompts_.FindLanguages(encode, owners_.size(), request_);
  for (size_t i = 0; i < found.size(); ++i) {
    if (lacks(owners_[i])) sources_[owners_[i]].language = found[i];
  }
}

std::vector<int32_t> ClipTranscription::TokensOf(const Generation& clip) const {
  std::vector<int32_t> tokens;
  std::copy_if(clip.tokens.begin(), clip.tokens.end(), std::back_inserter(tokens),
               [&](int32_t token) { return std::find(stop_ids_.begin(), stop_ids_.end(), token) == stop_ids_.end(); });
  return tokens;
}

std::vector<int32_t> ClipTranscription::TokensOf(const Source& source) const {
  std::vector<std::vector<int32_t>> parts;
  for (const Generation& clip : source.made) parts.push_back(TokensOf(clip));
  if (source.overlaps) return JoinOverlapping(parts);
  std::vector<int32_t> tokens;
  for (const std::vector<int32_t>& part : parts) tokens.insert(tokens.end(), part.begin(), part.end());
  return tokens;
}

Transcript ClipTranscription::TranscriptOf(const Source& source) const {
  Transcript transcript;
  transcript.name = source.name;
  transcript.notes = source.notes;
  OrderedJson parts = OrderedJson::array();
  for (const Generation& clip : source.made) {
    const std::string text = LineOf(clip.text);
    transcript.text += (transcript.text.empty() || text.empty() ? "" : " ") + text;
    parts.push_back({{"text", text}, {"tokens", clip.tokens}});
    if (!clip.hypotheses.empty()) parts.back()["hypotheses"] = HypothesesJson(clip);
  }
  if (source.overlaps) transcript.text = LineOf(TextOf(model_, TokensOf(source)));
  OrderedJson& entry = transcript.json = {{"input", source.name}};
  if (source.seconds != 0) entry["seconds"] = source.seconds;
  const std::string& language = source.language.empty() ? options_.task.language : source.language;
  if (!language.empty()) entry["language"] = language;
  entry["text"] = transcript.text;
  entry["clips"] = parts;
  return transcript;
}

}  // namespace fovea::tools
