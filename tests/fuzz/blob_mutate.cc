// Mutates blobs: the model's content, and the bytes that encode it.
#include "tests/fuzz/blob_mutate.h"

#include <string.h>

#include <algorithm>
#include <exception>

#include "fovea/model.h"
#include "runtime/blob/attribute_names.h"
#include "runtime/blob/checksum.h"
#include "runtime/blob/names.h"
#include "tests/fuzz/guarded.h"
#include "tests/support/second_reader.h"
#include "tools/blob/blob.h"

namespace fovea::fuzz {
namespace {

using tools::BlobContent;
using tools::BlobOperation;
using tools::BlobProgram;
using tools::BlobTensor;
using tools::BlobValue;

// ---- The model's content. The result is well-formed as a file, and often as a model. ----

bool Verifies(const std::vector<uint8_t>& blob) {
  const Guarded copy(blob.data(), blob.size());
  return fovea_blob_verify(copy.data(), copy.size(), nullptr) == FOVEA_OK;
}

BlobContent ContentOf(const std::vector<uint8_t>& blob) {
  const test::ReadBlob read = test::SecondReader(blob);
  BlobContent content;
  content.metadata.assign(read.metadata.begin(), read.metadata.end());
  for (const test::ReadSpace& s : read.spaces) {
    content.spaces.push_back({s.name, s.parent, static_cast<SpaceKind>(s.kind), s.source, s.extra,
                              static_cast<uint16_t>(s.first), static_cast<uint16_t>(s.last)});
  }
  uint64_t weights = 0;
  for (const test::ReadSection& section : read.sections) {
    const auto begin = blob.begin() + static_cast<ptrdiff_t>(section.offset);
    if (section.kind == static_cast<uint32_t>(SectionKind::kWeights)) weights = section.offset;
    if (section.kind != static_cast<uint32_t>(SectionKind::kPacked)) continue;
    content.packed.push_back({section.layout, {begin, begin + static_cast<ptrdiff_t>(section.size)}});
  }
  for (const test::ReadTensor& t : read.tensors) {
    const DType type = static_cast<DType>(t.type);
    const auto data = blob.begin() + static_cast<ptrdiff_t>(weights + t.data);
    const auto scales = blob.begin() + static_cast<ptrdiff_t>(weights + t.scales);
    content.tensors.push_back({t.name,
                               type,
                               t.rows,
                               t.width,
                               {data, data + static_cast<ptrdiff_t>(RowBytes(type, t.width) * t.rows)},
                               {scales, scales + static_cast<ptrdiff_t>(ScaleBytes(type, t.rows, t.width))}});
  }
  for (const test::ReadProgram& p : read.programs) {
    BlobProgram program = {p.name, {}, {}};
    for (const test::ReadValue& v : p.values) {
      program.values.push_back({v.name, v.space, v.width, static_cast<DType>(v.type), static_cast<ValueRole>(v.role),
                                v.carried_by, v.parts});
    }
    for (const test::ReadOperation& o : p.operations) {
      program.operations.push_back({o.code, o.name, o.output, o.inputs, o.tensors, {}});
      for (const auto& [key, bits] : o.attributes) program.operations.back().attributes.push_back({key, bits});
    }
    content.programs.push_back(std::move(program));
  }
  content.text = read.text;
  return content;
}

class ContentMutator {
 public:
  ContentMutator(BlobContent& content, Random& random) : content_(content), random_(random) {}

  void Mutate() {
    using Change = void (ContentMutator::*)();
    static constexpr Change kChanges[] = {
        &ContentMutator::ChangeAttribute, &ContentMutator::ChangeAttribute, &ContentMutator::ChangeAttribute,
        &ContentMutator::AddAttribute,    &ContentMutator::AddAttribute,    &ContentMutator::RemoveAttribute,
        &ContentMutator::InsertOperation, &ContentMutator::RemoveOperation, &ContentMutator::ChangeInput,
        &ContentMutator::ChangeInput,     &ContentMutator::ChangeTensor,    &ContentMutator::ReshapeTensor,
        &ContentMutator::ChangeValue,     &ContentMutator::ChangeSpace,     &ContentMutator::ChangeNumbers,
        &ContentMutator::ChangeMetadata,  &ContentMutator::ChangePacked,    &ContentMutator::ChangePrograms,
    };
    if (content_.programs.empty()) return;
    (this->*random_.Pick(kChanges))();
  }

