// Chooses the reader for a directory's tokenizer files.
#include "tools/convert/text/build.h"

#include <fstream>
#include <iterator>

#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"

namespace fovea::tools {
namespace {

using std::filesystem::path;

nlohmann::json Config(const path& model_dir) {
  const path file = model_dir / "tokenizer_config.json";
  return std::filesystem::exists(file) ? ReadJson(file) : nlohmann::json::object();
}

// Values such as 1e30 mean "no limit".
uint32_t ConfiguredLength(const nlohmann::json& config) {
  const auto found = config.find("model_max_length");
  if (found == config.end() || !found->is_number()) return 0;
  const double length = found->get<double>();
  return length >= 1 && length < 1e9 ? static_cast<uint32_t>(length) : 0;
}

TextModel ReadFileOfType(const path& file, const std::string& type, const nlohmann::json& description) {
  if (type == "tokenizer.json") return ReadTokenizerJson(ReadJson(file));
  if (type == "sentencepiece") return ReadSentencePiece(ReadFile(file));
  if (type == "wordpiece") return ReadVocabTxt(ReadFile(file), description);
  if (type == "characters") return ReadCharacters(ReadJson(file), description);
  if (type == "unigram") return ReadScoredPieces(ReadJson(file), description);
  Fail("tokenizer type \"{}\" is not supported", type);
}

bool ReadDirectory(const path& model_dir, TextModel* model) {
  const nlohmann::json config = Config(model_dir);
  if (std::filesystem::exists(model_dir / "tokenizer.json")) {
    *model = ReadTokenizerJson(ReadJson(model_dir / "tokenizer.json"));
  } else if (std::filesystem::exists(model_dir / "vocab.txt")) {
    *model = ReadVocabTxt(ReadFile(model_dir / "vocab.txt"), config);
  } else if (std::filesystem::exists(model_dir / "vocab.json") && std::filesystem::exists(model_dir / "merges.txt")) {
    *model = ReadMergesTxt(ReadJson(model_dir / "vocab.json"), ReadFile(model_dir / "merges.txt"), config);
  } else {
    path found;
    for (const char* name :
         {"sentencepiece.bpe.model", "spiece.model", "sentencepiece.model", "tokenizer.model", "spm.model"}) {
      if (found.empty() && std::filesystem::exists(model_dir / name)) found = model_dir / name;
    }
    if (found.empty()) return false;
    const std::string type = config.value("tokenizer_class", "");
    if (!type.empty()) {
      Fail("tokenizer class \"{}\" with {} alone is not supported: add tokenizer.json", type,
           found.filename().string());
    }
    // Some of DeBERTa's directories name no class, though their texts begin and end with tokens of their own.
    if (found.filename() == "spm.model") Fail("spm.model alone is not supported: add tokenizer.json");
    *model = ReadSentencePiece(ReadFile(found));
  }
  // A model may have a mask token of another name than the usual ones.
  const std::string mask = SpecialToken(config, "mask_token", "");
  for (const AddedToken& added : model->added) {
    if (added.content == mask) model->mask_id = added.id;
  }
  const uint32_t length = ConfiguredLength(config);
  if (length != 0) model->max_length = length;
  return true;
}

}  // namespace

std::string ReadFile(const path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) Fail("cannot read {}", path.string());
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

nlohmann::json ReadJson(const path& path) {
  try {
    return nlohmann::json::parse(ReadFile(path));
  } catch (const nlohmann::json::exception& error) {
    Fail("{}: {}", path.string(), error.what());
  }
}

std::vector<uint8_t> BuildTextSection(const path& model_dir, const nlohmann::json& description, uint32_t max_length) {
  TextModel model;
  try {
    if (description.is_null()) {
      if (!ReadDirectory(model_dir, &model)) return {};
    } else {
      const std::string type = description.at("type").get<std::string>();
      model = ReadFileOfType(model_dir / description.at("file").get<std::string>(), type, description);
      model.max_length = description.value("max_length", model.max_length);
    }
  } catch (const nlohmann::json::exception& error) {
    Fail("the tokenizer files of {} are not as expected: {}", model_dir.string(), error.what());
  }
  if (max_length != 0 && (model.max_length == 0 || max_length < model.max_length)) model.max_length = max_length;
  return WriteTextSection(model);
}

}  // namespace fovea::tools
