// Lays out a blob: header, section table, sections.
#include <string.h>

#include <functional>
#include <map>
#include <string_view>

#include "runtime/blob/checksum.h"
#include "tools/base/fail.h"
#include "tools/blob/blob.h"

namespace fovea::tools {
namespace {

using Bytes = std::vector<uint8_t>;

// Starts what is appended next on a multiple of the alignment.
uint64_t Align(Bytes& bytes) {
  bytes.resize(RoundUp(bytes.size(), kBlobAlignment));
  return bytes.size();
}

void Append(Bytes& bytes, const void* data, size_t size) {
  const auto* begin = static_cast<const uint8_t*>(data);
  bytes.insert(bytes.end(), begin, begin + size);
}

// Records of one kind, counted.
template <typename Record>
class Table {
 public:
  explicit Table(const char* what, uint32_t limit = kMaxRecords) : what_(what), limit_(limit) {}

  // Index of the new record.
  uint32_t Add(const Record& record) {
    if (count_ == limit_) Fail("more than {} {}", limit_, what_);
    Append(bytes_, &record, sizeof(Record));
    return count_++;
  }
  uint32_t count() const { return count_; }
  const Bytes& bytes() const { return bytes_; }

 private:
  const char* what_;
  uint32_t limit_;
  uint32_t count_ = 0;
  Bytes bytes_;
};

class Strings {
 public:
  Strings() { bytes_.push_back(0); }

  uint32_t Add(const std::string& text) {
    if (text.find('\0') != std::string::npos) Fail("text {} has a zero byte in it", text);
    const auto [at, is_new] = offsets_.emplace(text, bytes_.size());
    if (is_new && !text.empty()) Append(bytes_, text.c_str(), text.size() + 1);
    if (bytes_.size() > UINT32_MAX - 1) Fail("more than 4 GiB of strings");
    return text.empty() ? 0 : static_cast<uint32_t>(at->second);
  }
  uint32_t AddOptional(const std::string& text) { return text.empty() ? kBlobNone : Add(text); }
  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;  // begins with the empty string
  std::map<std::string, uint64_t> offsets_;
};

// Appends rows and scales of tensors; the same bytes only once.
class Weights {
 public:
  uint64_t Add(const Bytes& data) {
    const std::string_view view(reinterpret_cast<const char*>(data.data()), data.size());
    const size_t hash = std::hash<std::string_view>()(view);
    const auto [first, last] = offsets_.equal_range(hash);
    for (auto at = first; at != last; ++at) {
      const auto [offset, size] = at->second;
      if (size == data.size() && memcmp(bytes_.data() + offset, data.data(), size) == 0) return offset;
    }
    const uint64_t offset = Align(bytes_);
    Append(bytes_, data.data(), data.size());
    offsets_.emplace(hash, std::make_pair(offset, data.size()));
    return offset;
  }
  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
  std::multimap<size_t, std::pair<uint64_t, uint64_t>> offsets_;
};

void CheckTensor(const BlobTensor& tensor) {
  if (tensor.rows == 0 || tensor.width == 0 || tensor.width > kMaxWidth) {
    Fail("tensor {}: [{}, {}] is not a shape that a blob can hold", tensor.name, tensor.rows, tensor.width);
  }
  if (tensor.data.size() != RowBytes(tensor.type, tensor.width) * tensor.rows ||
      tensor.scales.size() != ScaleBytes(tensor.type, tensor.rows, tensor.width)) {
    Fail("tensor {}: {} bytes do not make [{}, {}]", tensor.name, tensor.data.size(), tensor.rows, tensor.width);
  }
}

// What stands in a section. The bytes are another's.
struct Section {
  SectionKind kind;
  const uint8_t* data;
  uint64_t size;
  uint64_t layout;

