// config.json of a published model. Every key that an architecture reads or ignores is recorded, so that the other ones
// can be reported.
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
  // The configuration of another file, with the keys of config.json.
  Config(Json json, const std::string& path) : path_(path), json_(std::move(json)) {}
  // The same with another model_type.
  Config As(const std::string& model_type) const;
  // The object `key`, the configuration of a part of the model.
  Config(const Config& whole, const std::string& key);

  // Null counts as absent. Without a default an absent key fails. The range of a number depends on its key.
  uint32_t Number(const std::string& key, std::optional<uint32_t> absent = std::nullopt) const;
  double Real(const std::string& key, std::optional<double> absent = std::nullopt) const;
  bool Flag(const std::string& key, bool absent) const;
  std::string Text(const std::string& key, std::optional<std::string> absent = std::nullopt) const;
  const Json& Get(const std::string& key) const;  // null if absent
  JsonView View(const std::string& key) const;    // the same, to read what is no single value
  // The runtime's name of an activation.
  std::string Activation(const std::string& key, std::optional<std::string> absent = std::nullopt) const;

  // Fails, with key and value, unless the key is absent, null or has this value.
  void Only(const std::string& key, const Json& supported) const;

  // Records keys that change no result. The caller's comment gives the reason.
  void Ignore(const std::vector<std::string>& keys) const;

  // Keys that were neither read nor ignored, except the keys that concern training, generation or files in all models.
  std::vector<std::string> Unknown() const;

 private:
  std::string path_;
  Json json_;
  mutable std::set<std::string> read_;
};

// The runtime's name of an activation by its name in configurations; empty if there is none.
std::string ActivationName(const std::string& published);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_CONFIG_H_
