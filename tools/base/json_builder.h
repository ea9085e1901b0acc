// Makes a Json of a parser's events, with the checks that the parser itself does not do: nesting depth and duplicate
// keys. Other event handlers (nlohmann's json_sax) may pass on only the events of the values that they want.
#ifndef FOVEA_TOOLS_BASE_JSON_BUILDER_H_
#define FOVEA_TOOLS_BASE_JSON_BUILDER_H_

#include <stddef.h>
#include <stdint.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/base/fail.h"
#include "tools/base/json.h"

namespace fovea::tools {

class JsonBuilder {
 public:
  // `where` begins messages and must outlive this.
  explicit JsonBuilder(const std::string& where) : where_(where) {}

  // The number of lists and objects that have begun and not ended.
  size_t depth() const { return open_.size(); }
  // The value, once all its events have arrived.
  Json Take() { return std::move(result_); }

  bool null() { return Add(nullptr); }
  bool boolean(bool value) { return Add(value); }
  bool number_integer(int64_t value) { return Add(value); }
  bool number_unsigned(uint64_t value) { return Add(value); }
  bool number_float(double value, const std::string&) { return Add(value); }
  bool string(std::string& value) { return Add(std::move(value)); }
  bool binary(Json::binary_t& value) { return Add(std::move(value)); }
  bool start_object(size_t) { return Open(Json::object()); }
  bool start_array(size_t) { return Open(Json::array()); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }
  bool key(std::string& key) {
    const auto [place, added] = open_.back()->get_ref<Json::object_t&>().emplace(std::move(key), nullptr);
    if (!added) Fail("{}: {} is listed twice", where_, place->first);
    member_ = &place->second;
    return true;
  }
  template <typename Error>
  bool parse_error(size_t, const std::string&, const Error& error) {
    Fail("{}: not JSON: {}", where_, error.what());
  }

 private:
  template <typename Value>
  Json* Place(Value&& value) {
    if (open_.empty()) {
      result_ = std::forward<Value>(value);
      return &result_;
    }
    if (open_.back()->is_array()) {
      auto& list = open_.back()->get_ref<Json::array_t&>();
      list.emplace_back(std::forward<Value>(value));
      return &list.back();
    }
    *member_ = std::forward<Value>(value);
    return member_;
  }
  template <typename Value>
  bool Add(Value&& value) {
    Place(std::forward<Value>(value));
    return true;
  }
  bool Open(Json&& value) {
    if (open_.size() >= kMaxJsonDepth) Fail("{}: nested more than {} deep", where_, kMaxJsonDepth);
    open_.push_back(Place(std::move(value)));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  const std::string& where_;
  Json result_;
  std::vector<Json*> open_;  // a list or object does not move while one in it is open
  Json* member_ = nullptr;   // value of the last key
};

// Passes the events of a text of at most kMaxJsonBytes to `events`; false if that stopped the parser.
template <typename Events>
bool ParseEvents(std::string_view text, const std::string& where, bool comments, Events* events) {
  if (text.size() > kMaxJsonBytes) Fail("{}: {} bytes of JSON, the limit is {}", where, text.size(), kMaxJsonBytes);
  try {
    return Json::sax_parse(text.begin(), text.end(), events, Json::input_format_t::json, true, comments);
  } catch (const Json::exception& error) {
    Fail("{}: not JSON: {}", where, error.what());
  }
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_JSON_BUILDER_H_
