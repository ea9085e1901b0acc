// The characters that the scores of a CTC model are for.
#include "tools/convert/arch/ctc_vocabulary.h"

#include <filesystem>
#include <map>

#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

constexpr WholeRange kIds = {0, (1 << 24) - 1};

// A file of the directory; an empty object where it has none.
class File {
 public:
  File(const Checkpoint& checkpoint, const char* name)
      : path_((Utf8Path(checkpoint.directory) / name).string()),
        json_(fs::exists(Utf8Path(path_)) ? ReadJson(path_) : Json::object()) {}
  JsonView view() const { return {json_, path_}; }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  const Json json_;
};

class Vocabulary {
 public:
  explicit Vocabulary(const Checkpoint& checkpoint)
      : config_(checkpoint, "tokenizer_config.json"), specials_(checkpoint, "special_tokens_map.json") {
    const File vocabulary(checkpoint, "vocab.json"), added(checkpoint, "added_tokens.json");
    AddAll(OfLanguage(vocabulary.view()));
    AddAll(added.view());
    AddListed(config_.view()["added_tokens_decoder"]);
    const std::pair<const char*, const char*> specials[] = {
        {"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}};
    // Special tokens that no file lists come last.
    for (const auto& [key, name] : specials) {
      const std::string token = Special(key, name);
      if (!token.empty() && ids_.count(token) == 0) Add(token, static_cast<uint32_t>(ids_.size()));
    }
    const std::string pad = Special("pad_token", "<pad>");
    if (pad.empty()) Fail("{}: pad_token is missing, which is the blank token of CTC", config_.path());
    blank_ = ids_.at(pad);
  }

  void Describe(uint32_t scores, Description& description) const {
    if (blank_ >= scores) Fail("{}: pad_token has id {}, but there are {} scores", config_.path(), blank_, scores);
    const std::string delimiter = Optional("word_delimiter_token", "|");
    const std::string space = Optional("replace_word_delimiter_char", " ");
    const bool lower = config_.view()["do_lower_case"].Flag(false);
    const std::string unknown = Special("unk_token", "<unk>");
    for (uint32_t id = 0; id < scores; ++id) {
      const auto found = pieces_.find(id);
      const std::string piece = found == pieces_.end() ? unknown : found->second;
      const bool parts = !delimiter.empty() && piece == delimiter;
      description.SetMetadata(fmt::format("label.{}", id), parts ? space : lower ? Lower(piece) : piece);
    }
    description.SetMetadata("ctc.blank", std::to_string(blank_));
    description.SetMetadata("ctc.delimiter", space);
    if (config_.view()["clean_up_tokenization_spaces"].Flag(false)) description.SetMetadata("ctc.clean_up", "true");
  }

 private:
  static std::string Lower(const std::string& text) {
    std::string lower;
    for (const uint32_t code : CodePoints(text)) lower += LowerCase(code);
    return lower;
  }

  // A vocabulary of several languages has one for each.
  JsonView OfLanguage(const JsonView& whole) const {
    const Json& entries = whole.Object();
    if (entries.empty()) Fail("{}: has no tokens", whole.name());
    if (!entries.begin()->is_object()) return whole;
    const std::string language = Optional("target_lang", "");
    if (language.empty()) Fail("{}: has several languages, but {} has no target_lang", whole.name(), config_.path());
    if (!entries.contains(language)) Fail("{}: has no language {}", whole.name(), language);
    return whole[language.c_str()];
  }

  void Add(const std::string& token, uint32_t id) {
    if (!IsUtf8(token)) Fail("{}: a token is not UTF-8", config_.path());
    ids_.emplace(token, id);
    pieces_.emplace(id, token);
  }

  void AddAll(const JsonView& tokens) {
    for (const auto& item : tokens.Object().items()) {
      Add(item.key(), JsonView(item.value(), tokens.name() + ": " + item.key()).Number(kIds));
    }
  }

  // By id.
  void AddListed(const JsonView& tokens) {
    if (tokens.IsNull()) return;
    for (const auto& item : tokens.Object().items()) {
      const std::string name = tokens.name() + ": " + item.key();
      const JsonView entry(item.value(), name);
      Add(entry["content"].Text(), static_cast<uint32_t>(WholeNumberIn(item.key(), name, kIds)));
    }
  }

  // Null is no token.
  std::string Optional(const char* key, const char* absent) const {
    const JsonView config = config_.view();
    return config.json().contains(key) ? config[key].Text("") : absent;
  }

  std::string Special(const char* key, const char* absent) const {
    for (const File* file : {&config_, &specials_}) {
      const JsonView view = file->view();
      if (!view.json().contains(key)) continue;
      return view[key].IsNull() ? "" : SpecialToken(view, key, absent);
    }
    return absent;
  }

  const File config_, specials_;
  std::map<std::string, uint32_t> ids_;
  std::map<uint32_t, std::string> pieces_;
  uint32_t blank_ = 0;
};

}  // namespace

void DescribeCtcVocabulary(const Checkpoint& checkpoint, uint32_t scores, Description& description) {
  if (!fs::exists(Utf8Path(checkpoint.directory) / "vocab.json")) return;
  Vocabulary(checkpoint).Describe(scores, description);
}

}  // namespace fovea::tools
