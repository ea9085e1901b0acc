// A directory of sentence-transformers or PyLate: modules.json lists an encoder and what follows it.
#include <algorithm>
#include <filesystem>

#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/arch/architecture.h"
#include "tools/convert/published/sentence_modules.h"
#include "tools/convert/published/sentence_settings.h"
#include "tools/convert/published/static_embedding.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

struct Module {
  std::string type;  // as published
  std::string kind;  // last part of the type
  std::string directory;
  bool late = false;  // a module of PyLate: rows of tokens stay apart
};

// Former versions had a class for each encoder.
bool IsTransformer(const std::string& kind) {
  static constexpr const char* kNames[] = {"Transformer", "MLMTransformer", "BERT",      "RoBERTa", "DistilBERT",
                                           "ALBERT",      "XLMRoBERTa",     "CamemBERT", "XLNet",   "T5"};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](const char* name) { return kind == name; });
}

struct Refusal {
  const char* kind;
  const char* why;
};
constexpr Refusal kRefused[] = {
    {"Asym", "it has one chain of modules for each kind of text; save the one you need as a directory alone"},
    {"BoW", "it counts words instead of encoding tokens; convert a model with a Transformer module"},
    {"CNN", "convolutions over word vectors are not supported; convert a model with a Transformer module"},
    {"LSTM", "recurrent layers over word vectors are not supported; convert a model with a Transformer module"},
    {"Router", "it has one chain of modules for each kind of text; save the one you need as a directory alone"},
    {"SparseAutoEncoder", "remove it from modules.json to convert the dense embedding before it"},
    {"SparseStaticEmbedding", "it looks word weights up in a table; that needs no model to run"},
    {"WeightedLayerPooling", "it mixes all hidden layers; remove it from modules.json to pool the last one"},
    {"WordEmbeddings", "its tokenizer is not supported; convert a model with a Transformer or StaticEmbedding module"},
    {"WordWeights", "weights of words are not supported; remove it from modules.json to weight all words alike"},
};

[[noreturn]] void Refuse(const std::string& path, const Module& module) {
  for (const Refusal& refusal : kRefused) {
    if (module.kind == refusal.kind) Fail("{}: module {} is not supported: {}", path, module.type, refusal.why);
  }
  Fail(
      "{}: module {} is not supported; these are: Transformer, MLMTransformer, CLIPModel, StaticEmbedding, Pooling, "
      "SpladePooling, Dense, LayerNorm, Normalize, Dropout",
      path, module.type);
}

std::vector<Module> ReadModules(const std::string& directory, const std::string& path, Description& notes) {
  const Json json = ReadJson(path);
  const JsonView list(json, path);
  std::vector<Module> modules;
  for (size_t i = 0; i < list.List().size(); ++i) {
    const JsonView entry = list.At(i);
    Module module;
    module.type = entry["type"].Text();
    module.kind = module.type.substr(module.type.rfind('.') + 1);
    const fs::path place = Utf8Path(entry["path"].Text(""));
    if (place.is_absolute() || std::find(place.begin(), place.end(), Utf8Path("..")) != place.end()) {
      Fail("{} {} leaves the directory", entry["path"].name(), Shown(entry["path"].json()));
    }
    module.directory = (Utf8Path(directory) / place).string();
    const std::string package = module.type.substr(0, module.type.find('.'));
    module.late = package == "pylate";
    if (package != "sentence_transformers" && package != "pylate") {
      notes.warnings.push_back(
          fmt::format("modules.json: {} is code of the model, which is not run; it is read as module {}", module.type,
                      module.kind));
    }
    modules.push_back(std::move(module));
  }
  if (modules.empty()) Fail("{}: lists no modules", path);
  return modules;
}

// Programs of a model with a row for each text or image, without further modules: CLIP.
std::vector<Tail> WholeOutputs(const Description& description, const std::string& wanted) {
  std::vector<Tail> tails;
  for (size_t i = 0; i < description.programs.size(); ++i) {
    const std::vector<std::string>& outputs = description.programs[i].outputs;
    if (outputs.empty()) continue;
    const bool named = std::count(outputs.begin(), outputs.end(), wanted) != 0;
    tails.push_back({i, named ? wanted : outputs.back()});
  }
  return tails;
}

// The description of the first module, and the values from which the rest continues.
struct First {
  Description description;
  std::vector<Tail> tails;
  bool pooled = false;
};

First Describe(const Module& module, const Reading& reading) {
  First first;
  if (module.kind == "StaticEmbedding") {
    first.description = DescribeStaticEmbedding(module.directory);
    first.tails = {{0, "mean"}};
    first.pooled = true;
    return first;
  }
  const TransformerSettings settings = ReadTransformerSettings(module.directory);
  Reading backbone = reading;
  first.pooled = module.kind == "CLIPModel" || settings.output == "sentence_embedding";
  backbone.backbone = !first.pooled;
  if (first.pooled && backbone.task.empty()) backbone.task = "embedding";
  first.description = DescribeTransformer(module.directory, backbone);
  ApplyLimits(module.directory, settings, first.description);
  if (first.pooled) {
    first.tails = WholeOutputs(first.description, settings.method_output);
  } else {
    first.tails = {{0, first.description.programs[0].operations.back().out}};
  }
  return first;
}

void AddNotes(const Description& notes, Description& description) {
  description.warnings.insert(description.warnings.end(), notes.warnings.begin(), notes.warnings.end());
  description.findings.insert(description.findings.end(), notes.findings.begin(), notes.findings.end());
}

