#include "runtime/blob/blob.h"

#include <string.h>

#include <initializer_list>

#include "runtime/base/arena.h"
#include "runtime/base/checked.h"
#include "runtime/blob/checksum.h"

namespace fovea {
namespace {

template <typename T>
Status Claim(ByteRange section, Reporter& reporter, Records<T>* records) {
  if (section.size % sizeof(T) != 0) {
    return reporter.Fail(FOVEA_E_SECTION, "section size is not a multiple of its records' size", sizeof(T),
                         section.size);
  }
  const uint64_t count = section.size / sizeof(T);
  if (count > kMaxRecords)
    return reporter.Fail(FOVEA_E_TOO_COMPLEX, "too many records in a section", kMaxRecords, count);
  *records = {reinterpret_cast<const T*>(section.data), static_cast<uint32_t>(count)};
  return kOk;
}

Status ClaimSection(SectionKind kind, ByteRange section, Reporter& reporter, Blob* blob) {
  switch (kind) {
    case SectionKind::kStrings:
      if (section.size == 0 || section.size >= kBlobNone || section.data[section.size - 1] != 0) {
        return reporter.Fail(FOVEA_E_SECTION, "strings do not end with a zero byte");
      }
      blob->strings = section;
      return kOk;
    case SectionKind::kMetadata:
      return Claim(section, reporter, &blob->metadata);
    case SectionKind::kSpaces:
      return Claim(section, reporter, &blob->spaces);
    case SectionKind::kTensors:
      return Claim(section, reporter, &blob->tensors);
    case SectionKind::kPrograms:
      return Claim(section, reporter, &blob->programs);
    case SectionKind::kValues:
      return Claim(section, reporter, &blob->values);
    case SectionKind::kOperations:
      return Claim(section, reporter, &blob->operations);
    case SectionKind::kOperands:
      return Claim(section, reporter, &blob->operands);
    case SectionKind::kAttributes:
      return Claim(section, reporter, &blob->attributes);
    case SectionKind::kText:
      blob->text = section;
      return kOk;
    case SectionKind::kWeights:
      blob->weights = section;
      return kOk;
    case SectionKind::kPacked:
      return kOk;  // checked when its layout fits
  }
  return kOk;  // a kind of a newer version
}

Status OpenSections(Reporter& reporter, Blob* blob) {
  uint32_t seen = 0;  // one bit per kind
  // Each section begins at or after the end of the previous one, so one pass finds any overlap.
  uint64_t free_from = sizeof(BlobHeader) + uint64_t{blob->sections.count} * sizeof(SectionRecord);
  for (uint32_t i = 0; i < blob->sections.count; ++i) {
    reporter.section = i;
    const SectionRecord& s = blob->sections[i];
    if (s.offset % kBlobAlignment != 0 || s.offset < free_from || !InBounds(s.offset, s.size, blob->bytes.size)) {
      return reporter.Fail(FOVEA_E_SECTION, "section is misaligned, out of order or out of bounds", blob->bytes.size,
                           s.size, s.offset);
    }
    free_from = s.offset + s.size;
    const uint32_t kind = static_cast<uint32_t>(s.kind);
    if (kind < 32 && s.kind != SectionKind::kPacked) {
      if ((seen >> kind) & 1) return reporter.Fail(FOVEA_E_SECTION, "section occurs twice", 1, 2);
      seen |= 1u << kind;
    }
    FOVEA_TRY(ClaimSection(s.kind, blob->Section(i), reporter, blob));
  }
  reporter.section = FOVEA_NOWHERE;
  const SectionKind required[] = {SectionKind::kStrings, SectionKind::kSpaces,     SectionKind::kPrograms,
                                  SectionKind::kValues,  SectionKind::kOperations, SectionKind::kOperands,
                                  SectionKind::kWeights};
  for (const SectionKind kind : required) {
    if (((seen >> static_cast<uint32_t>(kind)) & 1) == 0) {
      return reporter.Fail(FOVEA_E_SECTION, "a required section is missing", static_cast<uint32_t>(kind));
    }
  }
  return kOk;
}

}  // namespace

Status OpenBlob(const void* bytes, uint64_t size, bool skip_checksum, Reporter& reporter, Blob* blob) {
  *blob = Blob();
  if (bytes == nullptr) return reporter.Fail(FOVEA_E_NULL, "blob is NULL");
  if (reinterpret_cast<uintptr_t>(bytes) % kBlobAlignment != 0) {
    return reporter.Fail(FOVEA_E_MISALIGNED,
                         "the blob must start on a multiple of 64 bytes: align the memory that holds it",
                         kBlobAlignment, reinterpret_cast<uintptr_t>(bytes) % kBlobAlignment);
  }
  if (size < sizeof(BlobHeader))
    return reporter.Fail(FOVEA_E_TRUNCATED, "the blob is truncated: too short for a header", sizeof(BlobHeader), size);
  BlobHeader header;
  memcpy(&header, bytes, sizeof(header));
  if (memcmp(header.magic, kBlobMagic, sizeof(kBlobMagic)) != 0)
    return reporter.Fail(FOVEA_E_MAGIC, "not a fovea blob");
  if (header.version == 0 || header.version > kBlobVersion) {
    return reporter.Fail(FOVEA_E_VERSION, "blob format is newer than this library", kBlobVersion, header.version);
  }
  if (header.size > size) return reporter.Fail(FOVEA_E_TRUNCATED, "blob is truncated", header.size, size);
  if (header.size != static_cast<size_t>(header.size)) {
    return reporter.Fail(FOVEA_E_TOO_COMPLEX, "blob does not fit this machine's address space", SIZE_MAX, header.size);
  }
  if (header.section_count > kMaxSections) {
    return reporter.Fail(FOVEA_E_TOO_COMPLEX, "too many sections", kMaxSections, header.section_count);
  }
  if (!InBounds(sizeof(BlobHeader), uint64_t{header.section_count} * sizeof(SectionRecord), header.size)) {
    return reporter.Fail(FOVEA_E_TRUNCATED, "the blob is truncated: too short for its section table",
                         header.section_count, header.size);
  }
  const uint8_t* base = static_cast<const uint8_t*>(bytes);
  blob->bytes = {base, header.size};
  blob->sections = {reinterpret_cast<const SectionRecord*>(base + sizeof(BlobHeader)), header.section_count};
  if (!skip_checksum) {
    const uint64_t found = Xxh64(base + sizeof(BlobHeader), static_cast<size_t>(header.size - sizeof(BlobHeader)));
    if (found != header.checksum) {
      return reporter.Fail(FOVEA_E_CHECKSUM, "checksum differs: the blob was changed after it was written",
                           header.checksum, found);
    }
  }
  return OpenSections(reporter, blob);
}

}  // namespace fovea
