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
  const Sound sound = ReadSound(path, input.rate);
  const uint64_t frame = std::max<uint64_t>(frame_, 1);
  const std::vector<SoundChunk> chunks =
      ChunksOf(sound.samples.size(), ChunksOfSeconds(options_.chunk, options_.strides, input.rate, frame));
  sources_.push_back({path, sound.seconds(), static_cast<double>(frame_) / input.rate, chunks.size(), sound.notes});
  for (const SoundChunk& chunk : chunks) {
    pieces_.push_back({sources_.size() - 1, chunk});
    sounds_.push_back(PartOf(sound, chunk.begin, chunk.length));
    if (pieces_.size() == options_.batch_size) EndBatch(input);
  }
}

void CtcTranscription::EndBatch(const SoundInput& input) {
  if (pieces_.empty() || Interrupt::Happened()) return;
  Run(BatchFromSounds(model_, input, program_, sounds_));
}

void CtcTranscription::AddFeatures(const std::string& path) {
  const SafetensorsReader reader(path);
  const Batch batch = BatchFromTensors(model_, program_, reader.tensors());
  const size_t clips = ClipCount(batch);
  for (size_t i = 0; i < clips; ++i) {
    sources_.push_back({fmt::format("{}", i), 0, 0, 1});
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
    first += lengths[i];
  }
  pieces_.clear();
  sounds_.clear();
  for (; written_ < sources_.size() && sources_[written_].missing == 0; ++written_) {
    Source& source = sources_[written_];
    done_({source.name, source.seconds, source.frame_seconds, decoder_.Text(source.frames), source.notes});
    source.frames = {};
  }
}

}  // namespace fovea::tools
