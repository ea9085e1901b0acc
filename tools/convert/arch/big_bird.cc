// BigBird: BERT whose rows see, in blocks, their neighbours, the first and the last block and some that are chosen at
// random. The published code chooses while training only; otherwise each of its choices is block 0, which then counts
// again. random_blocks.safetensors beside the weights may hold other choices.
#include <math.h>

#include <filesystem>

#include "runtime/blob/format.h"
#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/arch/bert_family.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

const char kChoices[] = "random_blocks.safetensors";

struct Blocks {
  uint32_t size = 0;
  uint32_t random = 0;                   // chosen blocks for each block of rows
  std::string table;                     // a tensor that all layers share; or
  std::vector<std::string> layer_table;  // a tensor for each layer, by heads
};

// Tensor <layer> [heads, rows, random]: the blocks that block 1, 2 and so on of the rows sees.
Constant ChoicesOf(const SafetensorsReader& file, uint32_t layer, uint32_t heads, uint32_t random) {
  const StoredTensor& stored = file.Get(std::to_string(layer));
  const bool whole = stored.type == ElementType::kI32 || stored.type == ElementType::kI64;
  if (!whole || stored.shape.size() != 3 || stored.shape[0] != heads || stored.shape[2] != random ||
      stored.shape[1] == 0 || stored.shape[1] > kMaxRecords) {
    Fail("{}: tensor {} is {} {}, but must be integers [{}, rows, {}]", kChoices, layer, ElementName(stored.type),
         ShapeText(stored.shape), heads, random);
  }
  std::vector<int32_t> values;
  for (const int64_t block : ToIntegers(stored)) {
    if (block < 0 || block >= static_cast<int64_t>(kMaxRecords))
      Fail("{}: {} is not the number of a block", kChoices, block);
    values.push_back(static_cast<int32_t>(block));
  }
  return Indices(heads * static_cast<uint32_t>(stored.shape[1]), random, values);
}

Blocks ReadBlocks(const Checkpoint& checkpoint, const LayerStack& stack, Weights& weights) {
  const Config& config = checkpoint.config;
  Blocks blocks;
  blocks.size = config.Number("block_size", 64);
  blocks.random = config.Number("num_random_blocks", 3);
  const uint32_t positions = config.Number("max_position_embeddings");
  if (blocks.size == 0 || blocks.size > kMaxRecords || blocks.random > 4096) {
    Fail("config.json: {} random blocks of {} rows are not supported", blocks.random, blocks.size);
  }
  if (blocks.random == 0) return blocks;
  const std::filesystem::path path = Utf8Path(checkpoint.directory) / kChoices;
  if (std::filesystem::exists(path)) {
    const SafetensorsReader file(path.string());
    for (uint32_t i = 0; i < stack.layers.size(); ++i) {
      blocks.layer_table.push_back(fmt::format("random_blocks.{}", i));
      weights.Add(blocks.layer_table.back(), ChoicesOf(file, i, stack.heads, blocks.random));
    }
    return blocks;
  }
  const uint32_t rows = positions / blocks.size + 1;
  blocks.table = "random_blocks";
  weights.Add(blocks.table, Indices(rows, blocks.random, std::vector<int32_t>(size_t{rows} * blocks.random)));
  return blocks;
}

// The pattern: neighbouring blocks, the first and the last block, and the chosen ones.
void SeeBlocks(const Blocks& blocks, Description& description, LayerStack& stack) {
  stack.attend = [=, &description](ProgramBuilder& b, const StackSite& site) {
    Json attributes = {{"heads", site.stack.heads},  {"pattern", "window"},
                       {"block", blocks.size},       {"left", blocks.size},
                       {"right", blocks.size},       {"global_first", blocks.size},
                       {"global_last", blocks.size}, {"full_up_to", (5 + uint64_t{2} * blocks.random) * blocks.size}};
    const bool by_head = !blocks.layer_table.empty();
    if (by_head) attributes["layout_by_head"] = true;
    const std::string& at = site.at;
    const std::string name = fmt::format("attentions.{}", site.layer);
    // If a block is chosen twice, the original's attention map has the weights of the second time.
    if (!by_head && blocks.random > 0) {
      description.SetMetadata("layout." + name, fmt::format("repeated {} {} {}", blocks.size, blocks.random + 1,
                                                            attributes["full_up_to"].dump()));
    }
    return b.Attention(name, {at + "query", at + "key", at + "value"},
                       {.layout = by_head ? blocks.layer_table[site.layer] : blocks.table}, at + "attended",
                       attributes);
  };
}

}  // namespace

// The original: transformers/models/big_bird/modeling_big_bird.py: BigBirdModel.
void DescribeBigBird(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  BertLike family = BertFromConfig(config, "gelu_new");
  family.prefix = "bert";
  if (config.Flag("rescale_embeddings", false)) family.word_scale = sqrt(config.Number("hidden_size"));
  family.pooler = "pooler";
  family.sequence = {.dense = "classifier.dense", .activation = family.activation, .out = "classifier.out_proj"};
  family.span = {};  // a whole feed-forward
  RefuseBiases(checkpoint, description.weights, "use_bias", true,
               {"attention.self.query", "attention.self.key", "attention.self.value"});
  LayerStack stack = BertStack(family, description);
  const std::string type = config.Text("attention_type", "block_sparse");
  if (type == "block_sparse") {
    SeeBlocks(ReadBlocks(checkpoint, stack, description.weights), description, stack);
  } else if (type != "original_full") {
    Fail("config.json: attention_type {} is not supported", type);
  }
  config.Ignore({"block_size", "num_random_blocks"});  // numbers of block_sparse that original_full does not read
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
