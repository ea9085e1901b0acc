// The KV cache: rows that a session keeps from run to run, in pages that texts (sequences) can share.
#ifndef FOVEA_RUNTIME_SESSION_CACHE_H_
#define FOVEA_RUNTIME_SESSION_CACHE_H_

#include "fovea/session.h"
#include "runtime/base/arena.h"
#include "runtime/ops/append.h"

namespace fovea {

struct Session;

// A value that `append` writes: rows of all pages of its space.
struct CachedValue {
  uint32_t value;
  uint32_t space;  // in Cache::spaces
  StoredRows stored;
  uint32_t row_bytes;
  uint8_t* rows;
};

// The pages of a cached space, and which text has which. Pages are numbered from a text's first row; a text has pages
// [first, end), and entry n & (table_size - 1) of its table is the index of page n. Everything is an index, in the
// state block.
struct CachedSpace {
  uint32_t space;
  uint32_t window;  // a query sees at most this many past rows; 0: all
  uint32_t page_count, table_size;
  uint32_t* tables;  // [texts, table_size]
  uint32_t* first;   // [texts]
  uint32_t* end;     // [texts]
  uint32_t* uses;    // [page_count] number of tables that contain a page
  uint32_t* unused;  // [page_count] stack of unused pages
  uint32_t* unused_count;
  KeyPages pages;

  uint32_t& Page(uint32_t text, uint32_t number) const {
    return tables[size_t{text} * table_size + (number & (table_size - 1))];
  }
};

// The texts: rows appended in finished runs. All cached spaces of a program have the same rows of a text, or the last
// of them.
struct Cache {
  uint32_t source = kBlobNone;  // the space whose rows are appended; kBlobNone: no cache
  uint32_t texts = 0;
  uint32_t max_rows = 0;     // per text
  uint32_t rewind_rows = 0;  // last rows that can be rewound if a sliding window drops older ones
  CachedSpace* spaces = nullptr;
  CachedValue* values = nullptr;
  uint32_t space_count = 0, value_count = 0;
  // Stored in the state block.
  uint32_t* rows = nullptr;   // [texts]
  uint32_t* least = nullptr;  // [texts] the fewest rows to rewind to, except 0
  // Segment i of the source continues text selected[i], from its row starts[i] on.
  uint32_t* selected = nullptr;  // [segments]
  uint32_t* starts = nullptr;    // [segments]
  uint32_t selected_count = 0;
  uint32_t* copy = nullptr;  // scratch for moving tables and other arrays
};

// cache.cc
// Sizes and places the cache for resolved limits.
void PlaceCache(const fovea_session_options& options, Session& session, Arena& fixed, Arena& state, bool placing);
// Computes where segments of the source begin and what their cached spaces contain, from the selected texts.
void FindStarts(Session& session);
// Gives every selected text pages for its new rows, and a copy of its last page if that is shared. On failure nothing
// changes.
Status BeginAppending(Session& session, Reporter& reporter);
// After a finished run: adds its rows to the texts.
void CommitAppended(Session& session);

Status SelectTexts(Session& session, const uint32_t* texts, uint32_t count, Reporter& reporter);
Status CheckText(const Session& session, uint32_t text, Reporter& reporter);
Status RewindText(Session& session, uint32_t text, uint32_t rows, Reporter& reporter);
Status ForkText(Session& session, uint32_t from, uint32_t to, Reporter& reporter);
Status ReorderTexts(Session& session, const uint32_t* from, uint32_t count, Reporter& reporter);
// Makes all texts empty.
void ClearTexts(Session& session);

// cache_saved.cc
Status SavedTextSize(const Session& session, uint32_t text, uint64_t* size, Reporter& reporter);
Status SaveText(const Session& session, uint32_t text, void* memory, uint64_t size, Reporter& reporter);
Status RestoreText(Session& session, uint32_t text, const void* memory, uint64_t size, Reporter& reporter);

// Used by both files.
void ReleaseText(Cache& cache, uint32_t text);
// Makes the next unused page the page `end` of a text.
void TakePage(CachedSpace& space, uint32_t text);
inline uint32_t PagesOf(uint64_t rows) { return static_cast<uint32_t>(DivideUp(rows, kPageRows)); }

}  // namespace fovea

#endif  // FOVEA_RUNTIME_SESSION_CACHE_H_
