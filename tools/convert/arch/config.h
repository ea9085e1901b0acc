// config.json of a published model. Every key that an architecture reads is remembered, so that the rest can be
// reported.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_CONFIG_H_
#define FOVEA_TOOLS_CONVERT_ARCH_CONFIG_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fovea::tools {

class Config {
 public:
  explicit Config(const std::string& path);

  // Null counts as absent. Without a default an absent key fails.
  uint32_t Number(const std::string& key, std::optional<uint32_t> absent = std::nullopt) const;
  double Real(const std::string& key, std::optional<double> absent = std::nullopt) const;
  bool Flag(const std::string& key, bool absent) const;
  std::string Text(const std::string& key, std::optional<std::string> absent = std::nullopt) const;
  const nlohmann::json& Get(const std::string& key) const;  // null where absent
  // The runtime's name of an activation.
  std::string Activation(const std::string& key, std::optional<std::string> absent = std::nullopt) const;

  // Fails, with key and value, unless the key is absent, null or has this value.
  void Only(const std::string& key, const nlohmann::json& supported) const;

  // Keys that nobody read and that are not known to leave the computation as it is.
  std::vector<std::string> Unknown() const;

 private:
  std::string path_;
  nlohmann::json json_;
  mutable std::set<std::string> read_;
};

// The runtime's name of an activation as configurations call it; empty if there is none.
std::string ActivationName(const std::string& published);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_CONFIG_H_
