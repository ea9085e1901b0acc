// config.json of a published model. Every key that an architecture reads is remembered, so that the rest can be
// reported.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_CONFIG_H_
#define FOVEA_TOOLS_CONVERT_ARCH_CONFIG_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/base/json.h"

namespace fovea::tools {

class Config {
 public:
  explicit Config(const std::string& path);
  // What another file says, in the words of config.json.
  Config(Json json, const std::string& path) : path_(path), json_(std::move(json)) {}
  // The same of another model_type.
  Config As(const std::string& model_type) const;
  // An object in it, which is the configuration of a part of the model.
  Config(const Config& whole, const std::string& key);

  // Null counts as absent. Without a default an absent key fails. What range a number must keep goes by its key.
  uint32_t Number(const std::string& key, std::optional<uint32_t> absent = std::nullopt) const;
  double Real(const std::string& key, std::optional<double> absent = std::nullopt) const;
  bool Flag(const std::string& key, bool absent) const;
  std::string Text(const std::string& key, std::optional<std::string> absent = std::nullopt) const;
  const Json& Get(const std::string& key) const;  // null where absent
  JsonView View(const std::string& key) const;    // the same, to read what is no single value
  // The runtime's name of an activation.
  std::string Activation(const std::string& key, std::optional<std::string> absent = std::nullopt) const;

  // Fails, with key and value, unless the key is absent, null or has this value.
  void Only(const std::string& key, const Json& supported) const;

  // Keys that nobody read and that are not known to leave the computation as it is.
  std::vector<std::string> Unknown() const;

 private:
  std::string path_;
  Json json_;
  mutable std::set<std::string> read_;
};

// The runtime's name of an activation as configurations call it; empty if there is none.
std::string ActivationName(const std::string& published);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_CONFIG_H_
