// Reformer: two residual streams (attention adds to the first what it reads from the second, the feed-forward layers
// the other way round), layers that look at keys sorted by random hashes and layers that look at neighbouring chunks. A
// decoder is converted as one pass that scores every token of a text.
#include <math.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>

#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/arch/program_builder.h"
#include "tools/convert/constants.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kLongestChunk = 1u << 20;

std::string PrefixOf(const Weights& weights) {
  return weights.Has("embeddings.word_embeddings.weight") ? "" : "reformer.";
}

struct Shape {
  uint32_t heads, head_size, rounds;
  bool causal;
  std::vector<uint32_t> buckets;  // one or two factors

  uint32_t Directions() const {  // for one head in one round
    uint32_t sum = 0;
    for (const uint32_t factor : buckets) sum += factor / 2;
    return sum;
  }
};

// Where the number of buckets is left open, the library derives it from the first text that it sees; here from the
// longest one.
std::vector<uint32_t> UsualBuckets(uint32_t positions, uint32_t chunk) {
  uint32_t bits = 0;
  while (bits < 16 && (2u << bits) <= 2 * (positions / chunk)) ++bits;
  const auto root = static_cast<uint32_t>(sqrt(static_cast<double>(positions / chunk)));
  bits = std::max(bits, 1u);
  if ((1u << bits) <= 2 * std::max(root, chunk)) return {1u << bits};
  return {1u << bits / 2, 1u << (bits - bits / 2)};
}

std::vector<uint32_t> BucketsOf(const Config& config, uint32_t positions, uint32_t chunk, Description& description) {
  const Json& buckets = config.Get("num_buckets");
  if (buckets.is_null()) {
    const std::vector<uint32_t> usual = UsualBuckets(positions, chunk);
    description.warnings.push_back(
        fmt::format("config.json: num_buckets is not set; {}{} is used, as computed for texts of {} tokens", usual[0],
                    usual.size() == 1 ? "" : fmt::format(" x {}", usual[1]), positions));
    return usual;
  }
  std::vector<uint32_t> factors;
  for (const Json& factor : buckets.is_array() ? buckets : Json::array({buckets})) {
    if (!factor.is_number_unsigned() || factor.get<uint64_t>() % 2 != 0 || factor.get<uint64_t>() - 1 >= 65536) {
      Fail("config.json: num_buckets {} is not supported", buckets.dump());
    }
    factors.push_back(factor.get<uint32_t>());
  }
  if (factors.empty() || factors.size() > 2) Fail("config.json: num_buckets {} is not supported", buckets.dump());
  return factors;
}

// Rows of rotations as `hash` takes them, by head, round and direction, from [heads, head size, rounds, directions].
Constant StoredRotations(std::shared_ptr<SafetensorsReader> file, const std::string& name, const Shape& shape) {
  const auto found = file->tensors().find(name);
  const std::vector<uint64_t> expected = {shape.heads, shape.head_size, shape.rounds, shape.Directions()};
  if (found == file->tensors().end()) Fail("rotations.safetensors: no tensor {}", name);
  if (found->second.shape != expected) {
    Fail("rotations.safetensors: tensor {} is {}, but must be {}", name, ShapeText(found->second.shape),
         ShapeText(expected));
  }
  const uint32_t per_head = shape.rounds * shape.Directions();
  return {shape.heads * per_head, shape.head_size, [file, name, shape, per_head] {
            const std::vector<float> from = ToFloats(file->Get(name));
            std::vector<float> to(from.size());
            for (size_t head = 0; head < shape.heads; ++head) {
              for (size_t i = 0; i < shape.head_size; ++i) {
                for (size_t row = 0; row < per_head; ++row) {
                  to[(head * per_head + row) * shape.head_size + i] =
                      from[(head * shape.head_size + i) * per_head + row];
                }
              }
            }
            return to;
          }};
}

// Normally distributed: pairs by Box and Muller's method from the upper 53 bits of std::mt19937_64(seed).
Constant RandomRotations(uint64_t seed, const Shape& shape) {
  const uint32_t rows = shape.heads * shape.rounds * shape.Directions();
  return {rows, shape.head_size, [seed, rows, shape] {
            std::mt19937_64 random(seed);
            const auto uniform = [&random] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
            std::vector<float> values(size_t{rows} * shape.head_size);
            for (float& value : values) {
              const double radius = sqrt(-2.0 * log(uniform()));
              value = static_cast<float>(radius * cos(6.283185307179586 * uniform()));
            }
            return values;
          }};
}

