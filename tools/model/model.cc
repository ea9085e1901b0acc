// A blob's model, with accessors and for creating sessions.
#include "tools/model/model.h"

#include <string.h>

#include "tools/base/clock.h"
#include "tools/base/sized.h"
#include "tools/model/library_error.h"
#include "tools/model/packed_weights.h"

namespace fovea::tools {
namespace {

// The machines that packed weights alone are for, and the way out.
std::string PackedElsewhere(const fovea_error& error) {
  std::vector<std::string> there = TargetsWithLayout(error.found), here = TargetsWithLayout(error.expected);
  if (there.empty()) there = {fmt::format("layout {:x}", error.found)};
  if (here.empty()) here = {"weights as they are in the blob"};
  return fmt::format(
      "{} ({}): it was packed with --only for {}, and this machine and backend read {}: use the blob "
      "that it was packed from",
      error.text, fovea_status_name(error.status), fmt::join(there, ", "), fmt::join(here, ", "));
}

}  // namespace

Model::Model(const std::string& path, const Options& options) : name_(path), file_(new MappedFile(path)) {
  if (file_->size() == 0) Fail("{}: the file is empty", path);
  Init(file_->data(), file_->size(), options);
}

Model::Model(const void* blob, uint64_t size, const std::string& name, const Options& options) : name_(name) {
  Init(blob, size, options);
}

void Model::Init(const void* blob, uint64_t size, const Options& options) {
  const uint64_t start = NanosecondClock();
  blob_ = static_cast<const uint8_t*>(blob);
  literal_texts_ = options.literal_texts;
  fovea_model_options model_options = {};
  model_options.struct_size = sizeof(model_options);
  model_options.backend = options.backend;
  model_options.skip_checksum = options.skip_checksum ? 1 : 0;
  fovea_error error = {};
  const fovea_status sized = fovea_model_size(blob, size, &model_options, &memory_bytes_, &error);
  if (sized == FOVEA_E_PACKED) Fail("{}: {}", name_, PackedElsewhere(error));
  Check(sized, error, name_);
  memory_ = Allocate(memory_bytes_);
  Check(fovea_model_init(blob, size, &model_options, memory_.get(), memory_bytes_, &model_, &error), error, name_);
  init_seconds_ = 1e-9 * static_cast<double>(NanosecondClock() - start);
}

fovea_model_info Model::Info() const {
  fovea_model_info info = {};
  info.struct_size = sizeof(info);
  Check(fovea_model_get_info(model_, &info), name_);
  return info;
}

fovea_section_info Model::Section(uint32_t section) const {
  fovea_section_info info = Sized<fovea_section_info>();
  Check(fovea_model_get_section(model_, section, &info), fmt::format("section {}", section));
  return info;
}

fovea_space_info Model::Space(uint32_t space) const {
  fovea_space_info info = Sized<fovea_space_info>();
  Check(fovea_model_get_space(model_, space, &info), fmt::format("space {}", space));
  return info;
}

SpaceRecord Model::SpaceRecordOf(uint32_t space) const {
  const uint32_t sections = Info().section_count;
  for (uint32_t i = 0; i < sections; ++i) {
    const fovea_section_info section = Section(i);
    if (section.kind != static_cast<uint32_t>(SectionKind::kSpaces)) continue;
    if (uint64_t{space} + 1 > section.size / sizeof(SpaceRecord)) break;
    SpaceRecord record;
    memcpy(&record, blob_ + section.offset + uint64_t{space} * sizeof(SpaceRecord), sizeof(record));
    return record;
  }
  Fail("{}: no space {}", name_, space);
}

fovea_tensor_info Model::Tensor(uint32_t tensor) const {
  fovea_tensor_info info = Sized<fovea_tensor_info>();
  Check(fovea_model_get_tensor(model_, tensor, &info), fmt::format("tensor {}", tensor));
  return info;
}

fovea_program_info Model::Program(uint32_t program) const {
  fovea_program_info info = Sized<fovea_program_info>();
  Check(fovea_model_get_program(model_, program, &info), fmt::format("program {}", program));
  return info;
}

fovea_value_info Model::Value(uint32_t program, uint32_t value) const {
  fovea_value_info info = Sized<fovea_value_info>();
  Check(fovea_program_get_value(model_, program, value, &info), fmt::format("value {}", value));
  return info;
}

fovea_step_info Model::Step(uint32_t program, uint32_t step) const {
  fovea_step_info info = Sized<fovea_step_info>();
  Check(fovea_program_get_step(model_, program, step, &info), fmt::format("step {}", step));
  return info;
}

uint32_t Model::StepInput(uint32_t program, uint32_t step, uint32_t index) const {
  uint32_t value = 0;
  Check(fovea_program_get_step_input(model_, program, step, index, &value),
        fmt::format("input {} of step {}", index, step));
  return value;
}

uint32_t Model::FindProgram(const std::string& name) const {
  const uint32_t count = Info().program_count;
  if (name.empty() && count > 0) return 0;
  uint32_t program = 0;
  if (fovea_model_find_program(model_, name.c_str(), &program) == FOVEA_OK) return program;
  std::string known;
  for (uint32_t i = 0; i < count; ++i) known += fmt::format(" {}", Program(i).name);
  Fail("{}: no program '{}'; it has:{}", name_, name, known);
}

bool Model::HasProgram(const std::string& name) const {
  uint32_t program = 0;
  return fovea_model_find_program(model_, name.c_str(), &program) == FOVEA_OK;
}

std::string Model::Alias(const std::string& name) const {
  const char* other = Metadata("alias." + name);
  return other == nullptr ? name : other;
}

const char* Model::ProgramMetadata(uint32_t program, const std::string& key) const {
  const char* own = Metadata(fmt::format("{}:{}", Program(program).name, key));
  return own != nullptr ? own : Metadata(key);
}

std::optional<uint32_t> Model::FindValue(uint32_t program, const std::string& name) const {
  for (const std::string& candidate : {name, Alias(name)}) {
    uint32_t value = 0;
    if (fovea_program_find_value(model_, program, candidate.c_str(), &value) == FOVEA_OK) return value;
  }
  return std::nullopt;
}

std::optional<uint32_t> Model::FindAttention(uint32_t program, const std::string& name) const {
  for (const std::string& candidate : {name, Alias(name)}) {
    uint32_t step = 0;
    if (fovea_program_find_step(model_, program, candidate.c_str(), &step) != FOVEA_OK) continue;
    if (strcmp(Step(program, step).op, "attention") == 0) return step;
  }
  return std::nullopt;
}

}  // namespace fovea::tools
