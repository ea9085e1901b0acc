// Funnel-Transformer: blocks of layers at half the length of the block before, and a decoder that brings the rows back.
// Scores depend on distances, as in Transformer-XL, and on token types. What both add does not depend on the text but
// for a product with the query: distances are tables of relative keys and a bias (computed here), types a few columns
// more of queries and keys.
#include <math.h>

#include <algorithm>
#include <optional>

#include "runtime/blob/strides.h"
#include "tools/base/fail.h"
#include "tools/convert/arch/program_builder.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

// Row space of a block.
struct Level {
  std::string space;
  std::string kinds;  // the value of Writer::Kinds at this level
  uint32_t number;    // halvings so far
  uint32_t rows;      // in the longest text
};

struct Shape {
  uint32_t width, heads, head_size;
  bool separate;   // the first row is never pooled, and its scores have neither distances nor types
  bool truncated;  // the last row is not pooled either, but dropped
  uint32_t kinds() const { return separate ? 3 : 2; }  // columns of Kinds
  uint32_t columns() const { return head_size + kinds(); }
};

// Adds columns of zeros.
Constant Widened(const Constant& table, uint32_t columns) {
  const Constant zeros = Literal(columns, table.rows, std::vector<float>(size_t{columns} * table.rows));
  return Transpose(Concatenate({Transpose(table), zeros}));
}

// Head by head its rows of every part.
Constant ByHead(uint32_t heads, const std::vector<Constant>& of) {
  std::vector<Constant> parts;
  for (uint32_t head = 0; head < heads; ++head) {
    for (const Constant& part : of) {
      const uint32_t rows = part.rows / heads;
      parts.push_back(Slice(part, {head * rows, (head + 1) * rows}));
    }
  }
  return Concatenate(parts);
}

// Row i of a head's result: the head's row of `vectors` times the head's rows of `matrix`; [heads, width of matrix].
Constant Contracted(const Shape& shape, const Constant& vectors, const Constant& matrix) {
  std::vector<Constant> rows;
  for (uint32_t head = 0; head < shape.heads; ++head) {
    const uint32_t first = head * shape.head_size;
    rows.push_back(
        Product(Slice(vectors, {head, head + 1}), Transpose(Slice(matrix, {first, first + shape.head_size}))));
  }
  return Concatenate(rows);
}

// Row r is the sines, then the cosines, of the distance (rows / 2 - r) * unit.
Constant Distances(uint32_t rows, uint32_t width, uint32_t unit) {
  return {rows, width, [=] {
            std::vector<float> table;
            for (uint32_t r = 0; r < rows; ++r) {
              const double distance = (static_cast<double>(rows / 2) - r) * unit;
              for (uint32_t i = 0; i < width; ++i) {
                const double angle = distance * pow(10000.0, -2.0 * (i % (width / 2)) / width);
                table.push_back(static_cast<float>(i < width / 2 ? sin(angle) : cos(angle)));
              }
            }
            return table;
          }};
}

class Writer {
 public:
  Writer(const Config& config, const Shape& shape, ProgramBuilder& builder, Weights& weights)
      : shape_(shape), b_(builder), weights_(weights), activation_(config.Activation("hidden_act", "gelu_new")) {}

  // The kind of each row, as columns [has a type, type 0, type 1]; type 2 is neither. Without a separate first row
  // there is no first column. The table of positions also bounds the length of texts.
  std::string Kinds(uint32_t positions) {
    const uint32_t columns = shape_.kinds();
    std::vector<float> table;
    for (uint32_t type = 0; type < 3; ++type) {
      if (shape_.separate) table.push_back(1);
      table.push_back(type == 0 ? 1 : 0);
      table.push_back(type == 1 ? 1 : 0);
    }
    std::vector<float> first(size_t{positions} * columns);
    if (shape_.separate) std::fill_n(first.begin(), columns, -1.0f);
    weights_.Add("kinds", Literal(3, columns, table));
    weights_.Add("kinds.positions", Literal(positions, columns, first));
    AddExpansions();
    b_.Op("embed", {"token_type_ids"}, {"kinds"}, "kinds.of_types");
    const std::string placed = b_.Op("position", {"kinds.of_types"}, {"kinds.positions"}, "kinds.placed");
    return shape_.separate ? b_.Op("activate", {placed}, {}, "kinds.0", {{"activation", "relu"}}) : placed;
  }

