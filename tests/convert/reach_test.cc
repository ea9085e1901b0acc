// Descriptions can express everything in the runtime: every operation, attribute, space, pattern and score.
#include <filesystem>
#include <map>
#include <set>

#include "runtime/blob/attribute_names.h"
#include "runtime/blob/names.h"
#include "runtime/blob/op_names.h"
#include "runtime/ops/op.h"
#include "tests/convert/graph_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tools/convert/convert.h"
#include "tools/model/model.h"

namespace fovea::tools {
namespace {

const std::string kExamples = test::InSource("tools/convert/examples");

// A description of everything that the examples lack. former_blobs_test.cc reads a former blob of it.
const char kOthers[] = "former_blobs/every_operand.json";

class Reach {
 public:
  void Add(const Resolved& resolved) {
    for (const BlobSpace& space : resolved.content.spaces) spaces.insert(space.kind);
    for (const BlobProgram& program : resolved.content.programs) {
      for (const BlobOperation& operation : program.operations) {
        operations.insert(operation.code);
        for (const auto& [key, bits] : operation.attributes) values[{operation.code, key}].insert(bits);
        for (size_t i = 0; i < operation.tensors.size(); ++i) {
          if (operation.tensors[i] != kBlobNone) tensors.insert({operation.code, i});
        }
        for (size_t i = 0; i < operation.inputs.size(); ++i) {
          if (operation.inputs[i] != kBlobNone) inputs.insert({operation.code, i});
        }
      }
    }
  }
  size_t Values(Attribute key) const {
    const auto found = values.find({static_cast<uint32_t>(OpCode::kAttention), static_cast<uint32_t>(key)});
    return found == values.end() ? 0 : found->second.size();
  }

  std::set<uint32_t> operations;
  std::set<SpaceKind> spaces;
  std::map<std::pair<uint32_t, uint32_t>, std::set<uint32_t>> values;  // by operation and attribute
  std::set<std::pair<uint32_t, size_t>> inputs, tensors;               // operands of operations
};

TEST(Reach, EveryOperationAttributeSpacePatternAndScore) {
  Reach reach;
  for (const auto& entry : std::filesystem::directory_iterator(kExamples)) {
    const std::string graph = entry.path() / "graph.json";
    if (std::filesystem::exists(entry.path() / "golden.safetensors")) reach.Add(Resolve(ReadGraph(graph, "")));
  }
  const Description others = ReadGraph(test::InData(kOthers), "");
  reach.Add(Resolve(others));
  // The runtime accepts the model.
  ConvertReport report;
  const test::AlignedBytes blob(BuildBlob(others, {}, report));
  const Model model(blob.data(), blob.size(), "others", {FOVEA_BACKEND_DEFAULT, false});

  // They announced inputs, which have numbers now.
  const std::set<Attribute> formerly = {Attribute::kKeyBias,        Attribute::kGlobalKeys, Attribute::kSummaries,
                                        Attribute::kRowCoordinates, Attribute::kInitial,    Attribute::kMasked};
  std::set<uint32_t> attributes;
  for (const auto& operation : NamesOf<OpCode>::list) {
    const auto code = static_cast<uint32_t>(operation.number);
    EXPECT_EQ(reach.operations.count(code), 1u) << operation.name;
    const OpDef* def = FindOp(code);
    // `received` accepts the inputs of attention, by the same rule.
    const auto like = operation.number == OpCode::kReceived ? static_cast<uint32_t>(OpCode::kAttention) : code;
    for (uint32_t i = 0; i < def->attributes.count; ++i) {
      const auto key = static_cast<uint32_t>(def->attributes.keys[i]);
      attributes.insert(key);
      if (formerly.count(def->attributes.keys[i]) != 0) continue;
      const auto pair = std::make_pair(like, key);
      EXPECT_EQ(reach.values.count(pair), 1u) << operation.name << ": " << NameOf(Attribute(key));
    }
    for (size_t i = 0; !def->operands.repeats_inputs && i < def->operands.max_inputs; ++i) {
      EXPECT_EQ(reach.inputs.count({like, i}), 1u) << operation.name << ": input " << i;
    }
    for (size_t i = 0; operation.number != OpCode::kEmbed && i < def->operands.max_tensors; ++i) {
      EXPECT_EQ(reach.tensors.count({like, i}), 1u) << operation.name << ": tensor " << i;
    }
  }
  for (const auto& attribute : NamesOf<Attribute>::list) {
    EXPECT_EQ(attributes.count(static_cast<uint32_t>(attribute.number)), 1u) << attribute.name << " has no operation";
  }
  for (const auto& kind : NamesOf<SpaceKind>::list) {
    EXPECT_EQ(reach.spaces.count(kind.number), 1u) << "spaces of kind " << kind.name;
  }
  EXPECT_EQ(reach.Values(Attribute::kScore), size_t{kScoreCount} - 1);  // and the dot product where none is named
  EXPECT_EQ(reach.Values(Attribute::kPattern), 2u);                     // and full where none is named
}

}  // namespace
}  // namespace fovea::tools
