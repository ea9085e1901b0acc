// The paged KV cache: which pages belong to which text (sequence), and how texts grow, shrink and share pages.
#include "runtime/session/cache.h"

#include <string.h>

#include <algorithm>

#include "runtime/session/session.h"

namespace fovea {
namespace {

// The most pages of one text: all rows, or only rows that a sliding window still sees while a run adds rows.
uint32_t MostPages(const Cache& cache, const SpaceState& space, uint32_t window, uint32_t new_rows) {
  const uint32_t all = PagesOf(space.max_segment_rows);
  if (window == 0) return all;
  return std::min(all, PagesOf(uint64_t{window} + cache.rewind_rows + new_rows) + 1);
}

// The most pages of `texts` texts that have `rows` rows together.
uint64_t MostPagesOfRows(uint64_t rows, uint64_t texts) {
  return rows <= texts ? rows : texts + (rows - texts) / kPageRows;
}

void PlaceSpace(Session& s, uint32_t new_rows, Arena& state, bool placing, CachedSpace* space) {
  const Cache& cache = s.cache;
  const SpaceState& limits = s.spaces[space->space];
  const uint32_t most = MostPages(cache, limits, space->window, new_rows);
  uint64_t pages = uint64_t{most} * cache.texts;
  if (space->window == 0) pages = std::min(pages, MostPagesOfRows(limits.cached_rows, cache.texts));
  space->page_count = static_cast<uint32_t>(std::min<uint64_t>(pages, kBlobNone));
  for (space->table_size = 1; space->table_size < most;) space->table_size *= 2;
  space->tables = state.Take<uint32_t>(uint64_t{cache.texts} * space->table_size);
  space->first = state.Take<uint32_t>(cache.texts);
  space->end = state.Take<uint32_t>(cache.texts);
  space->uses = state.Take<uint32_t>(space->page_count);
  space->unused = state.Take<uint32_t>(space->page_count);
  space->unused_count = state.Take<uint32_t>(1);
  if (!placing) return;
  // Pages are given out in order, so the rows of a text that grows alone are contiguous.
  for (uint32_t i = 0; i < space->page_count; ++i) space->unused[i] = space->page_count - 1 - i;
  *space->unused_count = space->page_count;
  space->pages = {space->tables, cache.selected, space->table_size};
  s.space_rows[space->space].pages = &space->pages;
}

void Release(const CachedSpace& space, uint32_t text, uint32_t number) {
  uint32_t& page = space.Page(text, number);
  if (--space.uses[page] == 0) space.unused[(*space.unused_count)++] = page;
  page = 0;
}

// Whether a text must not write to the page of its last row because another text shares it.
bool SharesLast(const Cache& cache, const CachedSpace& space, uint32_t text) {
  const uint32_t rows = cache.rows[text];
  return rows % kPageRows != 0 && space.uses[space.Page(text, rows / kPageRows)] > 1;
}

// Replaces this shared page by a copy of the text's own (copy on write).
void CopyLast(const Cache& cache, uint32_t s, uint32_t text) {
  const CachedSpace& space = cache.spaces[s];
  const uint32_t rows = cache.rows[text] % kPageRows;
  uint32_t& page = space.Page(text, cache.rows[text] / kPageRows);
  const uint32_t from = page, to = space.unused[--*space.unused_count];
  --space.uses[from];
  space.uses[to] = 1;
  page = to;
  for (uint32_t v = 0; v < cache.value_count; ++v) {
    const CachedValue& value = cache.values[v];
    if (value.space != s) continue;
    const size_t bytes = size_t{kPageRows} * value.row_bytes;
    memcpy(value.rows + to * bytes, value.rows + from * bytes, size_t{rows} * value.row_bytes);
  }
}

uint32_t NewRows(const Session& session, uint32_t segment) {
  return session.space_rows[session.cache.source].segments.length(segment);
}

Status CheckLengths(const Session& session, Reporter& reporter) {
  const Cache& cache = session.cache;
  const uint32_t segments = session.space_rows[cache.source].segments.count;
  if (segments > cache.selected_count) {
    return reporter.Fail(FOVEA_E_SEGMENTS, "the input has more segments than selected texts", cache.selected_count,
                         segments);
  }
  for (uint32_t i = 0; i < segments; ++i) {
    const uint64_t rows = uint64_t{cache.rows[cache.selected[i]]} + NewRows(session, i);
    if (rows > cache.max_rows) {
      return reporter.Fail(FOVEA_E_LENGTH, "a text becomes longer than the session or the model allows", cache.max_rows,
                           rows, i);
    }
  }
  return kOk;
}

// Whether a space has pages for all new rows. A page shared by two of the texts is copied once.
Status CheckPages(const Session& session, const CachedSpace& space, Reporter& reporter) {
  const Cache& cache = session.cache;
  const uint32_t segments = session.space_rows[cache.source].segments.count;
  uint64_t needed = 0;
  const auto each_shared = [&](auto f) {
    for (uint32_t i = 0; i < segments; ++i) {
      const uint32_t text = cache.selected[i], rows = cache.rows[text];
      if (NewRows(session, i) > 0 && rows % kPageRows != 0) f(space.uses[space.Page(text, rows / kPageRows)], i);
    }
  };
  // The last text that shares a page may write to it. The marks are kept in the scratch that is used to copy tables.
  each_shared([&](uint32_t& uses, uint32_t i) {
    cache.copy[i] = uses > 1 ? 1 : 0;
    uses -= cache.copy[i];
    needed += cache.copy[i];
  });
  each_shared([&](uint32_t& uses, uint32_t i) { uses += cache.copy[i]; });
  for (uint32_t i = 0; i < segments; ++i) {
    const uint32_t text = cache.selected[i];
    const uint32_t end = PagesOf(uint64_t{cache.rows[text]} + NewRows(session, i));
    needed += end > space.end[text] ? end - space.end[text] : 0;
  }
  if (needed <= *space.unused_count) return kOk;
  return reporter.Fail(FOVEA_E_ROWS, "the texts need more rows than the limit of their cached space",
                       uint64_t{*space.unused_count} * kPageRows, needed * kPageRows, space.space);
}

}  // namespace

void PlaceCache(const fovea_session_options& options, Session& s, Arena& fixed, Arena& state, bool placing) {
  if constexpr (!kKeepsRows) return;
  const Blob& blob = s.model->blob;
  Cache& cache = s.cache;
  const ProgramRecord& program = s.program();
  for (uint32_t i = 0; i < blob.spaces.count; ++i) {
    if (!s.spaces[i].used || blob.spaces[i].kind != SpaceKind::kCached) continue;
    ++cache.space_count;
    cache.source = blob.spaces[i].source;
  }
  if (cache.space_count == 0) return;
  const uint64_t before = state.needed();
  const SpaceState& source = s.spaces[cache.source];
  cache.texts = options.cached_texts == 0 ? source.max_segments : options.cached_texts;
  cache.rewind_rows = options.rewind_rows;
  cache.spaces = fixed.Take<CachedSpace>(cache.space_count);
  cache.selected = fixed.Take<uint32_t>(source.max_segments);
  cache.starts = fixed.Take<uint32_t>(source.max_segments);
  cache.rows = state.Take<uint32_t>(cache.texts);
  cache.least = state.Take<uint32_t>(cache.texts);
  cache.max_rows = UINT32_MAX;
  uint64_t copied = std::max(cache.texts, source.max_segments);
  uint32_t pages[kMaxSpaces], number[kMaxSpaces], count = 0;
  for (uint32_t i = 0; i < blob.spaces.count; ++i) {
    if (!s.spaces[i].used || blob.spaces[i].kind != SpaceKind::kCached) continue;
    CachedSpace space = {};
    space.space = i;
    space.window = blob.spaces[i].extra;
    CachedSpace* placed = placing ? &cache.spaces[count] : &space;
    *placed = space;
    PlaceSpace(s, source.max_segment_rows, state, placing, placed);
    cache.max_rows = std::min(cache.max_rows, s.spaces[i].max_segment_rows);
    copied = std::max(copied, uint64_t{cache.texts} * placed->table_size);
    pages[i] = placed->page_count;
    number[i] = count++;
  }
  cache.copy = fixed.Take<uint32_t>(copied + uint64_t{3} * cache.texts);
  const uint32_t inputs = program.value_count - program.operation_count;
  for (uint32_t v = inputs; v < program.value_count; ++v) {
    cache.value_count += s.model->Operation(program, v - inputs).def->appends ? 1 : 0;
  }
  cache.values = fixed.Take<CachedValue>(cache.value_count);
  uint32_t values = 0;
  for (uint32_t v = inputs; v < program.value_count; ++v) {
    const AppendOp* append = AsAppend(s.model->Operation(program, v - inputs));
    if (append == nullptr) continue;
    const OpValue& value = append->output;
    const StoredRows stored = append->StoredAs(options.cache_type == nullptr ? value.type : DType(*options.cache_type));
    const uint32_t row_bytes = stored.row_bytes();
    const CheckedSize rows = CheckedSize(pages[value.space]) * CheckedSize(kPageRows);
    void* memory = state.TakeBytes(rows * CheckedSize(row_bytes) + CheckedSize(kGemmSlack));
    if (!placing) continue;
    cache.values[values++] = {v, number[value.space], stored, row_bytes, static_cast<uint8_t*>(memory)};
    s.values[v] = static_cast<uint8_t*>(memory);
    if (options.cache_type != nullptr) s.space_rows[value.space].type = *options.cache_type;
  }
  s.info.cache_bytes = state.needed() - before;
  s.info.cached_texts = cache.texts;
  if (!placing) return;
  s.space_rows[cache.source].starts = cache.starts;
  cache.selected_count = std::min(cache.texts, source.max_segments);
  for (uint32_t i = 0; i < cache.selected_count; ++i) cache.selected[i] = i;
}

void FindStarts(Session& session) {
  const Cache& cache = session.cache;
  if (cache.source == kBlobNone || !session.spaces[cache.source].bound) return;
  const uint32_t segments = session.space_rows[cache.source].segments.count;
  for (uint32_t i = 0; i < segments; ++i) {
    cache.starts[i] = i < cache.selected_count ? cache.rows[cache.selected[i]] : 0;
  }
}

Status BeginAppending(Session& session, Reporter& reporter) {
  if constexpr (!kKeepsRows) return kOk;
  Cache& cache = session.cache;
  if (cache.source == kBlobNone) return kOk;
  FOVEA_TRY(CheckLengths(session, reporter));
  for (uint32_t s = 0; s < cache.space_count; ++s) FOVEA_TRY(CheckPages(session, cache.spaces[s], reporter));
  const uint32_t segments = session.space_rows[cache.source].segments.count;
  for (uint32_t s = 0; s < cache.space_count; ++s) {
    CachedSpace& space = cache.spaces[s];
    for (uint32_t i = 0; i < segments; ++i) {
      const uint32_t text = cache.selected[i], new_rows = NewRows(session, i);
      if (new_rows == 0) continue;
      if (SharesLast(cache, space, text)) CopyLast(cache, s, text);
      const uint32_t end = PagesOf(uint64_t{cache.rows[text]} + new_rows);
      while (space.end[text] < end) TakePage(space, text);
    }
  }
  return kOk;
}

void CommitAppended(Session& session) {
  if constexpr (!kKeepsRows) return;
  Cache& cache = session.cache;
  if (cache.source == kBlobNone) return;
  const uint32_t segments = session.space_rows[cache.source].segments.count;
  for (uint32_t i = 0; i < segments; ++i) {
    const uint32_t text = cache.selected[i];
    const uint32_t rows = cache.rows[text] += NewRows(session, i);
    for (uint32_t s = 0; s < cache.space_count; ++s) {
      const CachedSpace& space = cache.spaces[s];
      const uint64_t kept = uint64_t{space.window} + cache.rewind_rows;
      if (space.window == 0 || rows <= kept) continue;
      cache.least[text] = std::max(cache.least[text], rows - cache.rewind_rows);
      const auto first = static_cast<uint32_t>((rows - kept) / kPageRows);
      for (uint32_t& page = space.first[text]; page < first; ++page) Release(space, text, page);
    }
  }
}

Status SelectTexts(Session& session, const uint32_t* texts, uint32_t count, Reporter& reporter) {
  Cache& cache = session.cache;
  FOVEA_TRY(CheckIdle(session, reporter));
  if (cache.source == kBlobNone) return reporter.Fail(FOVEA_E_INDEX, "the program has no cached space (KV cache)");
  const uint32_t most = session.spaces[cache.source].max_segments;
  if (count > most)
    return reporter.Fail(FOVEA_E_SEGMENTS, "more texts are selected than the session has segments", most, count);
  std::fill_n(cache.copy, cache.texts, 0u);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t text = texts == nullptr ? i : texts[i];
    if (text >= cache.texts)
      return reporter.Fail(FOVEA_E_INDEX, "the session has no text of this number", cache.texts, text, i);
    if (cache.copy[text]++ != 0) return reporter.Fail(FOVEA_E_OPTION, "a text must not be selected twice", 1, text, i);
  }
  for (uint32_t i = 0; i < count; ++i) cache.selected[i] = texts == nullptr ? i : texts[i];
  cache.selected_count = count;
  session.finished = false;
  return kOk;
}

