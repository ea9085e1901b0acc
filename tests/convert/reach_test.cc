// Descriptions reach everything that the runtime knows: every operation, attribute, space, pattern and score.
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
#include "tools/common/model.h"
#include "tools/convert/convert.h"

namespace fovea::tools {
namespace {

const std::string kExamples = test::InSource("tools/convert/examples");

// What the examples have no use for.
const char kOthers[] = R"({
  "fovea": 1,
  "spaces": [
    {"name": "texts"}, {"name": "tokens", "parent": "texts"}, {"name": "extended", "extends": "tokens", "by": 1},
    {"name": "kept", "selects": "tokens", "at_most": 3}, {"name": "better", "selects": "tokens"},
    {"name": "halves", "strides": "tokens", "by": 2, "first": 1, "last": 1},
    {"name": "pixels", "parent": "texts", "each": 4}, {"name": "past", "keeps": "tokens"},
    {"name": "groups", "strides": "tokens", "by": 2, "last": 1}, {"name": "samples", "parent": "texts"},
    {"name": "frames", "strides": "samples", "by": 3}
  ],
  "constants": [
    {"name": "row", "values": [1, 2, 3, 4]},
    {"name": "half", "values": [1, 2]},
    {"name": "gate_bias", "values": [1, 2, 3, 4, 5, 6]},
    {"name": "four_experts", "sinusoidal": {"rows": 8, "width": 2, "first": 1}},
    {"name": "expert_bias", "values": [1, 2, 3, 4, 5, 6, 7, 8]},
    {"name": "places", "sinusoidal": {"rows": 64, "width": 4}},
    {"name": "turns", "rotary": {"rows": 64, "dims": 2}},
    {"name": "rotations", "sinusoidal": {"rows": 12, "width": 2, "first": 1}},
    {"name": "gates", "sinusoidal": {"rows": 6, "width": 2, "first": 1}},
    {"name": "gates.in", "sinusoidal": {"rows": 6, "width": 4, "first": 1}},
    {"name": "mixing", "of": "places", "rows": [0, 3]},
    {"name": "square", "of": "gates", "rows": [0, 2]},
    {"name": "peepholes", "of": "gates", "rows": [0, 3]},
    {"name": "tables", "sinusoidal": {"rows": 4, "width": 2, "first": 1}},
    {"name": "turned", "indices": [[3], [2], [1], [0]]},
    {"name": "named", "indices": [[1, -1], [0, -1], [1, 0], [-1, -1]]},
    {"name": "coordinates", "indices": [[0, 1, 8, 9]]},
    {"name": "buckets", "indices": [[0, 1, 1]]},
    {"name": "around", "indices": [[-1, 0, 1], [0, 1, 2], [1, 2, 3], [2, 3, -1]]},
    {"name": "axis_distances", "of": "places", "rows": [0, 4], "columns": [0, 3]},
    {"name": "distances", "of": "places", "rows": [0, 2], "columns": [0, 3]},
    {"name": "roots", "roots_of_unity": 6},
    {"name": "povey", "window": {"length": 5, "kind": "povey", "periodic": false}},
    {"name": "mel", "mel": {"filters": 4, "size": 6, "rate": 16000, "highest": 8000, "scale": "slaney", "norm": "area"}}
  ],
  "programs": [{
    "name": "everything",
    "inputs": [
      {"name": "ids", "space": "tokens", "type": "i32"}, {"name": "marks", "space": "tokens", "type": "i32"},
      {"name": "image", "space": "pixels", "width": 4}, {"name": "sound", "space": "samples", "width": 1}
    ],
    "operations": [
      {"op": "embed", "in": ["ids"], "tensors": ["places"], "out": "words", "scale": 2},
      {"op": "position", "in": ["words"], "tensors": ["places"], "out": "x", "offset": 1},
      {"op": "norm", "in": ["x"], "tensors": ["half"], "out": "normed", "kind": "rms", "epsilon": 1e-6, "heads": 2,
       "weight_offset": 1},
      {"op": "rotate", "in": ["normed"], "tensors": ["turns"], "out": "turned", "heads": 2, "offset": 1,
       "interleaved": true},
      {"op": "activate", "in": ["turned"], "out": "active", "activation": "tanh", "limit": 2},
      {"op": "scale", "in": ["active"], "out": "scaled", "scale": 0.5},
      {"op": "softmax", "in": ["scaled"], "out": "shares"},
      {"op": "normalize", "in": ["shares"], "out": "y", "epsilon": 1e-6, "clamp": "squares"},
      {"op": "prepend", "in": ["y"], "tensors": ["row"], "out": "longer"},
      {"op": "unfold", "in": ["y"], "out": "neighbours", "space": "halves", "before": 1, "after": 1},
      {"op": "select", "in": ["marks"], "out": "chosen", "space": "kept", "kind": "nonzero"},
      {"op": "gather", "in": ["y", "chosen"], "out": "chosen_y"},
      {"op": "merge", "in": ["y", "chosen_y", "chosen"], "out": "merged"},
      {"op": "arrange", "in": ["image"], "tensors": ["turned"], "out": "image_turned", "space": "pixels"},
      {"op": "hash", "in": ["y"], "tensors": ["rotations"], "out": "hashed", "heads": 2, "rounds": 2, "buckets": 4,
       "more_buckets": 2},
      {"op": "sort", "in": ["hashed"], "out": "sorted"},
      {"op": "attention", "in": ["y", "y", "y", "sorted"], "out": "clustered", "heads": 2, "rounds": 2, "chunk": 2,
       "chunks_before": 1, "chunks_after": 1, "chunk_multiple": 2, "self_score": -100000, "causal": true},
      {"op": "attention", "in": ["y", "y", "y", "chosen"], "out": "edges", "heads": 2, "kv_heads": 2,
       "pattern": "window", "left": 4, "right": 4, "dilation": 2, "global_first": 1, "global_last": 1,
       "global_keys": true},
      {"op": "attention", "in": ["y", "y", "y"], "tensors": [null, null, null, "named"], "out": "blocks", "heads": 2,
       "pattern": "none", "block": 2, "global_first": 2, "layout_by_head": true, "full_up_to": 4, "cap": 5},
      {"op": "attention", "in": ["y", "y", "y"],
       "tensors": [null, null, null, null, null, "tables", "tables", "buckets"], "out": "related", "heads": 2,
       "products": "int8"},
      {"op": "attention", "in": ["image", "image", "image"], "tensors": ["distances", "coordinates"], "out": "placed",
       "heads": 2},
      {"op": "attention", "in": ["image", "image", "image", "image"], "out": "biased", "heads": 2, "pair_bias": 1,
       "origin": "end"},
      {"op": "pool", "in": ["y"], "out": "shorter", "kind": "max", "space": "halves"},
      {"op": "attention", "in": ["shorter", "y", "y"], "tensors": ["distances"], "out": "mixed", "heads": 2,
       "query_stride": 2, "apart": 1},
      {"op": "upsample", "in": ["mixed"], "out": "long_again", "space": "tokens"},
      {"op": "cast", "in": ["y"], "out": "stored", "type": "int8", "heads": 2},
      {"op": "attention", "in": ["y", "stored", "stored"], "out": "of_stored", "heads": 2},
      {"op": "rotate", "in": ["y"], "tensors": [null, "half", "half"], "out": "long_turned", "heads": 1, "scale": 1.1,
       "short_up_to": 9},
      {"op": "rotate", "in": ["y"], "tensors": [null, "half"], "out": "stretched", "heads": 1, "short_up_to": 9,
       "stretch": 2},
      {"op": "attention", "in": ["y", "y", "y"],
       "tensors": [null, null, null, null, null, null, null, null, "half", "half"], "out": "sloped", "heads": 2},
      {"op": "append", "in": ["y"], "out": "kept", "type": "int8", "heads": 2},
      {"op": "attention", "in": ["y", "kept", "kept"], "out": "of_kept", "heads": 2, "causal": true},
      {"op": "pool", "in": ["y"], "out": "group_sums", "kind": "sum", "rest": true, "space": "groups"},
      {"op": "attention", "in": ["y", "y", "y", "group_sums", "group_sums"],
       "tensors": [null, null, null, null, null, null, null, null, null, null, "distances"], "out": "of_groups",
       "heads": 2, "pattern": "window", "left": 1, "right": 1, "summaries": true},
      {"op": "convolve", "in": ["kept"], "tensors": ["mixing", "row"], "out": "of_past"},
      {"op": "convolve", "in": ["y"], "tensors": ["mixing"], "out": "with_next", "after": 1},
      {"op": "experts", "in": ["y", "scaled"], "tensors": ["four_experts", "expert_bias"], "out": "of_experts",
       "kind": "of_all", "experts": 4, "top_k": 2},
      {"op": "gate", "in": ["of_experts", "of_experts"], "out": "bounded", "activation": "quick_gelu", "limit": 2,
       "shift": 1},
      {"op": "spectrum", "in": ["sound"], "tensors": ["roots", "povey"], "out": "powers", "space": "frames", "hop": 3,
       "before": 2, "reflect": true, "power": true, "remove_mean": true, "preemphasis": 0.97},
      {"op": "linear", "in": ["powers"], "tensors": ["mel"], "out": "filtered"},
      {"op": "activate", "in": ["filtered"], "out": "logs", "activation": "log", "floor": 1e-10},
      {"op": "dynamic_range", "in": ["logs"], "out": "loud", "range": 18},
      {"op": "scale", "in": ["loud"], "out": "moved", "scale": 0.1, "shift": 1},
      {"op": "standardize", "in": ["moved"], "tensors": ["row", "row"], "out": "features", "epsilon": 1e-7},
      {"op": "fill", "tensors": ["row"], "out": "asked", "space": "texts"},
      {"op": "attention", "in": ["asked", "y", "y"], "out": "answer", "heads": 1},
      {"op": "linear", "in": ["y"], "tensors": ["gates.in"], "out": "gate_parts"},
      {"op": "slice", "in": ["y"], "out": "state", "begin": 1, "width": 2},
      {"op": "attention", "in": ["y", "y", "y", "state"], "tensors": ["axis_distances"], "out": "by_axes", "heads": 2,
       "axes": 2, "row_coordinates": true},
      {"op": "arrange", "in": ["image"], "tensors": ["named", "tables"], "out": "blended", "space": "pixels"},
      {"op": "convolve", "in": ["image"], "tensors": ["mixing", null, "around"], "out": "smoothed", "space": "pixels"},
      {"op": "pool", "in": ["state"], "out": "begin", "kind": "last"},
      {"op": "recurrent", "in": ["gate_parts", "begin", "marks"], "tensors": ["gates", "gate_bias"], "out": "states",
       "cell": "gru", "reset_after": false, "activation": "hard_sigmoid", "initial": true, "masked": true,
       "reverse": true, "output": "state"},
      {"op": "cell", "in": ["gate_parts", "state"], "tensors": ["gates", "gate_bias"], "out": "next", "cell": "gru",
       "reset_after": false, "activation": "hard_sigmoid"},
      {"op": "softmax", "in": ["state"], "out": "log_shares", "log": true},
      {"op": "rotate", "in": ["y", "marks"], "tensors": ["turns"], "out": "placed_turns", "heads": 2},
      {"op": "cell", "in": ["state", "state"], "tensors": ["square"], "out": "plain", "cell": "rnn",
       "activation": "relu"},
      {"op": "concat", "in": ["y", "y"], "out": "twice"},
      {"op": "received", "in": ["y", "y", "y"], "out": "received", "heads": 1},
      {"op": "position", "in": ["received"], "out": "numbered"},
      {"op": "rotate", "in": ["y", "numbered"], "tensors": ["turns"], "out": "numbered_turns", "heads": 2},
      {"op": "select", "in": ["received"], "out": "half_chosen", "space": "better", "kind": "best", "share": 0.5,
       "front": 1},
      {"op": "cell", "in": ["twice", "y"], "tensors": ["four_experts", null, "peepholes"], "out": "seen",
       "cell": "lstm"},
      {"op": "recurrent", "in": ["twice"], "tensors": ["four_experts", null, "peepholes"], "out": "all_seen",
       "cell": "lstm"}
    ],
    "outputs": ["longer", "neighbours", "merged", "image_turned", "clustered", "edges", "blocks", "related", "placed",
                "biased", "long_again", "of_stored", "of_kept", "of_past", "with_next", "of_groups", "sloped",
                "bounded", "long_turned", "stretched", "answer", "states", "next", "features", "by_axes", "blended",
                "smoothed", "log_shares", "placed_turns", "plain", "seen", "all_seen"]
  }]
})";

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
  std::set<std::pair<uint32_t, size_t>> tensors;                       // operands of operations
};

