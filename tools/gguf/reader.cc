// The files of a model: one, or all parts of a model that is split.
#include <filesystem>
#include <functional>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"
#include "tools/gguf/gguf.h"

namespace fovea::tools {
namespace {

constexpr int64_t kMostParts = 9999;

struct Part {
  int64_t number = 0, count = 1;  // the first is 0
};

Part PartOf(const GgufContent& content, const std::string& path) {
  const auto read = [&](const char* key, WholeRange range, int64_t absent) {
    const auto found = content.metadata.find(key);
    return found == content.metadata.end() ? absent : WholeNumber(*found, path + ": " + key, range);
  };
  Part part;
  part.count = read("split.count", {0, kMostParts}, 1);
  if (part.count > 1) part.number = read("split.no", {0, part.count - 1}, 0);
  return part;
}

std::string Ending(int64_t number, int64_t count) { return fmt::format("-{:05}-of-{:05}.gguf", number + 1, count); }

// The path of another part.
std::string PathOf(const std::string& path, const Part& part, int64_t number) {
  const std::string ending = Ending(part.number, part.count);
  if (!EndsWith(path, ending)) {
    Fail("{}: split.count: this is file {} of {}, whose name must end in {}, so that the other files can be found",
         path, part.number + 1, part.count, ending);
  }
  return path.substr(0, path.size() - ending.size()) + Ending(number, part.count);
}

void Merge(const std::string& path, GgufContent part, GgufContent* whole) {
  for (auto& [name, tensor] : part.tensors) {
    if (!whole->tensors.emplace(name, std::move(tensor)).second) {
      Fail("{}: tensor {} is in an earlier file of the model too", path, name);
    }
  }
}

}  // namespace

GgufReader::GgufReader(const std::string& path) {
  const auto open = [this](const std::string& of) {
    files_.push_back(std::make_unique<const MappedFile>(of));
    return ParseGguf(files_.back()->data(), files_.back()->size(), of);
  };
  content_ = open(path);
  const Part given = PartOf(content_, path);
  if (given.count <= 1) return;
  files_.clear();
  for (int64_t i = 0; i < given.count; ++i) {
    const std::string of = PathOf(path, given, i);
    if (!std::filesystem::exists(Utf8Path(of))) {
      Fail("{}: is missing: the model is split into {} files, which must be in one folder", of, given.count);
    }
    GgufContent content = open(of);
    const Part part = PartOf(content, of);
    if (part.number != i || part.count != given.count) {
      Fail("{}: split.no and split.count: this is file {} of {}, but it is named {} of {}", of, part.number + 1,
           part.count, i + 1, given.count);
    }
    if (i == 0) {
      content_ = std::move(content);
    } else {
      Merge(of, std::move(content), &content_);
    }
  }
  const auto all = content_.metadata.find("split.tensors.count");
  if (all != content_.metadata.end() && *all != content_.tensors.size()) {
    Fail("{}: split.tensors.count: the files have {} tensors, not {}", this->path(), content_.tensors.size(),
         Shown(*all));
  }
}

std::vector<std::string> GgufReader::paths() const {
  std::vector<std::string> paths;
  for (const auto& file : files_) paths.push_back(file->path());
  return paths;
}

void GgufReader::Forget(const GgufTensor& tensor) const {
  const std::less_equal<> before;
  for (const auto& file : files_) {
    if (before(file->data(), tensor.data) && before(tensor.data + tensor.bytes, file->data() + file->size())) {
      file->Forget(tensor.data, tensor.bytes);
    }
  }
}

}  // namespace fovea::tools