Status CheckText(const Session& session, uint32_t text, Reporter& reporter) {
  if (text < session.cache.texts) return kOk;
  return reporter.Fail(FOVEA_E_INDEX, "the session has no text of this number", session.cache.texts, text);
}

void TakePage(CachedSpace& space, uint32_t text) {
  const uint32_t page = space.unused[--*space.unused_count];
  space.uses[page] = 1;
  space.Page(text, space.end[text]++) = page;
}

void ReleaseText(Cache& cache, uint32_t text) {
  for (uint32_t s = 0; s < cache.space_count; ++s) {
    const CachedSpace& space = cache.spaces[s];
    for (uint32_t page = space.first[text]; page < space.end[text]; ++page) Release(space, text, page);
    space.first[text] = space.end[text] = 0;
  }
  cache.rows[text] = cache.least[text] = 0;
}

Status RewindText(Session& session, uint32_t text, uint32_t rows, Reporter& reporter) {
  Cache& cache = session.cache;
  FOVEA_TRY(CheckIdle(session, reporter));
  FOVEA_TRY(CheckText(session, text, reporter));
  if (rows > cache.rows[text]) {
    return reporter.Fail(FOVEA_E_LENGTH, "a text cannot be rewound to more rows than it has", cache.rows[text], rows);
  }
  if (rows == 0) {
    ReleaseText(cache, text);
    return kOk;
  }
  if (rows < cache.least[text]) {
    return reporter.Fail(FOVEA_E_LENGTH, "the cache has dropped the sliding window at this length: raise rewind_rows",
                         cache.least[text], rows);
  }
  cache.rows[text] = rows;
  for (uint32_t s = 0; s < cache.space_count; ++s) {
    const CachedSpace& space = cache.spaces[s];
    for (uint32_t end = PagesOf(rows); space.end[text] > end;) Release(space, text, --space.end[text]);
  }
  return kOk;
}

