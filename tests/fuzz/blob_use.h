// Uses a blob, which may be anything, in every way that the C interface allows.
#ifndef FOVEA_TESTS_FUZZ_BLOB_USE_H_
#define FOVEA_TESTS_FUZZ_BLOB_USE_H_

#include <string>
#include <vector>

#include "fovea/fovea.h"
#include "tests/fuzz/guarded.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/transcript.h"
#include "tools/base/sized.h"

namespace fovea::fuzz {

using tools::Sized;

// Conditions that must not change the outputs.
struct Conditions {
  Filling filling = Filling::kZeros;
  uint32_t workers = 1;
  uint32_t tile_rows = 0;
  fovea_runner runner = nullptr;
  void* runner_context = nullptr;
  fovea_barrier barrier = nullptr;
};

// Limits of memory and work for one input: a caller would refuse more.
inline constexpr uint64_t kMaxBlockBytes = uint64_t{12} << 20;
inline constexpr double kMaxRunWork = 3e7;  // multiplications

// A model in sealed memory of exactly its size over a sealed blob.
class UsedModel {
 public:
  UsedModel(const uint8_t* bytes, uint64_t size, Filling filling, Transcript& transcript);
  const fovea_model* get() const { return model_; }  // NULL: refused, or too large

 private:
  Guarded blob_, memory_;
  fovea_model* model_ = nullptr;
};

// Reads all information about a model.
void Inspect(const fovea_model* model, Transcript& transcript);

// The limits of a session for the root and the other input spaces, its kept values and its taps.
struct SessionChoices {
  SessionChoices(const fovea_model* model, uint32_t program, Random& random);
  fovea_session_options Options(const Conditions& conditions) const;

  uint32_t program;
  std::vector<fovea_limit> limits;
  std::vector<uint32_t> keep, linked;
  std::vector<fovea_tap> taps;
  uint32_t cached_texts = 0, rewind_rows = 0, cache_type = FOVEA_NONE;
};

// A session in three blocks of exactly their sizes.
class UsedSession {
 public:
  // Whether it can be made, and is not too large.
  static bool Fits(const fovea_model* model, const SessionChoices& choices, const Conditions& conditions);
  UsedSession(const fovea_model* model, const SessionChoices& choices, const Conditions& conditions,
              Transcript& transcript);
  UsedSession(const UsedSession&) = delete;

  fovea_session* get() const { return session_; }
  // Segments for all input spaces, of up to `longest` rows.
  void SetSegments(uint32_t longest, Random& random);
  // All inputs, or all but the carried ones, which a run hands to the next.
  void FillInputs(Random& random, bool carried = true);
  // A run, whole or in pieces; nothing if it would take too long. True if it came to its end.
  bool Run(Random& random);
  // Reads every output that is available now.
  void Read();
  // Saves the state, restores it, and restores damaged states.
  void SaveAndRestore(Random& random);
  // Changes the texts of the KV cache in every way that is allowed between runs.
  void UseTexts(Random& random);

 private:
  void RestoreTexts(uint32_t from, uint32_t to, Random& random);
  double Work() const;
  void ReadTap(uint32_t tap);
  void ReadSparse(uint32_t tap, const fovea_weights& weights);
  std::vector<uint8_t> Save();
  std::string Where(const char* what, uint64_t index) const;

  const fovea_model* model_;
  const SessionChoices& choices_;
  Filling filling_;
  Transcript& transcript_;
  Guarded fixed_, state_, scratch_;
  fovea_session* session_ = nullptr;
};

// Sessions of all programs, run some times, under two conditions whose outputs are compared.
void UsePrograms(const fovea_model* model, uint64_t seed, const Conditions& conditions, const Conditions& others,
                 Transcript& transcript);
// The encoder and the decoder that the metadata name, and the tokens that they generate.
void UseGenerator(const fovea_model* model, uint64_t seed, const Conditions& conditions, const Conditions& others,
                  Transcript& transcript);

// For blobs that the converter made: generates with the options in their metadata.
void CheckGenerator(const fovea_model* model, uint64_t seed);

// Runs all of the above except the last. Outputs must not depend on the conditions.
Transcript UseBlob(const uint8_t* bytes, uint64_t size, uint64_t seed, const Conditions& conditions,
                   const Conditions& others);

}  // namespace fovea::fuzz

#endif  // FOVEA_TESTS_FUZZ_BLOB_USE_H_
