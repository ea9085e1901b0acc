// The settings of a generator, from the caller's options, else from the blob's metadata.
#ifndef FOVEA_RUNTIME_GENERATE_SETTINGS_H_
#define FOVEA_RUNTIME_GENERATE_SETTINGS_H_

#include "runtime/generate/generate.h"

namespace fovea {

// Limits of a program's generation metadata, so that no blob makes a generator slow.
inline constexpr uint32_t kMaxGenerateLinks = 256;
inline constexpr uint32_t kMaxStopIds = 256;
inline constexpr uint32_t kMaxLinkedName = 255;  // bytes

// Finds values, tokens and limits in `options` and the metadata, and checks them.
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