TEST(Reach, EveryOperationAttributeSpacePatternAndScore) {
  Reach reach;
  for (const auto& entry : std::filesystem::directory_iterator(kExamples)) {
    const std::string graph = entry.path() / "graph.json";
    if (std::filesystem::exists(entry.path() / "golden.safetensors")) reach.Add(Resolve(ReadGraph(graph, "")));
  }
  const Description others = ParseGraph(kOthers, ".", "others");
  reach.Add(Resolve(others));
  // The runtime agrees that this is a model.
  ConvertReport report;
  const test::AlignedBytes blob(BuildBlob(others, {}, report));
  const Model model(blob.data(), blob.size(), "others", {FOVEA_BACKEND_DEFAULT, false});

  std::set<uint32_t> attributes;
  for (const auto& operation : NamesOf<OpCode>::list) {
    const auto code = static_cast<uint32_t>(operation.number);
    EXPECT_EQ(reach.operations.count(code), 1u) << operation.name;
    const OpDef* def = FindOp(code);
    // `received` takes what attention takes, by the same rule.
    const auto like = operation.number == OpCode::kReceived ? static_cast<uint32_t>(OpCode::kAttention) : code;
    for (uint32_t i = 0; i < def->attribute_count; ++i) {
      const auto key = static_cast<uint32_t>(def->attributes[i]);
      attributes.insert(key);
      const auto pair = std::make_pair(like, key);
      EXPECT_EQ(reach.values.count(pair), 1u) << operation.name << ": " << NameOf(Attribute(key));
    }
    for (size_t i = 0; operation.number != OpCode::kEmbed && i < def->max_tensors; ++i) {
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
