// The settings of a generator, from the caller's options, else from the blob's metadata.
#ifndef FOVEA_RUNTIME_GENERATE_SETTINGS_H_
#define FOVEA_RUNTIME_GENERATE_SETTINGS_H_

#include <stdint.h>

#include "fovea/generate.h"
#include "runtime/base/arena.h"
#include "runtime/base/status.h"
#include "runtime/blob/blob.h"

namespace fovea {

struct Generator;

// A linked input of the decoder and the encoder's output that it reads.
struct GenerateLink {
  uint32_t input, output;
};

// The values, tokens and limits that drive a decoder.
struct GenerateSettings {
  uint32_t token = 0, scores = 0;  // values of the decoder
  int32_t start = 0;
  int32_t* stop_ids = nullptr;
  uint32_t stop_id_count = 0;
  uint32_t max_tokens = 0;  // per text; 0: unlimited
  GenerateLink* links = nullptr;
  uint32_t link_count = 0;
  bool sets_rows = false;  // the texts' space has a parent with a row per text; the generator sets its number of rows
};

// Limits of a program's generation metadata, so that no blob makes a generator slow.
inline constexpr uint32_t kMaxGenerateLinks = 256;
inline constexpr uint32_t kMaxStopIds = 256;
inline constexpr uint32_t kMaxLinkedName = 255;  // bytes

// Finds the settings and the suppressed tokens in `options` and the metadata, and checks them.
Status ReadSettings(const fovea_generate_options& options, Arena& arena, Reporter& reporter, Generator* generator);

// The part of this entry's key after "generate.link.", or null.
const char* LinkedName(const Blob& blob, uint32_t entry);
// The first of `count` values from `first` on with this name, or kBlobNone; also for names that are too long.
uint32_t FindShortName(const Blob& blob, uint32_t first, uint32_t count, const char* name);

// Calls f(input, entry) for each entry of the metadata that links an input of the program.
template <typename F>
Status ForEachLink(const Blob& blob, const ProgramRecord& program, Reporter& reporter, const F& f) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < blob.metadata.count; ++i) {
    const char* name = LinkedName(blob, i);
    if (name == nullptr) continue;
    if (++count > kMaxGenerateLinks) {
      return reporter.Fail(FOVEA_E_TOO_COMPLEX, "the metadata links too many inputs", kMaxGenerateLinks, count);
    }
    const uint32_t inputs = program.value_count - program.operation_count;
    const uint32_t input = FindShortName(blob, program.first_value, inputs, name);
    if (input != kBlobNone) FOVEA_TRY(f(input, i));
  }
  return kOk;
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GENERATE_SETTINGS_H_
