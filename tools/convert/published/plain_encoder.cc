#include "tools/convert/published/plain_encoder.h"

#include <algorithm>
#include <filesystem>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/published/sentence_modules.h"
#include "tools/convert/published/static_embedding.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

std::string ClassOf(const Json& classes) {
  return classes.is_array() && !classes.empty() && classes[0].is_string() ? classes[0].get<std::string>() : "";
}

std::string ClassIn(const std::string& directory) {
  const Json config = ReadJson((Utf8Path(directory) / "config.json").string());
  return config.is_object() ? ClassOf(config.value("architectures", Json())) : "";
}

Description DescribeBackbone(const std::string& directory, const Reading& reading, const char* option) {
  Reading backbone = reading;
  backbone.backbone = true;
  Description description = DescribeTransformer(directory, backbone);
  const Program& program = description.programs[0];
  if (program.inputs.empty() || program.inputs[0].name != "input_ids" || program.operations.empty()) {
    Fail("{} is for models of texts; leave it out", option);
  }
  return description;
}

Description DescribePooled(const std::string& directory, const Reading& reading) {
  if (!reading.task.empty() && reading.task != "embedding" && reading.task != "encoder") {
    Fail("--pool makes embeddings and cannot be combined with --task {}; leave one of them out", reading.task);
  }
  const std::string& mode = reading.pooling;
  if (mode != "cls" && mode != "mean" && mode != "max" && mode != "last") {
    Fail("--pool {} is unknown; these are: cls, mean, max, last", mode);
  }
  Description description = DescribeBackbone(directory, reading, "--pool");
  description.SetMetadata("task", "embedding");
  ModuleChain chain(description, {{0, description.programs[0].operations.back().out}}, false);
  chain.Pool({mode == "last" ? "lasttoken" : mode});
  chain.Finish("sentence_embedding");
  return description;
}

// The words that ColBERT's code puts in place of a marker, if the file that names them is there.
std::string MarkersOf(const std::string& directory) {
  const fs::path file = Utf8Path(directory) / "artifact.metadata";
  std::string query = "[unused0]", document = "[unused1]";
  if (fs::exists(file)) {
    const Json json = ReadJson(file.string());
    const JsonView settings(json, file.string());
    query = settings["query_token_id"].Text(query);
    document = settings["doc_token_id"].Text(document);
  }
  return fmt::format(
      "the original puts {} after the first token of a query and {} after that of a document, and fills "
      "queries with mask tokens to a fixed length; add them to the ids where scores must agree",
      query, document);
}

// The original: stanford-futuredata/ColBERT: colbert/modeling/hf_colbert.py, colbert/modeling/colbert.py.
Description DescribeColbert(const std::string& directory, const Reading& reading) {
  Description description = DescribeBackbone(directory, reading, "ColBERT");
  if (!description.weights.Has("linear.weight")) return DescribeTransformer(directory, reading);
  std::vector<std::string> tensors = {"linear.weight"};
  if (description.weights.Has("linear.bias")) tensors.push_back("linear.bias");
  ModuleChain chain(description, {{0, description.programs[0].operations.back().out}}, false);
  chain.Project(tensors);
  chain.Normalize();
  chain.Finish("token_embeddings");
  description.SetMetadata("task", "embedding");
  description.SetMetadata("interaction", "late");
  description.findings.push_back(
      {Topic::kPrompts, "an embedding of length 1 for each token (late interaction, ColBERT)"});
  description.findings.push_back({Topic::kPrompts, MarkersOf(directory)});
  return description;
}

}  // namespace

std::optional<Description> DescribeEmbedder(const std::string& directory, const Reading& reading) {
  if (IsModel2Vec(directory)) {
    if (!reading.pooling.empty()) Fail("--pool does not apply to model2vec, whose embedding is a mean; leave it out");
    return DescribeModel2Vec(directory);
  }
  if (!reading.pooling.empty()) return DescribePooled(directory, reading);
  if (reading.task.empty() && ClassIn(directory).find("ColBERT") != std::string::npos) {
    return DescribeColbert(directory, reading);
  }
  return std::nullopt;
}

bool IsOwnEmbedder(const std::string& class_name) {
  for (const char* head : {"ForCL", "ForEmbedding", "ForSentenceEmbedding", "ForRetrieval"}) {
    if (EndsWith(class_name, head)) return true;
  }
  // Heads of the original library are named <Model>For<Task>.
  for (size_t at = class_name.find("For"); at != std::string::npos; at = class_name.find("For", at + 1)) {
    const char next = at + 3 < class_name.size() ? class_name[at + 3] : '\0';
    if (next >= 'A' && next <= 'Z') return false;
  }
  return true;
}

void ReportOwnEmbedder(const Config& config, const Reading& reading, Description& description) {
  const std::string name = ClassOf(config.Get("architectures"));
  const bool model = EndsWith(name, "Model") || EndsWith(name, "ModelWithProjection") || EndsWith(name, "WithLMHead");
  if (reading.backbone || !reading.task.empty() || name.empty() || model || !IsOwnEmbedder(name)) return;
  if (EndsWith(name, "WithTeacher")) return;
  description.findings.push_back(
      {Topic::kFiles, fmt::format("config.json: {} is not a head of the original library: its encoder is converted; "
                                  "--pool adds a sentence embedding",
                                  name)});
}

}  // namespace fovea::tools