// Names the rotations of every LSH layer: the library draws them anew in each call, or with hash_seed the same ones for
// all layers.
void AddRotations(const Checkpoint& checkpoint, const Shape& shape, uint32_t layers, Description& description) {
  if (layers == 0) return;
  const std::string path = (Utf8Path(checkpoint.directory) / "rotations.safetensors").string();
  const Json& hash_seed = checkpoint.config.Get("hash_seed");
  std::shared_ptr<SafetensorsReader> file;
  if (std::filesystem::exists(Utf8Path(path))) {
    file = std::make_shared<SafetensorsReader>(path);
    description.SetMetadata("rotations", "file");
  } else {
    if (!hash_seed.is_null() && !hash_seed.is_number_unsigned()) {
      Fail("config.json: hash_seed {} is not supported", hash_seed.dump());
    }
    const std::string seed = hash_seed.is_null() ? "0 + number of the layer" : hash_seed.dump();
    description.SetMetadata("rotations", "seed " + seed);
    description.warnings.push_back(
        fmt::format("rotations.safetensors is missing; random rotations are generated with seed {}", seed));
  }
  for (uint32_t i = 0; i < layers; ++i) {
    const uint64_t seed = hash_seed.is_number_unsigned() ? hash_seed.get<uint64_t>() : i;
    description.weights.Add(fmt::format("rotations.{}", i),
                            file ? StoredRotations(file, std::to_string(i), shape) : RandomRotations(seed, shape));
  }
}

// Row p of the table is row p / columns of the first axis beside row p % columns of the second.
Constant AxialPositions(const Constant& first, const Constant& second) {
  const uint32_t width = first.width + second.width;
  return {first.rows * second.rows, width, [first, second, width] {
            const std::vector<float> a = first.load(), b = second.load();
            std::vector<float> table;
            table.reserve(size_t{first.rows} * second.rows * width);
            for (uint32_t p = 0; p < first.rows * second.rows; ++p) {
              const auto left = a.begin() + static_cast<ptrdiff_t>(p / second.rows) * first.width;
              const auto right = b.begin() + static_cast<ptrdiff_t>(p % second.rows) * second.width;
              table.insert(table.end(), left, left + first.width);
              table.insert(table.end(), right, right + second.width);
            }
            return table;
          }};
}

std::string PositionTable(const Config& config, const std::string& embeddings, Weights& weights) {
  if (!config.Flag("axial_pos_embds", true)) return embeddings + "position_embeddings.embedding.weight";
  const std::string at = embeddings + "position_embeddings.weights.", name = "axial_positions";
  if (weights.Has(at + "2")) Fail("config.json: axial positions of more than two axes are not supported");
  weights.Add(name, AxialPositions(weights.Get(at + "0"), weights.Get(at + "1")));
  config.Only("axial_pos_shape", {weights.Get(at + "0").rows, weights.Get(at + "1").rows});
  config.Only("axial_pos_embds_dim", {weights.Get(at + "0").width, weights.Get(at + "1").width});
  return name;
}

// Chunks of one kind of layers. The library pads texts of more than `least` tokens until they fill whole chunks of all
// layers, so a kind with shorter ones has chunks of nothing but padding at the end: `multiple` are as many as one fill.
struct Chunks {
  uint32_t length = 64, before = 1, after = 0;
  uint32_t multiple = 1, least = 64;
};

Chunks ChunksOf(const Config& config, const std::string& kind, const std::string& other, bool has_other) {
  const auto length_of = [&](const std::string& of) {
    const uint32_t length = config.Number(of + "_attn_chunk_length", 64);
    if (length == 0 || length > kLongestChunk) Fail("config.json: a chunk of {} tokens", length);
    return length;
  };
  Chunks chunks;
  chunks.length = chunks.least = length_of(kind);
  chunks.before = config.Number(kind + "_num_chunks_before", 1);
  chunks.after = config.Number(kind + "_num_chunks_after", 0);
  if (has_other) {
    chunks.multiple = length_of(other) / std::gcd(chunks.length, length_of(other));
    if (chunks.multiple > 1) chunks.least = std::min(chunks.length, length_of(other));
  }
  return chunks;
}

