// Lays out a blob: header, section table, sections.
#include <string.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "runtime/blob/checksum.h"
#include "tools/base/fail.h"
#include "tools/blob/blob.h"

namespace fovea::tools {
namespace {

using Bytes = std::vector<uint8_t>;

void Append(Bytes& bytes, const void* data, size_t size) {
  const auto* begin = static_cast<const uint8_t*>(data);
  bytes.insert(bytes.end(), begin, begin + size);
}

// A table of records of one kind, with a limit.
template <typename Record>
class Table {
 public:
  explicit Table(const char* what, uint32_t limit = kMaxRecords) : what_(what), limit_(limit) {}

  // Returns the index of the new record.
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
    if (text.find('\0') != std::string::npos) Fail("text {} contains a zero byte", text);
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

constexpr size_t kBytesTogether = size_t{1} << 20;  // bytes read at a time

// Calls `use` with consecutive parts of an output's content.
template <typename Use>
void ForBytes(BlobOutput& output, uint64_t first, uint64_t end, const Use& use) {
  Bytes part;
  for (uint64_t at = first; at < end; at += part.size()) {
    part.resize(static_cast<size_t>(std::min<uint64_t>(kBytesTogether, end - at)));
    output.Read(at, part.data(), part.size());
    use(at, part);
  }
}

void WriteZeros(BlobOutput& output, uint64_t first, uint64_t end) {
  const uint8_t zeros[kBlobAlignment] = {};
  if (end > first) output.Write(first, zeros, end - first);
}

// Places rows and scales of tensors from some offset on; equal bytes only once.
class Weights {
 public:
  Weights(BlobOutput& output, uint64_t begin) : output_(output), begin_(begin) {}

  uint64_t Add(const Bytes& data) {
    const std::string_view view(reinterpret_cast<const char*>(data.data()), data.size());
    const size_t hash = std::hash<std::string_view>()(view);
    const auto [first, last] = offsets_.equal_range(hash);
    for (auto at = first; at != last; ++at) {
      const auto [offset, size] = at->second;
      if (size == data.size() && Holds(offset, data)) return offset;
    }
    const uint64_t offset = RoundUp(size_, kBlobAlignment);
    WriteZeros(output_, begin_ + size_, begin_ + offset);
    output_.Write(begin_ + offset, data.data(), data.size());
    size_ = offset + data.size();
    offsets_.emplace(hash, std::make_pair(offset, data.size()));
    return offset;
  }
  uint64_t size() const { return size_; }

  // Moves the weights down to their final position.
  void MoveTo(uint64_t begin) {
    if (begin == begin_) return;
    ForBytes(output_, begin_, begin_ + size_,
             [&](uint64_t at, const Bytes& part) { output_.Write(at - begin_ + begin, part.data(), part.size()); });
    begin_ = begin;
  }

 private:
  bool Holds(uint64_t offset, const Bytes& data) {
    bool same = true;
    const uint64_t first = begin_ + offset;
    ForBytes(output_, first, first + data.size(), [&](uint64_t at, const Bytes& part) {
      same = same && memcmp(&data[at - first], part.data(), part.size()) == 0;
    });
    return same;
  }

