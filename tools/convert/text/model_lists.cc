#include "tools/convert/text/model_lists.h"

#include <algorithm>
#include <cstring>

#include "tools/base/fail.h"
#include "tools/base/json_builder.h"
#include "tools/base/mapped_file.h"
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

// Events of a parser: lists become pieces and merges, the rest becomes a Json. Stops at a list of another form.
class Divider {
 public:
  // `ids`: the whole file is an object with ids.
  Divider(const std::string& where, bool ids, ModelLists* lists) : builder_(where), ids_(ids), lists_(lists) {}

  Json Take() { return builder_.Take(); }

  bool null() { return state_ == kOutside && Passed().null(); }
  bool boolean(bool value) { return state_ == kOutside && Passed().boolean(value); }
  bool number_integer(int64_t value) {
    if (state_ == kOutside) return Passed().number_integer(value);
    return Score(static_cast<double>(value));
  }
  bool number_unsigned(uint64_t value) {
    if (state_ == kOutside) return Passed().number_unsigned(value);
    if (state_ != kIds) return Score(static_cast<double>(value));
    if (value > UINT32_MAX) return false;
    lists_->pieces.push_back({text_, static_cast<uint32_t>(value), 0});
    return true;
  }
  bool number_float(double value, const std::string& digits) {
    return state_ == kOutside ? Passed().number_float(value, digits) : Score(value);
  }
  bool string(std::string& value) {
    switch (state_) {
      case kOutside:
        return Passed().string(value);
      case kScore:
        if (++count_ != 1) return false;
        text_ = lists_->Keep(value);
        return true;
      case kMerges: {
        const std::string_view both = lists_->Keep(value);
        const size_t space = both.find(' ');
        if (space == std::string_view::npos) return false;
        lists_->merges.push_back({both.substr(0, space), both.substr(space + 1)});
        return true;
      }
      case kMerge:
        if (++count_ > 2) return false;
        (count_ == 1 ? text_ : right_) = lists_->Keep(value);
        return true;
      default:
        return false;
    }
  }
  bool binary(Json::binary_t& value) { return state_ == kOutside && Passed().binary(value); }

  bool start_object(size_t size) {
    if (state_ != kOutside) return false;
    const bool whole = ids_ && builder_.depth() == 0;
    if (!whole && wanted_ != kVocabulary) return Passed().start_object(size);
    if (!whole) builder_.null();
    lists_->vocabulary = ModelLists::kIds;
    state_ = kIds;
    return true;
  }
  bool key(std::string& key) {
    if (state_ == kIds) {
      text_ = lists_->Keep(key);
      return true;
    }
    if (builder_.depth() == 1) in_model_ = key == "model";
    const bool in_model = builder_.depth() == 2 && in_model_;
    wanted_ = in_model && key == "vocab" ? kVocabulary : in_model && key == "merges" ? kMergeList : kNothing;
    return builder_.key(key);
  }
  bool end_object() {
    if (state_ == kIds) {
      state_ = kOutside;
      wanted_ = kNothing;
      return true;
    }
    return builder_.end_object();
  }
  bool start_array(size_t size) {
    count_ = 0;
    if (state_ == kScores || state_ == kMerges) {
      state_ = state_ == kScores ? kScore : kMerge;
      return true;
    }
    if (state_ != kOutside) return false;
    if (wanted_ == kNothing) return builder_.start_array(size);
    builder_.null();  // a list that is listed again is a duplicate key
    state_ = wanted_ == kVocabulary ? kScores : kMerges;
    if (wanted_ == kVocabulary) lists_->vocabulary = ModelLists::kScores;
    if (wanted_ == kMergeList) lists_->has_merges = true;
    return true;
  }
  bool end_array() {
    switch (state_) {
      case kScore:
        if (count_ != 2) return false;
        lists_->pieces.push_back({text_, static_cast<uint32_t>(lists_->pieces.size()), score_});
        state_ = kScores;
        return true;
      case kMerge:
        if (count_ != 2) return false;
        lists_->merges.push_back({text_, right_});
        state_ = kMerges;
        return true;
      case kScores:
      case kMerges:
        state_ = kOutside;
        wanted_ = kNothing;
        return true;
      default:
        return builder_.end_array();
    }
  }
  template <typename Error>
  bool parse_error(size_t at, const std::string& token, const Error& error) {
    return builder_.parse_error(at, token, error);
  }

 private:
  JsonBuilder& Passed() {
    wanted_ = kNothing;
    return builder_;
  }
  bool Score(double value) {
    if (state_ != kScore || ++count_ != 2) return false;
    score_ = value;
    return true;
  }

  JsonBuilder builder_;
  const bool ids_;
  ModelLists* const lists_;
  enum { kOutside, kIds, kScores, kScore, kMerges, kMerge } state_ = kOutside;
  enum { kNothing, kVocabulary, kMergeList } wanted_ = kNothing;  // the list that the last key names, until it begins
  bool in_model_ = false;
  int count_ = 0;  // elements of a pair
  std::string_view text_, right_;
  double score_ = 0;
};

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
  TokenizerFile read;
  // A piece or a merge has more bytes than this.
  read.lists.pieces.reserve(static_cast<size_t>(file.size() / 32));
  read.lists.merges.reserve(static_cast<size_t>(file.size() / 32));
  Divider divider(path, false, &read.lists);
  if (ParseEvents(TextOf(file), path, false, &divider)) {
    read.json = divider.Take();
    return read;
  }
  // Lists of another form: read as a whole, so that messages can show the value.
  read.json = ParseJson(TextOf(file), path);
  read.lists = ListsOf(JsonView(read.json, path)["model"]);
  return read;
}

ModelLists ReadIds(const std::string& path) {
  const MappedFile file(path);
  ModelLists lists;
  Divider divider(path, true, &lists);
  if (ParseEvents(TextOf(file), path, false, &divider) && lists.vocabulary == ModelLists::kIds) return lists;
  const Json json = ParseJson(TextOf(file), path);
  return IdsOf({json, path});
}

}  // namespace fovea::tools