class Writer {
 public:
  Writer(const Config& config, const Shape& shape, const Chunks& hashed, const Chunks& local, ProgramBuilder& builder,
         Description& description)
      : config_(config),
        shape_(shape),
        hashed_chunks_(hashed),
        local_chunks_(local),
        b_(builder),
        prefix_(PrefixOf(description.weights)),
        description_(description) {}

  // Layer i, from streams `first` and `second`; its results are named streams.<i + 1> and hidden_states.<i + 1>.
  void Layer(uint32_t i, bool hashed, std::string* first, std::string* second) {
    const std::string at = fmt::format("layers.{}.", i), from = fmt::format("{}encoder.layers.{}.", prefix_, i);
    const std::string in = b_.Norm(*second, from + "attention.layer_norm", at + "attention_input");
    const std::string attended = hashed ? Hashed(i, in) : Local(i, in);
    const std::string out = b_.Linear(attended, from + "attention.output.dense", at + "attention_output");
    *first = b_.Op("add", {*first, out}, {}, fmt::format("streams.{}", i + 1));
    const std::string middle = b_.Norm(*first, from + "feed_forward.layer_norm", at + "input");
    b_.Linear(middle, from + "feed_forward.dense.dense", at + "up", config_.Activation("hidden_act", "relu"));
    b_.Linear(at + "up", from + "feed_forward.output.dense", at + "down");
    *second = b_.Op("add", {*second, at + "down"}, {}, b_.HiddenState(i + 1));
  }

 private:
  // Queries are keys before these are normed, so a token would see most of itself: its own score is as good as none.
  std::string Hashed(uint32_t i, const std::string& in) {
    const std::string at = fmt::format("layers.{}.", i);
    const std::string from = fmt::format("{}encoder.layers.{}.attention.self_attention.", prefix_, i);
    const std::string q = b_.Linear(in, from + "query_key", at + "query_key");
    const std::string k =
        b_.Op("norm", {q}, {}, at + "key", {{"kind", "rms"}, {"epsilon", 1e-6}, {"heads", shape_.heads}});
    const std::string v = b_.Linear(in, from + "value", at + "value");
    Json hash = {{"heads", shape_.heads}, {"rounds", shape_.rounds}, {"buckets", shape_.buckets[0]}};
    if (shape_.buckets.size() > 1) hash["more_buckets"] = shape_.buckets[1];
    const std::string name = fmt::format("buckets.{}", hashed_);
    b_.Op("hash", {q}, {fmt::format("rotations.{}", hashed_)}, name, hash);
    ++hashed_;
    const std::string sorted = b_.Op("sort", {name}, {}, at + "sorted");
    const std::string step = fmt::format("attentions.{}", i);
    Json attributes = InChunks(hashed_chunks_, step, sorted);
    attributes.update({{"rounds", shape_.rounds}, {"self_score", -1e5}});
    return b_.Attention(step, {q, k, v, sorted}, {}, at + "attended", attributes);
  }

  // Chunks of the text in its order; the first and the last chunk are neighbours.
  std::string Local(uint32_t i, const std::string& in) {
    const std::string at = fmt::format("layers.{}.", i);
    const std::string from = fmt::format("{}encoder.layers.{}.attention.self_attention.", prefix_, i);
    const std::string q = b_.Linear(in, from + "query", at + "query");
    const std::string k = b_.Linear(in, from + "key", at + "key");
    const std::string v = b_.Linear(in, from + "value", at + "value");
    const std::string step = fmt::format("attentions.{}", i);
    return b_.Attention(step, {q, k, v}, {}, at + "attended", LocalChunks(step));
  }

  // Attributes of an attention step over chunks; the library gives its weights chunk by chunk.
  Json InChunks(const Chunks& chunks, const std::string& step, const std::string& sorted) {
    description_.SetMetadata("layout." + step,
                             fmt::format("chunked {} {} {} {} {}{}{}", chunks.length, chunks.before, chunks.after,
                                         chunks.multiple, chunks.least, sorted.empty() ? "" : " ", sorted));
    Json attributes = {{"heads", shape_.heads},
                       {"chunk", chunks.length},
                       {"chunks_before", chunks.before},
                       {"chunks_after", chunks.after}};
    if (shape_.causal) attributes["causal"] = true;
    if (chunks.multiple > 1) attributes["chunk_multiple"] = chunks.multiple;
    return attributes;
  }