  BlobOutput& output_;
  uint64_t begin_, size_ = 0;
  std::multimap<size_t, std::pair<uint64_t, uint64_t>> offsets_;
};

// Index of a tensor or value in the content.
struct Operand {
  uint32_t index;
  bool is_tensor;
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

// A section. Its bytes are owned elsewhere, or are in the output already (null).
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

// Offset of the end of these sections, of `count` sections in all.
uint64_t EndOf(const std::vector<Section>& sections, size_t count) {
  uint64_t end = RoundUp(sizeof(BlobHeader) + count * sizeof(SectionRecord), kBlobAlignment);
  for (const Section& section : sections) end = RoundUp(end + section.size, kBlobAlignment);
  return end;
}

uint64_t ChecksumOf(BlobOutput& output, uint64_t first, uint64_t end) {
  static_assert(kBytesTogether % xxh64::kStripe == 0, "whole stripes");
  xxh64::Lanes lanes;
  uint64_t hash = xxh64::Finish(lanes, nullptr, 0);
  ForBytes(output, first, end, [&](uint64_t at, const Bytes& part) {
    const size_t stripes = part.size() / xxh64::kStripe;
    xxh64::Lanes now = lanes;  // a local copy, which cannot alias the bytes, stays in registers
    xxh64::AddStripes(&now, part.data(), stripes);
    lanes = now;
    if (at + part.size() == end) hash = xxh64::Finish(lanes, part.data() + stripes * xxh64::kStripe, end - first);
  });
  return hash;
}

void LayOut(const std::vector<Section>& sections, BlobOutput& output) {
  if (sections.size() > kMaxSections) Fail("more than {} sections", kMaxSections);
  std::vector<SectionRecord> table;
  uint64_t end = EndOf({}, sections.size());
  for (const Section& section : sections) {
    table.push_back({section.kind, 0, end, section.size, section.layout});
    const uint64_t written = end + section.size;
    if (section.data != nullptr && section.size != 0) output.Write(end, section.data, section.size);
    end = RoundUp(written, kBlobAlignment);
    WriteZeros(output, written, end);
  }
  output.Shorten(end);
  Bytes head(EndOf({}, sections.size()));
  memcpy(head.data() + sizeof(BlobHeader), table.data(), table.size() * sizeof(SectionRecord));
  output.Write(0, head.data(), head.size());
  BlobHeader header = {};
  memcpy(header.magic, kBlobMagic, sizeof(kBlobMagic));
  header.version = kBlobVersion;
  header.section_count = static_cast<uint32_t>(sections.size());
  header.size = end;
  header.checksum = ChecksumOf(output, sizeof(header), end);
  output.Write(0, &header, sizeof(header));
}

// The records of a blob without its tensors, whose records are complete only when their bytes are written.
class Records {
 public:
  explicit Records(const BlobContent& content) {
    for (const auto& [key, value] : content.metadata) metadata_.Add({strings_.Add(key), strings_.Add(value)});
    for (const BlobSpace& space : content.spaces) {
      spaces_.Add(
          {strings_.Add(space.name), space.parent, space.kind, space.source, space.extra, space.first, space.last});
    }
    for (const BlobTensor& tensor : content.tensors) tensor_names_.push_back(strings_.Add(tensor.name));
    for (const BlobProgram& program : content.programs) AddProgram(program);
  }

  // The string of a tensor's name.
  uint32_t NameOf(size_t tensor) const { return tensor_names_[tensor]; }
  uint64_t operand_bytes() const { return operands_.size() * sizeof(uint32_t); }

  // The operands, with index_of[i] for tensor i.
  Bytes OperandBytes(const std::vector<uint32_t>& index_of) const {
    Table<uint32_t> table("operands");
    for (const Operand& operand : operands_) table.Add(operand.is_tensor ? index_of.at(operand.index) : operand.index);
    return table.bytes();
  }

  // All sections before the weights. The arguments must outlive them.
  std::vector<Section> Sections(const Bytes& tensors, const Bytes& operands, const Bytes& text) const {
    std::vector<Section> sections = {
        {SectionKind::kStrings, strings_.bytes()},       {SectionKind::kMetadata, metadata_.bytes()},
        {SectionKind::kSpaces, spaces_.bytes()},         {SectionKind::kTensors, tensors},
        {SectionKind::kPrograms, programs_.bytes()},     {SectionKind::kValues, values_.bytes()},
        {SectionKind::kOperations, operations_.bytes()}, {SectionKind::kOperands, operands},
        {SectionKind::kAttributes, attributes_.bytes()},
    };
    if (!text.empty()) sections.push_back({SectionKind::kText, text});
    return sections;
  }

 private:
  void AddProgram(const BlobProgram& program) {
    ProgramRecord record = {strings_.Add(program.name), values_.count(), 0, operations_.count(), 0, 0};
    for (const BlobValue& value : program.values) {
      values_.Add({strings_.Add(value.name), value.space, value.width, static_cast<uint32_t>(value.type), value.role,
                   value.role == ValueRole::kCarried ? value.carried_by : value.parts});
    }
    for (const BlobOperation& operation : program.operations) AddOperation(program, operation);
    record.value_count = values_.count() - record.first_value;
    record.operation_count = operations_.count() - record.first_operation;
    programs_.Add(record);
  }

