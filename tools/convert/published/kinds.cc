#include "tools/convert/published/kinds.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <vector>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/base/utf8_path.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 2000, kMostListed = 6;

struct Kind {
  const char* name;  // after "is"
  // Files that mark it, of the directory and of folders in it: one of each list. A * matches any characters.
  std::vector<std::vector<const char*>> files;
  const char* way_out;
  bool also_with_config = false;  // even if there is a config.json
};

constexpr const char* kOriginal =
    "convert the repository that it was made from, with config.json and model.safetensors";

// The first that fits.
const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {
      {"a diffusers pipeline",
       {{"model_index.json"}},
       "give the folder of a model that has an architecture here, such as text_encoder",
       true},
      {"a GLiNER model",
       {{"gliner_config.json"}},
       "its head is not supported; a model with ForTokenClassification converts",
       true},
      {"a CTranslate2 model",
       {{"model.bin"}, {"vocabulary.*", "shared_vocabulary.*", "source_vocabulary.*"}},
       "convert the model that it was made from (of faster-whisper-NAME: openai/whisper-NAME)",
       true},
      {"a Kokoro voice", {{"kokoro-*.pth"}}, "speech synthesis has no architecture here", true},
      {"a NeMo archive",
       {{"*.nemo"}},
       "it has no architecture here; look for a repository of the model in the format of transformers"},
      {"a model of whisper.cpp", {{"ggml-*.bin"}}, "convert the original, openai/whisper-NAME"},
      {"a directory of GGUF files", {{"*.gguf"}}, "give the file itself: fovea convert FILE.gguf"},
      {"a TensorFlow model",
       {{"tf_model.h5", "tf_model.*.h5", "saved_model.pb", "saved_model/*"}},
       "in Python: AutoModel.from_pretrained(DIRECTORY, from_tf=True).save_pretrained(NEW)"},
      {"a Flax model",
       {{"*.msgpack"}},
       "in Python: AutoModel.from_pretrained(DIRECTORY, from_flax=True).save_pretrained(NEW)"},
      {"an OpenVINO model", {{"openvino_*.xml", "*/openvino_*.xml"}}, kOriginal},
      {"an ONNX graph", {{"*.onnx", "*/*.onnx"}}, kOriginal},
      {"a Core ML model", {{"*.mlpackage", "*.mlmodel", "*.mlmodelc"}}, kOriginal},
      {"a TensorFlow Lite model", {{"*.tflite"}}, kOriginal},
      {"an MLX model", {{"weights.npz", "*.npz"}}, kOriginal},
      {"a model of rust-bert", {{"rust_model.ot"}}, kOriginal},
      {"an OpenCLIP model",
       {{"open_clip_config.json", "open_clip_*"}},
       "convert a repository of the model in the format of transformers (CLIPModel)"},
      {"a pyannote pipeline or model",
       {{"config.yaml"}},
       "it has no architecture here; its networks are published for other programs only"},
      {"a TorchScript program", {{"*.jit", "*.torchscript", "*_script.pt"}}, "its code is not run"},
      {"a spaCy pipeline",
       {{"meta.json"}, {"config.cfg", "vocab/*"}},
       "it has no architecture here; the transformer that it was trained from converts"},
      {"a model of llama2.c", {{"stories*.bin", "model*.bin"}, {"tok*.bin", "tokenizer.bin"}}, kOriginal},
      {"a fastText model",
       {{"*.ftz", "cc.*.bin", "lid.*.bin", "model.bin"}},
       "it has no transformer; fovea convert reads transformers"},
      {"a Keras model", {{"*.keras", "*.h5"}}, kOriginal},
      {"a pickled estimator", {{"*.joblib", "*.pkl", "*.pickle"}}, "its code is not run"},
      {"a data set", {{"*.parquet", "*/*.parquet", "dataset_infos.json"}}, "give the directory of a model"},
      {"a training checkpoint of another program",
       {{"*.ckpt"}},
       "save the model in the format of transformers, with config.json and model.safetensors"},
  };
  return kinds;
}

