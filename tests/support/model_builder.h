// Small models made in a test: a blob's content built operation by operation, and the blob, model and session over it.
#ifndef FOVEA_TESTS_SUPPORT_MODEL_BUILDER_H_
#define FOVEA_TESTS_SUPPORT_MODEL_BUILDER_H_

#include <gtest/gtest.h>
#include <stdint.h>
#include <string.h>

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/fovea.h"
#include "tools/base/sized.h"
#include "tools/blob/blob.h"
#include "tools/convert/quantize.h"
#include "tools/model/aligned_memory.h"

namespace fovea {
enum class Attribute : uint32_t;  // runtime/blob/attributes.h
}  // namespace fovea

namespace fovea::test {

// Bytes on a multiple of 64, of exactly the given size.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(uint64_t size) : memory_(tools::Allocate(size)), size_(size) {}
  explicit AlignedBytes(const std::vector<uint8_t>& from) : AlignedBytes(from.size()) {
    if (!from.empty()) memcpy(memory_.get(), from.data(), from.size());
  }
  uint8_t* data() const { return memory_.get(); }
  uint64_t size() const { return size_; }

 private:
  tools::Memory memory_;
  uint64_t size_ = 0;
};

using Lengths = std::vector<uint32_t>;
using Attributes = std::vector<std::pair<Attribute, double>>;

class ModelBuilder {
 public:
  explicit ModelBuilder(uint32_t seed = 1);
  ~ModelBuilder();

  tools::BlobContent& content() { return content_; }
  const tools::BlobContent& content() const { return content_; }
  // Starts another program over the same spaces and tensors.
  void NextProgram(const std::string& name);

  uint32_t Space(const std::string& name, uint32_t parent = kBlobNone);
  uint32_t ExtendedSpace(const std::string& name, uint32_t source, uint32_t extra);
  uint32_t FixedSpace(const std::string& name, uint32_t parent, uint32_t extra);
  uint32_t SelectedSpace(const std::string& name, uint32_t source, uint32_t extra = 0);
  // A space for all rows of `source` below the rows of `parent`, which were selected from the source's parent.
  uint32_t ExpandedSpace(const std::string& name, uint32_t source, uint32_t parent);
  uint32_t StridedSpace(const std::string& name, uint32_t source, uint32_t stride, uint16_t first = 0,
                        uint16_t last = 0);

  // A KV cache of the rows of `source`: all earlier rows, or the last `window` of them if that is not 0.
  uint32_t CachedSpace(const std::string& name, uint32_t source, uint32_t window = 0);

  std::vector<float> RandomFloats(size_t count, float scale = 1.0f);
  uint32_t Tensor(uint32_t rows, uint32_t width, const std::vector<float>& values, DType type = DType::kF32);
  uint32_t RandomTensor(uint32_t rows, uint32_t width, DType type = DType::kF32, float scale = 0.2f);
  std::vector<float> TensorValues(uint32_t tensor) const;

  // Inputs and operations return the handle (index) of a value in the program. Inputs come before the first operation.
  uint32_t Input(const std::string& name, uint32_t space, uint32_t width, DType type = DType::kF32);
  // Operations are called as in op_list.inc.
  uint32_t Op(std::string_view op, std::vector<uint32_t> inputs, std::vector<uint32_t> tensors, uint32_t space,
              uint32_t width, const Attributes& attributes = {}, const std::string& name = "",
              ValueRole role = ValueRole::kInternal);
  void SetOutput(uint32_t value) { values()[value].role = ValueRole::kOutput; }
  void Carry(uint32_t input, uint32_t output);

  AlignedBytes Blob() const;

 private:
  uint32_t SpaceOf(SpaceKind kind, const std::string& name, uint32_t source, uint32_t extra);
  std::vector<tools::BlobValue>& values() { return content_.programs.back().values; }
  uint32_t Add(const tools::BlobValue& value);

  tools::BlobContent content_;
  std::mt19937 random_;
};

// A model in memory of exactly the size it asks for.
struct TestModel {
  explicit TestModel(AlignedBytes bytes, uint32_t backend = FOVEA_BACKEND_DEFAULT);
  AlignedBytes blob, memory;
  fovea_model* model = nullptr;
};

// A session in memory of exactly the sizes it asks for.
struct TestSession {
  TestSession(const TestModel& model, const fovea_session_options& options);
  void SetSegments(uint32_t space, const std::vector<uint32_t>& lengths);
  template <typename T>
  void SetInput(uint32_t value, const std::vector<T>& entries) {
    static_assert(sizeof(T) == 4, "f32 or i32");
    fovea_view view = {};
    fovea_error error = {};
    ASSERT_EQ(fovea_session_get_input(session, value, &view, &error), FOVEA_OK) << error.text;
    ASSERT_EQ(entries.size(), size_t{view.rows} * view.width);
    if (!entries.empty()) memcpy(view.data, entries.data(), entries.size() * sizeof(T));
  }
  void Run();
  std::vector<float> Output(uint32_t value) const;
  // The same for an i32 value.
  std::vector<int32_t> Indices(uint32_t value) const;
  Lengths Segments(uint32_t space) const;
  AlignedBytes fixed, state, scratch;
  fovea_session_memory memory = {};
  fovea_session* session = nullptr;
};

using tools::Sized;

inline fovea_session_options Options(const std::vector<fovea_limit>& limits, uint32_t workers = 1,
                                     uint32_t tile_rows = 0) {
  fovea_session_options options = {};
  options.struct_size = sizeof(options);
  options.workers = workers;
  options.tile_rows = tile_rows;
  options.limits = limits.data();
  options.limit_count = static_cast<uint32_t>(limits.size());
  return options;
}

inline fovea_tap TapOf(uint32_t step, uint32_t form = FOVEA_TAP_DENSE) {
  fovea_tap tap = Sized<fovea_tap>();
  tap.step = step;
  tap.form = form;
  return tap;
}

// A post-norm encoder over ids: embedding, positions, layers, a class of each text. Values: 0 ids; output: the last.
struct TinyEncoder {
  uint32_t texts, tokens, ids, hidden, classes;
  std::vector<uint32_t> attention_steps;
};
TinyEncoder BuildTinyEncoder(ModelBuilder& b, DType type, uint32_t layers = 2, uint32_t width = 32, uint32_t heads = 4,
                             uint32_t ffn = 64, uint32_t vocabulary = 50, uint32_t positions = 64,
                             const Attributes& pattern = {});

std::vector<int32_t> RandomIds(uint32_t count, uint32_t limit, uint32_t seed);

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_MODEL_BUILDER_H_
