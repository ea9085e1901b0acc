#include "tools/convert/description_files.h"

#include <filesystem>
#include <optional>

#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/text/build.h"
#include "tools/convert/text/readers.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> ListOf(const JsonView& list) {
  std::vector<std::string> names;
  for (size_t i = 0; i < list.List().size(); ++i) names.push_back(list.At(i).Text());
  return names;
}

// Every number below that of the names has one.
std::vector<std::string> NamesOf(const JsonView& object) {
  const size_t count = object.Object().size();
  std::vector<std::optional<std::string>> names(count);
  for (const auto& [key, value] : object.json().items()) {
    const bool by_number = value.is_string();
    const std::string place = fmt::format("{}: {}", object.name(), Shortened(key));
    const WholeRange numbers = {0, static_cast<int64_t>(count) - 1};
    const int64_t number = by_number ? WholeNumberIn(key, place, numbers) : WholeNumber(value, place, numbers);
    std::optional<std::string>& name = names[static_cast<size_t>(number)];
    if (name) Fail("{}: {} is also the number of \"{}\"", place, number, *name);
    name = by_number ? Text(value, place) : Text(Json(key), place);
  }
  std::vector<std::string> all;
  for (const std::optional<std::string>& name : names) all.push_back(*name);  // as many as numbers, none twice
  return all;
}

}  // namespace

DescriptionFiles::DescriptionFiles(std::string beside, std::string source)
    : beside_(beside.empty() ? "." : std::move(beside)), source_(std::move(source)) {
  if (!source_.empty() && !fs::is_directory(Utf8Path(source_))) Fail("{}: not a directory", source_);
}

std::string DescriptionFiles::FolderOf(const std::string& file) {
  if (source_.empty()) return beside_;
  const fs::path given = Utf8Path(source_) / file, own = Utf8Path(beside_) / file;
  if (!fs::exists(given)) {
    if (!fs::exists(own)) Fail("{} is neither in {} nor in {}", file, source_, beside_);
    return beside_;
  }
  if (fs::exists(own) && !fs::equivalent(given, own)) {
    warnings_.push_back(fmt::format("{} is also in {}; the one in {} is used", file, beside_, source_));
  }
  return source_;
}

std::string DescriptionFiles::PathOf(const std::string& file) { return (Utf8Path(FolderOf(file)) / file).string(); }

std::string DescriptionFiles::TokenizerFolder() const {
  return source_.empty() || !HasTokenizer(Utf8Path(source_)) ? beside_ : source_;
}

std::vector<std::string> ReadLabels(const JsonView& labels, DescriptionFiles& files) {
  if (labels.json().is_array()) return ListOf(labels);
  std::string file, key;
  if (labels.json().is_object()) {
    file = labels["file"].Text();
    key = labels["key"].Text("");
    if (labels.json().size() != (labels["key"].IsNull() ? 1u : 2u)) {
      Fail("{} must be a list, a file or {{\"file\", \"key\"}}, not {}", labels.name(), Shown(labels.json()));
    }
  } else {
    file = labels.Text();
  }
  const std::string path = files.PathOf(file);
  if (Utf8Path(file).extension() != ".json") {
    if (!key.empty()) Fail("{}: key needs a JSON file, not {}", labels.name(), file);
    return LinesOf(ReadFile(path), path);
  }
  const Json json = ReadJson(path);
  const JsonView whole(json, path);
  const JsonView names = key.empty() ? whole : whole[key.c_str()];
  return names.json().is_object() ? NamesOf(names) : ListOf(names);
}

}  // namespace fovea::tools
