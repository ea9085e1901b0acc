// JSON of files that nobody vouches for: parsed with limits, and read with the range of every number. Whatever does not
// fit fails with one line that names file and key. Whoever handles a Json by value includes <nlohmann/json.hpp>.
#ifndef FOVEA_TOOLS_BASE_JSON_H_
#define FOVEA_TOOLS_BASE_JSON_H_

#include <float.h>
#include <stdint.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace fovea::tools {

using Json = nlohmann::json;

inline constexpr int kMaxJsonDepth = 64;
inline constexpr uint64_t kMaxJsonBytes = 128u << 20;

// Fails, with `where` in front, unless the text is JSON of at most that depth whose objects have no key twice.
Json ParseJson(std::string_view text, const std::string& where, bool comments = false);
// A file of at most kMaxJsonBytes.
Json ReadJson(const std::string& path);

// Both ends included.
struct WholeRange {
  int64_t least = 0;
  int64_t most = UINT32_MAX;
};
struct RealRange {
  double least = -FLT_MAX;
  double most = FLT_MAX;
};

// The value as what it must be. `name` begins messages: "config.json: num_layers".
int64_t WholeNumber(const Json& value, const std::string& name, WholeRange range = {});
double RealNumber(const Json& value, const std::string& name, RealRange range = {});
bool TrueOrFalse(const Json& value, const std::string& name);
// Without zero bytes, which neither paths nor the strings of a blob can hold.
const std::string& Text(const Json& value, const std::string& name);
// Digits alone, as metadata has them.
int64_t WholeNumberIn(const std::string& text, const std::string& name, WholeRange range = {});
// A value as messages show it: on one line, and not at length.
std::string Shown(const Json& value);

// A value together with the words for where it stands. Null and absent are the same.
class JsonView {
 public:
  // `where`: the file.
  JsonView(const Json& json, std::string where) : json_(&json), name_(std::move(where)) {}

  const Json& json() const { return *json_; }
  const std::string& name() const { return name_; }
  bool IsNull() const;
  // A list or an object; else this fails.
  const Json& List() const;
  const Json& Object() const;

  // A member of an object.
  JsonView operator[](const char* key) const;
  // An element of a list, which must be there.
  JsonView At(size_t index) const;

  // With a fallback null is that, without one it fails.
  uint32_t Number(WholeRange range = {}, std::optional<uint32_t> absent = std::nullopt) const;
  double Real(RealRange range = {}, std::optional<double> absent = std::nullopt) const;
  bool Flag(std::optional<bool> absent = std::nullopt) const;
  std::string Text(std::optional<std::string> absent = std::nullopt) const;
  // A string that may hold zero bytes.
  std::string Bytes(std::optional<std::string> absent = std::nullopt) const;

 private:
  JsonView(const Json& json, std::string name, bool nested) : json_(&json), name_(std::move(name)), nested_(nested) {}

  const Json* json_;
  std::string name_;
  bool nested_ = false;  // below the file's outermost value
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_JSON_H_