 private:
  BlobProgram& Program() { return random_.Pick(content_.programs); }
  // An operation of some program, or NULL.
  BlobOperation* Operation() {
    BlobProgram& program = Program();
    return program.operations.empty() ? nullptr : &random_.Pick(program.operations);
  }
  uint32_t Bits() {
    if (!random_.OneIn(4)) return random_.Number();
    const float number = random_.Float();
    uint32_t bits;
    memcpy(&bits, &number, sizeof(bits));
    return bits;
  }

  void ChangeAttribute() {
    BlobOperation* o = Operation();
    if (o != nullptr && !o->attributes.empty()) random_.Pick(o->attributes).bits = Bits();
  }
  void AddAttribute() {
    BlobOperation* o = Operation();
    if (o == nullptr) return;
    // Some attributes of another operation with the same code.
    const BlobOperation* like = Operation();
    if (like != nullptr && like->code == o->code && !like->attributes.empty()) {
      o->attributes.push_back(random_.Pick(like->attributes));
    } else {
      const auto known = static_cast<uint32_t>(random_.Pick(NamesOf<Attribute>::list).number);
      o->attributes.push_back({random_.OneIn(20) ? random_.Number() : known, Bits()});
    }
  }
  void RemoveAttribute() {
    BlobOperation* o = Operation();
    if (o == nullptr || o->attributes.empty()) return;
    o->attributes.erase(o->attributes.begin() + random_.Below(o->attributes.size()));
  }

