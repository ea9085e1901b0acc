// Implements fovea/stop.h.
#include "fovea/stop.h"

#include "runtime/api/handles.h"
#include "runtime/text/stop.h"

struct fovea_stop {
  static constexpr uint32_t kMark = 0x50766f66;
  uint32_t mark = 0;
  fovea::text::StopStrings strings;
};

namespace fovea {
namespace {

bool IsStop(const fovea_stop* handle) { return handle != nullptr && handle->mark == fovea_stop::kMark; }

}  // namespace
}  // namespace fovea

using namespace fovea;  // NOLINT: this file is the border

extern "C" {

fovea_status fovea_stop_size(const char* const* strings, const uint32_t* sizes, uint32_t count, uint64_t* needed,
                             fovea_error* error) {
  Reporter reporter(error);
  if (needed == nullptr) return reporter.Fail(FOVEA_E_NULL, "needed is NULL").code;
  Arena counting;
  counting.Take<fovea_stop>(1);
  text::StopStrings unused;
  const Status status = unused.Place(strings, sizes, count, counting, reporter);
  if (status.ok()) *needed = counting.needed();
  return status.code;
}

fovea_status fovea_stop_init(const char* const* strings, const uint32_t* sizes, uint32_t count, void* memory,
                             uint64_t size, fovea_stop** stop, fovea_error* error) {
  Reporter reporter(error);
  if (stop == nullptr) return reporter.Fail(FOVEA_E_NULL, "stop is NULL").code;
  *stop = nullptr;
  uint64_t needed = 0;
  const fovea_status status = fovea_stop_size(strings, sizes, count, &needed, error);
  if (status != FOVEA_OK) return status;
  if (memory == nullptr) return reporter.Fail(FOVEA_E_NULL, "memory is NULL").code;
  if (size < needed)
    return reporter.Fail(FOVEA_E_TOO_SMALL, "the memory for stop strings is too small", needed, size).code;
  const Status aligned = CheckAligned(memory, reporter);
  if (!aligned.ok()) return aligned.code;
  Arena arena(memory, static_cast<size_t>(needed));
  fovea_stop* handle = arena.Take<fovea_stop>(1);
  const Status placed = handle->strings.Place(strings, sizes, count, arena, reporter);
  if (!placed.ok()) return placed.code;
  if (!arena.ok()) return reporter.Fail(FOVEA_E_INTERNAL, "sizing and placing disagree", needed, size).code;
  handle->mark = fovea_stop::kMark;
  *stop = handle;
  return FOVEA_OK;
}

fovea_status fovea_stop_start(fovea_stop* stop) {
  if (!IsStop(stop)) return FOVEA_E_HANDLE;
  stop->strings.Start();
  return FOVEA_OK;
}

fovea_status fovea_stop_next(fovea_stop* stop, const char* bytes, uint64_t size, fovea_stopped* stopped,
                             fovea_error* error) {
  Reporter reporter(error);
  if (!IsStop(stop)) return reporter.Fail(FOVEA_E_HANDLE, "invalid stop strings handle").code;
  if (bytes == nullptr && size != 0) return reporter.Fail(FOVEA_E_NULL, "bytes is NULL").code;
  const Status sized = stopped == nullptr ? kOk : CheckStructSize(*stopped, reporter);
  if (!sized.ok()) return sized.code;
  text::StopStrings& strings = stop->strings;
  strings.Read(reinterpret_cast<const uint8_t*>(bytes), size);
  if (stopped == nullptr) return FOVEA_OK;
  fovea_stopped values{};
  values.safe = strings.safe();
  values.end = strings.end();
  values.stopped = strings.stopped() ? 1 : 0;
  values.string = strings.stopped() ? strings.found() : 0;
  return WriteStruct(values, stopped);
}

}  // extern "C"
