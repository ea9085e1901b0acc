// Implements the part of fovea/tap.h that writes recorded attention maps as a safetensors file.
#include <string.h>

#include "runtime/api/handles.h"
#include "runtime/ops/attention.h"

namespace fovea {
namespace {

constexpr uint64_t kAligned = 8;  // alignment of the memory, for offsets of 8 bytes

// Writes text, or only counts it if its memory is null.
class Text {
 public:
  explicit Text(char* at) : at_(at) {}
  uint64_t size() const { return size_; }

  void Put(char c) {
    if (at_ != nullptr) at_[size_] = c;
    ++size_;
  }
  void Put(const char* text) {
    for (; *text != '\0'; ++text) Put(*text);
  }
  void Number(uint64_t number) {
    char digits[20];
    uint32_t count = 0;
    do digits[count++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    while (count > 0) Put(digits[--count]);
  }
  // Writes text escaped for a JSON string.
  void Escaped(const char* text) {
    constexpr char kDigits[] = "0123456789abcdef";
    for (; *text != '\0'; ++text) {
      const auto byte = static_cast<uint8_t>(*text);
      if (byte == '"' || byte == '\\') Put('\\');
      if (byte >= 0x20) {
        Put(*text);
        continue;
      }
      Put("\\u00");
      Put(kDigits[byte >> 4]);
      Put(kDigits[byte & 15]);
    }
  }

 private:
  char* at_;
  uint64_t size_ = 0;
};

enum class Part { kLineOffsets, kKeys, kWeights, kQueryRows, kSpaceOffsets };

// A tensor of the file; absent if `is` is false. `of`: a tap or a space.
struct Entry {
  bool is;
  Part part;
  uint32_t of;
  uint32_t rank;
  uint64_t shape[3];

  uint64_t bytes() const {
    uint64_t size = part == Part::kLineOffsets ? 8 : 4;
    for (uint32_t i = 0; i < rank; ++i) size *= shape[i];
    return is ? size : 0;
  }
};

class File {
 public:
  explicit File(const Session& session) : s_(session) {}

  uint64_t Size() const {
    uint64_t size = 8 + HeaderSize();
    for (uint32_t i = 0; i < entries(); ++i) size += EntryAt(i).bytes();
    return size;
  }

  // `to` has room for Size() bytes.
  void Write(uint8_t* to) const {
    const uint64_t header = HeaderSize();
    memcpy(to, &header, 8);
    Text text(reinterpret_cast<char*>(to) + 8);
    WriteHeader(text);
    while (text.size() < header) text.Put(' ');
    uint8_t* at = to + 8 + header;
    for (uint32_t i = 0; i < entries(); ++i) {
      const Entry entry = EntryAt(i);
      if (entry.is) WriteEntry(i, entry, at);
      at += entry.bytes();
    }
  }

 private:
  const Blob& blob() const { return s_.model->blob; }
  const AttentionOp& StepOf(uint32_t tap) const {
    return *AsAttention(s_.model->Operation(s_.program(), s_.taps[tap].asked.step));
  }
  const char* StepName(uint32_t tap) const {
    const ProgramRecord& program = s_.program();
    const OperationRecord& record = blob().operations[program.first_operation + s_.taps[tap].asked.step];
    const uint32_t output = program.first_value + StepOf(tap).output.index;
    return blob().String(record.name == kBlobNone ? blob().values[output].name : record.name);
  }
  const char* SpaceName(uint32_t space) const { return blob().String(blob().spaces[space].name); }
  const Segments& SegmentsOf(uint32_t space) const { return s_.space_rows[space].segments; }

  // If an earlier operation has the same name, the tap's number is appended.
  void PutStep(uint32_t tap, Text& text) const {
    text.Escaped(StepName(tap));
    for (uint32_t i = 0; i < tap; ++i) {
      if (strcmp(StepName(i), StepName(tap)) != 0) continue;
      text.Put('#');
      text.Number(tap);
      return;
    }
  }

  uint32_t KeysOf(uint32_t tap, uint32_t row) const {
    const AttentionOp& op = StepOf(tap);
    const bool of_parent = op.spec.pairing == Pairing::kParent;
    const uint32_t segment = of_parent ? row : op.KeySegmentOf(s_.space_rows, SegmentsOf(op.queries().space).Of(row));
    return SegmentsOf(op.keys().space).length(segment);
  }
  // The longest line of a dense tap.
  uint32_t Longest(uint32_t tap) const {
    const Segments& keys = SegmentsOf(StepOf(tap).keys().space);
    uint32_t longest = 0;
    for (uint32_t i = 0; i < keys.count; ++i) longest = keys.length(i) > longest ? keys.length(i) : longest;
    return longest;
  }