  // Every number of a value from `from` on moves by one.
  static void Renumber(BlobProgram& program, uint32_t from, int by) {
    const auto move = [&](uint32_t& value) {
      if (value != kBlobNone && value >= from) value += static_cast<uint32_t>(by);
    };
    for (BlobValue& value : program.values) {
      if (value.role == ValueRole::kCarried) move(value.carried_by);
    }
    for (BlobOperation& o : program.operations) {
      move(o.output);
      for (uint32_t& input : o.inputs) move(input);
    }
  }
  // An earlier value of the same type and width, if there is one.
  uint32_t Like(const BlobProgram& program, uint32_t value, uint32_t before) {
    for (int attempt = 0; attempt < 12; ++attempt) {
      const uint32_t other = random_.Below(before);
      const BlobValue &a = program.values[value], &b = program.values[other];
      if (a.width == b.width && a.type == b.type && (a.space == b.space || attempt > 6)) return other;
    }
    return random_.Below(before);
  }
  void InsertOperation() {
    BlobProgram& program = Program();
    if (program.operations.empty() || program.values.size() > 400) return;
    const uint32_t from = random_.Below(program.operations.size()), at = random_.Below(program.operations.size() + 1);
    const uint32_t inputs = static_cast<uint32_t>(program.values.size() - program.operations.size());
    BlobOperation copy = program.operations[from];
    if (copy.output >= program.values.size()) return;
    BlobValue output = program.values[copy.output];
    if (random_.OneIn(2)) output.role = ValueRole::kOutput;
    const uint32_t made = inputs + at;
    if (made == 0) return;
    for (uint32_t& input : copy.inputs) {
      if (input >= made || random_.OneIn(3)) input = Like(program, std::min<uint32_t>(input, made - 1), made);
    }
    copy.output = made;
    Renumber(program, made, 1);
    program.values.insert(program.values.begin() + made, output);
    program.operations.insert(program.operations.begin() + at, copy);
  }
  void RemoveOperation() {
    BlobProgram& program = Program();
    if (program.operations.size() < 2) return;
    const uint32_t at = random_.Below(program.operations.size());
    const uint32_t gone = program.operations[at].output;
    if (gone == 0 || gone >= program.values.size()) return;
    const uint32_t instead = Like(program, gone, gone);
    for (BlobOperation& o : program.operations) std::replace(o.inputs.begin(), o.inputs.end(), gone, instead);
    program.values.erase(program.values.begin() + gone);
    program.operations.erase(program.operations.begin() + at);
    Renumber(program, gone, -1);
  }
  void ChangeInput() {
    BlobProgram& program = Program();
    if (program.operations.empty() || program.values.empty()) return;
    BlobOperation& o = random_.Pick(program.operations);
    if (o.inputs.empty() || random_.OneIn(12)) {
      o.inputs.push_back(random_.Below(std::max(1u, o.output)));
      return;
    }
    uint32_t& input = random_.Pick(o.inputs);
    if (input < program.values.size() && o.output > 0 && o.output < program.values.size()) {
      input = Like(program, input, o.output);
    }
  }
  void ChangeTensor() {
    BlobOperation* o = Operation();
    if (o == nullptr || content_.tensors.empty()) return;
    if (o->tensors.empty() || random_.OneIn(8)) {
      o->tensors.push_back(random_.Below(content_.tensors.size()));
    } else {
      random_.Pick(o->tensors) = random_.OneIn(5) ? kBlobNone : random_.Below(content_.tensors.size());
    }
  }
  void ReshapeTensor() {
    if (content_.tensors.empty()) return;
    BlobTensor& t = random_.Pick(content_.tensors);
    t.rows = 1 + std::min(random_.Number(), 40u);
    if (random_.OneIn(2)) t.width = 1 + std::min(random_.Number(), 70u);
    if (random_.OneIn(6)) t.type = static_cast<DType>(random_.Below(5));
    if (t.type == DType::kI4) t.width = (t.width + 31) / 32 * 32;
    t.data.resize(RowBytes(t.type, t.width) * t.rows);
    t.scales.resize(ScaleBytes(t.type, t.rows, t.width));
  }
  void ChangeValue() {
    BlobProgram& program = Program();
    if (program.values.empty()) return;
    BlobValue& v = random_.Pick(program.values);
    switch (random_.Below(5)) {
      case 0:
        v.space = random_.Below(content_.spaces.size());
        break;
      case 1:
        v.width = random_.OneIn(2) ? random_.Pick(program.values).width : random_.Number();
        break;
      case 2:
        v.type = static_cast<DType>(random_.Below(6));
        v.parts = v.type == DType::kI8 ? random_.Below(4) : 0;
        break;
      default:
        v.role = static_cast<ValueRole>(random_.Below(4));
        v.carried_by = v.role == ValueRole::kCarried ? random_.Below(program.values.size()) : 0;
    }
  }
  void ChangeSpace() {
    if (content_.spaces.empty()) return;
    tools::BlobSpace& s = random_.Pick(content_.spaces);
    const auto other = [&] { return random_.OneIn(6) ? kBlobNone : random_.Below(content_.spaces.size()); };
    switch (random_.Below(5)) {
      case 0:
        s.kind = static_cast<SpaceKind>(random_.Below(kSpaceKindCount));
        break;
      case 1:
        s.parent = other();
        break;
      case 2:
        s.source = other();
        break;
      case 3:
        s.extra = random_.Number();
        break;
      default:
        s.first = static_cast<uint16_t>(random_.Number());
        s.last = static_cast<uint16_t>(random_.Number());
    }
  }
  void ChangeNumbers() {
    if (content_.tensors.empty()) return;
    BlobTensor& t = random_.Pick(content_.tensors);
    std::vector<uint8_t>& bytes = !t.scales.empty() && random_.OneIn(3) ? t.scales : t.data;
    if (bytes.size() < 4) return;
    const uint32_t count = 1 + random_.Below(random_.OneIn(3) ? bytes.size() / 4 : 2);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t bits = t.type == DType::kI32 ? random_.Number() : Bits();
      memcpy(&bytes[random_.Below(bytes.size() / 4) * size_t{4}], &bits, 4);
    }
  }
  void ChangeMetadata() {
    static constexpr const char* kKeys[] = {
        "generate.token",  "generate.scores",   "generate.start",     "generate.end",
        "generate.most",   "generate.encode",   "generate.decode",    "label.0",
        "generate.link.x", "generate.stop_ids", "generate.max_tokens"};
    static constexpr const char* kTexts[] = {
        "", "1", "-1", "4294967297", "1 2 3", " 1  2 ", "1,2", "99999999999999999999", "x", "main"};
    auto& metadata = content_.metadata;
    if (!metadata.empty() && random_.OneIn(3)) {
      metadata.erase(metadata.begin() + random_.Below(metadata.size()));
      return;
    }
    const BlobProgram &a = Program(), &b = Program();
    std::string key = random_.Pick(kKeys), text = random_.Pick(kTexts);
    if (!a.values.empty() && random_.OneIn(3)) key = "generate.link." + random_.Pick(a.values).name;
    if (!b.values.empty() && random_.OneIn(2)) text = random_.Pick(b.values).name;
    metadata.insert(metadata.begin() + random_.Below(metadata.size() + 1), {key, text});
  }
  void ChangePacked() {
    if (content_.packed.empty()) return;
    if (random_.OneIn(8)) content_.packed.push_back(content_.packed.front());
    tools::BlobPacked& packed = random_.Pick(content_.packed);
    if (random_.OneIn(4)) packed.bytes.resize(random_.Below(packed.bytes.size() + 1));
    const size_t words = std::min<size_t>(packed.bytes.size() / 8, random_.OneIn(2) ? 24 : SIZE_MAX);
    if (words == 0) return;
    const uint64_t number =
        random_.OneIn(2) ? random_.Number() : random_.Below(packed.bytes.size()) / 64 * uint64_t{64};
    memcpy(&packed.bytes[random_.Below(words) * size_t{8}], &number, sizeof(number));
  }
  void ChangePrograms() {
    if (content_.programs.size() < 8 && random_.OneIn(2)) {
      content_.programs.push_back(Program());
    } else {
      random_.Pick(content_.programs).name = random_.Pick(content_.programs).name;
    }
  }

