// Parser of untrusted JSON.
#include "tools/base/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/base/json_builder.h"
#include "tools/base/mapped_file.h"
#include "tools/base/printable.h"

namespace fovea::tools {

Json ParseJson(std::string_view text, const std::string& where, bool comments) {
  JsonBuilder builder(where);
  ParseEvents(text, where, comments, &builder);
  return builder.Take();
}

Json ReadJson(const std::string& path) {
  const MappedFile file(path);
  return ParseJson({reinterpret_cast<const char*>(file.data()), static_cast<size_t>(file.size())}, path);
}

std::string Shown(const Json& value) { return Shortened(value.dump(-1, ' ', false, Json::error_handler_t::replace)); }

int64_t WholeNumber(const Json& value, const std::string& name, WholeRange range) {
  if (value.is_number_integer() && (!value.is_number_unsigned() || value.get<uint64_t>() <= INT64_MAX)) {
    const auto number = value.get<int64_t>();
    if (number >= range.least && number <= range.most) return number;
  }
  Fail("{} must be a whole number from {} to {}, not {}", name, range.least, range.most, Shown(value));
}

double RealNumber(const Json& value, const std::string& name, RealRange range) {
  if (!value.is_number()) Fail("{} must be a number, not {}", name, Shown(value));
  const auto number = value.get<double>();
  if (number >= range.least && number <= range.most) return number;
  Fail("{} must be a number from {} to {}, not {}", name, range.least, range.most, Shown(value));
}

bool TrueOrFalse(const Json& value, const std::string& name) {
  if (!value.is_boolean()) Fail("{} must be true or false, not {}", name, Shown(value));
  return value.get<bool>();
}

const std::string& Text(const Json& value, const std::string& name) {
  if (!value.is_string()) Fail("{} must be a string, not {}", name, Shown(value));
  const auto& text = value.get_ref<const std::string&>();
  if (text.find('\0') != std::string::npos) Fail("{} {} contains a zero byte", name, Shown(value));
  return text;
}

int64_t WholeNumberIn(const std::string& text, const std::string& name, WholeRange range) {
  constexpr size_t kMostDigits = 18;  // longer numbers might overflow int64
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return WholeNumber(digits && text.size() <= kMostDigits ? Json(std::stoll(text)) : Json(text), name, range);
}

bool JsonView::IsNull() const { return json_->is_null(); }

const Json& JsonView::List() const {
  if (!json_->is_array()) Fail("{} must be a list, not {}", name_, Shown(*json_));
  return *json_;
}

const Json& JsonView::Object() const {
  if (!json_->is_object()) Fail("{} must be an object, not {}", name_, Shown(*json_));
  return *json_;
}

JsonView JsonView::operator[](const char* key) const {
  static const Json none;
  const auto found = Object().find(key);
  return {found == json_->end() ? none : *found, name_ + (nested_ ? "." : ": ") + key, true};
}

JsonView JsonView::At(size_t index) const {
  if (index >= List().size()) Fail("{} must have at least {} elements, not {}", name_, index + 1, json_->size());
  return {(*json_)[index], fmt::format("{}{}[{}]", name_, nested_ ? "" : ": ", index), true};
}

uint32_t JsonView::Number(WholeRange range, std::optional<uint32_t> absent) const {
  if (IsNull() && absent) return *absent;
  return static_cast<uint32_t>(WholeNumber(*json_, name_, range));
}

double JsonView::Real(RealRange range, std::optional<double> absent) const {
  return IsNull() && absent ? *absent : RealNumber(*json_, name_, range);
}

bool JsonView::Flag(std::optional<bool> absent) const {
  return IsNull() && absent ? *absent : TrueOrFalse(*json_, name_);
}

std::string JsonView::Text(std::optional<std::string> absent) const {
  return IsNull() && absent ? *absent : tools::Text(*json_, name_);
}

std::string JsonView::Bytes(std::optional<std::string> absent) const {
  if (IsNull() && absent) return *absent;
  if (!json_->is_string()) Fail("{} must be a string, not {}", name_, Shown(*json_));
  return json_->get<std::string>();
}

}  // namespace fovea::tools
