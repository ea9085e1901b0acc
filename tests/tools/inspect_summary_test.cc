// The first six lines of "fovea inspect", against the records of the same blob.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/parsed_json.h"
#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tools/base/print.h"

namespace fovea::test {
namespace {

TEST(InspectSummary, CountsTheRecords) {
  const std::string blob = InSource("tools/train/package-section-hierarchical.fovea");
  const CommandResult shown = Fovea({"inspect", blob, "--rows", "32", "--batch", "4"});
  ASSERT_EQ(shown.status, 0) << shown.err;
  std::vector<std::string> lines;
  std::istringstream text(shown.out);
  for (std::string line; lines.size() < 6 && std::getline(text, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 6u);

  const nlohmann::json report = ParsedJson(Fovea({"inspect", blob, "--rows", "32", "--batch", "4", "--json"}).out);
  uint64_t parameters = 0, int8 = 0, memory = 0;
  for (const nlohmann::json& tensor : report["tensors"]) {
    parameters += tensor["rows"].get<uint64_t>() * tensor["width"].get<uint64_t>();
    if (tensor["type"] == "int8") int8 += tensor["bytes"].get<uint64_t>();
  }
  for (const nlohmann::json& bytes : report["plan"]["bytes"]) memory += bytes.get<uint64_t>();
  EXPECT_EQ(
      lines[0],
      "kind:       hierarchical, sequence-classification, Section of a Debian package, read sentence by sentence");
  ASSERT_LT(parameters, 1000000u);
  EXPECT_EQ(lines[1], "parameters: " + tools::Grouped(parameters));
  EXPECT_EQ(lines[2], "attention:  3 of width 96 with 3 heads, 2 of width 96 with 1 head");
  EXPECT_EQ(lines[3], "tokenizer:  WordPiece, 5,600 tokens, texts of up to 64");
  EXPECT_EQ(lines[4].rfind("weights:    int8 " + tools::ShortBytes(int8) + ", f32 ", 0), 0u) << lines[4];
  EXPECT_EQ(
      lines[5].rfind("memory:     " + tools::ShortBytes(memory) + " beside the blob, for 1 row of documents, 4 ", 0),
      0u)
      << lines[5];
}

}  // namespace
}  // namespace fovea::test
