// Transcribes sound files with a CTC model, running chunks of all files in batches.
#ifndef FOVEA_TOOLS_GENERATE_CTC_TRANSCRIPTION_H_
#define FOVEA_TOOLS_GENERATE_CTC_TRANSCRIPTION_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/generate/ctc.h"
#include "tools/generate/sound_chunks.h"

namespace fovea::tools {

struct CtcOptions {
  double chunk = 30;                 // seconds; 0: whole files
  std::vector<double> strides = {};  // overlap in seconds: on both sides, or left and right; empty: a sixth of a chunk
  uint32_t batch_size = 1, workers = 1;
};

struct CtcSource {
  std::string name;
  double seconds = 0;        // 0: unknown
  double frame_seconds = 0;  // from one frame to the next; 0: unknown
  CtcText text;
  std::vector<std::string> notes = {};  // about its file
};

class CtcTranscription {
 public:
  // `done` receives the sources in the order in which they were added.
  CtcTranscription(const Model& model, const CtcOptions& options, std::function<void(const CtcSource&)> done);

  void AddFile(const std::string& path, const SoundInput& input);
  // Runs the remaining sounds as a last batch.
  void EndBatch(const SoundInput& input);
  // Adds a batch of encoder inputs, with a source for each clip.
  void AddFeatures(const std::string& path);

 private:
  struct Source {
    std::string name;
    double seconds, frame_seconds;
    size_t missing;  // chunks not yet transcribed
    std::vector<std::string> notes = {};
    std::vector<CtcFrame> frames = {};
  };
  struct Piece {
    size_t source;
    SoundChunk chunk;
  };

  void Run(const Batch& batch);

  const Model& model_;
  const CtcOptions options_;
  const std::function<void(const CtcSource&)> done_;
  const CtcDecoder decoder_;
  const uint32_t program_, scores_;
  uint64_t frame_ = 0;  // samples from one frame to the next; 0: unknown
  std::vector<Source> sources_;
  size_t written_ = 0;         // number of sources passed to done_
  std::vector<Piece> pieces_;  // chunks of the next batch
  std::vector<Sound> sounds_;  // sound of each chunk
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_CTC_TRANSCRIPTION_H_