bool Matches(std::string_view name, std::string_view pattern) {
  while (!pattern.empty() && pattern[0] != '*') {
    if (name.empty() || name[0] != pattern[0]) return false;
    name.remove_prefix(1), pattern.remove_prefix(1);
  }
  if (pattern.empty()) return name.empty();
  pattern.remove_prefix(1);
  for (size_t i = 0; i <= name.size(); ++i) {
    const std::string_view skipped = name.substr(0, i);
    if (skipped.find('/') != std::string_view::npos) return false;  // folders are written out
    if (Matches(name.substr(i), pattern)) return true;
  }
  return false;
}

// Names in the directory, and of files in its folders with the folder in front; sorted.
std::set<std::string> NamesIn(const std::string& directory) {
  std::set<std::string> names;
  std::error_code error;
  const auto list = [&](const fs::path& folder, const std::string& front) {
    std::vector<std::string> folders;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (names.size() >= kMostFiles) break;
      const std::string name = at->path().filename().string();
      names.insert(front + name);
      std::error_code ignored;
      if (front.empty() && name[0] != '.' && at->is_directory(ignored)) folders.push_back(name);
    }
    return folders;
  };
  for (const std::string& folder : list(Utf8Path(directory), "")) list(Utf8Path(directory) / folder, folder + "/");
  return names;
}

// The file that marks the kind; empty if it is not of this kind.
std::string Mark(const Kind& kind, const std::set<std::string>& names) {
  std::string mark;
  for (const std::vector<const char*>& any : kind.files) {
    const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
      return std::any_of(any.begin(), any.end(), [&](const char* pattern) { return Matches(name, pattern); });
    });
    if (found == names.end()) return "";
    if (mark.empty()) mark = *found;
  }
  return mark;
}

void FailIfOther(const std::string& directory, const std::set<std::string>& names, bool has_config) {
  for (const Kind& kind : Kinds()) {
    if (has_config && !kind.also_with_config) continue;
    const std::string mark = Mark(kind, names);
    if (!mark.empty()) Fail("{}: is {} ({}); {}", directory, kind.name, mark, kind.way_out);
  }
}

bool HasUsualWeights(const std::set<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.find('/') == std::string::npos &&
           ((StartsWith(name, "model") && name.find(".safetensors") != std::string::npos) ||
            StartsWith(name, "pytorch_model"));
  });
}

void FailIfAdapter(const std::string& directory, const std::set<std::string>& names) {
  if (names.count("adapter_config.json") == 0 || HasUsualWeights(names)) return;
  std::string base = "its base model";
  try {
    const std::string path = (Utf8Path(directory) / "adapter_config.json").string();
    const Json json = ReadJson(path);
    base = JsonView(json, path)["base_model_name_or_path"].Text(base);
  } catch (const Failure&) {  // the sentence below stays true
  }
  Fail(
      "{}: is an adapter (adapter_config.json) without its base; download {}, then: fovea convert BASE --adapter {} -o "
      "FILE",
      directory, base, directory);
}

std::string Listed(const std::set<std::string>& names) {
  std::string listed;
  size_t count = 0;
  for (const std::string& name : names) {
    if (count++ < kMostListed) listed += (listed.empty() ? "" : ", ") + name;
  }
  return count > kMostListed ? fmt::format("{} and {} more", listed, count - kMostListed) : listed;
}

}  // namespace

void RefuseOtherKinds(const std::string& directory) {
  const std::set<std::string> names = NamesIn(directory);
  if (names.empty()) Fail("{}: is empty; a model has config.json and model.safetensors", directory);
  FailIfAdapter(directory, names);
  const bool has_config = names.count("config.json") != 0 || names.count("modules.json") != 0;
  if (names.count("model.safetensors") == 0 || names.count("config.json") == 0 ||
      names.count("gliner_config.json") != 0) {
    FailIfOther(directory, names, has_config);
  }
  for (const char* file : {"config.json", "modules.json"}) {
    if (names.count(file) != 0) RefusePointer((Utf8Path(directory) / file).string());
  }
}

