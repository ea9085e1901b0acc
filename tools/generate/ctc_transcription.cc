// Transcribes sound files with a CTC model.
#include "tools/generate/ctc_transcription.h"

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/generate/defaults.h"
#include "tools/model/interrupt.h"
#include "tools/tensors/padded_inputs.h"

namespace fovea::tools {

CtcTranscription::CtcTranscription(const Model& model, const CtcOptions& options,
                                   std::function<void(const CtcSource&)> done)
    : model_(model),
      options_(options),
      done_(std::move(done)),
      decoder_(model),
      program_(model.FindProgram("")),
      scores_(*model.FindValue(program_, "logits")) {
  const char key[] = "ctc.samples_per_row";
  if (const char* frame = model.Metadata(key)) {
    frame_ = static_cast<uint64_t>(WholeNumberIn(frame, MetadataName(model, key), {1, UINT32_MAX}));
  }
}

void CtcTranscription::AddFile(const std::string& path, const SoundInput& input) {
  SoundReader sound(path, input.rate);
  const uint64_t frame = std::max<uint64_t>(frame_, 1);
  ChunkSequence chunks(ChunksOfSeconds(options_.chunk, options_.strides, input.rate, frame));
  const size_t source = sources_.size();
  sources_.push_back({path, sound.ExpectedSeconds(), static_cast<double>(frame_) / input.rate});
  sources_[source].notes = sound.notes();
  while (const auto chunk = chunks.Next([&](uint64_t most) { return sound.CountUpTo(most); })) {
    const double until = static_cast<double>(chunk->begin + chunk->length - chunk->right) / input.rate;
    pieces_.push_back({source, *chunk, until});
    sounds_.push_back(sound.Part(chunk->begin, chunk->length));
    ++sources_[source].missing;
    if (pieces_.size() == options_.batch_size) EndBatch(input);
    if (Interrupt::Happened()) break;
    if (reached_) reached_(path, sources_[source].reached, sound.ExpectedSeconds());
  }
  if (Interrupt::Happened()) return GiveUp();
  sources_[source].seconds = sound.Seconds();
  sources_[source].notes = sound.notes();
  sources_[source].complete = true;
  Finish();
}

void CtcTranscription::EndBatch(const SoundInput& input) {
  if (Interrupt::Happened()) return GiveUp();
  if (pieces_.empty()) return;
  Run(BatchFromSounds(model_, input, program_, sounds_));
}

void CtcTranscription::AddFeatures(const std::string& path) {
  const SafetensorsReader reader(path);
  const Batch batch = BatchFromTensors(model_, program_, reader.tensors());
  const size_t clips = ClipCount(batch);
  for (size_t i = 0; i < clips; ++i) {
    Source source = {fmt::format("{}", i)};
    source.missing = 1, source.complete = true;
    sources_.push_back(std::move(source));
    pieces_.push_back({i, {}});
  }
  Run(batch);
}

void CtcTranscription::Run(const Batch& batch) {
  SessionRequest request;
  request.program = program_;
  request.workers = options_.workers;
  Session session = SessionFor(model_, batch, request);
  session.Run();
  const Matrix scores = session.Output(scores_);
  const std::vector<uint32_t> lengths = session.Lengths(model_.Value(program_, scores_).space);
  uint32_t first = 0;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    Source& source = sources_[pieces_[i].source];
    const auto [begin, end] = pieces_[i].chunk.Frames(std::max<uint64_t>(frame_, 1), lengths[i]);
    const std::vector<CtcFrame> frames = CtcDecoder::Best(scores, first + begin, first + end);
    source.frames.insert(source.frames.end(), frames.begin(), frames.end());
    --source.missing;
    source.reached = pieces_[i].until;
    first += lengths[i];
  }
  pieces_.clear();
  sounds_.clear();
  if (found_ && written_ < sources_.size()) {
    Source& source = sources_[written_];
    if (!source.complete) PassWords(decoder_.Text(source.frames), false, &source);
  }
  Finish();
}

void CtcTranscription::PassWords(const CtcText& text, bool all, Source* source) {
  CtcSource part = {source->name, source->seconds, source->frame_seconds, {}};
  const size_t words = all ? text.words.size() : text.final_words;
  for (; source->words < words; ++source->words) part.text.words.push_back(text.words[source->words]);
  const std::string& known = all ? text.text : text.final_text;
  if (known.size() > source->text) part.text.text = known.substr(source->text);
  source->text = std::max(source->text, known.size());
  if (!part.text.words.empty() || !part.text.text.empty()) found_(part);
}

void CtcTranscription::GiveUp() {
  pieces_.clear();
  sounds_.clear();
  for (size_t i = written_; i < sources_.size(); ++i) {
    Source& source = sources_[i];
    source.notes.push_back(fmt::format("interrupted: the first {:.2f} s are transcribed", source.reached));
    source.missing = 0, source.complete = source.interrupted = true;
  }
  Finish();
}

void CtcTranscription::Finish() {
  for (; written_ < sources_.size() && sources_[written_].complete && sources_[written_].missing == 0; ++written_) {
    Source& source = sources_[written_];
    if (source.interrupted && source.reached == 0) continue;
    const CtcText text = decoder_.Text(source.frames);
    if (source.words > 0) PassWords(text, true, &source);
    done_({source.name, source.seconds, source.frame_seconds, text, source.notes});
    source.frames = {};
  }
}

}  // namespace fovea::tools
