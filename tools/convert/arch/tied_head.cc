#include "tools/convert/arch/tied_head.h"

#include <string.h>

#include <algorithm>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

// One number for all values (FNV-1a), so that two matrices need not be in memory at the same time.
uint64_t Digest(const Constant& constant) {
  uint64_t digest = 14695981039346656037u;
  for (const float value : constant.load()) {
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    digest = (digest ^ bits) * 1099511628211u;
  }
  return digest;
}

}  // namespace

void ReportTied(const std::string& head, const std::string& table, Description& description) {
  const Finding finding = {Topic::kTied, fmt::format("the head takes the table of embeddings, {}", table)};
  const auto same = [&](const Finding& other) { return other.topic == finding.topic && other.text == finding.text; };
  if (std::any_of(description.findings.begin(), description.findings.end(), same)) return;
  description.findings.push_back(finding);
  const std::string own = head + ".weight";
  if (head.empty() || own == table || !description.weights.Has(own)) return;
  const Constant stored = description.weights.Get(own), shared = description.weights.Get(table);
  if (stored.rows == shared.rows && stored.width == shared.width && Digest(stored) == Digest(shared)) return;
  description.warnings.push_back(
      fmt::format("tensor {} differs from {}, which the head shares by config.json (tie_word_embeddings), so it is not "
                  "used, as in the original library; set tie_word_embeddings to false to use it",
                  own, table));
}

}  // namespace fovea::tools
