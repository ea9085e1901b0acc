// Families of models and how llama.cpp's converter writes them: names, keys, order of rows.
#ifndef FOVEA_TESTS_CONVERT_GGUF_FAMILIES_H_
#define FOVEA_TESTS_CONVERT_GGUF_FAMILIES_H_

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/gguf_writer.h"
#include "tools/base/json.h"

namespace fovea::test {

using tools::Json;

struct StoredTensor {
  std::string name;
  std::vector<uint64_t> shape;
  std::vector<float> values;
};

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct GgufFamily {
  const char* directory;
  const char* architecture;
  Pairs names;                  // parts of names: the library's, the file's
  Pairs numbers, reals;         // keys of the file, of config.json
  Json edits = Json::object();  // changes to config.json, for what files do not contain
  std::function<void(const Json&, GgufWriter*, const std::string& arch)> more = nullptr;
  std::function<std::vector<StoredTensor>(const Json&, StoredTensor)> change = nullptr;
};

std::vector<GgufFamily> GgufDecoders();
std::vector<GgufFamily> GgufGpts();
std::vector<GgufFamily> GgufEncoders();

}  // namespace fovea::test

#endif  // FOVEA_TESTS_CONVERT_GGUF_FAMILIES_H_