void FailWithoutConfig(const std::string& directory) {
  const std::set<std::string> names = NamesIn(directory);
  FailIfOther(directory, names, false);
  if (names.count("params.json") != 0) {
    Fail(
        "{}: has no config.json; params.json is in the format of Mistral or Meta, so download the repository's "
        "config.json and model.safetensors as well",
        directory);
  }
  if (names.count("graph.json") != 0) {
    Fail("{}: has no config.json, but a description; give that: fovea convert {}", directory,
         (Utf8Path(directory) / "graph.json").string());
  }
  Fail("{}: has no config.json, which every model of transformers has (there are: {})", directory, Listed(names));
}

void FailWithoutWeights(const std::string& directory) {
  const std::set<std::string> names = NamesIn(directory);
  FailIfOther(directory, names, false);
  for (const char* end : {".safetensors", ".pt", ".pth", ".bin"}) {
    for (const std::string& name : names) {
      if (!EndsWith(name, end) || name.find('/') != std::string::npos) continue;
      Fail(
          "{}: has no model.safetensors or pytorch_model.bin; {} is not a name that the original library reads, rename "
          "it if it holds the model",
          directory, name);
    }
  }
  for (const std::string& name : names) {
    if (!EndsWith(name, "/model.safetensors") && !EndsWith(name, "/pytorch_model.bin")) continue;
    Fail("{}: has no model.safetensors or pytorch_model.bin; {} is in a folder: give that folder", directory, name);
  }
  Fail("{}: has no model.safetensors or pytorch_model.bin, or an index of either (there are: {})", directory,
       names.empty() ? "no files" : Listed(names));
}

void RefusePointer(const std::string& path) {
  static constexpr std::string_view kStart = "version https://git-lfs";
  std::ifstream file(Utf8Path(path), std::ios::binary);
  std::string start(kStart.size(), '\0');
  if (file.read(start.data(), static_cast<std::streamsize>(start.size())) && start == kStart) {
    Fail("{}: is a pointer of Git LFS, the file itself was not downloaded; run: git lfs pull", path);
  }
}

void RefuseOtherInputs(const std::string& input) {
  static constexpr const char* kWeights[] = {".safetensors", ".bin", ".pt", ".pth", ".ckpt"};
  static constexpr const char* kArchives[] = {".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z"};
  const auto ends = [&](const char* end) { return EndsWith(input, end); };
  std::error_code error;
  if (!fs::exists(Utf8Path(input), error)) {
    Fail("{}: No such file or directory; give a model directory, FILE.gguf or a description (graph.json)", input);
  }
  RefusePointer(input);
  if (EndsWith(input, ".gguf")) return;
  if (EndsWith(input, ".json")) {
    const std::string name = Utf8Path(input).filename().string();
    if (name != "config.json" && name != "model.safetensors.index.json" && name != "adapter_config.json") return;
    Fail("{}: is a file of a model directory; give the directory", input);
  }
  const auto folder = Utf8Path(input).parent_path();
  const std::string shown = folder.empty() ? "." : folder.string();
  if (std::any_of(std::begin(kArchives), std::end(kArchives), ends)) Fail("{}: is an archive; unpack it first", input);
  for (const Kind& kind : Kinds()) {
    if (kind.files.size() != 1) continue;
    const std::string mark = Mark(kind, {Utf8Path(input).filename().string()});
    if (!mark.empty() && mark.find(".json") == std::string::npos) Fail("{}: is {}; {}", input, kind.name, kind.way_out);
  }
  if (std::any_of(std::begin(kWeights), std::end(kWeights), ends)) {
    Fail("{}: is a file of weights; give its directory ({}), which needs config.json as well", input, shown);
  }
}

}  // namespace fovea::tools
