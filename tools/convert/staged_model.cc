#include "tools/convert/staged_model.h"

#include <utility>

namespace fovea::tools {
namespace {

// A session bound to a batch. Inputs that the batch does not have are zeros, as for carried inputs in the first run.
Session SessionOf(const Stage& stage, const Model& model, const Batch& batch, uint32_t workers) {
  SessionRequest request;
  request.workers = workers;
  Session session = SessionFor(model, batch, request);
  for (uint32_t input = 0; input < stage.inputs; ++input) {
    if (batch.ids.count(input) == 0 && batch.numbers.count(input) == 0) session.ClearInput(input);
  }
  return session;
}

}  // namespace

StagedModel::StagedModel(const BlobContent& content, TensorSource source, uint32_t backend, Workers& workers,
                         uint64_t most_bytes)
    : source_(std::move(source)), backend_(backend), workers_(workers), most_bytes_(most_bytes) {
  content_.spaces = content.spaces;
  content_.programs = content.programs;
  for (const BlobTensor& tensor : content.tensors) {
    content_.tensors.push_back({tensor.name, tensor.type, tensor.rows, tensor.width, {}, {}});
  }
}

LoadedBlob StagedModel::Load(const Stage& stage) const {
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
  const auto source = [&](size_t i, BlobTensor& tensor) { source_(tensors[i], tensor); };
  WriteBlob(content, source, blob);
  return {std::move(blob.memory), blob.size, "a part of the model", {backend_, true}};
}

StagedModel::Run::Run(const StagedModel& model, uint32_t program, std::vector<Batch> batches, std::set<uint32_t> wanted)
    : model_(model), batches_(std::move(batches)), wanted_(std::move(wanted)) {
  uint64_t rows = 0;
  for (const Batch& batch : batches_) rows += batch.Rows();
  stages_ = CutIntoStages(model.content_, model.content_.programs[program], wanted_, rows, model.most_bytes_);
  for (size_t i = 0; i < stages_.size(); ++i) {
    for (const uint32_t value : stages_[i].given) last_given_[value] = i;
  }
}

bool StagedModel::Run::Next(Rows& rows) {
  if (next_ == stages_.size()) return false;
  const Stage& stage = stages_[next_];
  Rows made;
  {
    const LoadedBlob loaded = model_.Load(stage);
    for (size_t b = 0; b < batches_.size(); ++b) {
      Session session = SessionOf(stage, loaded.model, batches_[b], model_.workers_.count());
      for (const uint32_t value : stage.given) session.SetInput(stage.values.at(value), between_.at(value)[b].values);
      session.Run();
      for (const uint32_t value : stage.made) made[value].push_back(session.Output(stage.values.at(value)));
    }
  }
  for (auto at = between_.begin(); at != between_.end();) {
    at = last_given_.at(at->first) == next_ ? between_.erase(at) : std::next(at);
  }
  for (auto& [value, of_batches] : made) {
    const bool is_wanted = wanted_.count(value) != 0;
    if (last_given_.count(value) != 0) between_[value] = is_wanted ? of_batches : std::move(of_batches);
    if (is_wanted) rows[value] = std::move(of_batches);
  }
  ++next_;
  return true;
}

std::vector<Matrix> StagedModel::Outputs(uint32_t program, const Batch& batch) const {
  const std::vector<BlobValue>& all = content_.programs[program].values;
  std::set<uint32_t> values;
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].role == ValueRole::kOutput) values.insert(i);
  }
  Run run(*this, program, {batch}, values);
  Rows rows;
  while (run.Next(rows)) {
  }
  std::vector<Matrix> outputs;
  for (const uint32_t value : values) outputs.push_back(std::move(rows.at(value)[0]));
  return outputs;
}

}  // namespace fovea::tools
