// Rows that a session keeps from run to run, in pages that texts can share.
#ifndef FOVEA_RUNTIME_SESSION_CACHE_H_
#define FOVEA_RUNTIME_SESSION_CACHE_H_

#include "fovea/session.h"
#include "runtime/base/arena.h"
#include "runtime/ops/append.h"

namespace fovea {

struct Session;

// A value that `append` makes: rows of all pages of its space.
struct CachedValue {
  uint32_t value;
  uint32_t space;  // in Cache::spaces
  StoredRows stored;
  uint32_t row_bytes;
  uint8_t* rows;
};

// The pages of a cached space, and which text has which. Pages are counted from a text's first row on; a text has those
// of [first, end), and entry n & (table_size - 1) of its table says which is page n. All of it is indices, in the state
// block.
struct CachedSpace {
  uint32_t space;
  uint32_t window;  // of the past, only so many rows are seen; 0: all
  uint32_t page_count, table_size;
  uint32_t* tables;  // [texts, table_size]
  uint32_t* first;   // [texts]
  uint32_t* end;     // [texts]
  uint32_t* uses;    // [page_count] tables that a page stands in
  uint32_t* unused;  // [page_count] a stack of pages that stand in none
  uint32_t* unused_count;
  KeyPages pages;

  uint32_t& Page(uint32_t text, uint32_t number) const {
    return tables[size_t{text} * table_size + (number & (table_size - 1))];
  }
};

// A text: what was appended in runs that have finished. All cached spaces of a program have the same rows of it, or the
// last of them.
struct Cache {
  uint32_t source = kBlobNone;  // the space whose rows are appended; kBlobNone: nothing is kept
  uint32_t texts = 0;
  uint32_t max_rows = 0;     // of a text
  uint32_t rewind_rows = 0;  // so many of the last rows can be taken back where a window drops others
  CachedSpace* spaces = nullptr;
  CachedValue* values = nullptr;
  uint32_t space_count = 0, value_count = 0;
  // In the state block.
  uint32_t* rows = nullptr;   // [texts]
  uint32_t* least = nullptr;  // [texts] rows that are left at least when it is rewound, but for none
  // Segment i of the source goes on with text selected[i], from its row starts[i] on.
  uint32_t* selected = nullptr;  // [segments]
  uint32_t* starts = nullptr;    // [segments]
  uint32_t selected_count = 0;
  uint32_t* copy = nullptr;  // of the tables of one space and more: room for what is moved
};

// cache.cc
// What the session keeps, by limits that are resolved.
void PlaceCache(const fovea_session_options& options, Session& session, Arena& fixed, Arena& state, bool placing);
// Where segments of the source begin and what their cached spaces hold, by the texts that are selected.
void FindStarts(Session& session);
// Every text that is selected gets pages for its new rows, its own where it shares them. A call that fails changes
// nothing.
Status BeginAppending(Session& session, Reporter& reporter);
// The run has finished: its rows belong to the texts.
void CommitAppended(Session& session);

Status SelectTexts(Session& session, const uint32_t* texts, uint32_t count, Reporter& reporter);
Status CheckText(const Session& session, uint32_t text, Reporter& reporter);
Status RewindText(Session& session, uint32_t text, uint32_t rows, Reporter& reporter);
Status ForkText(Session& session, uint32_t from, uint32_t to, Reporter& reporter);
Status ReorderTexts(Session& session, const uint32_t* from, uint32_t count, Reporter& reporter);
// All texts are empty.
void ClearTexts(Session& session);

// cache_saved.cc
Status SavedTextSize(const Session& session, uint32_t text, uint64_t* size, Reporter& reporter);
Status SaveText(const Session& session, uint32_t text, void* memory, uint64_t size, Reporter& reporter);
Status RestoreText(Session& session, uint32_t text, const void* memory, uint64_t size, Reporter& reporter);

// For both.
void ReleaseText(Cache& cache, uint32_t text);
// The next unused page becomes page `end` of a text.
void TakePage(CachedSpace& space, uint32_t text);
inline uint32_t PagesOf(uint64_t rows) { return static_cast<uint32_t>(DivideUp(rows, kPageRows)); }

}  // namespace fovea

#endif  // FOVEA_RUNTIME_SESSION_CACHE_H_