  BlobContent& content_;
  Random& random_;
};

// ---- The bytes. Sections are split and laid out again, so that offsets and checksum are right. ----

struct Section {
  SectionRecord record;
  std::vector<uint8_t> bytes;
};

size_t RecordBytes(SectionKind kind) {
  switch (kind) {
    case SectionKind::kMetadata:
      return sizeof(MetadataRecord);
    case SectionKind::kSpaces:
      return sizeof(SpaceRecord);
    case SectionKind::kTensors:
      return sizeof(TensorRecord);
    case SectionKind::kPrograms:
      return sizeof(ProgramRecord);
    case SectionKind::kValues:
      return sizeof(ValueRecord);
    case SectionKind::kOperations:
      return sizeof(OperationRecord);
    case SectionKind::kAttributes:
      return sizeof(AttributeRecord);
    case SectionKind::kPacked:
      return sizeof(PackedRecord);
    default:
      return 4;
  }
}

std::vector<Section> SectionsOf(const std::vector<uint8_t>& blob) {
  std::vector<Section> sections;
  BlobHeader header;
  if (blob.size() < sizeof(header)) return sections;
  memcpy(&header, blob.data(), sizeof(header));
  for (uint32_t i = 0; i < std::min(header.section_count, kMaxSections); ++i) {
    const size_t at = sizeof(header) + i * sizeof(SectionRecord);
    if (at + sizeof(SectionRecord) > blob.size()) break;
    Section section;
    memcpy(&section.record, blob.data() + at, sizeof(SectionRecord));
    if (section.record.offset > blob.size() || section.record.size > blob.size() - section.record.offset) continue;
    const auto begin = blob.begin() + static_cast<ptrdiff_t>(section.record.offset);
    section.bytes.assign(begin, begin + static_cast<ptrdiff_t>(section.record.size));
    sections.push_back(std::move(section));
  }
  return sections;
}

std::vector<uint8_t> Join(std::vector<Section>& sections) {
  std::vector<uint8_t> blob(sizeof(BlobHeader) + sections.size() * sizeof(SectionRecord));
  for (size_t i = 0; i < sections.size(); ++i) {
    blob.resize(RoundUp(blob.size(), kBlobAlignment));
    sections[i].record.offset = blob.size();
    sections[i].record.size = sections[i].bytes.size();
    blob.insert(blob.end(), sections[i].bytes.begin(), sections[i].bytes.end());
    memcpy(blob.data() + sizeof(BlobHeader) + i * sizeof(SectionRecord), &sections[i].record, sizeof(SectionRecord));
  }
  blob.resize(RoundUp(blob.size(), kBlobAlignment));
  BlobHeader header = {};
  memcpy(header.magic, kBlobMagic, sizeof(kBlobMagic));
  header.version = kBlobVersion;
  header.section_count = static_cast<uint32_t>(sections.size());
  memcpy(blob.data(), &header, sizeof(header));
  return blob;
}

void MendHeader(std::vector<uint8_t>& blob) {
  if (blob.size() < sizeof(BlobHeader)) return;
  BlobHeader header;
  memcpy(&header, blob.data(), sizeof(header));
  header.size = blob.size();
  header.checksum = Xxh64(blob.data() + sizeof(header), blob.size() - sizeof(header));
  memcpy(blob.data(), &header, sizeof(header));
}

void MutateRecord(Section& section, Random& random) {
  const size_t bytes = RecordBytes(section.record.kind), count = section.bytes.size() / bytes;
  if (count == 0) {
    section.bytes.resize(bytes);
    return;
  }
  const size_t a = random.Below(count), b = random.Below(count);
  const auto at = [&](size_t record) { return section.bytes.begin() + static_cast<ptrdiff_t>(record * bytes); };
  const std::vector<uint8_t> copy(at(b), at(b) + static_cast<ptrdiff_t>(bytes));
  const size_t field = random.Below(bytes / 4) * 4;
  uint32_t word;
  memcpy(&word, &section.bytes[a * bytes + field], 4);
  switch (random.Below(10)) {
    case 0:
      section.bytes.insert(at(a), copy.begin(), copy.end());
      return;
    case 1:
      section.bytes.erase(at(a), at(a) + static_cast<ptrdiff_t>(bytes));
      return;
    case 2:
      std::copy(copy.begin(), copy.end(), at(a));
      return;
    case 3:
      memcpy(&word, &copy[field], 4);  // the same field of another record
      break;
    case 4:
      ++word;
      break;
    case 5:
      --word;
      break;
    default:
      word = random.OneIn(2) ? random.Below(count + 1) : random.Number();
  }
  memcpy(&section.bytes[a * bytes + field], &word, 4);
}

void MutateSections(std::vector<Section>& sections, Random& random) {
  if (sections.empty()) return;
  Section& section = random.Pick(sections);
  switch (random.Below(24)) {
    case 0:
      sections.erase(sections.begin() + (&section - sections.data()));
      break;
    case 1:
      sections.push_back(section);
      break;
    case 2:
      std::swap(section, random.Pick(sections));
      break;
    case 3:
      section.record.kind = static_cast<SectionKind>(random.Below(15));
      break;
    case 4:
      section.bytes.resize(random.Below(section.bytes.size() + 1));
      break;
    case 5:
      section.record.layout = random.Next();
      break;
    default:
      MutateRecord(section, random);
  }
}

}  // namespace

std::vector<uint8_t> MutateBlob(std::vector<uint8_t> blob, Random& random) {
  if (!random.OneIn(3) && Verifies(blob)) {
    try {
      BlobContent content = ContentOf(blob);
      ContentMutator mutator(content, random);
      for (uint32_t left = 1 + random.Below(4); left > 0; --left) mutator.Mutate();
      return tools::WriteBlob(content);
    } catch (const std::exception&) {
      // The writer refuses it: change the bytes instead.
    }
  }
  std::vector<Section> sections = SectionsOf(blob);
  for (uint32_t left = 1 + random.Below(3); left > 0; --left) MutateSections(sections, random);
  blob = Join(sections);
  for (uint32_t left = random.OneIn(6) ? 1 + random.Below(3) : 0; left > 0; --left) {
    const size_t head = sizeof(BlobHeader) + sections.size() * sizeof(SectionRecord);
    blob[random.Below(random.OneIn(2) ? head : blob.size())] ^= static_cast<uint8_t>(1 + random.Below(255));
  }
  if (!random.OneIn(20)) MendHeader(blob);
  return blob;
}

}  // namespace fovea::fuzz