  // A layer whose tensors are called `name`: queries at one level, keys at this or the one before. `out`: the result.
  std::string Layer(const std::string& name, const std::string& x, const Level& at, const std::string& keys,
                    const Level& keys_at, const std::string& out) {
    const std::string layer = fmt::format("layers.{}.", layers_), stored = name + "attention.";
    AddProjections(stored);
    const std::string query = Expand(b_.Linear(x, stored + "query", layer + "query_content"), at, true, layer);
    const std::string key = Expand(b_.Linear(keys, stored + "key", layer + "key_content"), keys_at, false, layer);
    const std::string value = b_.Linear(keys, stored + "v_head", layer + "value");
    Json attributes = {{"heads", shape_.heads}, {"scale", ScoreScale()}};
    if (shape_.separate) attributes["apart"] = 1u;
    if (at.number != keys_at.number) attributes["query_stride"] = 2u;
    b_.Attention(fmt::format("attentions.{}", layers_), {query, key, value}, AddDistances(stored, keys_at),
                 layer + "attended", attributes);
    b_.Linear(layer + "attended", stored + "post_proj", layer + "attention_output");
    b_.Op("add", {x, layer + "attention_output"}, {}, layer + "attention_sum");
    const std::string middle = b_.Norm(layer + "attention_sum", stored + "layer_norm", layer + "middle");
    b_.Linear(middle, name + "ffn.linear_1", layer + "up", activation_);
    b_.Linear(layer + "up", name + "ffn.linear_2", layer + "down");
    b_.Op("add", {middle, layer + "down"}, {}, layer + "sum");
    ++layers_;
    return b_.Norm(layer + "sum", name + "ffn.layer_norm", out);
  }

 private:
  double ScoreScale() const { return 1 / sqrt(static_cast<double>(shape_.head_size)); }

  // Columns of kinds spread over the heads: factors of queries (1 for their content), addends of keys. The query's
  // column for type 0 is multiplied with the keys' for type 1: it counts where the types differ.
  void AddExpansions() {
    const uint32_t kinds = shape_.kinds(), columns = shape_.columns(), rows = shape_.heads * columns;
    std::vector<float> queries(size_t{rows} * kinds), content(rows), keys(queries);
    for (uint32_t row = 0; row < rows; ++row) {
      const uint32_t column = row % columns;
      content[row] = column < shape_.head_size ? 1 : 0;
      if (column < shape_.head_size) continue;
      const uint32_t kind = column - shape_.head_size;
      const uint32_t types = kinds - 2, other = kind < types ? kind : types + (1 - (kind - types));
      queries[size_t{row} * kinds + kind] = 1;
      keys[size_t{row} * kinds + other] = 1;
    }
    weights_.Add("kinds.queries", Literal(rows, kinds, queries));
    weights_.Add("kinds.content", Literal(1, rows, content));
    weights_.Add("kinds.keys", Literal(rows, kinds, keys));
  }

  std::string Expand(const std::string& content, const Level& at, bool queries, const std::string& layer) {
    const std::string out = layer + (queries ? "query" : "key"), spread = out + "_kinds";
    if (!queries) {
      b_.Op("linear", {at.kinds}, {"kinds.keys"}, spread);
      return b_.Op("add", {content, spread}, {}, out);
    }
    b_.Op("linear", {at.kinds}, {"kinds.queries", "kinds.content"}, spread);
    return b_.Op("gate", {spread, content}, {}, out, {{"activation", "none"}});
  }

  Constant Rows(const std::string& name) const {  // one a head
    return Reshape(weights_.Get(name), shape_.heads, shape_.head_size);
  }