  Json LocalChunks(const std::string& step) {
    const Chunks& chunks = local_chunks_;
    const Json attributes = InChunks(chunks, step, "");
    if (!shape_.causal || chunks.before > 1 || chunks.after > 0) return attributes;
    // The chunk before the first one is the last, after the query and thus unseen: a window in blocks sees the same.
    return {{"heads", shape_.heads},
            {"causal", true},
            {"pattern", "window"},
            {"block", chunks.length},
            {"left", chunks.before * chunks.length},
            {"right", 0u}};
  }

  const Config& config_;
  const Shape& shape_;
  const Chunks hashed_chunks_, local_chunks_;
  ProgramBuilder& b_;
  const std::string prefix_;
  Description& description_;
  uint32_t hashed_ = 0;  // LSH layers so far
};

}  // namespace

// The original: transformers/models/reformer/modeling_reformer.py: ReformerModel.
void DescribeReformer(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string prefix = PrefixOf(weights);
  description.must_use = {prefix + "embeddings.", prefix + "encoder."};

  std::vector<bool> hashed;
  for (const Json& layer : config.Get("attn_layers")) {
    if (layer != "lsh" && layer != "local") Fail("config.json: a layer of {} is not supported", layer.dump());
    hashed.push_back(layer == "lsh");
  }
  if (hashed.empty()) Fail("config.json: attn_layers is missing");
  config.Only("num_hidden_layers", hashed.size());
  const std::string table = PositionTable(config, prefix + "embeddings.", weights);
  const uint32_t positions = std::min(config.Number("max_position_embeddings", 4096), weights.Get(table).rows);
  description.SetMetadata("max_positions", std::to_string(positions));

  Shape shape = {config.Number("num_attention_heads", 12),
                 config.Number("attention_head_size", 64),
                 config.Number("num_hashes", 1),
                 config.Flag("is_decoder", false),
                 {}};
  const auto hashing = static_cast<uint32_t>(std::count(hashed.begin(), hashed.end(), true));
  const Chunks hashed_chunks = ChunksOf(config, "lsh", "local", hashing < hashed.size());
  const Chunks local_chunks = ChunksOf(config, "local", "lsh", hashing > 0);
  if (hashing > 0) shape.buckets = BucketsOf(config, positions, hashed_chunks.length, description);
  AddRotations(checkpoint, shape, hashing, description);
  for (uint32_t i = 0; i < hashed.size(); ++i) {  // old files have constants of the masks
    for (const char* mask :
         {"mask_value_float16", "mask_value_float32", "self_mask_value_float16", "self_mask_value_float32"}) {
      const std::string name = fmt::format("{}encoder.layers.{}.attention.self_attention.{}", prefix, i, mask);
      if (weights.Has(name)) weights.Get(name);
    }
  }

  ProgramBuilder builder(checkpoint, description, {"layer", config.Real("layer_norm_eps", 1e-12)});
  builder.Op("embed", {"input_ids"}, {prefix + "embeddings.word_embeddings.weight"}, "embeddings.words");
  std::string second = builder.Op("position", {"embeddings.words"}, {table}, builder.HiddenState(0));
  std::string first = second;
  Writer writer(config, shape, hashed_chunks, local_chunks, builder, description);
  for (uint32_t i = 0; i < hashed.size(); ++i) writer.Layer(i, hashed[i], &first, &second);
  builder.Op("concat", {first, second}, {}, "streams");
  const std::string last = builder.Norm("streams", prefix + "encoder.layer_norm", "last_hidden_state");

  Heads heads;
  heads.sequence = {.dense = "classifier.dense", .activation = "tanh", .out = "classifier.out_proj"};
  heads.language.out = "lm_head.decoder";
  heads.language_table = "lm_head.decoder.weight";
  heads.language_bias = "lm_head.bias";
  // Sizes follow from the tensors; the remaining keys choose chunks of the original's computation, or concern training.
  config.Ignore({"axial_norm_std", "chunk_size_lm_head", "chunk_size_feed_forward", "feed_forward_size", "hidden_size",
                 "num_buckets", "num_hashes", "hash_seed", "axial_pos_shape", "axial_pos_embds_dim"});
  builder.Finish(last, heads);
}

}  // namespace fovea::tools