Status ForkText(Session& session, uint32_t from, uint32_t to, Reporter& reporter) {
  Cache& cache = session.cache;
  FOVEA_TRY(CheckIdle(session, reporter));
  FOVEA_TRY(CheckText(session, from, reporter));
  FOVEA_TRY(CheckText(session, to, reporter));
  if (from == to) return kOk;
  ReleaseText(cache, to);
  cache.rows[to] = cache.rows[from];
  cache.least[to] = cache.least[from];
  for (uint32_t s = 0; s < cache.space_count; ++s) {
    const CachedSpace& space = cache.spaces[s];
    space.first[to] = space.first[from];
    space.end[to] = PagesOf(cache.rows[from]);
    for (uint32_t page = space.first[to]; page < space.end[to]; ++page) {
      ++space.uses[space.Page(to, page) = space.Page(from, page)];
    }
  }
  return kOk;
}

Status ReorderTexts(Session& session, const uint32_t* from, uint32_t count, Reporter& reporter) {
  Cache& cache = session.cache;
  FOVEA_TRY(CheckIdle(session, reporter));
  if (count > cache.texts)
    return reporter.Fail(FOVEA_E_INDEX, "the order has more texts than the session", cache.texts, count);
  for (uint32_t i = 0; i < count; ++i) {
    if (from[i] >= cache.texts)
      return reporter.Fail(FOVEA_E_INDEX, "the session has no text of this number", cache.texts, from[i], i);
  }
  uint32_t *const rows = cache.copy, *const least = rows + cache.texts, *const first = least + cache.texts;
  uint32_t* const tables = first + cache.texts;
  for (uint32_t s = 0; s < cache.space_count; ++s) {
    const CachedSpace& space = cache.spaces[s];
    const size_t entries = space.table_size;
    memcpy(tables, space.tables, cache.texts * entries * sizeof(uint32_t));
    memcpy(first, space.first, cache.texts * sizeof(uint32_t));
    const auto copied = [&](uint32_t text, uint32_t page) { return tables[text * entries + (page & (entries - 1))]; };
    // References are added before old ones are released, so no page becomes unused in between.
    for (uint32_t i = 0; i < count; ++i) {
      for (uint32_t n = first[from[i]], end = PagesOf(cache.rows[from[i]]); n < end; ++n) {
        ++space.uses[copied(from[i], n)];
      }
    }
    for (uint32_t i = 0; i < count; ++i) {
      for (uint32_t page = space.first[i]; page < space.end[i]; ++page) Release(space, i, page);
    }
    for (uint32_t i = 0; i < count; ++i) {
      space.first[i] = first[from[i]];
      space.end[i] = PagesOf(cache.rows[from[i]]);
      for (uint32_t n = space.first[i]; n < space.end[i]; ++n) space.Page(i, n) = copied(from[i], n);
    }
  }
  memcpy(rows, cache.rows, cache.texts * sizeof(uint32_t));
  memcpy(least, cache.least, cache.texts * sizeof(uint32_t));
  for (uint32_t i = 0; i < count; ++i) cache.rows[i] = rows[from[i]], cache.least[i] = least[from[i]];
  return kOk;
}

void ClearTexts(Session& session) {
  for (uint32_t text = 0; text < session.cache.texts; ++text) ReleaseText(session.cache, text);
}

}  // namespace fovea
