#include "tools/eval/samples.h"

#include <fmt/format.h>
#include <math.h>
#include <stdlib.h>

#include <filesystem>
#include <functional>

#include "tools/base/fail.h"
#include "tools/base/lines.h"
#include "tools/base/utf8_path.h"

namespace fovea::tools {
namespace {

// `make` gets the fields of each line, and a sample with its line number.
Samples Read(const std::string& file, const std::function<void(std::vector<std::string>, Sample&)>& make) {
  Samples samples = {file, {}};
  size_t number = 0;
  for (const std::string& line : ReadLines(file)) {
    ++number;
    if (line.empty()) continue;
    Sample& sample = samples.list.emplace_back();
    sample.line = number;
    make(FieldsOf(line), sample);
  }
  if (samples.list.empty()) Fail("{}: has no lines", file);
  return samples;
}

void CheckCount(const std::string& file, const Sample& sample, const std::vector<std::string>& fields, size_t least,
                size_t most, const char* what) {
  if (fields.size() < least || fields.size() > most) {
    Fail("{}:{}: {} tab-separated fields, expected {}", file, sample.line, fields.size(), what);
  }
}

}  // namespace

std::string Samples::Place(const Sample& sample) const { return fmt::format("{}:{}", file, sample.line); }

Samples ReadScoredPairs(const std::string& file) {
  return Read(file, [&](std::vector<std::string> fields, Sample& sample) {
    CheckCount(file, sample, fields, 3, 3, "two texts and a score");
    char* end = nullptr;
    sample.score = strtod(fields[2].c_str(), &end);
    if (fields[2].empty() || *end != '\0' || !std::isfinite(sample.score)) {
      Fail("{}:{}: the score '{}' is not a number", file, sample.line, fields[2]);
    }
    sample.parts = {fields[0], fields[1]};
  });
}

Samples ReadLabelled(const std::string& file) {
  size_t count = 0;
  return Read(file, [&](std::vector<std::string> fields, Sample& sample) {
    CheckCount(file, sample, fields, 2, 3, "a text or two, and a label");
    if (count == 0) count = fields.size();
    if (fields.size() != count) {
      Fail("{}:{}: {} fields, but previous lines have {}", file, sample.line, fields.size(), count);
    }
    sample.label = fields.back();
    fields.pop_back();
    sample.parts = std::move(fields);
  });
}

Samples ReadLabelledFiles(const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path folder = file == "-" ? fs::path() : Utf8Path(file).parent_path();
  return Read(file, [&](std::vector<std::string> fields, Sample& sample) {
    CheckCount(file, sample, fields, 2, 2, "a path and a label");
    const auto is_file = [&](const std::string& path) { return fs::is_regular_file(folder / Utf8Path(path)); };
    if (!is_file(fields[0]) && is_file(fields[1])) std::swap(fields[0], fields[1]);
    sample.parts = {(folder / fields[0]).string()};
    if (!fs::is_regular_file(Utf8Path(sample.parts[0])))
      Fail("{}:{}: no file '{}'", file, sample.line, sample.parts[0]);
    sample.label = fields[1];
  });
}

Samples ReadTexts(const std::string& file) {
  return Read(file, [&](const std::vector<std::string>& fields, Sample& sample) {
    std::string text = fields[0];  // a single text may contain tabs
    for (size_t i = 1; i < fields.size(); ++i) text += "\t" + fields[i];
    sample.parts = {text};
  });
}

}  // namespace fovea::tools
