// A blob's model, with accessors and for creating sessions.
#ifndef FOVEA_TOOLS_MODEL_MODEL_H_
#define FOVEA_TOOLS_MODEL_MODEL_H_

#include <memory>
#include <optional>
#include <string>

#include "fovea/model.h"
#include "runtime/blob/format.h"
#include "tools/base/mapped_file.h"
#include "tools/model/aligned_memory.h"

namespace fovea::tools {

class Model {
 public:
  struct Options {
    uint32_t backend = FOVEA_BACKEND_DEFAULT;
    bool skip_checksum = false;
    bool literal_texts = false;  // special tokens that texts spell are text (FOVEA_TEXT_LITERAL)
  };

  // Maps the file. Messages begin with its path.
  explicit Model(const std::string& path, const Options& options);
  // A blob in memory that outlives the model, aligned to 64 bytes. `name` begins messages.
  Model(const void* blob, uint64_t size, const std::string& name, const Options& options);

  const fovea_model* get() const { return model_; }
  const std::string& name() const { return name_; }
  bool literal_texts() const { return literal_texts_; }
  uint64_t memory_bytes() const { return memory_bytes_; }
  double init_seconds() const { return init_seconds_; }

  fovea_model_info Info() const;
  fovea_section_info Section(uint32_t section) const;
  fovea_space_info Space(uint32_t space) const;
  // The space's record in the blob.
  SpaceRecord SpaceRecordOf(uint32_t space) const;
  fovea_tensor_info Tensor(uint32_t tensor) const;
  // Lets the kernel drop bytes of the blob from memory, if it is a mapped file (MappedFile::Forget).
  void Forget(const uint8_t* begin, uint64_t size) const {
    if (file_ != nullptr) file_->Forget(begin, size);
  }
  fovea_program_info Program(uint32_t program) const;
  fovea_value_info Value(uint32_t program, uint32_t value) const;
  fovea_step_info Step(uint32_t program, uint32_t step) const;
  uint32_t StepInput(uint32_t program, uint32_t step, uint32_t index) const;

  // nullptr if there is no such key.
  const char* Metadata(const std::string& key) const { return fovea_model_find_metadata(model_, key.c_str()); }
  // Metadata of the program, "<program>:<key>", or else of the model.
  const char* ProgramMetadata(uint32_t program, const std::string& key) const;
  // An empty name is the first program. Fails with the list of names.
  uint32_t FindProgram(const std::string& name) const;
  bool HasProgram(const std::string& name) const;
  // Finds a value by its name, or by metadata "alias.<name>".
  std::optional<uint32_t> FindValue(uint32_t program, const std::string& name) const;
  // Finds attention operations only.
  std::optional<uint32_t> FindAttention(uint32_t program, const std::string& name) const;

 private:
  void Init(const void* blob, uint64_t size, const Options& options);
  std::string Alias(const std::string& name) const;

  std::string name_;
  std::unique_ptr<MappedFile> file_;
  const uint8_t* blob_ = nullptr;
  Memory memory_;
  bool literal_texts_ = false;
  uint64_t memory_bytes_ = 0;
  double init_seconds_ = 0;
  fovea_model* model_ = nullptr;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MODEL_MODEL_H_
