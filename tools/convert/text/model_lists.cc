#include "tools/convert/text/model_lists.h"

#include <algorithm>
#include <cstring>

#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/text/list_reader.h"
#include "tools/convert/text/readers.h"

namespace fovea::tools {
namespace {

// An id of the vocabulary; where the added tokens are known, its range is checked once more.
uint32_t IdOf(const Json& id, const JsonView& vocabulary, const std::string& piece) {
  if (id.is_number_unsigned() && id.get<uint64_t>() <= UINT32_MAX) return id.get<uint32_t>();
  const WholeRange range = RangeOfIds(vocabulary.json().size());
  return static_cast<uint32_t>(WholeNumber(id, fmt::format("{}: the id of \"{}\"", vocabulary.name(), piece), range));
}

void AddIds(const JsonView& vocabulary, ModelLists* lists) {
  lists->vocabulary = ModelLists::kIds;
  lists->pieces.reserve(vocabulary.json().size());
  for (const auto& [piece, id] : vocabulary.Object().items()) lists->AddPiece(piece, IdOf(id, vocabulary, piece));
}

void AddScores(const JsonView& vocabulary, ModelLists* lists) {
  lists->vocabulary = ModelLists::kScores;
  lists->pieces.reserve(vocabulary.json().size());
  for (const Json& entry : vocabulary.List()) {
    const auto id = static_cast<uint32_t>(lists->pieces.size());
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number()) {
      Fail("{}[{}] must be a piece and its score, not {}", vocabulary.name(), id, Shown(entry));
    }
    lists->AddPiece(entry[0].get_ref<const std::string&>(), id, entry[1].get<double>());
  }
}

void AddMerges(const JsonView& list, ModelLists* lists) {
  lists->has_merges = true;
  lists->merges.reserve(list.List().size());
  for (const Json& merge : list.List()) {
    if (merge.is_string()) {
      const auto& both = merge.get_ref<const std::string&>();
      const size_t space = both.find(' ');
      if (space == std::string::npos) Fail("merge \"{}\" is not a pair", both);
      lists->AddMerge(both.substr(0, space), both.substr(space + 1));
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      lists->AddMerge(merge[0].get_ref<const std::string&>(), merge[1].get_ref<const std::string&>());
    } else {
      Fail("{}[{}] must be a pair of pieces, not {}", list.name(), lists->merges.size(), Shown(merge));
    }
  }
}

std::string_view TextOf(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.data()), static_cast<size_t>(file.size())};
}

}  // namespace

std::string_view ModelLists::Keep(std::string_view text) {
  constexpr size_t kBlock = 1 << 18;
  if (text.size() > left_) {
    size_ = left_ = std::max(kBlock, text.size());
    blocks_.push_back(std::make_unique<char[]>(size_));
  }
  char* const place = blocks_.empty() ? nullptr : blocks_.back().get() + (size_ - left_);
  if (!text.empty()) std::memcpy(place, text.data(), text.size());
  left_ -= text.size();
  return {place, text.size()};
}

ModelLists::Index ModelLists::MakeIndex(const std::string& where) const {
  Index index(pieces.size(), {this});
  for (uint32_t place = 0; place < pieces.size(); ++place) {
    if (index.Add(place) != Index::kNone) Fail("{}: {} is listed twice", where, pieces[place].text);
  }
  return index;
}

ModelLists ListsOf(const JsonView& model) {
  ModelLists lists;
  const JsonView vocabulary = model["vocab"], merges = model["merges"];
  if (vocabulary.json().is_object()) AddIds(vocabulary, &lists);
  if (vocabulary.json().is_array()) AddScores(vocabulary, &lists);
  if (!merges.IsNull()) AddMerges(merges, &lists);
  return lists;
}

ModelLists IdsOf(const JsonView& vocabulary) {
  ModelLists lists;
  AddIds(vocabulary, &lists);
  return lists;
}

TokenizerFile ReadTokenizerFile(const std::string& path) {
  const MappedFile file(path);
  const std::string_view text = TextOf(file);
  TokenizerFile read;
  // A piece or a merge has more bytes than this.
  read.lists.pieces.reserve(text.size() / 32);
  read.lists.merges.reserve(text.size() / 32);
  std::string rest;
  if (text.size() <= kMaxJsonBytes && ListReader(text, &read.lists).TokenizerFile(&rest)) {
    try {
      read.json = ParseJson(rest, path);
      const JsonView model = JsonView(read.json, path)["model"];
      if (model["vocab"].IsNull() && model["merges"].IsNull()) return read;
    } catch (const Failure&) {
      // Places in messages are places in the whole file.
    }
  }
  // Lists of another form: read as a whole, so that messages can show the value.
  read.json = ParseJson(text, path);
  read.lists = ListsOf(JsonView(read.json, path)["model"]);
  return read;
}

ModelLists ReadIds(const std::string& path) {
  const MappedFile file(path);
  ModelLists lists;
  lists.pieces.reserve(static_cast<size_t>(file.size() / 16));
  if (file.size() <= kMaxJsonBytes && ListReader(TextOf(file), &lists).IdsFile()) return lists;
  const Json json = ParseJson(TextOf(file), path);
  return IdsOf({json, path});
}

}  // namespace fovea::tools