  // Queries with their content's bias, and in further columns what they add to the scores of keys that have types, and
  // of keys of the other type.
  void AddProjections(const std::string& at) {
    if (weights_.Has(at + "query.weight")) return;  // a layer that is repeated
    const Constant query = weights_.Get(at + "q_head.weight"), key = weights_.Get(at + "k_head.weight");
    const Constant types = weights_.Get(at + "seg_embed"), bias = Rows(at + "r_s_bias");
    const auto type = [&](uint32_t i) { return Reshape(Slice(types, {i, i + 1}), shape_.heads, shape_.head_size); };
    const Constant same = type(1), other = Sum({type(0), Scale(same, -1)});
    const auto said = [&](const Constant& of) { return Contracted(shape_, of, query); };
    const Constant column = Reshape(bias, shape_.heads * shape_.head_size, 1);
    const auto biases = [&](const Constant& of) { return Contracted(shape_, of, column); };
    const Constant content = Reshape(weights_.Get(at + "r_w_bias"), shape_.heads * shape_.head_size, 1);
    std::vector<Constant> rows = {query, said(other), said(other)}, added = {content, biases(other), biases(other)};
    if (shape_.separate) {
      rows.insert(rows.begin() + 1, said(same));
      added.insert(added.begin() + 1, biases(same));
    }
    weights_.Add(at + "query.weight", ByHead(shape_.heads, rows));
    weights_.Add(at + "query.bias", Transpose(ByHead(shape_.heads, added)));
    const uint32_t none = shape_.heads * shape_.kinds();
    const Constant no_rows = Literal(none, key.width, std::vector<float>(size_t{none} * key.width));
    const Constant key_bias = Reshape(weights_.Get(at + "k_head.bias"), shape_.heads * shape_.head_size, 1);
    weights_.Add(at + "key.weight", ByHead(shape_.heads, {key, no_rows}));
    weights_.Add(at + "key.bias",
                 Transpose(ByHead(shape_.heads, {key_bias, Literal(none, 1, std::vector<float>(none))})));
  }

  // Tensors of attention: a bucket for each distance to keys at this level.
  AttentionTensors AddDistances(const std::string& at, const Level& keys) {
    const uint32_t rows = 2 * keys.rows - 1;
    const std::string name = fmt::format("{}distances.{}", at, keys.number), buckets = fmt::format("buckets.{}", rows);
    if (!weights_.Has(buckets)) {
      std::vector<int32_t> numbers(rows);
      for (uint32_t i = 0; i < rows; ++i) numbers[i] = static_cast<int32_t>(i);
      weights_.Add(buckets, Indices(1, rows, numbers));
    }
    if (!weights_.Has(name)) {
      const Constant distances = Distances(rows, shape_.width, 1u << keys.number);
      const Constant kernel = Transpose(weights_.Get(at + "r_kernel"));
      const Constant table = Permute(Product(distances, kernel), {rows, shape_.heads, shape_.head_size}, {1, 0, 2});
      weights_.Add(name, Widened(Reshape(table, shape_.heads * rows, shape_.head_size), shape_.kinds()));
      // Queries include the content's bias, which is replaced by the distances' bias.
      const Constant bias = Sum({Rows(at + "r_r_bias"), Scale(Rows(at + "r_w_bias"), -1)});
      weights_.Add(name + ".bias", Scale(Transpose(Product(distances, Contracted(shape_, bias, kernel))),
                                         static_cast<float>(ScoreScale())));
    }
    return {.distance_bias = name + ".bias", .relative_keys = name, .buckets = buckets};
  }

  const Shape shape_;
  ProgramBuilder& b_;
  Weights& weights_;
  const std::string activation_;
  uint32_t layers_ = 0;
};

std::vector<uint32_t> Counts(const Config& config, const char* key) {
  std::vector<uint32_t> counts;
  for (const Json& count : config.Get(key)) {
    if (!count.is_number_unsigned() || count == 0 || count > 4096) {
      Fail("config.json: {} {} is not supported", key, config.Get(key).dump());
    }
    counts.push_back(count.get<uint32_t>());
  }
  return counts;
}

// Layers of each block, and how often each of them runs.
struct Blocks {
  std::vector<uint32_t> layers, repeats;

  uint32_t runs() const {
    uint32_t sum = 0;
    for (size_t i = 0; i < layers.size(); ++i) sum += layers[i] * repeats[i];
    return sum;
  }
};

Blocks ReadBlocks(const Config& config) {
  Blocks blocks = {Counts(config, "block_sizes"), Counts(config, "block_repeats")};
  if (blocks.layers.empty()) blocks.layers = {4, 4, 4};
  if (blocks.repeats.empty()) blocks.repeats.assign(blocks.layers.size(), 1);
  if (blocks.repeats.size() != blocks.layers.size()) {
    Fail("config.json: block_repeats and block_sizes must have the same length");
  }
  if (blocks.layers.size() > 16) Fail("config.json: {} blocks are too many", blocks.layers.size());
  return blocks;
}

