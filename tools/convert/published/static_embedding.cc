// The original: sentence_transformers/models/StaticEmbedding.py: StaticEmbedding; model2vec/model.py: StaticModel.
#include "tools/convert/published/static_embedding.h"

#include <math.h>

#include <filesystem>

#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/constants.h"
#include "tools/convert/published/weight_files.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

constexpr char kTable[] = "token_vectors";

// Weights that are stored under one of several names.
std::string TableIn(const std::string& directory, const Weights& weights) {
  for (const char* name : {"embedding.weight", "embeddings"}) {
    if (weights.Has(name)) return name;
  }
  Fail("{}: has no tensor embedding.weight or embeddings", directory);
}

// The row of each token, by mapping[token] where the vocabulary shares rows.
std::vector<uint32_t> RowsOfTokens(const Constant& mapping, uint32_t rows) {
  if (mapping.rows != 1) Fail("tensor mapping must have one dimension");
  std::vector<uint32_t> found;
  for (const float row : mapping.load()) {
    // Whole numbers up to 2^24 are exact.
    if (!(row >= 0) || row >= static_cast<float>(rows) || row != floorf(row))
      Fail("tensor mapping: {} is not a row of the {} rows of the table", row, rows);
    found.push_back(static_cast<uint32_t>(row));
  }
  return found;
}

// Adds the table by token: mapped and weighted, if the directory has a vocabulary that shares rows.
std::string AddTable(const std::string& directory, Description& description) {
  Weights& weights = description.weights;
  AddWeightFiles(directory, "", weights, description.findings);
  const std::string stored = TableIn(directory, weights);
  Constant table = weights.Get(stored);
  const bool mapped = weights.Has("mapping"), weighted = weights.Has("weights");
  if (!mapped && !weighted) return stored;
  if (mapped) {
    if (table.rows > (1u << 24)) Fail("tensor {}: more than 2^24 rows", stored);
    table = Pick(table, RowsOfTokens(weights.Get("mapping"), table.rows));
  }
  if (weighted) {
    const Constant factors = weights.Get("weights");
    const uint64_t count = uint64_t{factors.rows} * factors.width;
    if (count != table.rows) Fail("tensor weights has {} numbers for {} tokens", count, table.rows);
    table = ScaleRows(table, factors);
  }
  weights.Add(kTable, table);
  description.findings.push_back(
      {Topic::kFiles, "mapping and weights of tokens, which quantize the vocabulary, are applied to the table"});
  return kTable;
}

struct Rules {
  uint32_t max_length = 0;
  int64_t left_out = -1;  // id of a token that does not count
};

Description Describe(const std::string& directory, const Rules& rules) {
  Description description;
  description.directory = directory;
  description.SetMetadata("architecture", "static-embedding");
  description.SetMetadata("task", "embedding");
  description.tokenizer = {{"type", "tokenizer.json"}, {"file", "tokenizer.json"}, {"special_tokens", false}};
  if (rules.max_length != 0) description.tokenizer["max_length"] = rules.max_length;
  if (!fs::exists(Utf8Path(directory) / "tokenizer.json")) {
    Fail("{}: has no tokenizer.json, which the original needs; save the model again with its tokenizer", directory);
  }
  description.spaces = {{"texts"}, {"tokens", "texts"}};
  const std::string table = AddTable(directory, description);
  Program program;
  program.name = "encode";
  program.inputs.push_back({"input_ids", "tokens"});
  program.operations.push_back({"embed", {"input_ids"}, {table}, "token_vectors"});
  std::string rows = "token_vectors";
  const uint32_t words = description.weights.Get(table).rows;
  if (rules.left_out >= 0 && rules.left_out < words) {
    Space counted = {"counted"};
    counted.selects = "tokens";
    description.spaces.push_back(counted);
    std::vector<float> counts(words, 1);
    counts[static_cast<size_t>(rules.left_out)] = 0;
    Constant marks = Literal(words, 1, counts);
    marks.shortest = Shortest::kF32;
    description.weights.Add("counts", marks);
    program.operations.push_back({"embed", {"input_ids"}, {"counts"}, "counts"});
    program.operations.push_back({"select", {"counts"}, {}, "counted", {{"kind", "nonzero"}}, "", "counted"});
    program.operations.push_back({"gather", {rows, "counted"}, {}, "counted_vectors"});
    rows = "counted_vectors";
  }
  program.operations.push_back({"pool", {rows}, {}, "mean", {{"kind", "mean"}}});
  program.outputs = {"mean"};
  description.programs.push_back(std::move(program));
  description.findings.push_back({Topic::kSpecialTokens, "none: texts are read without special tokens"});
  return description;
}

Json ConfigOf(const std::string& directory) {
  const fs::path file = Utf8Path(directory) / "config.json";
  if (!fs::exists(file)) return Json::object();
  Json config = ReadJson(file.string());
  return config.is_object() ? config : Json::object();
}

// The id of model.unk_token in tokenizer.json; -1: none.
int64_t UnknownToken(const std::string& directory) {
  const std::string name = (Utf8Path(directory) / "tokenizer.json").string();
  if (!fs::exists(Utf8Path(name))) return -1;
  const Json file = ReadJson(name);
  const Json model = file.is_object() ? file.value("model", Json()) : Json();
  if (!model.is_object()) return -1;
  const Json token = model.value("unk_token", Json());
  const Json vocabulary = model.value("vocab", Json());
  if (!token.is_string() || !vocabulary.is_object()) return -1;
  const auto found = vocabulary.find(token.get<std::string>());
  return found == vocabulary.end() ? -1 : WholeNumber(*found, name + ": model.vocab");
}

}  // namespace

Description DescribeStaticEmbedding(const std::string& directory) {
  Description description = Describe(directory, {});
  if (UnknownToken(directory) >= 0 && IsModel2Vec(directory)) {
    description.findings.push_back(
        {Topic::kSpecialTokens,
         "unknown words count in the mean, as in sentence-transformers by modules.json; model2vec leaves them out"});
  }
  return description;
}

bool IsModel2Vec(const std::string& directory) {
  return ConfigOf(directory).value("model_type", Json()) == "model2vec";
}

Description DescribeModel2Vec(const std::string& directory) {
  constexpr uint32_t kEncodes = 512;  // max_length of StaticModel.encode
  Description description = Describe(directory, {kEncodes, UnknownToken(directory)});
  const std::string where = (Utf8Path(directory) / "config.json").string();
  const Json config = ConfigOf(directory);
  Program& program = description.programs[0];
  if (JsonView(config, where)["normalize"].Flag(false)) {
    program.operations.push_back({"normalize", {"mean"}, {}, "sentence_embedding", {{"epsilon", 1e-12}}});
  } else {
    program.operations.back().out = "sentence_embedding";
  }
  program.outputs = {"sentence_embedding"};
  description.findings.push_back({Topic::kFiles, "config.json (model2vec), tokenizer.json"});
  description.findings.push_back({Topic::kLimits, fmt::format("{} tokens, as model2vec encodes texts", kEncodes)});
  return description;
}

}  // namespace fovea::tools
