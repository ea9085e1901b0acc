// Carried values (recurrent state): kept from run to run. Each has two buffers in the state block; a run reads one and
// writes the other, and they swap after a finished run. A run that fails or is cancelled keeps the state it read.
#include <string.h>

#include "runtime/base/checked.h"
#include "runtime/session/session.h"

namespace fovea {
namespace {

// The header before saved rows. All numbers and rows are little-endian, which is also their layout in memory on every
// machine that fovea supports.
struct SavedHeader {
  uint8_t magic[8];
  uint64_t size;      // bytes in all
  uint64_t checksum;  // the blob's
  uint32_t program, count;
};
constexpr uint8_t kSavedMagic[8] = {'F', 'O', 'V', 'E', 'A', 'S', 'T', '1'};
struct SavedValue {
  uint32_t input, rows;
};

uint64_t RowBytesOf(const Session& session, const Carried& carried) {
  return session.plan->values[carried.input].row_bytes;
}
uint32_t BoundRows(const Session& session, const Carried& carried) {
  return session.space_rows[session.value(carried.input).space].rows;
}

SavedHeader HeaderOf(const Session& session) {
  SavedHeader header = {};
  memcpy(header.magic, kSavedMagic, sizeof(kSavedMagic));
  header.size = sizeof(SavedHeader) + session.carried_count * sizeof(SavedValue);
  for (uint32_t i = 0; i < session.carried_count; ++i) {
    header.size += BoundRows(session, session.carried[i]) * RowBytesOf(session, session.carried[i]);
  }
  header.checksum = reinterpret_cast<const BlobHeader*>(session.model->blob.bytes.data)->checksum;
  header.program = static_cast<uint32_t>(&session.program() - session.model->blob.programs.data);
  header.count = session.carried_count;
  return header;
}

Status CheckIdleAndBound(const Session& session, Reporter& reporter) {
  FOVEA_TRY(CheckIdle(session, reporter));
  for (uint32_t i = 0; i < session.carried_count; ++i) {
    const uint32_t space = session.value(session.carried[i].input).space;
    if (!session.spaces[space].bound)
      return reporter.Fail(FOVEA_E_ORDER, "a space has no segments yet: bind its segments first", 0, space);
  }
  return kOk;
}

}  // namespace

const Carried* FindCarried(const Session& session, uint32_t value) {
  for (uint32_t i = 0; i < session.carried_count; ++i) {
    const Carried& carried = session.carried[i];
    if (carried.input == value || carried.output == value) return &carried;
  }
  return nullptr;
}

void UseCarried(Session& session) {
  for (uint32_t i = 0; i < session.carried_count; ++i) {
    const Carried& carried = session.carried[i];
    session.values[carried.input] = carried.read;
    session.values[carried.output] = carried.write;
  }
}

void ClearCarried(Session& session, uint32_t space) {
  for (uint32_t i = 0; i < session.carried_count; ++i) {
    const Carried& carried = session.carried[i];
    const uint32_t own = session.value(carried.input).space;
    if (space != kBlobNone && space != own) continue;
    memset(carried.read, 0, static_cast<size_t>(session.spaces[own].max_rows * RowBytesOf(session, carried)));
  }
}

void PassOnCarried(Session& session) {
  for (uint32_t i = 0; i < session.carried_count; ++i) {
    Carried& carried = session.carried[i];
    uint8_t* const written = carried.write;
    carried.write = carried.read;
    carried.read = written;
  }
  UseCarried(session);
}

void ReorderCarried(Session& session, const uint32_t* from, uint32_t count) {
  for (uint32_t i = 0; i < session.carried_count; ++i) {
    const Carried& carried = session.carried[i];
    const size_t bytes = static_cast<size_t>(RowBytesOf(session, carried));
    for (uint32_t row = 0; row < count; ++row)
      memcpy(carried.write + row * bytes, carried.read + from[row] * bytes, bytes);
  }
  PassOnCarried(session);
}

uint8_t* FinishedRows(const Session& session, uint32_t value) {
  const Carried* carried = FindCarried(session, value);
  if (carried == nullptr) return session.values[value];
  return carried->output == value ? carried->read : carried->write;
}

Status SavedSize(const Session& session, uint64_t* size, Reporter& reporter) {
  FOVEA_TRY(CheckIdleAndBound(session, reporter));
  *size = HeaderOf(session).size;
  return kOk;
}

Status SaveCarried(const Session& session, void* memory, uint64_t size, Reporter& reporter) {
  FOVEA_TRY(CheckIdleAndBound(session, reporter));
  const SavedHeader header = HeaderOf(session);
  if (size < header.size)
    return reporter.Fail(FOVEA_E_TOO_SMALL, "the memory for the saved state is too small", header.size, size);
  uint8_t* to = static_cast<uint8_t*>(memory);
  const auto put = [&to](const void* from, uint64_t bytes) {
    if (bytes != 0) memcpy(to, from, static_cast<size_t>(bytes));
    to += bytes;
  };
  put(&header, sizeof(header));
  for (uint32_t i = 0; i < session.carried_count; ++i) {
    const SavedValue value = {session.carried[i].input, BoundRows(session, session.carried[i])};
    put(&value, sizeof(value));
  }
  for (uint32_t i = 0; i < session.carried_count; ++i) {
    const Carried& carried = session.carried[i];
    put(carried.read, BoundRows(session, carried) * RowBytesOf(session, carried));
  }
  return kOk;
}

Status RestoreCarried(Session& session, const void* memory, uint64_t size, Reporter& reporter) {
  FOVEA_TRY(CheckIdleAndBound(session, reporter));
  const SavedHeader own = HeaderOf(session);
  SavedHeader saved = {};
  if (size < sizeof(saved)) return reporter.Fail(FOVEA_E_STATE, "the bytes are not a saved state", sizeof(saved), size);
  memcpy(&saved, memory, sizeof(saved));
  if (memcmp(saved.magic, own.magic, sizeof(own.magic)) != 0) {
    return reporter.Fail(FOVEA_E_STATE, "the bytes are not a saved state");
  }
  if (saved.checksum != own.checksum || saved.program != own.program || saved.count != own.count) {
    return reporter.Fail(FOVEA_E_STATE, "the state was saved from another program or model", own.checksum,
                         saved.checksum);
  }
  const uint8_t* from = static_cast<const uint8_t*>(memory) + sizeof(saved);
  if (size >= sizeof(saved) + own.count * sizeof(SavedValue)) {
    for (uint32_t i = 0; i < own.count; ++i, from += sizeof(SavedValue)) {
      SavedValue value;
      memcpy(&value, from, sizeof(value));
      const uint32_t rows = BoundRows(session, session.carried[i]);
      if (value.input == session.carried[i].input && value.rows == rows) continue;
      reporter.tensor = session.carried[i].input;
      return reporter.Fail(FOVEA_E_STATE, "the state was saved with another number of rows", rows, value.rows);
    }
  }
  if (saved.size != own.size || size < own.size) {
    return reporter.Fail(FOVEA_E_STATE, "the saved state is truncated", own.size,
                         size < saved.size ? size : saved.size);
  }
  for (uint32_t i = 0; i < own.count; ++i) {
    const uint64_t bytes = BoundRows(session, session.carried[i]) * RowBytesOf(session, session.carried[i]);
    if (bytes != 0) memcpy(session.carried[i].read, from, static_cast<size_t>(bytes));
    from += bytes;
  }
  session.finished = false;
  return kOk;
}

Status ForgetCarried(Session& session, Reporter& reporter) {
  FOVEA_TRY(CheckIdle(session, reporter));
  ClearCarried(session, kBlobNone);
  if (session.carried_count != 0) session.finished = false;
  return kOk;
}

Status ResetSession(Session& session, Reporter& reporter) {
  FOVEA_TRY(ForgetCarried(session, reporter));
  ClearTexts(session);
  return kOk;
}

}  // namespace fovea
