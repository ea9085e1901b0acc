// Checks that a tokenizer belongs to the model.
#include "tools/convert/vocabulary_check.h"

#include <string.h>

#include <algorithm>

#include "runtime/text/format.h"
#include "tools/base/fail.h"

namespace fovea::tools {

uint32_t RowsOfTokens(const Description& description) {
  for (const Program& program : description.programs) {
    for (const Input& input : program.inputs) {
      if (!input.ids || input.name != "input_ids") continue;
      for (const Operation& operation : program.operations) {
        const auto read = std::find(operation.in.begin(), operation.in.end(), input.name);
        const auto at = static_cast<size_t>(read - operation.in.begin());
        if (operation.op != "embed" || at >= operation.in.size() || at >= operation.tensors.size()) continue;
        return description.weights.Get(operation.tensors[at]).rows;
      }
    }
  }
  return 0;
}

void CheckVocabulary(const std::vector<uint8_t>& text, const Description& description,
                     std::vector<std::string>& warnings) {
  const uint32_t rows = RowsOfTokens(description);
  text::Header header = {};
  if (text.size() < sizeof(header) || rows == 0) return;
  memcpy(&header, text.data(), sizeof(header));
  if (header.vocabulary <= rows) return;
  const uint64_t added = header.tables[text::kAdded].size / sizeof(text::Added);
  if (header.vocabulary - rows > added) {
    Fail("the tokenizer has ids up to {}, but input_ids are below {}: it belongs to another model",
         header.vocabulary - 1, rows);
  }
  warnings.push_back(
      fmt::format("added tokens have ids up to {}, but input_ids are below {}: texts that contain them will be refused",
                  header.vocabulary - 1, rows));
}

void TakePadding(const std::vector<uint8_t>& text, std::vector<std::pair<std::string, std::string>>& metadata) {
  text::Header header = {};
  if (text.size() < sizeof(header)) return;
  memcpy(&header, text.data(), sizeof(header));
  const auto fills = [](const std::pair<std::string, std::string>& entry) {
    const std::string& key = entry.first;
    return key == "pad_to" || (key.size() > 7 && key.compare(key.size() - 7, 7, ":pad_to") == 0);
  };
  if (header.pad_id == text::kNoId || std::none_of(metadata.begin(), metadata.end(), fills)) return;
  for (auto& [key, value] : metadata) {
    if (key == "pad_token_id") value = std::to_string(header.pad_id);
  }
}

}  // namespace fovea::tools
