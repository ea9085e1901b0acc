// WavLM's attention.
#include "tools/convert/arch/gated_positions.h"

#include <math.h>

#include <numeric>

#include "tools/base/fail.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

const char kKeys[] = "encoder.distance_keys", kBuckets[] = "encoder.distance_buckets", kSpread[] = "encoder.gates";

// A row of zeros after the rows of each head.
Constant Widened(const Constant& of, uint32_t heads) {
  const uint32_t size = of.rows / heads;
  const Constant zeros = Literal(1, of.width, std::vector<float>(of.width));
  std::vector<Constant> parts;
  for (uint32_t head = 0; head < heads; ++head) {
    parts.push_back(Slice(of, {head * size, (head + 1) * size}));
    parts.push_back(zeros);
  }
  return Concatenate(parts);
}

}  // namespace

GatedPositions::GatedPositions(const Config& config, const std::string& layers, uint32_t heads, Weights& weights)
    : layers_(layers), heads_(heads), weights_(weights) {
  const std::string at = At(0);
  const Constant biases = weights_.Get(at + "rel_attn_embed.weight");
  const uint32_t rows = weights_.Get(at + "q_proj.weight").rows;
  const uint32_t buckets = config.View("num_buckets").Number({4, 1 << 13}, 320);
  const uint32_t farthest = config.View("max_bucket_distance").Number({2, 1 << 13}, 800);
  if (rows % heads != 0) Fail("config.json: num_attention_heads {} do not divide {} columns", heads, rows);
  if (biases.rows != buckets || biases.width != heads) {
    Fail("tensor {}rel_attn_embed.weight is [{}, {}], not [{}, {}]", at, biases.rows, biases.width, buckets, heads);
  }
  size_ = rows / heads;
  std::vector<float> numbers(buckets);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  const Constant table = RelativeBuckets(Literal(buckets, 1, numbers), farthest);
  const std::vector<float> found = table.load();
  weights_.Add(kBuckets, Indices(1, table.width, {found.begin(), found.end()}));
  // The root of a head's size cancels the scale of scores.
  const uint32_t size = size_;
  weights_.Add(kKeys, {heads * buckets, size + 1, [=] {
                         const std::vector<float> values = biases.load();
                         std::vector<float> keys(size_t{heads} * buckets * (size + 1));
                         for (uint32_t head = 0; head < heads; ++head) {
                           for (uint32_t b = 0; b < buckets; ++b) {
                             keys[(size_t{head} * buckets + b + 1) * (size + 1) - 1] =
                                 values[size_t{b} * heads + head] * sqrtf(static_cast<float>(size));
                           }
                         }
                         return keys;
                       }});
  // From a number for each head to the columns of queries; 2 is part of each gate.
  const uint32_t columns = heads * (size + 1);
  std::vector<float> spread(size_t{columns} * heads), twos(columns);
  for (uint32_t head = 0; head < heads; ++head) {
    const size_t column = size_t{head + 1} * (size + 1) - 1;
    spread[column * heads + head] = 1;
    twos[column] = 2;
  }
  weights_.Add(std::string(kSpread) + ".weight", Literal(columns, heads, spread));
  weights_.Add(std::string(kSpread) + ".bias", Literal(1, columns, twos));
}

std::string GatedPositions::At(uint32_t i) const { return fmt::format("{}{}.attention.", layers_, i); }

void GatedPositions::AddWide(const std::string& from, const std::string& to) {
  const Constant weight = weights_.Get(from + ".weight"), bias = weights_.Get(from + ".bias");
  if (weight.rows != heads_ * size_ || bias.rows != 1 || bias.width != weight.rows) {
    Fail("tensors {} do not have the number of rows of {} heads of {}", from, heads_, size_);
  }
  weights_.Add(to + ".weight", Widened(weight, heads_));
  weights_.Add(to + ".bias", Reshape(Widened(Reshape(bias, bias.width, 1), heads_), 1, heads_ * (size_ + 1)));
}

// Each head's own columns make two numbers for it, each the sum of four that are stored.
void GatedPositions::AddGate(const std::string& at) {
  const Constant weight = weights_.Get(at + "gru_rel_pos_linear.weight");
  const Constant bias = weights_.Get(at + "gru_rel_pos_linear.bias"), factors = weights_.Get(at + "gru_rel_pos_const");
  const uint32_t heads = heads_, size = size_;
  if (weight.rows != 8 || weight.width != size || bias.width != 8 || uint64_t{factors.rows} * factors.width != heads) {
    Fail("tensors {}gru_rel_pos_linear and gru_rel_pos_const do not fit {} heads of {}", at, heads, size);
  }
  for (const uint32_t part : {0u, 1u}) {
    const std::string name = at + (part == 0 ? "gate.outer" : "gate.inner");
    weights_.Add(name + ".weight", {heads, heads * size, [=] {
                                      const std::vector<float> values = weight.load();
                                      std::vector<float> rows(size_t{heads} * heads * size);
                                      for (uint32_t head = 0; head < heads; ++head) {
                                        for (uint32_t c = 0; c < size; ++c) {
                                          float& sum = rows[(size_t{head} * heads + head) * size + c];
                                          for (uint32_t r = 0; r < 4; ++r) sum += values[(4 * part + r) * size + c];
                                        }
                                      }
                                      return rows;
                                    }});
    weights_.Add(name + ".bias",
                 {1, heads, [=] {
                    const std::vector<float> values = bias.load();
                    return std::vector<float>(
                        heads, std::accumulate(values.begin() + 4 * part, values.begin() + 4 * part + 4, 0.0f));
                  }});
  }
  weights_.Add(at + "gate.factors", Reshape(factors, 1, heads));
  weights_.Add(at + "gate.addends", Literal(1, heads, std::vector<float>(heads, -1.0f)));
}

void GatedPositions::Widen(uint32_t i, AttentionNames& names) {
  const std::string at = At(i);
  AddGate(at);
  AddWide(names.query, at + "wide_query");
  AddWide(names.key, at + "wide_key");
  names.query = at + "wide_query";
  names.key = at + "wide_key";
}

std::string GatedPositions::Attend(ProgramBuilder& b, const StackSite& site) const {
  const std::string at = At(site.layer), gate = site.at + "gate";
  // outer * (inner * factor - 1) + 2.
  b.Linear(site.in, at + "gate.outer", gate + ".outer", "sigmoid");
  b.Linear(site.in, at + "gate.inner", gate + ".inner", "sigmoid");
  b.Op("convolve", {gate + ".inner"}, {at + "gate.factors", at + "gate.addends"}, gate + ".scaled");
  b.Op("gate", {gate + ".outer", gate + ".scaled"}, {}, gate + ".product", {{"activation", "none"}});
  b.Linear(gate + ".product", kSpread, gate);
  const std::string query = b.Op("add", {site.at + "query", gate}, {}, site.at + "gated_query");
  return b.Attention(fmt::format("attentions.{}", site.layer), {query, site.at + "key", site.at + "value"},
                     {.relative_keys = kKeys, .buckets = kBuckets}, site.at + "attended",
                     {{"heads", heads_}, {"scale", 1 / sqrt(static_cast<double>(size_))}});
}

}  // namespace fovea::tools
