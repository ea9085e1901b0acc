// Chooses the reader for a directory's tokenizer files.
#include "tools/convert/text/build.h"

#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/text/readers.h"

namespace fovea::tools {
namespace {

using std::filesystem::path;

// Values such as 1e30 mean "no limit".
uint32_t ConfiguredLength(const JsonView& config) {
  constexpr double kNoLimit = 1e9;
  const JsonView length = config["model_max_length"];
  if (length.IsNull() || (length.json().is_number() && length.json().get<double>() >= kNoLimit)) return 0;
  return length.Number({1, static_cast<int64_t>(kNoLimit)});
}

TextModel ReadTokenizerFile(const path& file) {
  const Json json = ReadJson(file);
  return ReadTokenizerJson({json, file.string()});
}

TextModel ReadFileOfType(const path& file, const std::string& type, const JsonView& description) {
  if (type == "tokenizer.json") return ReadTokenizerFile(file);
  if (type == "sentencepiece") return ReadSentencePiece(ReadFile(file));
  if (type == "wordpiece") return ReadVocabTxt(ReadFile(file), description);
  if (type != "characters" && type != "unigram" && type != "pieces")
    Fail("tokenizer type \"{}\" is not supported", type);
  const Json json = ReadJson(file);
  const JsonView view(json, file.string());
  if (type == "pieces") return ReadListedPieces(view);
  return type == "characters" ? ReadCharacters(view, description) : ReadScoredPieces(view, description);
}

// Empty if there is none.
path SentencePieceFile(const path& model_dir) {
  for (const char* name :
       {"sentencepiece.bpe.model", "spiece.model", "sentencepiece.model", "tokenizer.model", "spm.model"}) {
    if (std::filesystem::exists(model_dir / name)) return model_dir / name;
  }
  return {};
}

// What there is in place of tokenizer.json; false if nothing.
bool ReadOlderFiles(const path& model_dir, const JsonView& config, TextModel* model) {
  if (std::filesystem::exists(model_dir / "vocab.txt")) {
    *model = ReadVocabTxt(ReadFile(model_dir / "vocab.txt"), config);
    return true;
  }
  if (std::filesystem::exists(model_dir / "vocab.json") && std::filesystem::exists(model_dir / "merges.txt")) {
    const Json vocabulary = ReadJson(model_dir / "vocab.json");
    *model =
        ReadMergesTxt({vocabulary, (model_dir / "vocab.json").string()}, ReadFile(model_dir / "merges.txt"), config);
    return true;
  }
  if (std::filesystem::exists(model_dir / "vocab.json")) {
    const Json vocabulary = ReadJson(model_dir / "vocab.json");
    if (vocabulary.is_array() && !vocabulary.empty() && vocabulary[0].contains("piece")) {
      *model = ReadListedPieces({vocabulary, (model_dir / "vocab.json").string()});
      return true;
    }
  }
  const path found = SentencePieceFile(model_dir);
  if (found.empty()) return false;
  const std::string type = config["tokenizer_class"].Text("");
  if (!type.empty()) {
    Fail("tokenizer class \"{}\" with {} alone is not supported: add tokenizer.json", type, found.filename().string());
  }
  // Some of DeBERTa's directories name no class, though their texts begin and end with tokens of their own.
  if (found.filename() == "spm.model") Fail("spm.model alone is not supported: add tokenizer.json");
  *model = ReadSentencePiece(ReadFile(found));
  return true;
}

bool ReadDirectory(const path& model_dir, TextModel* model) {
  const std::string file = (model_dir / "tokenizer_config.json").string();
  const Json json = std::filesystem::exists(file) ? ReadJson(file) : Json::object();
  const JsonView config(json, file);
  if (std::filesystem::exists(model_dir / "tokenizer.json")) {
    *model = ReadTokenizerFile(model_dir / "tokenizer.json");
  } else if (!ReadOlderFiles(model_dir, config, model)) {
    return false;
  }
  // A model may have a mask token of another name than the usual ones.
  const std::string mask = SpecialToken(config, "mask_token", "");
  for (const AddedToken& added : model->added) {
    if (added.content == mask) model->mask_id = added.id;
  }
  const uint32_t length = ConfiguredLength(config);
  if (length != 0) model->max_length = length;
  const std::string side = config["truncation_side"].Text("");
  if (side == "left") model->flags |= text::kCutLeft;
  if (side == "right") model->flags &= ~uint32_t{text::kCutLeft};
  return true;
}

// Of several templates the one that is called "default".
std::string ConfiguredTemplate(const JsonView& config) {
  const JsonView value = config["chat_template"];
  if (!value.json().is_array()) return value.Bytes("");
  for (size_t i = 0; i < value.List().size(); ++i) {
    if (value.At(i)["name"].Bytes("") == "default") return value.At(i)["template"].Bytes("");
  }
  return "";
}

}  // namespace

bool HasTokenizer(const path& model_dir) {
  for (const char* name : {"tokenizer.json", "vocab.txt", "vocab.json"}) {
    if (std::filesystem::exists(model_dir / name)) return true;
  }
  return !SentencePieceFile(model_dir).empty();
}

std::vector<std::pair<std::string, std::string>> ChatMetadataIn(const path& model_dir) {
  const path file = model_dir / "tokenizer_config.json", jinja = model_dir / "chat_template.jinja";
  const Json json = std::filesystem::exists(file) ? ReadJson(file) : Json::object();
  const JsonView config(json, file.string());
  const std::string source = std::filesystem::exists(jinja) ? ReadFile(jinja) : ConfiguredTemplate(config);
  if (source.empty()) return {};
  std::vector<std::pair<std::string, std::string>> entries = {{"chat_template", source}};
  for (const auto& [key, token] : {std::pair{"chat_bos", "bos_token"}, {"chat_eos", "eos_token"}}) {
    const std::string text = SpecialToken(config, token, "");
    if (!text.empty()) entries.emplace_back(key, text);
  }
  return entries;
}

std::vector<uint8_t> BuildTextSection(const path& model_dir, const Json& description, uint32_t max_length) {
  TextModel model;
  if (description.is_null()) {
    if (!ReadDirectory(model_dir, &model)) return {};
  } else {
    const JsonView view(description, "tokenizer");
    model = ReadFileOfType(model_dir / view["file"].Text(), view["type"].Text(), view);
    model.max_length = view["max_length"].Number({}, model.max_length);
  }
  return BuildTextSection(std::move(model), max_length);
}

std::vector<uint8_t> BuildTextSection(TextModel model, uint32_t max_length) {
  if (max_length != 0 && (model.max_length == 0 || max_length < model.max_length)) model.max_length = max_length;
  return WriteTextSection(model);
}

}  // namespace fovea::tools
