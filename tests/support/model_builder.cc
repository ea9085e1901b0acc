#include "tests/support/model_builder.h"

#include "runtime/blob/attributes.h"
#include "runtime/ops/op.h"
#include "tests/support/by_name.h"

namespace fovea::test {

ModelBuilder::ModelBuilder(uint32_t seed) : random_(seed) { NextProgram("main"); }
ModelBuilder::~ModelBuilder() = default;

void ModelBuilder::NextProgram(const std::string& name) { content_.programs.push_back({name, {}, {}}); }

uint32_t ModelBuilder::Space(const std::string& name, uint32_t parent) {
  content_.spaces.push_back({name, parent, SpaceKind::kInput, kBlobNone});
  return static_cast<uint32_t>(content_.spaces.size() - 1);
}

uint32_t ModelBuilder::ExtendedSpace(const std::string& name, uint32_t source, uint32_t extra) {
  return SpaceOf(SpaceKind::kExtended, name, source, extra);
}

uint32_t ModelBuilder::FixedSpace(const std::string& name, uint32_t parent, uint32_t extra) {
  content_.spaces.push_back({name, parent, SpaceKind::kFixed, kBlobNone, extra});
  return static_cast<uint32_t>(content_.spaces.size() - 1);
}

uint32_t ModelBuilder::SelectedSpace(const std::string& name, uint32_t source, uint32_t extra) {
  return SpaceOf(SpaceKind::kSelected, name, source, extra);
}

uint32_t ModelBuilder::ExpandedSpace(const std::string& name, uint32_t source, uint32_t parent) {
  content_.spaces.push_back({name, parent, SpaceKind::kSelected, source, 0});
  return static_cast<uint32_t>(content_.spaces.size() - 1);
}

uint32_t ModelBuilder::StridedSpace(const std::string& name, uint32_t source, uint32_t stride, uint16_t first,
                                    uint16_t last) {
  const uint32_t space = SpaceOf(SpaceKind::kStrided, name, source, stride);
  content_.spaces[space].first = first;
  content_.spaces[space].last = last;
  return space;
}

uint32_t ModelBuilder::CachedSpace(const std::string& name, uint32_t source, uint32_t window) {
  return SpaceOf(SpaceKind::kCached, name, source, window);
}

std::vector<float> ModelBuilder::RandomFloats(size_t count, float scale) {
  std::normal_distribution<float> normal(0.0f, scale);
  std::vector<float> values(count);
  for (float& v : values) v = normal(random_);
  return values;
}

uint32_t ModelBuilder::Tensor(uint32_t rows, uint32_t width, const std::vector<float>& values, DType type) {
  tools::BlobTensor tensor;
  tensor.name = "t" + std::to_string(content_.tensors.size());
  tensor.type = type;
  tensor.rows = rows;
  tensor.width = width;
  tools::EncodeTensor(values, tensor);
  content_.tensors.push_back(tensor);
  return static_cast<uint32_t>(content_.tensors.size() - 1);
}

uint32_t ModelBuilder::RandomTensor(uint32_t rows, uint32_t width, DType type, float scale) {
  return Tensor(rows, width, RandomFloats(size_t{rows} * width, scale), type);
}

std::vector<float> ModelBuilder::TensorValues(uint32_t tensor) const {
  return tools::DecodeTensor(content_.tensors[tensor]);
}

uint32_t ModelBuilder::Input(const std::string& name, uint32_t space, uint32_t width, DType type) {
  return Add({name, space, width, type, ValueRole::kInput});
}

uint32_t ModelBuilder::Op(std::string_view op, std::vector<uint32_t> inputs, std::vector<uint32_t> tensors,
                          uint32_t space, uint32_t width, const Attributes& attributes, const std::string& name,
                          ValueRole role) {
  const uint32_t code = OperationCode(op);
  const OpDef* def = FindOp(code);
  DType type = def == nullptr                       ? DType::kF32
               : def->keeps_type && !inputs.empty() ? values()[inputs[0]].type
                                                    : def->output;
  for (const auto& [key, number] : attributes) {
    if ((op == "cast" || op == "append") && key == Attribute::kType) type = DType(static_cast<uint32_t>(number));
  }
  const uint32_t output = Add({name.empty() ? "v" + std::to_string(values().size()) : name, space, width, type, role});
  tools::BlobOperation operation;
  operation.code = code;
  operation.name = name;
  operation.output = output;
  operation.inputs = std::move(inputs);
  operation.tensors = std::move(tensors);
  for (const auto& [key, number] : attributes) {
    AttributeRecord record{static_cast<uint32_t>(key), 0};
    if (TypeOf(key) == AttributeType::kF32) {
      const float f = static_cast<float>(number);
      memcpy(&record.bits, &f, sizeof(f));
    } else {
      record.bits = static_cast<uint32_t>(number);
    }
    operation.attributes.push_back(record);
  }
  content_.programs.back().operations.push_back(operation);
  return output;
}

void ModelBuilder::Carry(uint32_t input, uint32_t output) {
  SetOutput(output);
  values()[input].role = ValueRole::kCarried;
  values()[input].carried_by = output;
}

AlignedBytes ModelBuilder::Blob() const { return AlignedBytes(tools::WriteBlob(content_)); }

uint32_t ModelBuilder::SpaceOf(SpaceKind kind, const std::string& name, uint32_t source, uint32_t extra) {
  content_.spaces.push_back({name, content_.spaces[source].parent, kind, source, extra});
  return static_cast<uint32_t>(content_.spaces.size() - 1);
}

uint32_t ModelBuilder::Add(const tools::BlobValue& value) {
  values().push_back(value);
  return static_cast<uint32_t>(values().size() - 1);
}

TestModel::TestModel(AlignedBytes bytes, uint32_t backend) : blob(std::move(bytes)) {
  fovea_model_options options = {sizeof(options), backend, 0};
  fovea_error error = {};
  uint64_t needed = 0;
  EXPECT_EQ(fovea_model_size(blob.data(), blob.size(), &options, &needed, &error), FOVEA_OK) << error.text;
  memory = AlignedBytes(needed);
  EXPECT_EQ(fovea_model_init(blob.data(), blob.size(), &options, memory.data(), needed, &model, &error), FOVEA_OK)
      << error.text << " step " << error.step << " tensor " << error.tensor << " expected " << error.expected
      << " found " << error.found;
}

TestSession::TestSession(const TestModel& model, const fovea_session_options& options) {
  fovea_session_memory sizes = {};
  sizes.struct_size = sizeof(sizes);
  fovea_error error = {};
  EXPECT_EQ(fovea_session_size(model.model, &options, &sizes, &error), FOVEA_OK) << error.text;
  fixed = AlignedBytes(sizes.fixed_size);
  state = AlignedBytes(sizes.state_size);
  scratch = AlignedBytes(sizes.scratch_size);
  sizes.fixed = fixed.data();
  sizes.state = state.data();
  sizes.scratch = scratch.data();
  memory = sizes;
  EXPECT_EQ(fovea_session_init(model.model, &options, &sizes, &session, &error), FOVEA_OK) << error.text;
}

void TestSession::SetSegments(uint32_t space, const std::vector<uint32_t>& lengths) {
  fovea_error error = {};
  EXPECT_EQ(fovea_session_set_segments(session, space, lengths.data(), static_cast<uint32_t>(lengths.size()), &error),
            FOVEA_OK)
      << error.text;
}

void TestSession::Run() {
  fovea_error error = {};
  EXPECT_EQ(fovea_session_run(session, &error), FOVEA_OK) << error.text;
}

std::vector<float> TestSession::Output(uint32_t value) const {
  fovea_view view = {};
  fovea_error error = {};
  EXPECT_EQ(fovea_session_get_output(session, value, &view, &error), FOVEA_OK) << error.text;
  const float* data = static_cast<const float*>(view.data);
  return std::vector<float>(data, data + size_t{view.rows} * view.width);
}

std::vector<int32_t> TestSession::Indices(uint32_t value) const {
  const std::vector<float> bits = Output(value);
  std::vector<int32_t> indices(bits.size());
  if (!bits.empty()) memcpy(indices.data(), bits.data(), bits.size() * sizeof(float));
  return indices;
}

Lengths TestSession::Segments(uint32_t space) const {
  const uint32_t* offsets = nullptr;
  uint32_t count = 0;
  fovea_error error = {};
  EXPECT_EQ(fovea_session_get_segments(session, space, &offsets, &count, &error), FOVEA_OK) << error.text;
  Lengths lengths;
  for (uint32_t i = 0; i < count; ++i) lengths.push_back(offsets[i + 1] - offsets[i]);
  return lengths;
}

TinyEncoder BuildTinyEncoder(ModelBuilder& b, DType type, uint32_t layers, uint32_t width, uint32_t heads, uint32_t ffn,
                             uint32_t vocabulary, uint32_t positions, const Attributes& pattern) {
  TinyEncoder e{};
  e.texts = b.Space("texts");
  e.tokens = b.Space("tokens", e.texts);
  e.ids = b.Input("input_ids", e.tokens, 1, DType::kI32);
  const auto linear = [&](uint32_t x, uint32_t from, uint32_t to, uint32_t space, uint32_t activation = 0) {
    return b.Op("linear", {x}, {b.RandomTensor(to, from, type), b.RandomTensor(1, to)}, space, to,
                {{Attribute::kActivation, activation}});
  };
  const auto norm = [&](uint32_t x) {
    std::vector<float> gain = b.RandomFloats(width, 0.2f);
    for (float& g : gain) g += 1;
    return b.Op("norm", {x}, {b.Tensor(1, width, gain), b.RandomTensor(1, width)}, e.tokens, width,
                {{Attribute::kEpsilon, 1e-6}});
  };
  uint32_t x = b.Op("embed", {e.ids}, {b.RandomTensor(vocabulary, width, type)}, e.tokens, width);
  x = norm(b.Op("position", {x}, {b.RandomTensor(positions, width)}, e.tokens, width));
  for (uint32_t layer = 0; layer < layers; ++layer) {
    const uint32_t q = linear(x, width, width, e.tokens), k = linear(x, width, width, e.tokens);
    const uint32_t v = linear(x, width, width, e.tokens);
    e.attention_steps.push_back(static_cast<uint32_t>(b.content().programs[0].operations.size()));
    Attributes attributes = pattern;
    attributes.emplace_back(Attribute::kHeads, heads);
    const uint32_t a = b.Op("attention", {q, k, v}, {}, e.tokens, width, attributes);
    const uint32_t o = linear(a, width, width, e.tokens);
    x = norm(b.Op("add", {x, o}, {}, e.tokens, width));
    const uint32_t wide = linear(x, width, ffn, e.tokens, static_cast<uint32_t>(Activation::kGelu));
    const uint32_t f = linear(wide, ffn, width, e.tokens);
    x = norm(b.Op("add", {x, f}, {}, e.tokens, width));
  }
  e.hidden = x;
  b.SetOutput(x);
  const uint32_t pooled = b.Op("pool", {x}, {}, e.texts, width, {{Attribute::kKind, 2}});
  e.classes = linear(pooled, width, 7, e.texts);
  b.SetOutput(e.classes);
  return e;
}

std::vector<int32_t> RandomIds(uint32_t count, uint32_t limit, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> ids(count);
  for (int32_t& id : ids) id = static_cast<int32_t>(random() % limit);
  return ids;
}

}  // namespace fovea::test
