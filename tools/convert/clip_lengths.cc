#include "tools/convert/clip_lengths.h"

#include <algorithm>
#include <map>
#include <string>

#include "runtime/blob/attributes.h"
#include "runtime/blob/op_codes.h"
#include "runtime/blob/operands.h"
#include "tools/convert/blob_attributes.h"

namespace fovea::tools {
namespace {

bool Has(const BlobContent& content, const std::string& key) {
  return std::any_of(content.metadata.begin(), content.metadata.end(),
                     [&](const auto& entry) { return entry.first == key; });
}

// Samples of each sound that the operation reads; 0: all.
uint64_t ReadBy(const BlobOperation& operation, const BlobProgram& program, const BlobContent& content) {
  const BlobSpace& frames = content.spaces[program.values[operation.output].space];
  if (operation.code != static_cast<uint32_t>(OpCode::kSpectrum) || frames.kind != SpaceKind::kFixed) return 0;
  const uint64_t hop = NumberOr(operation, Attribute::kHop, 0), before = NumberOr(operation, Attribute::kBefore, 0);
  const uint64_t end = (frames.extra - 1) * hop + content.tensors[TensorOf(operation, SpectrumTensor::kWindow)].width;
  return end > before ? end - before : 0;
}

// The maximum over the operations; 0 if one reads all samples.
uint64_t ClipLength(uint32_t input, const BlobProgram& program, const BlobContent& content) {
  uint64_t length = 0;
  for (const BlobOperation& operation : program.operations) {
    if (std::count(operation.inputs.begin(), operation.inputs.end(), input) == 0) continue;
    const uint64_t read = ReadBy(operation, program, content);
    if (read == 0) return 0;
    length = std::max(length, read);
  }
  return length;
}

}  // namespace

void AddClipLengths(BlobContent* content) {
  std::map<std::string, uint64_t> lengths;  // by input name, for all programs with that input
  for (const BlobProgram& program : content->programs) {
    for (uint32_t value = 0; value < program.values.size(); ++value) {
      const BlobValue& input = program.values[value];
      if (input.role != ValueRole::kInput || !Has(*content, "sampling_rate." + input.name)) continue;
      const uint64_t length = ClipLength(value, program, *content);
      uint64_t& longest = lengths.try_emplace(input.name, length).first->second;
      longest = longest == 0 || length == 0 ? 0 : std::max(longest, length);
    }
  }
  for (const auto& [name, length] : lengths) {
    const std::string key = "clip_length." + name;
    if (length != 0 && !Has(*content, key)) content->metadata.emplace_back(key, std::to_string(length));
  }
}

}  // namespace fovea::tools