  Section(SectionKind k, const uint8_t* begin, uint64_t bytes, uint64_t l)
      : kind(k), data(begin), size(bytes), layout(l) {}
  Section(SectionKind k, const Bytes& bytes, uint64_t l = 0) : Section(k, bytes.data(), bytes.size(), l) {}
};

void AddPacked(const std::vector<BlobPacked>& packed, std::vector<Section>* sections) {
  for (const BlobPacked& p : packed) sections->push_back({SectionKind::kPacked, p.bytes, p.layout});
}

Bytes LayOut(const std::vector<Section>& sections) {
  if (sections.size() > kMaxSections) Fail("more than {} sections", kMaxSections);
  Bytes blob(sizeof(BlobHeader) + sections.size() * sizeof(SectionRecord));
  std::vector<SectionRecord> table;
  for (const Section& section : sections) {
    const uint64_t offset = Align(blob);
    table.push_back({section.kind, 0, offset, section.size, section.layout});
    Append(blob, section.data, static_cast<size_t>(section.size));
  }
  Align(blob);
  memcpy(blob.data() + sizeof(BlobHeader), table.data(), table.size() * sizeof(SectionRecord));
  BlobHeader header = {};
  memcpy(header.magic, kBlobMagic, sizeof(kBlobMagic));
  header.version = kBlobVersion;
  header.section_count = static_cast<uint32_t>(sections.size());
  header.size = blob.size();
  header.checksum = Xxh64(blob.data() + sizeof(header), blob.size() - sizeof(header));
  memcpy(blob.data(), &header, sizeof(header));
  return blob;
}

}  // namespace

std::vector<uint8_t> WriteBlob(const BlobContent& content) {
  Strings strings;
  Table<MetadataRecord> metadata("metadata entries");
  for (const auto& [key, value] : content.metadata) metadata.Add({strings.Add(key), strings.Add(value)});

  Table<SpaceRecord> spaces("spaces", kMaxSpaces);
  for (const BlobSpace& space : content.spaces) {
    spaces.Add({strings.Add(space.name), space.parent, space.kind, space.source, space.extra, space.first, space.last});
  }

  Table<TensorRecord> tensors("tensors");
  Weights weights;
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> shared;  // where the bytes are -> first tensor made of them
  std::vector<uint32_t> index_of;                            // in the blob, of each tensor of `content`
  std::vector<TensorRecord> written;
  for (const BlobTensor& tensor : content.tensors) {
    CheckTensor(tensor);
    TensorRecord record = {strings.Add(tensor.name),
                           static_cast<uint32_t>(tensor.type),
                           tensor.rows,
                           tensor.width,
                           weights.Add(tensor.data),
                           0};
    if (!tensor.scales.empty()) record.scales = weights.Add(tensor.scales);
    const auto [at, is_new] = shared.emplace(std::make_pair(record.data, record.scales), tensors.count());
    const bool same = !is_new && written[at->second].type == record.type && written[at->second].rows == record.rows &&
                      written[at->second].width == record.width;
    index_of.push_back(same ? at->second : tensors.Add(record));
    if (!same) written.push_back(record);
  }

  Table<ProgramRecord> programs("programs", kMaxPrograms);
  Table<ValueRecord> values("values");
  Table<OperationRecord> operations("operations");
  Table<uint32_t> operands("operands");
  Table<AttributeRecord> attributes("attributes");
  for (const BlobProgram& program : content.programs) {
    ProgramRecord record = {strings.Add(program.name), values.count(), 0, operations.count(), 0, 0};
    for (const BlobValue& value : program.values) {
      values.Add({strings.Add(value.name), value.space, value.width, static_cast<uint32_t>(value.type), value.role,
                  value.role == ValueRole::kCarried ? value.carried_by : value.parts});
    }
    for (const BlobOperation& operation : program.operations) {
      if (operation.inputs.size() > kMaxInputs || operation.tensors.size() > kMaxTensors ||
          operation.attributes.size() > kMaxAttributes) {
        Fail("program {}: an operation has more than {} inputs, {} tensors or {} attributes", program.name, kMaxInputs,
             kMaxTensors, kMaxAttributes);
      }
      operations.Add({operation.code, strings.AddOptional(operation.name), operation.output, operands.count(),
                      static_cast<uint32_t>(operation.inputs.size()), static_cast<uint32_t>(operation.tensors.size()),
                      attributes.count(), static_cast<uint32_t>(operation.attributes.size())});
      for (uint32_t input : operation.inputs) operands.Add(input);
      for (uint32_t tensor : operation.tensors) operands.Add(tensor == kBlobNone ? kBlobNone : index_of.at(tensor));
      for (const AttributeRecord& attribute : operation.attributes) attributes.Add(attribute);
    }
    record.value_count = values.count() - record.first_value;
    record.operation_count = operations.count() - record.first_operation;
    programs.Add(record);
  }

  std::vector<Section> sections = {
      {SectionKind::kStrings, strings.bytes()},       {SectionKind::kMetadata, metadata.bytes()},
      {SectionKind::kSpaces, spaces.bytes()},         {SectionKind::kTensors, tensors.bytes()},
      {SectionKind::kPrograms, programs.bytes()},     {SectionKind::kValues, values.bytes()},
      {SectionKind::kOperations, operations.bytes()}, {SectionKind::kOperands, operands.bytes()},
      {SectionKind::kAttributes, attributes.bytes()}, {SectionKind::kText, content.text},
      {SectionKind::kWeights, weights.bytes()},
  };
  if (content.text.empty()) sections.erase(sections.begin() + 9);
  AddPacked(content.packed, &sections);
  return LayOut(sections);
}

std::vector<uint8_t> ReplacePacked(const uint8_t* blob, const std::vector<BlobPacked>& packed) {
  BlobHeader header;
  memcpy(&header, blob, sizeof(header));
  std::vector<Section> sections;
  for (uint32_t i = 0; i < header.section_count; ++i) {
    SectionRecord record;
    memcpy(&record, blob + sizeof(header) + i * sizeof(record), sizeof(record));
    if (record.kind == SectionKind::kPacked) continue;
    sections.push_back({record.kind, blob + record.offset, record.size, record.layout});
  }
  AddPacked(packed, &sections);
  return LayOut(sections);
}

}  // namespace fovea::tools