  void AddOperation(const BlobProgram& program, const BlobOperation& operation) {
    if (operation.inputs.size() > kMaxInputs || operation.tensors.size() > kMaxTensors ||
        operation.attributes.size() > kMaxAttributes) {
      Fail("program {}: an operation has more than {} inputs, {} tensors or {} attributes", program.name, kMaxInputs,
           kMaxTensors, kMaxAttributes);
    }
    operations_.Add({operation.code, strings_.AddOptional(operation.name), operation.output,
                     static_cast<uint32_t>(operands_.size()), static_cast<uint32_t>(operation.inputs.size()),
                     static_cast<uint32_t>(operation.tensors.size()), attributes_.count(),
                     static_cast<uint32_t>(operation.attributes.size())});
    for (uint32_t input : operation.inputs) operands_.push_back({input, false});
    for (uint32_t tensor : operation.tensors) operands_.push_back({tensor, tensor != kBlobNone});
    for (const AttributeRecord& attribute : operation.attributes) attributes_.Add(attribute);
  }

  Strings strings_;
  Table<MetadataRecord> metadata_{"metadata entries"};
  Table<SpaceRecord> spaces_{"spaces", kMaxSpaces};
  Table<ProgramRecord> programs_{"programs", kMaxPrograms};
  Table<ValueRecord> values_{"values"};
  Table<OperationRecord> operations_{"operations"};
  Table<AttributeRecord> attributes_{"attributes"};
  std::vector<uint32_t> tensor_names_;
  std::vector<Operand> operands_;
};

// Offset of the weights, which follow these sections.
uint64_t BeginAfter(const std::vector<Section>& sections, const BlobContent& content) {
  return EndOf(sections, sections.size() + 1 + content.packed.size());
}

// Offset of the weights if no two tensors are equal.
uint64_t LatestBegin(const Records& records, const BlobContent& content) {
  const Bytes tensors(content.tensors.size() * sizeof(TensorRecord));
  const Bytes operands(static_cast<size_t>(records.operand_bytes()));
  return BeginAfter(records.Sections(tensors, operands, content.text), content);
}

// An upper bound on the size of the blob.
uint64_t MostBytes(const BlobContent& content, uint64_t begin_of_weights) {
  uint64_t most = begin_of_weights;
  for (const BlobTensor& tensor : content.tensors) {
    most += (uint64_t{tensor.width} + 1) * tensor.rows * sizeof(float) + 2 * kBlobAlignment;
  }
  for (const BlobPacked& p : content.packed) most += RoundUp(p.bytes.size(), kBlobAlignment);
  return most;
}

// Writes the bytes of tensors and makes their records; equal tensors have one record.
class Tensors {
 public:
  Tensors(BlobOutput& output, uint64_t begin) : weights_(output, begin) {}

  void Add(const BlobTensor& tensor, uint32_t name) {
    CheckTensor(tensor);
    TensorRecord record = {name,         static_cast<uint32_t>(tensor.type), tensor.rows,
                           tensor.width, weights_.Add(tensor.data),          0};
    if (!tensor.scales.empty()) record.scales = weights_.Add(tensor.scales);
    const auto [at, is_new] = shared_.emplace(std::make_pair(record.data, record.scales), table_.count());
    const bool same = !is_new && records_[at->second].type == record.type && records_[at->second].rows == record.rows &&
                      records_[at->second].width == record.width;
    index_of_.push_back(same ? at->second : table_.Add(record));
    if (!same) records_.push_back(record);
  }

  const Bytes& bytes() const { return table_.bytes(); }
  Weights& weights() { return weights_; }
  // The record of each tensor that was added.
  const std::vector<uint32_t>& index_of() const { return index_of_; }

