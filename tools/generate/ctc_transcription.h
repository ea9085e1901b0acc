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
  // `done` receives the sources in the order in which they were added, interrupted sources included.
  CtcTranscription(const Model& model, const CtcOptions& options, std::function<void(const CtcSource&)> done);
  // `found` receives words as they are found, of a file before it is done: new words, and new text.
  void OnFound(std::function<void(const CtcSource& part)> found) { found_ = std::move(found); }
  // `reached` receives the seconds of a file that are done, and of all; 0: unknown.
  void OnReached(std::function<void(const std::string& name, double seconds, double all)> reached) {
    reached_ = std::move(reached);
  }

  void AddFile(const std::string& path, const SoundInput& input);
  // Runs the remaining sounds as a last batch.
  void EndBatch(const SoundInput& input);
  // Adds a batch of encoder inputs, with a source for each clip.
  void AddFeatures(const std::string& path);

 private:
  struct Source {
    std::string name;
    double seconds = 0, frame_seconds = 0;
    double reached = 0;     // seconds that were transcribed
    size_t words = 0;       // passed to found_
    size_t text = 0;        // bytes of its text that were passed to found_
    size_t missing = 0;     // chunks not yet transcribed
    bool complete = false;  // all chunks were added
    bool interrupted = false;
    std::vector<std::string> notes = {};
    std::vector<CtcFrame> frames = {};
  };
  struct Piece {
    size_t source;
    SoundChunk chunk;
    double until = 0;  // seconds of the file
  };

  void Run(const Batch& batch);
  // Passes words of the first source that is not complete to found_; `all`: including the last one.
  void PassWords(const CtcText& text, bool all, Source* source);
  // Passes complete sources to done_.
  void Finish();
  // Completes all sources with what was transcribed.
  void GiveUp();

  const Model& model_;
  const CtcOptions options_;
  const std::function<void(const CtcSource&)> done_;
  std::function<void(const CtcSource&)> found_;
  std::function<void(const std::string&, double, double)> reached_;
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