Shape ReadShape(const Config& config, const std::string& prefix, const Weights& weights) {
  const Shape shape = {config.Number("d_model", 768), config.Number("n_head", 12), config.Number("d_head", 64),
                       config.Flag("separate_cls", true), config.Flag("truncate_seq", true)};
  const uint32_t projected = weights.Get(prefix + "encoder.blocks.0.0.attention.q_head.weight").rows;
  if (uint64_t{shape.heads} * shape.head_size != projected || shape.width < 2 || shape.width % 2 != 0) {
    Fail("{} heads of {} for a width of {} are not supported", shape.heads, shape.head_size, shape.width);
  }
  return shape;
}

void RefuseUnsupported(const Checkpoint& checkpoint, const Weights& weights) {
  const Config& config = checkpoint.config;
  const std::string attention = config.Text("attention_type", "relative_shift");  // two ways to the same scores
  if (attention != "relative_shift" && attention != "factorized") {
    Fail("config.json: attention_type {} is not supported", attention);
  }
  if (config.Number("type_vocab_size", 3) > 3) Fail("config.json: more than 3 types of tokens are not supported");
  if (checkpoint.task == Task::kMaskedLm && !weights.Has("lm_head.bias")) {
    Fail("there is no head for masked words; --task embedding converts the encoder without its head");
  }
}

uint32_t ReadPositions(const Config& config) {
  const uint32_t positions = config.Number("max_position_embeddings", 512);
  if (positions == 0 || positions > 8192) Fail("config.json: max_position_embeddings {} is not supported", positions);
  return positions;
}

std::string ReadPooling(const Config& config) {
  const std::string pooling = config.Text("pooling_type", "mean");
  if (pooling != "mean" && pooling != "max") Fail("config.json: pooling_type {} is not supported", pooling);
  return pooling;
}

// Layers of the decoder. Heads of whole texts read the encoder's first row and, as a base model, have no decoder.
std::optional<uint32_t> ReadDecoder(const Checkpoint& checkpoint, const std::string& prefix, const Weights& weights) {
  const uint32_t layers = checkpoint.config.Number("num_decoder_layers", 2);
  const Json& classes = checkpoint.config.Get("architectures");
  const bool base = checkpoint.task == Task::kSequenceClassification || checkpoint.task == Task::kMultipleChoice ||
                    checkpoint.task == Task::kEncoder ||
                    (classes.is_array() && !classes.empty() && classes[0] == "FunnelBaseModel") ||
                    (layers > 0 && !weights.Has(prefix + "decoder.layers.0.attention.q_head.weight"));
  return base ? std::nullopt : std::optional<uint32_t>(layers);
}

// The levels of all blocks; adds their spaces.
std::vector<Level> LevelsOf(const Shape& shape, size_t blocks, uint32_t positions, std::vector<Space>& spaces) {
  std::vector<Level> levels = {{"tokens", "", 0, positions}};
  const uint32_t first = shape.separate ? 1 : 0, last = shape.separate && shape.truncated ? 1 : 0;
  for (uint32_t i = 1; i < blocks; ++i) {
    Space space = {fmt::format("tokens.{}", i)};
    space.strides = levels.back().space;
    space.by = 2;
    space.first = first;
    space.last = last;
    spaces.push_back(space);
    const auto rows = static_cast<uint32_t>(Strides(first, 2, last).Rows(levels.back().rows));
    levels.push_back({space.name, fmt::format("kinds.{}", i), i, rows});
  }
  return levels;
}

class Funnel {
 public:
  Funnel(const Checkpoint& checkpoint, Description& description)
      : checkpoint_(checkpoint),
        config_(checkpoint.config),
        description_(description),
        weights_(description.weights),
        prefix_(weights_.Has("embeddings.word_embeddings.weight") ? "" : "funnel."),
        shape_(ReadShape(config_, prefix_, weights_)),
        blocks_(ReadBlocks(config_)),
        pooling_(ReadPooling(config_)),
        keys_are_whole_(config_.Flag("pool_q_only", true)),
        decoder_(ReadDecoder(checkpoint, prefix_, weights_)) {}

