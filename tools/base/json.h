// Parser of untrusted JSON, with limits; accessors check the type and range of every value. A value that does not fit
// fails with one line that names file and key. A file that handles a
// Json by value includes <nlohmann/json.hpp>.
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

// Parses JSON of at most that depth without duplicate keys, else fails with a message that begins with `where`.
Json ParseJson(std::string_view text, const std::string& where, bool comments = false);
// Reads a file of at most kMaxJsonBytes.
Json ReadJson(const std::string& path);

// Inclusive range.
struct WholeRange {
  int64_t least = 0;
  int64_t most = UINT32_MAX;
};
struct RealRange {
  double least = -FLT_MAX;
  double most = FLT_MAX;
};

// Each returns the value in the required type or fails. `name` begins messages: "config.json: num_layers".
int64_t WholeNumber(const Json& value, const std::string& name, WholeRange range = {});
double RealNumber(const Json& value, const std::string& name, RealRange range = {});
bool TrueOrFalse(const Json& value, const std::string& name);
// Refuses zero bytes, which neither paths nor the strings of a blob can hold.
const std::string& Text(const Json& value, const std::string& name);
// Parses decimal digits, as in metadata.
int64_t WholeNumberIn(const std::string& text, const std::string& name, WholeRange range = {});
// The value for messages: on one line, shortened.
std::string Shown(const Json& value);

// A value with its location for messages. Null and absent values are treated alike.
class JsonView {
 public:
  // `where`: the file name.
  JsonView(const Json& json, std::string where) : json_(&json), name_(std::move(where)) {}

  const Json& json() const { return *json_; }
  const std::string& name() const { return name_; }
  bool IsNull() const;
  // The list or object; fails for other types.
  const Json& List() const;
  const Json& Object() const;

  // A member of an object.
  JsonView operator[](const char* key) const;
  // An element of a list; fails if it is missing.
  JsonView At(size_t index) const;

  // A null value becomes `absent`; without one it fails.
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