  // Whether the rows or keys of a tapped operation are in the space, or in a descendant of it.
  bool Needs(uint32_t space) const {
    for (uint32_t tap = 0; tap < s_.tap_count; ++tap) {
      for (uint32_t side = 0; side < 2; ++side) {
        uint32_t of = side == 0 ? StepOf(tap).queries().space : StepOf(tap).keys().space;
        for (; of != kBlobNone; of = blob().spaces[of].parent) {
          if (of == space) return true;
        }
      }
    }
    return false;
  }

  // Offsets of lines come first, so that every number is aligned: one entry per tap, then three per tap, then one per
  // space.
  uint32_t entries() const { return 4 * s_.tap_count + blob().spaces.count; }
  uint32_t FirstOf(uint32_t tap) const { return s_.tap_count + 3 * tap; }
  Entry EntryAt(uint32_t i) const {
    const uint32_t taps = s_.tap_count;
    if (i >= 4 * taps) {
      const uint32_t space = i - 4 * taps;
      const bool needed = Needs(space);
      return {needed, Part::kSpaceOffsets, space, 1, {needed ? uint64_t{SegmentsOf(space).count} + 1 : 0, 0, 0}};
    }
    const bool offsets = i < taps;
    const uint32_t tap = offsets ? i : (i - taps) / 3, part = offsets ? 3 : (i - taps) % 3;
    const WeightSink& sink = s_.taps[tap].sink;
    const uint64_t rows = sink.row_count, lines = rows * sink.slots();
    if (part == 3) return {sink.sparse(), Part::kLineOffsets, tap, 1, {lines + 1, 0, 0}};
    if (part == 2) return {true, Part::kQueryRows, tap, 1, {rows, 0, 0}};
    const Part wanted = part == 0 ? Part::kKeys : Part::kWeights;
    if (sink.sparse()) return {true, wanted, tap, 1, {CountEntries(s_.taps[tap]), 0, 0}};
    return {wanted == Part::kWeights, wanted, tap, 3, {rows, sink.slots(), Longest(tap)}};
  }

  uint64_t HeaderSize() const {
    Text text(nullptr);
    WriteHeader(text);
    return (text.size() + kAligned - 1) / kAligned * kAligned;
  }

  void WriteHeader(Text& text) const {
    text.Put("{\"__metadata__\":{\"fovea_taps\":\"1\",\"program\":\"");
    text.Escaped(blob().String(s_.program().name));
    text.Put("\",\"taps\":\"");
    text.Number(s_.tap_count);
    text.Put('"');
    for (uint32_t tap = 0; tap < s_.tap_count; ++tap) DescribeTap(tap, text);
    for (uint32_t space = 0; space < blob().spaces.count; ++space) {
      if (!Needs(space)) continue;
      text.Put(",\"parent.");
      text.Escaped(SpaceName(space));
      text.Put("\":\"");
      if (blob().spaces[space].parent != kBlobNone) text.Escaped(SpaceName(blob().spaces[space].parent));
      text.Put('"');
    }
    text.Put('}');
    uint64_t offset = 0;
    for (uint32_t i = 0; i < entries(); ++i) {
      const Entry entry = EntryAt(i);
      if (!entry.is) continue;
      text.Put(",\"");
      entry.part == Part::kSpaceOffsets ? text.Escaped(SpaceName(entry.of)) : PutStep(entry.of, text);
      constexpr const char* kNames[] = {".line_offsets", ".keys", ".weights", ".query_rows", ".offsets"};
      constexpr const char* kTypes[] = {"I64", "I32", "F32", "I32", "I32"};
      text.Put(kNames[static_cast<uint32_t>(entry.part)]);
      text.Put("\":{\"dtype\":\"");
      text.Put(kTypes[static_cast<uint32_t>(entry.part)]);
      text.Put("\",\"shape\":[");
      for (uint32_t k = 0; k < entry.rank; ++k) {
        if (k > 0) text.Put(',');
        text.Number(entry.shape[k]);
      }
      text.Put("],\"data_offsets\":[");
      text.Number(offset);
      text.Put(',');
      text.Number(offset += entry.bytes());
      text.Put("]}");
    }
    text.Put('}');
  }