// SPLADE: scores of words, which become weights where the model is run (tools/prediction/word_weights.h).
Description DescribeSplade(const std::vector<Module>& modules, const std::string& path, const Reading& reading) {
  Reading scores = reading;
  scores.task = "masked-lm";
  Description description = DescribeTransformer(modules[0].directory, scores);
  ApplyLimits(modules[0].directory, ReadTransformerSettings(modules[0].directory), description);
  std::string pooling = "max", activation = "relu";
  for (size_t i = 1; i < modules.size(); ++i) {
    if (modules[i].kind != "SpladePooling") {
      Fail("{}: module {} after the scores of words is not supported; remove it from modules.json", path,
           modules[i].type);
    }
    const Config config((Utf8Path(modules[i].directory) / "config.json").string());
    pooling = config.Text("pooling_strategy", pooling);
    activation = config.Text("activation_function", activation);
    if ((pooling != "max" && pooling != "sum") || (activation != "relu" && activation != "log1p_relu")) {
      Fail(
          "{}: pooling_strategy {} with activation_function {} is not supported; these are max or sum, and relu or "
          "log1p_relu",
          modules[i].directory, pooling, activation);
    }
  }
  description.SetMetadata("word_weights", pooling + " " + activation);
  description.findings.push_back(
      {Topic::kFiles, fmt::format("modules.json: sparse word weights, {} over tokens of {}", pooling, activation)});
  return description;
}

bool IsCrossEncoder(const std::vector<Module>& modules, const std::string& model_type) {
  const std::string task = ReadTransformerSettings(modules[0].directory).task;
  return model_type == "CrossEncoder" || task == "sequence-classification";
}

}  // namespace

Description DescribeSentenceTransformer(const std::string& directory, const Reading& reading) {
  const std::string path = (Utf8Path(directory) / "modules.json").string();
  if (!reading.pooling.empty()) {
    Fail("{}: the model has its own pooling; leave --pool out, or add --task embedding to convert the encoder alone",
         path);
  }
  Description notes;
  notes.findings.push_back({Topic::kFiles, "modules.json"});
  const std::vector<Module> modules = ReadModules(directory, path, notes);
  for (const Module& module : modules) {
    if (module.kind == "Pooling" && !PoolsPrompts(module.directory)) notes.SetMetadata("prompt_is_pooled", "false");
  }
  const SentenceSettings settings = ReadSentenceSettings(directory, notes);
  const auto finish = [&](Description description) {
    for (const auto& [key, value] : notes.metadata) description.SetMetadata(key, value);
    AddNotes(notes, description);
    return description;
  };
  for (const char* file : {"colbert_linear.pt", "sparse_linear.pt"}) {
    if (!fs::exists(Utf8Path(directory) / file)) continue;
    notes.findings.push_back({Topic::kNotUsed, fmt::format("{}: another output of BGE-M3 beside its embedding", file)});
  }
  const Module& encoder = modules[0];
  const bool transformer = IsTransformer(encoder.kind);
  const auto is_splade = [](const Module& module) { return module.kind == "SpladePooling"; };
  if (transformer && (encoder.kind == "MLMTransformer" || std::any_of(modules.begin(), modules.end(), is_splade))) {
    return finish(DescribeSplade(modules, path, reading));
  }
  if (transformer && IsCrossEncoder(modules, settings.model_type)) {
    if (modules.size() > 1) {
      Fail(
          "{}: module {} of a CrossEncoder is not supported; --task causal-lm or embedding converts the model without "
          "it",
          path, modules[1].type);
    }
    Description description = DescribeTransformer(encoder.directory, reading);
    ApplyLimits(encoder.directory, ReadTransformerSettings(encoder.directory), description);
    return finish(std::move(description));
  }
  if (!transformer && encoder.kind != "CLIPModel" && encoder.kind != "StaticEmbedding") Refuse(path, encoder);

  First first = Describe(encoder, reading);
  Description& description = first.description;
  ModuleChain chain(description, first.tails, first.pooled);
  bool late = settings.model_type == "ColBERT", changed = encoder.kind == "StaticEmbedding";
  for (size_t i = 1; i < modules.size(); ++i) {
    const Module& module = modules[i];
    late = late || module.late;
    changed = changed || module.kind != "Dropout";
    if (module.kind == "Pooling") {
      chain.Pooling(module.directory);
    } else if (module.kind == "Dense") {
      chain.Dense(module.directory);
    } else if (module.kind == "LayerNorm") {
      chain.LayerNorm(module.directory);
    } else if (module.kind == "Normalize") {
      chain.Normalize();
    } else if (module.kind == "Dropout") {
      description.findings.push_back({Topic::kNoEffect, "modules.json: Dropout, which is for training"});
    } else {
      Refuse(path, module);
    }
  }
  description.SetMetadata("task", "embedding");
  if (!chain.pooled()) {
    if (!late) {
      Fail("{}: a Pooling module is missing; add it, or convert {} alone with --pool", path, encoder.directory);
    }
    // As PyLate does where it encodes texts.
    chain.Normalize();
    chain.Finish("token_embeddings");
    description.SetMetadata("interaction", "late");
    description.findings.push_back(
        {Topic::kPrompts, "an embedding of length 1 for each token (late interaction, ColBERT)"});
  } else if (changed) {
    chain.Finish("sentence_embedding");
  }
  return finish(std::move(description));
}

}  // namespace fovea::tools