 private:
  Weights weights_;
  Table<TensorRecord> table_{"tensors"};
  std::vector<TensorRecord> records_;                         // entries of the table
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> shared_;  // location of the bytes -> first tensor with them
  std::vector<uint32_t> index_of_;
};

// Writes the tensors that the source makes, one at a time.
void WriteTensors(const BlobContent& content, const TensorSource& source, const Records& records, Tensors* tensors) {
  for (size_t i = 0; i < content.tensors.size(); ++i) {
    BlobTensor tensor;
    tensor.name = content.tensors[i].name;
    tensor.type = content.tensors[i].type;
    tensor.rows = content.tensors[i].rows;
    tensor.width = content.tensors[i].width;
    source(i, tensor);
    tensors->Add(tensor, records.NameOf(i));
  }
}

// A blob's tensors and weights without the rows and scales of some tensors.
class KeptWeights {
 public:
  KeptWeights(const SectionRecord& tensors, const SectionRecord& weights, const uint8_t* blob,
              const std::vector<bool>& left_out)
      : tensors_(blob + tensors.offset, blob + tensors.offset + tensors.size), from_(blob + weights.offset) {
    for (size_t i = 0; i < tensors.size / sizeof(TensorRecord); ++i) {
      TensorRecord record;
      memcpy(&record, &tensors_[i * sizeof(record)], sizeof(record));
      if (left_out.at(i)) {
        record.data = kBlobAbsent;
        record.scales = 0;
      } else if (record.data != kBlobAbsent) {
        const DType type = DType(record.type);
        record.data = Keep(record.data, RowBytes(type, record.width) * record.rows);
        const uint64_t scales = ScaleBytes(type, record.rows, record.width);
        if (scales != 0) record.scales = Keep(record.scales, scales);
      }
      memcpy(&tensors_[i * sizeof(record)], &record, sizeof(record));
    }
  }

  const Bytes& tensors() const { return tensors_; }
  const Bytes& weights() const { return weights_; }

 private:
  // Returns the new offset of these bytes; tensors may share them.
  uint64_t Keep(uint64_t offset, uint64_t size) {
    const auto [at, is_new] = offsets_.emplace(std::make_pair(offset, size), RoundUp(weights_.size(), kBlobAlignment));
    if (is_new) {
      weights_.resize(at->second);
      Append(weights_, from_ + offset, size);
    }
    return at->second;
  }

  Bytes tensors_, weights_;
  const uint8_t* from_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> offsets_;
};

}  // namespace

std::vector<uint8_t> WriteBlob(const BlobContent& content) {
  BlobBytes output;
  WriteBlob(
      content, [&](size_t index, BlobTensor& tensor) { tensor = content.tensors[index]; }, output);
  return std::move(output.bytes);
}

std::vector<uint32_t> WriteBlob(const BlobContent& content, const TensorSource& source, BlobOutput& output) {
  const Records records(content);
  const uint64_t begin = LatestBegin(records, content);
  output.Reserve(MostBytes(content, begin));
  Tensors tensors(output, begin);
  WriteTensors(content, source, records, &tensors);
  const Bytes operands = records.OperandBytes(tensors.index_of());
  std::vector<Section> sections = records.Sections(tensors.bytes(), operands, content.text);
  tensors.weights().MoveTo(BeginAfter(sections, content));
  sections.push_back({SectionKind::kWeights, nullptr, tensors.weights().size(), 0});
  AddPacked(content.packed, &sections);
  LayOut(sections, output);
  return tensors.index_of();
}

std::vector<uint8_t> ReplacePacked(const uint8_t* blob, const std::vector<BlobPacked>& packed,
                                   const std::vector<bool>& left_out) {
  BlobHeader header;
  memcpy(&header, blob, sizeof(header));
  std::vector<SectionRecord> records(header.section_count);
  memcpy(records.data(), blob + sizeof(header), records.size() * sizeof(SectionRecord));
  const auto find = [&](SectionKind kind) {
    return std::find_if(records.begin(), records.end(),
                        [&](const SectionRecord& record) { return record.kind == kind; });
  };
  const auto tensors = find(SectionKind::kTensors), weights = find(SectionKind::kWeights);
  std::optional<KeptWeights> kept;
  if (!left_out.empty() && tensors != records.end()) kept.emplace(*tensors, *weights, blob, left_out);
  std::vector<Section> sections;
  for (const SectionRecord& record : records) {
    if (record.kind == SectionKind::kPacked) continue;
    if (kept && record.kind == SectionKind::kTensors) {
      sections.push_back({record.kind, kept->tensors()});
    } else if (kept && record.kind == SectionKind::kWeights) {
      sections.push_back({record.kind, kept->weights()});
    } else {
      sections.push_back({record.kind, blob + record.offset, record.size, record.layout});
    }
  }
  AddPacked(packed, &sections);
  BlobBytes output;
  LayOut(sections, output);
  return std::move(output.bytes);
}

}  // namespace fovea::tools