  void DescribeTap(uint32_t tap, Text& text) const {
    const fovea_tap& asked = s_.taps[tap].asked;
    const AttentionOp& op = StepOf(tap);
    const auto key = [&](const char* name) {
      text.Put(",\"tap.");
      text.Number(tap);
      text.Put(name);
      text.Put("\":\"");
    };
    key(".step");
    PutStep(tap, text);
    text.Put('"');
    key(".query_space");
    text.Escaped(SpaceName(op.queries().space));
    text.Put('"');
    key(".key_space");
    text.Escaped(SpaceName(op.keys().space));
    text.Put('"');
    key(".heads");
    bool first = true;
    for (uint32_t head = 0; head < op.spec.heads; ++head) {
      if (asked.heads != 0 && (asked.heads >> head & 1) == 0) continue;
      if (!first) text.Put(' ');
      text.Number(head);
      first = false;
    }
    text.Put('"');
    constexpr const char* kReductions[] = {"none", "mean", "max"};
    key(".reduce");
    text.Put(kReductions[asked.reduce]);
    text.Put('"');
    key(".keeps");
    text.Put(asked.what == FOVEA_KEEP_SCORES ? "scores" : "weights");
    text.Put('"');
  }

  void WriteEntry(uint32_t i, const Entry& entry, uint8_t* at) const {
    if (entry.part == Part::kSpaceOffsets) {
      memcpy(at, SegmentsOf(entry.of).offsets, entry.bytes());
      return;
    }
    const Tap& tap = s_.taps[entry.of];
    if (entry.part == Part::kQueryRows) {
      if (entry.bytes() != 0) memcpy(at, tap.rows, entry.bytes());
    } else if (entry.part == Part::kLineOffsets) {
      WriteSparseTap(i, entry, at);
    } else if (entry.part == Part::kWeights && !tap.sink.sparse()) {
      WriteDense(entry, at);
    }
  }

  // Writes the offsets, and in the same pass the keys and weights to their final places.
  void WriteSparseTap(uint32_t i, const Entry& entry, uint8_t* at) const {
    fovea_sparse_map arrays = {};
    arrays.layout = FOVEA_SPARSE_CSR;
    arrays.offsets = reinterpret_cast<uint64_t*>(at);
    uint64_t to_keys = 0;
    for (; i < FirstOf(entry.of); ++i) to_keys += EntryAt(i).bytes();
    arrays.keys = reinterpret_cast<uint32_t*>(at + to_keys);
    arrays.values = reinterpret_cast<float*>(at + to_keys + 4 * CountEntries(s_.taps[entry.of]));
    WriteSparse(s_, s_.taps[entry.of], arrays);
  }

  // The columns after the keys of a line are zeros.
  void WriteDense(const Entry& entry, uint8_t* at) const {
    const WeightSink& sink = s_.taps[entry.of].sink;
    const uint64_t longest = entry.shape[2];
    for (uint32_t row = 0; row < sink.row_count; ++row) {
      const uint64_t keys = KeysOf(entry.of, s_.taps[entry.of].rows[row]);
      for (uint32_t slot = 0; slot < sink.slots(); ++slot, at += 4 * longest) {
        const uint64_t line = uint64_t{row} * sink.slots() + slot;
        if (keys != 0) memcpy(at, sink.values + line * sink.stride, 4 * keys);
        memset(at + 4 * keys, 0, 4 * (longest - keys));
      }
    }
  }

  const Session& s_;
};

Status Check(const fovea_session* handle, const void* out, Reporter& reporter) {
  if (!IsLive(handle)) return reporter.Fail(FOVEA_E_HANDLE, "invalid session handle");
  if constexpr (!kHasTaps) return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks taps");
  if (out == nullptr) return reporter.Fail(FOVEA_E_NULL, "an argument is NULL");
  if (!handle->session->finished) {
    return reporter.Fail(FOVEA_E_ORDER, "no run has finished since the segments were set");
  }
  return kOk;
}

Status Write(const fovea_session* session, void* memory, uint64_t size, Reporter& reporter) {
  FOVEA_TRY(Check(session, memory, reporter));
  if constexpr (kHasTaps) {
    const uint64_t over = reinterpret_cast<uintptr_t>(memory) % kAligned;
    if (over != 0) return reporter.Fail(FOVEA_E_MISALIGNED, "memory needs an alignment of 8 bytes", kAligned, over);
    const File file(*session->session);
    const uint64_t needed = file.Size();
    if (size < needed) return reporter.Fail(FOVEA_E_TOO_SMALL, "the memory is too small", needed, size);
    file.Write(static_cast<uint8_t*>(memory));
  }
  return kOk;
}

}  // namespace
}  // namespace fovea

using namespace fovea;  // NOLINT: this file is the border

extern "C" {

fovea_status fovea_taps_file_size(const fovea_session* session, uint64_t* size, fovea_error* error) {
  Reporter reporter(error);
  const Status status = Check(session, size, reporter);
  if (!status.ok()) return status.code;
  if constexpr (kHasTaps) *size = File(*session->session).Size();
  return FOVEA_OK;
}

fovea_status fovea_taps_file_write(const fovea_session* session, void* memory, uint64_t size, fovea_error* error) {
  Reporter reporter(error);
  return Write(session, memory, size, reporter).code;
}

}  // extern "C"