  void Describe() {
    const uint32_t positions = ReadPositions(config_);
    description_.SetMetadata("max_positions", std::to_string(positions));
    description_.must_use = {prefix_ + "embeddings.", prefix_ + "encoder."};
    if (decoder_) description_.must_use.push_back(prefix_ + "decoder.");
    std::vector<Space> spaces = {{"texts"}, {"tokens", "texts"}};
    levels_ = LevelsOf(shape_, blocks_.layers.size(), positions, spaces);
    ProgramBuilder builder(checkpoint_, description_,
                           {.kind = "layer", .epsilon = config_.Real("layer_norm_eps", 1e-9)}, spaces,
                           {"input_ids", "tokens"});
    builder.InputOfIds("token_type_ids", 0);
    Writer writer(config_, shape_, builder, weights_);
    levels_[0].kinds = writer.Kinds(positions);
    std::string x = Embeddings(builder);
    for (uint32_t block = 0; block < levels_.size(); ++block) x = Block(block, x, writer, builder);
    if (decoder_) x = Decoder(x, writer, builder);
    // Sizes follow from the tensors; the remaining keys concern training.
    config_.Ignore({"activation_dropout", "attention_dropout", "d_inner", "hidden_dropout", "initializer_range",
                    "initializer_std"});
    builder.Finish(x, HeadsOf());
  }

 private:
  std::string Table() const { return prefix_ + "embeddings.word_embeddings.weight"; }

  std::string Embeddings(ProgramBuilder& b) const {
    b.Op("embed", {"input_ids"}, {Table()}, "embeddings.words");
    return b.Norm("embeddings.words", prefix_ + "embeddings.layer_norm", b.HiddenState(0));
  }

  // The name of the next hidden state.
  std::string State(ProgramBuilder& b) {
    const uint32_t last = decoder_ ? blocks_.runs() + 1 + *decoder_ : blocks_.runs();
    ++states_;
    return states_ == last ? b.LastHiddenState(states_) : b.HiddenState(states_);
  }

  std::string Block(uint32_t block, std::string x, Writer& writer, ProgramBuilder& b) {
    const Level& at = levels_[block];
    std::string keys = x;
    const Level* keys_at = &at;
    if (block > 0) {
      b.Op("pool", {levels_[block - 1].kinds}, {}, at.kinds, {{"kind", "first"}}, at.space);
      x = b.Op("pool", {x}, {}, fmt::format("pooled.{}", block), {{"kind", pooling_}}, at.space);
      if (keys_are_whole_) keys_at = &levels_[block - 1];
      if (!keys_are_whole_) keys = x;
    }
    for (uint32_t layer = 0; layer < blocks_.layers[block]; ++layer) {
      const std::string name = fmt::format("{}encoder.blocks.{}.{}.", prefix_, block, layer);
      for (uint32_t repeat = 0; repeat < blocks_.repeats[block]; ++repeat) {
        keys = x = writer.Layer(name, x, at, keys, *keys_at, State(b));
        keys_at = &at;
      }
    }
    return x;
  }

  // Adds the first block's rows to the encoder's, brought back to the length of the text.
  std::string Decoder(std::string x, Writer& writer, ProgramBuilder& b) {
    if (levels_.size() > 1) x = b.Op("upsample", {x}, {}, "upsampled", Json::object(), "tokens");
    x = b.Op("add", {x, b.HiddenState(blocks_.layers[0])}, {}, State(b));
    for (uint32_t layer = 0; layer < *decoder_; ++layer) {
      x = writer.Layer(fmt::format("{}decoder.layers.{}.", prefix_, layer), x, levels_[0], x, levels_[0], State(b));
    }
    return x;
  }

  Heads HeadsOf() const {
    return {.sequence = {.dense = "classifier.linear_hidden", .activation = "tanh", .out = "classifier.linear_out"},
            .token = {.out = "classifier"},
            .language = {.out = "lm_head"},
            .language_table = Table(),
            .choice = {.dense = "classifier.linear_hidden", .activation = "tanh", .out = "classifier.linear_out"}};
  }

  const Checkpoint& checkpoint_;
  const Config& config_;
  Description& description_;
  Weights& weights_;
  const std::string prefix_;
  const Shape shape_;
  const Blocks blocks_;
  const std::string pooling_;
  const bool keys_are_whole_;
  const std::optional<uint32_t> decoder_;  // its layers; absent: there is no decoder
  std::vector<Level> levels_;
  uint32_t states_ = 0;  // hidden states so far, without the first
};

}  // namespace

// The original: transformers/models/funnel/modeling_funnel.py: FunnelModel, FunnelBaseModel.
void DescribeFunnel(const Checkpoint& checkpoint, Description& description) {
  RefuseUnsupported(checkpoint, description.weights);
  Funnel(checkpoint, description).Describe();
}

}  // namespace fovea::tools
