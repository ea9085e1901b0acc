// Writes a sparse tap to the caller's arrays: by line, entry by entry, or by key.
#include "runtime/session/session.h"

namespace fovea {
namespace {

// Calls f(line, key, value) for every entry, line by line, and end(line) after each line.
template <typename F, typename End>
void ForEachEntry(const WeightSink& sink, const F& f, const End& end) {
  const uint32_t slots = sink.slots();
  for (uint32_t row = 0; row < sink.row_count; ++row) {
    for (uint32_t slot = 0; slot < slots; ++slot) {
      const uint32_t line = row * slots + slot;
      const size_t first = sink.FirstEntry(row, slot);
      for (uint32_t i = 0; i < sink.counts[line]; ++i) f(line, sink.keys[first + i], sink.values[first + i]);
      end(line);
    }
  }
}

// Counting sort: each key's position in the arrays advances with each entry and ends where the next key's entries
// begin.
void WriteByKey(const WeightSink& sink, uint32_t key_rows, const fovea_sparse_map& to) {
  for (uint64_t k = 0; k <= key_rows; ++k) to.offsets[k] = 0;
  ForEachEntry(
      sink, [&](uint32_t, uint32_t key, float) { ++to.offsets[uint64_t{key} + 1]; }, [](uint32_t) {});
  for (uint64_t k = 0; k < key_rows; ++k) to.offsets[k + 1] += to.offsets[k];
  const auto place = [&](uint32_t line, uint32_t key, float value) {
    const uint64_t at = to.offsets[key]++;
    to.lines[at] = line;
    to.values[at] = value;
  };
  ForEachEntry(sink, place, [](uint32_t) {});
  for (uint64_t k = key_rows; k > 0; --k) to.offsets[k] = to.offsets[k - 1];
  to.offsets[0] = 0;
}

}  // namespace

uint64_t CountEntries(const Tap& tap) {
  uint64_t count = 0;
  const uint64_t lines = uint64_t{tap.sink.row_count} * tap.sink.slots();
  for (uint64_t line = 0; line < lines && tap.sink.sparse(); ++line) count += tap.sink.counts[line];
  return count;
}

void WriteSparse(const Session& session, const Tap& tap, const fovea_sparse_map& to) {
  const Op& op = session.model->Operation(session.program(), tap.asked.step);
  if (to.layout == FOVEA_SPARSE_CSC) return WriteByKey(tap.sink, session.space_rows[op.inputs[1].space].rows, to);
  const bool by_line = to.layout == FOVEA_SPARSE_CSR;
  uint64_t at = 0;
  if (by_line) to.offsets[0] = 0;
  const auto write = [&](uint32_t line, uint32_t key, float value) {
    if (!by_line) to.lines[at] = line;
    to.keys[at] = key;
    to.values[at++] = value;
  };
  ForEachEntry(tap.sink, write, [&](uint32_t line) {
    if (by_line) to.offsets[uint64_t{line} + 1] = at;
  });
}

}  // namespace fovea
