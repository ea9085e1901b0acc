#include "tools/convert/exact_model.h"

#include <string.h>

#include <utility>

#include "tools/common/error.h"
#include "tools/convert/encoder.h"

namespace fovea::tools {
namespace {

// Weights are multiplied where they lie, without a second copy.
const Model::Options kInPlace = {FOVEA_BACKEND_HIGHWAY, true};

// Pages of fresh memory that only zeros are written to take no room.
class Outline : public BlobMemory {
 public:
  void Write(uint64_t at, const void* data, uint64_t bytes) override {
    BlobMemory::Write(at + bytes, data, 0);
    if (memcmp(memory.get() + at, data, bytes) != 0) BlobMemory::Write(at, data, bytes);
  }
};

LoadedBlob OutlineOf(const Resolved& model, const std::vector<DType>& types, Workers& workers) {
  Outline blob;
  const auto source = [&](size_t i, BlobTensor& tensor) {
    if (types[i] == DType::kI32) {
      Encode(model, i, types[i], tensor, workers);
    } else {
      tensor.type = types[i];
      tensor.data.assign(RowBytes(types[i], tensor.width) * tensor.rows, 0);
    }
  };
  WriteBlob(model.content, source, blob);
  return {std::move(blob.memory), blob.size, "the model's outline", kInPlace};
}

// Inputs that neither the batch nor a stage before has are zeros, as carried ones are at first.
void Bind(const Batch& batch, const std::map<uint32_t, const Matrix*>& given, const Stage& stage, Session& session) {
  for (const auto& [space, segments] : batch.spaces) session.SetSegments(space, segments.lengths);
  for (const auto& [value, own] : stage.values) {
    if (stage.program.values[own].role != ValueRole::kInput) continue;
    const auto rows = given.find(value);
    const auto ids = batch.ids.find(value);
    const auto numbers = batch.numbers.find(value);
    if (rows != given.end()) {
      session.SetInput(own, rows->second->values);
    } else if (ids != batch.ids.end()) {
      session.SetInput(own, ids->second);
    } else if (numbers != batch.numbers.end()) {
      session.SetInput(own, numbers->second);
    } else {
      session.ClearInput(own);
    }
  }
}

}  // namespace

ExactModel::ExactModel(const Resolved& model, Workers& workers, uint64_t most_bytes)
    : model_(model),
      workers_(workers),
      most_bytes_(most_bytes),
      types_(TypesFor(model, DType::kF32)),
      content_(model.content),
      outline_(OutlineOf(model, types_, workers)) {
  content_.text.clear();
}

LoadedBlob ExactModel::Load(const Stage& stage) const {
  BlobContent content;
  content.spaces = content_.spaces;
  content.programs = {stage.program};
  std::map<uint32_t, uint32_t> places;
  std::vector<uint32_t> tensors;
  for (BlobOperation& operation : content.programs[0].operations) {
    for (uint32_t& tensor : operation.tensors) {
      if (tensor == kBlobNone) continue;
      const auto [at, is_new] = places.emplace(tensor, tensors.size());
      if (is_new) {
        tensors.push_back(tensor);
        content.tensors.push_back(content_.tensors[tensor]);
      }
      tensor = at->second;
    }
  }
  BlobMemory blob;
  const auto source = [&](size_t i, BlobTensor& tensor) {
    Encode(model_, tensors[i], types_[tensors[i]], tensor, workers_);
  };
  WriteBlob(content, source, blob);
  return {std::move(blob.memory), blob.size, "the model with f32 weights", kInPlace};
}

void ExactModel::Run(uint32_t program, const std::vector<Batch>& batches, const std::set<uint32_t>& wanted,
                     const std::function<void(Rows& rows)>& use) const {
  uint64_t rows = 0;
  for (const Batch& batch : batches) rows += batch.Rows();
  const std::vector<Stage> stages = CutIntoStages(content_, content_.programs[program], wanted, rows, most_bytes_);
  std::map<uint32_t, size_t> last_given;
  for (size_t i = 0; i < stages.size(); ++i) {
    for (const uint32_t value : stages[i].given) last_given[value] = i;
  }
  Rows between;
  SessionRequest request;
  request.workers = workers_.count();
  for (size_t i = 0; i < stages.size(); ++i) {
    const Stage& stage = stages[i];
    const LoadedBlob loaded = Load(stage);
    Rows made;
    for (size_t b = 0; b < batches.size(); ++b) {
      request.limits = ExactLimits(loaded.model, batches[b]);
      Session session(loaded.model, request);
      std::map<uint32_t, const Matrix*> given;
      for (const uint32_t value : stage.given) given[value] = &between.at(value)[b];
      Bind(batches[b], given, stage, session);
      session.Run();
      for (const uint32_t value : stage.made) made[value].push_back(session.Output(stage.values.at(value)));
    }
    for (auto at = between.begin(); at != between.end();) {
      at = last_given.at(at->first) == i ? between.erase(at) : std::next(at);
    }
    for (auto at = made.begin(); at != made.end();) {
      const bool is_wanted = wanted.count(at->first) != 0;
      if (last_given.count(at->first) != 0) between[at->first] = is_wanted ? at->second : std::move(at->second);
      at = is_wanted ? std::next(at) : made.erase(at);
    }
    use(made);
  }
}

std::vector<Matrix> ExactModel::Outputs(uint32_t program, const Batch& batch) const {
  const std::vector<uint32_t> values = OutputsOf(outline(), program);
  std::map<uint32_t, Matrix> all;
  Run(program, {batch}, {values.begin(), values.end()}, [&](Rows& rows) {
    for (auto& [value, of_batches] : rows) all[value] = std::move(of_batches[0]);
  });
  std::vector<Matrix> outputs;
  for (auto& [value, matrix] : all) outputs.push_back(std::move(matrix));
  return outputs;
}

}  // namespace fovea::tools
