// Implements fovea/cache.h.
#include "fovea/cache.h"

#include "runtime/api/handles.h"
#include "runtime/session/session.h"

namespace fovea {
namespace {

// Checks the handle and an argument of a function of this file, then calls f.
template <typename F>
fovea_status WithSession(const fovea_session* handle, const void* needed, const char* needed_text, fovea_error* error,
                         F f) {
  Reporter reporter(error);
  if (!IsLive(handle)) return reporter.Fail(FOVEA_E_HANDLE, "invalid session handle").code;
  if (needed == nullptr) return reporter.Fail(FOVEA_E_NULL, needed_text).code;
  return f(*handle->session, reporter).code;
}

fovea_cache_info InfoOf(const Session& session) {
  const Cache& cache = session.cache;
  fovea_cache_info info{};
  info.texts = cache.texts;
  info.max_rows = cache.texts == 0 ? 0 : cache.max_rows;
  info.page_rows = kPageRows;
  info.bytes = session.info.cache_bytes;
  for (uint32_t s = 0; s < cache.space_count; ++s) {
    const uint32_t rows = *cache.spaces[s].unused_count * kPageRows;
    if (s == 0 || rows < info.unused_rows) info.unused_rows = rows;
  }
  for (uint32_t v = 0; v < cache.value_count; ++v) info.row_bytes += cache.values[v].row_bytes;
  return info;
}

}  // namespace
}  // namespace fovea

using namespace fovea;  // NOLINT: this file is the border

extern "C" {

fovea_status fovea_cache_get_info(const fovea_session* session, fovea_cache_info* info) {
  if (!IsLive(session)) return FOVEA_E_HANDLE;
  return WriteStruct(InfoOf(*session->session), info);
}

fovea_status fovea_cache_select(fovea_session* session, const uint32_t* texts, uint32_t count, fovea_error* error) {
  return WithSession(session, session, "", error,
                     [&](Session& s, Reporter& reporter) { return SelectTexts(s, texts, count, reporter); });
}

fovea_status fovea_cache_get_rows(const fovea_session* session, uint32_t text, uint32_t* rows, fovea_error* error) {
  return WithSession(session, rows, "rows is NULL", error, [&](const Session& s, Reporter& reporter) {
    const Status status = CheckText(s, text, reporter);
    if (status.ok()) *rows = s.cache.rows[text];
    return status;
  });
}

fovea_status fovea_cache_rewind(fovea_session* session, uint32_t text, uint32_t rows, fovea_error* error) {
  return WithSession(session, session, "", error,
                     [&](Session& s, Reporter& reporter) { return RewindText(s, text, rows, reporter); });
}

fovea_status fovea_cache_fork(fovea_session* session, uint32_t from, uint32_t to, fovea_error* error) {
  return WithSession(session, session, "", error,
                     [&](Session& s, Reporter& reporter) { return ForkText(s, from, to, reporter); });
}

fovea_status fovea_cache_reorder(fovea_session* session, const uint32_t* from, uint32_t count, fovea_error* error) {
  const void* needed = count == 0 ? static_cast<const void*>(session) : from;
  return WithSession(session, needed, "from is NULL", error,
                     [&](Session& s, Reporter& reporter) { return ReorderTexts(s, from, count, reporter); });
}

fovea_status fovea_cache_saved_size(const fovea_session* session, uint32_t text, uint64_t* size, fovea_error* error) {
  return WithSession(session, size, "size is NULL", error,
                     [&](const Session& s, Reporter& reporter) { return SavedTextSize(s, text, size, reporter); });
}

fovea_status fovea_cache_save(const fovea_session* session, uint32_t text, void* memory, uint64_t size,
                              fovea_error* error) {
  return WithSession(session, memory, "memory is NULL", error,
                     [&](const Session& s, Reporter& reporter) { return SaveText(s, text, memory, size, reporter); });
}

fovea_status fovea_cache_restore(fovea_session* session, uint32_t text, const void* memory, uint64_t size,
                                 fovea_error* error) {
  return WithSession(session, memory, "memory is NULL", error,
                     [&](Session& s, Reporter& reporter) { return RestoreText(s, text, memory, size, reporter); });
}

}  // extern "C"
