// The list of architectures, and the search for one that fits a model of an unknown type.
#include "tools/convert/arch/choose_architecture.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/convert/published/unsupported_types.h"
#include "tools/convert/resolve.h"

namespace fovea::tools {

// Here rather than in a header, so that a line more compiles this file and its own.
#define FOVEA_ARCHITECTURE(model_type, Name) \
  void Describe##Name(const Checkpoint& checkpoint, Description& description);
#include "tools/convert/arch/architecture_list.inc"
#undef FOVEA_ARCHITECTURE

namespace {

constexpr Architecture kArchitectures[] = {
#define FOVEA_ARCHITECTURE(model_type, Name) {model_type, #Name, Describe##Name},
#include "tools/convert/arch/architecture_list.inc"
#undef FOVEA_ARCHITECTURE
};

std::string LettersOf(const std::string& name) {
  std::string letters;
  for (const char c : name) {
    if (c != '-' && c != '_') letters += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return letters;
}

// Types that compute what another one does, under other names, or that leave tensors out: no advice for other models.
constexpr const char* kNotAdvised[] = {"data2vec-text", "ernie",      "luke",     "splinter",
                                       "mobilellm",     "ministral3", "seed_oss", "dpr"};

// For each file one of its types: the one that it is named after, else the first.
std::vector<Architecture> OneOfEachFile() {
  std::vector<Architecture> chosen;
  for (const Architecture& architecture : kArchitectures) {
    const auto is_it = [&](const char* type) { return type == std::string(architecture.model_type); };
    if (std::any_of(std::begin(kNotAdvised), std::end(kNotAdvised), is_it)) continue;
    const auto same = std::find_if(chosen.begin(), chosen.end(),
                                   [&](const Architecture& other) { return other.describe == architecture.describe; });
    if (same == chosen.end()) {
      chosen.push_back(architecture);
    } else if (LettersOf(architecture.model_type) == LettersOf(architecture.name)) {
      *same = architecture;
    }
  }
  return chosen;
}

}  // namespace

const Architecture* FindArchitecture(const std::string& model_type) {
  const auto found = std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                                  [&](const Architecture& entry) { return model_type == entry.model_type; });
  return found == std::end(kArchitectures) ? nullptr : found;
}

std::string KnownArchitectures() {
  std::string known;
  for (const Architecture& entry : kArchitectures) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.model_type);
  }
  return known;
}

void FailUnknown(const std::string& model_type, const std::string& options,
                 const std::function<Description(const Architecture&)>& describe) {
  // Tensors may fit all the same, but what they fit computes something else.
  const std::string why = WhyUnsupported(model_type);
  if (!why.empty()) Fail("config.json: model_type {} is not supported: {}", model_type, why);
  std::map<size_t, std::vector<std::string>> fitting;  // by the number of tensors that they would leave out
  for (const Architecture& architecture : OneOfEachFile()) {
    try {
      const Description description = describe(architecture);
      Resolve(description);
      fitting[LeftOut(description).size()].push_back(architecture.model_type);
    } catch (const Failure&) {  // another one, then
    }
  }
  if (fitting.empty()) {
    Fail("config.json: model_type {} is not supported; these are: {}", model_type, KnownArchitectures());
  }
  const std::vector<std::string>& best = fitting.begin()->second;
  std::string named;
  for (const std::string& name : best) named += (named.empty() ? "" : ", ") + name;
  Fail(
      "config.json: model_type {} is not supported, but its tensors fit {}; --as {}{} converts it so, if it computes "
      "the same",
      model_type, named, best.size() == 1 ? named : "one of them", options);
}

void DropOwnPrefix(const std::string& model_type, Weights& weights) {
  std::string prefix = model_type + ".";
  std::replace(prefix.begin(), prefix.end(), '-', '_');
  weights.DropPrefix(prefix);
}

}  // namespace fovea::tools
