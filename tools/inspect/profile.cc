#include "tools/inspect/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace fovea::tools {
namespace {

struct Needs {
  std::vector<std::string> lines;
  std::map<std::string, uint32_t> limits;
};

void Add(void* context, const char* kind, const char* name, uint32_t count) {
  auto* needs = static_cast<Needs*>(context);
  if (count != 0) {
    uint32_t& limit = needs->limits[name];
    limit = std::max(limit, count);
    return;
  }
  const std::string line = fmt::format("{} {}", kind, name);
  if (std::find(needs->lines.begin(), needs->lines.end(), line) == needs->lines.end()) needs->lines.push_back(line);
}

}  // namespace

std::string ProfileFor(const std::vector<const Model*>& models, bool taps) {
  Needs needs;
  if (taps) needs.lines.push_back("part taps");
  std::string text = "# Library features needed by";
  for (const Model* model : models) {
    text += " " + model->name();
    fovea_model_needs(model->get(), Add, &needs);
  }
  text += "\n";
  // Groups lines by kind.
  std::stable_sort(needs.lines.begin(), needs.lines.end(), [](const std::string& a, const std::string& b) {
    return a.substr(0, a.find(' ')) < b.substr(0, b.find(' '));
  });
  for (const std::string& line : needs.lines) text += line + "\n";
  for (const auto& [name, count] : needs.limits) text += fmt::format("limit {} {}\n", name, count);
  text +=
      "# Sessions have one worker; without this line up to 64.\n"
      "limit workers 1\n"
      "# Not needed by a model: error texts and details, attention weights (taps).\n"
      "#part errors\n";
  if (!taps) text += "#part taps\n";
  if (std::find(needs.lines.begin(), needs.lines.end(), "part generation") != needs.lines.end()) {
    text +=
        "# Generation other than greedy.\n"
        "#generate sampling\n"
        "#generate beams\n"
        "#generate drafts\n";
  }
  return text;
}

}  // namespace fovea::tools
