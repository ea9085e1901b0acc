// Saves a text: a header, the first saved row of each cached space, descriptions of the values, then their rows.
#include <string.h>

#include <algorithm>

#include "runtime/session/session.h"

namespace fovea {
namespace {

// All numbers and rows are little-endian.
struct SavedHeader {
  uint8_t magic[8];
  uint64_t size;      // bytes in all
  uint64_t checksum;  // the blob's
  uint32_t program, spaces, values;
  uint32_t rows;   // the text's
  uint32_t least;  // fewest rows to rewind to
  uint32_t zero;
};
constexpr uint8_t kMagic[8] = {'F', 'O', 'V', 'E', 'A', 'T', 'X', '1'};
struct SavedValue {
  uint32_t value, type, row_bytes, zero;
};

// The first row of a text that a space keeps, regardless of pages.
uint32_t FirstRow(const Cache& cache, const CachedSpace& space, uint32_t rows) {
  const uint64_t kept = uint64_t{space.window} + cache.rewind_rows;
  return space.window == 0 || rows <= kept ? 0 : static_cast<uint32_t>(rows - kept);
}

SavedHeader HeaderOf(const Session& session, uint32_t text) {
  const Cache& cache = session.cache;
  SavedHeader header = {};
  memcpy(header.magic, kMagic, sizeof(kMagic));
  header.checksum = reinterpret_cast<const BlobHeader*>(session.model->blob.bytes.data)->checksum;
  header.program = static_cast<uint32_t>(&session.program() - session.model->blob.programs.data);
  header.spaces = cache.space_count;
  header.values = cache.value_count;
  header.rows = cache.rows[text];
  header.least = cache.least[text];
  return header;
}

uint64_t TablesSize(const SavedHeader& header) {
  return sizeof(header) + uint64_t{header.spaces} * sizeof(uint32_t) + uint64_t{header.values} * sizeof(SavedValue);
}

// Calls f(rows, bytes) for each contiguous piece of a value's rows of a text, from row `first` on.
template <typename F>
void ForEachPiece(const Cache& cache, uint32_t v, uint32_t text, uint32_t first, F f) {
  const CachedValue& value = cache.values[v];
  const CachedSpace& space = cache.spaces[value.space];
  for (uint32_t row = first, rows = cache.rows[text]; row < rows;) {
    const uint32_t in_page = row % kPageRows, count = std::min(rows - row, kPageRows - in_page);
    const size_t at = size_t{space.Page(text, row / kPageRows)} * kPageRows + in_page;
    f(value.rows + at * value.row_bytes, size_t{count} * value.row_bytes);
    row += count;
  }
}

template <typename FirstOf>
uint64_t RowsSize(const Cache& cache, uint32_t rows, FirstOf first_of) {
  uint64_t size = 0;
  for (uint32_t v = 0; v < cache.value_count; ++v) {
    size += uint64_t{rows - first_of(cache.values[v].space)} * cache.values[v].row_bytes;
  }
  return size;
}

Status CheckSaved(const Session& session, uint32_t text, Reporter& reporter) {
  FOVEA_TRY(CheckIdle(session, reporter));
  return CheckText(session, text, reporter);
}

uint64_t SizeOf(const Session& session, uint32_t text) {
  const Cache& cache = session.cache;
  const uint32_t rows = cache.rows[text];
  return TablesSize(HeaderOf(session, text)) +
         RowsSize(cache, rows, [&](uint32_t s) { return FirstRow(cache, cache.spaces[s], rows); });
}

// Checks that the header fits this session and that its tables are complete.
Status CheckHeader(const SavedHeader& own, const SavedHeader& saved, uint64_t size, Reporter& reporter) {
  if (memcmp(saved.magic, kMagic, sizeof(kMagic)) != 0 || saved.zero != 0) {
    return reporter.Fail(FOVEA_E_STATE, "the bytes are not a saved text");
  }
  if (saved.checksum != own.checksum || saved.program != own.program || saved.spaces != own.spaces ||
      saved.values != own.values) {
    return reporter.Fail(FOVEA_E_STATE, "the text was saved from another program or model", own.checksum,
                         saved.checksum);
  }
  const uint64_t tables = TablesSize(own);
  if (size < tables) return reporter.Fail(FOVEA_E_STATE, "the saved text is truncated", tables, size);
  return kOk;
}

Status CheckValues(const Cache& cache, const uint8_t* from, Reporter& reporter) {
  for (uint32_t v = 0; v < cache.value_count; ++v, from += sizeof(SavedValue)) {
    SavedValue saved;
    memcpy(&saved, from, sizeof(saved));
    const CachedValue& own = cache.values[v];
    const auto type = static_cast<uint32_t>(own.stored.type);
    const bool same = saved.value == own.value && saved.type == type && saved.row_bytes == own.row_bytes;
    if (same && saved.zero == 0) continue;
    reporter.tensor = own.value;
    return reporter.Fail(FOVEA_E_STATE, "the saved text's rows have another type than this session's", type,
                         saved.type);
  }
  return kOk;
}

// Finds the rows of the saved text that this session keeps, and how far the text can be rewound afterwards.
Status CheckRows(const Cache& cache, const SavedHeader& saved, const uint32_t* saved_from, uint32_t* kept_from,
                 uint32_t* least, Reporter& reporter) {
  if (saved.rows > cache.max_rows) {
    return reporter.Fail(FOVEA_E_LENGTH, "the saved text is longer than the session allows", cache.max_rows,
                         saved.rows);
  }
  *least = saved.least;
  for (uint32_t s = 0; s < cache.space_count; ++s) {
    const CachedSpace& space = cache.spaces[s];
    const uint32_t seen = space.window == 0 || saved.rows <= space.window ? 0 : saved.rows - space.window;
    if (saved_from[s] > seen)
      return reporter.Fail(FOVEA_E_STATE, "the saved text lacks rows of the sliding window", seen, saved_from[s]);
    kept_from[s] = std::max(saved_from[s], FirstRow(cache, space, saved.rows));
    if (kept_from[s] > 0) *least = std::max(*least, kept_from[s] + space.window);
  }
  if (*least <= saved.rows) return kOk;
  return reporter.Fail(FOVEA_E_STATE, "the saved text's rewind limit is above its number of rows", saved.rows, *least);
}

// Checks that enough pages are unused, counting the pages that only the replaced text has.
Status CheckUnused(const Cache& cache, uint32_t text, uint32_t rows, const uint32_t* kept_from, Reporter& reporter) {
  for (uint32_t s = 0; s < cache.space_count; ++s) {
    const CachedSpace& space = cache.spaces[s];
    uint32_t unused = *space.unused_count;
    for (uint32_t page = space.first[text]; page < space.end[text]; ++page) {
      unused += space.uses[space.Page(text, page)] == 1 ? 1 : 0;
    }
    const uint32_t needed = PagesOf(rows) - kept_from[s] / kPageRows;
    if (needed <= unused) continue;
    return reporter.Fail(FOVEA_E_ROWS, "the texts need more rows than the limit of their cached space",
                         uint64_t{unused} * kPageRows, uint64_t{needed} * kPageRows, space.space);
  }
  return kOk;
}

}  // namespace

Status SavedTextSize(const Session& session, uint32_t text, uint64_t* size, Reporter& reporter) {
  FOVEA_TRY(CheckSaved(session, text, reporter));
  *size = SizeOf(session, text);
  return kOk;
}

Status SaveText(const Session& session, uint32_t text, void* memory, uint64_t size, Reporter& reporter) {
  FOVEA_TRY(CheckSaved(session, text, reporter));
  const Cache& cache = session.cache;
  SavedHeader header = HeaderOf(session, text);
  header.size = SizeOf(session, text);
  if (size < header.size)
    return reporter.Fail(FOVEA_E_TOO_SMALL, "the memory for the saved text is too small", header.size, size);
  uint8_t* to = static_cast<uint8_t*>(memory);
  const auto put = [&to](const void* from, size_t bytes) {
    memcpy(to, from, bytes);
    to += bytes;
  };
  put(&header, sizeof(header));
  const auto first_of = [&](uint32_t s) { return FirstRow(cache, cache.spaces[s], header.rows); };
  for (uint32_t s = 0; s < cache.space_count; ++s) {
    const uint32_t first = first_of(s);
    put(&first, sizeof(first));
  }
  for (uint32_t v = 0; v < cache.value_count; ++v) {
    const CachedValue& value = cache.values[v];
    const SavedValue saved = {value.value, static_cast<uint32_t>(value.stored.type), value.row_bytes, 0};
    put(&saved, sizeof(saved));
  }
  for (uint32_t v = 0; v < cache.value_count; ++v) {
    ForEachPiece(cache, v, text, first_of(cache.values[v].space), put);
  }
  return kOk;
}

Status RestoreText(Session& session, uint32_t text, const void* memory, uint64_t size, Reporter& reporter) {
  FOVEA_TRY(CheckSaved(session, text, reporter));
  Cache& cache = session.cache;
  SavedHeader saved = {};
  if (size < sizeof(saved)) return reporter.Fail(FOVEA_E_STATE, "the bytes are not a saved text", sizeof(saved), size);
  memcpy(&saved, memory, sizeof(saved));
  FOVEA_TRY(CheckHeader(HeaderOf(session, text), saved, size, reporter));
  const uint8_t* from = static_cast<const uint8_t*>(memory) + sizeof(saved);
  uint32_t saved_from[kMaxSpaces], kept_from[kMaxSpaces];
  memcpy(saved_from, from, cache.space_count * sizeof(uint32_t));
  from += cache.space_count * sizeof(uint32_t);
  FOVEA_TRY(CheckValues(cache, from, reporter));
  from += cache.value_count * sizeof(SavedValue);
  uint32_t least = 0;
  FOVEA_TRY(CheckRows(cache, saved, saved_from, kept_from, &least, reporter));
  const uint64_t expected = TablesSize(saved) + RowsSize(cache, saved.rows, [&](uint32_t s) { return saved_from[s]; });
  if (saved.size != expected || size < expected) {
    return reporter.Fail(FOVEA_E_STATE, "the saved text is truncated", expected, size < saved.size ? size : saved.size);
  }
  FOVEA_TRY(CheckUnused(cache, text, saved.rows, kept_from, reporter));

  ReleaseText(cache, text);
  cache.rows[text] = saved.rows;
  cache.least[text] = least;
  for (uint32_t s = 0; s < cache.space_count; ++s) {
    CachedSpace& space = cache.spaces[s];
    space.first[text] = space.end[text] = kept_from[s] / kPageRows;
    while (space.end[text] < PagesOf(saved.rows)) TakePage(space, text);
  }
  for (uint32_t v = 0; v < cache.value_count; ++v) {
    const CachedValue& value = cache.values[v];
    from += size_t{kept_from[value.space] - saved_from[value.space]} * value.row_bytes;
    ForEachPiece(cache, v, text, kept_from[value.space], [&](uint8_t* to, size_t bytes) {
      memcpy(to, from, bytes);
      from += bytes;
    });
  }
  session.finished = false;
  return kOk;
}

}  // namespace fovea
