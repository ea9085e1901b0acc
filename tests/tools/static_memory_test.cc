// The header that `fovea inspect --header` prints: sessions made with its programs, tiles and limits, the generator of
// --generation and texts of --text-bytes need exactly its bytes.
#include <gtest/gtest.h>
#include <stdio.h>
#include <unistd.h>

#include <map>
#include <optional>
#include <regex>
#include <sstream>

#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tests/tools/tiny_bert.h"
#include "tools/generate/generator.h"
#include "tools/model/session.h"

namespace fovea::test {
namespace {

struct Header {
  std::map<std::string, uint64_t> numbers;
  std::map<std::string, std::vector<fovea_limit>> limits;
};

Header Parse(const std::string& text) {
  Header header;
  const std::regex number("#define (\\w+) (\\d+)u"), limits("#define (\\w+)_LIMITS (.*)"),
      limit("\\{(\\d+)u, (\\d+)u, (\\d+)u\\}");
  std::istringstream lines(text);
  std::smatch found;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, found, number)) header.numbers[found[1]] = std::stoull(found[2]);
    if (!std::regex_match(line, found, limits)) continue;
    const std::string all = found[2];
    for (std::sregex_iterator at(all.begin(), all.end(), limit), end; at != end; ++at) {
      const auto part = [&](size_t i) { return static_cast<uint32_t>(std::stoul((*at)[i])); };
      header.limits[found[1]].push_back({part(1), part(2), part(3)});
    }
  }
  return header;
}

class GenerationHeader : public testing::Test {
 protected:
  void Make(const std::string& source, const std::vector<std::string>& arguments) {
    blob_ = testing::TempDir() + "static_memory_" + std::to_string(getpid()) + ".fovea";
    const CommandResult made =
        Fovea({"convert", InSource(source), "-o", blob_, "--weights", "int8", "--compare", "none"});
    ASSERT_EQ(made.status, 0) << made.err;
    std::vector<std::string> all = {"inspect", blob_, "--generation", "--header"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const CommandResult printed = Fovea(all);
    ASSERT_EQ(printed.status, 0) << printed.err;
    std::string name = "STATIC_MEMORY_" + std::to_string(getpid()) + "_";
    const Header header = Parse(printed.out);
    for (const auto& [key, value] : header.numbers) header_.numbers[key.substr(name.size())] = value;
    for (const auto& [key, value] : header.limits) header_.limits[key.substr(name.size())] = value;
    model_.emplace(blob_, tools::Model::Options{static_cast<uint32_t>(header_.numbers.at("BACKEND"))});
    EXPECT_EQ(header_.numbers["MODEL_BYTES"], model_->memory_bytes());
  }
  void TearDown() override { remove(blob_.c_str()); }

  tools::Session Check(const std::string& name, const std::vector<uint32_t>& linked) {
    tools::SessionRequest request;
    request.program = static_cast<uint32_t>(header_.numbers.at(name + "_PROGRAM"));
    request.tile_rows = static_cast<uint32_t>(header_.numbers.at(name + "_TILE_ROWS"));
    request.limits = header_.limits.at(name);
    request.linked = linked;
    tools::Session session(*model_, request);
    EXPECT_EQ(session.sizes().fixed_size, header_.numbers.at(name + "_FIXED_BYTES"));
    EXPECT_EQ(session.sizes().state_size, header_.numbers.at(name + "_STATE_BYTES"));
    EXPECT_EQ(session.sizes().scratch_size, header_.numbers.at(name + "_SCRATCH_BYTES"));
    return session;
  }

  void CheckGenerator(const tools::Session& decode, const tools::Session* encode, uint32_t max_tokens) {
    fovea_generate_options options = tools::Sized<fovea_generate_options>();
    options.decode = decode.get();
    options.encode = encode == nullptr ? nullptr : encode->get();
    options.max_tokens = max_tokens;
    uint64_t needed = 0;
    fovea_error error = {};
    ASSERT_EQ(fovea_generate_size(&options, &needed, &error), FOVEA_OK) << error.text;
    EXPECT_EQ(needed, header_.numbers.at("GENERATOR_BYTES"));
  }

  std::string blob_;
  Header header_;
  std::optional<tools::Model> model_;
};

TEST_F(GenerationHeader, OfAnEncoderAndItsDecoder) {
  Make("tools/train/date-normaliser/graph.json", {"--rows", "40", "--tile-rows", "16"});
  const tools::Session encode = Check("ENCODE", {});
  const uint32_t program = static_cast<uint32_t>(header_.numbers.at("DECODE_PROGRAM"));
  uint32_t linked[8], count = 0;
  fovea_error error = {};
  ASSERT_EQ(fovea_generate_get_linked(model_->get(), program, linked, 8, &count, &error), FOVEA_OK);
  const tools::Session decode = Check("DECODE", {linked, linked + count});
  CheckGenerator(decode, &encode, 0);
}

TEST_F(GenerationHeader, OfADecoderThatGoesOnWithTexts) {
  Make("tools/train/package-writer", {"--rows", "24", "--max-tokens", "40", "--tile-rows", "8"});
  EXPECT_EQ(header_.limits.at("DECODE").back().segment_rows, 64u);  // the prompt and what follows
  const tools::Session decode = Check("DECODE", {});
  CheckGenerator(decode, nullptr, 40);
}

TEST_F(GenerationHeader, HasWhatTextsNeed) {
  Make("tools/train/package-writer", {"--rows", "24", "--max-tokens", "40", "--text-bytes", "1000"});
  EXPECT_EQ(header_.numbers.at("LONGEST_TEXT"), 1000u);
  uint64_t needed = 0;
  ASSERT_EQ(fovea_text_scratch_size(model_->get(), 1000, &needed, nullptr), FOVEA_OK);
  EXPECT_EQ(header_.numbers.at("TEXT_BYTES"), needed);
  const CommandResult without = Fovea({"inspect", blob_, "--rows", "24", "--header"});
  EXPECT_EQ(without.out.find("TEXT"), std::string::npos) << without.out;
}

TEST(TapMemory, IsOfTheWeightsThatDecide) {
  const std::string blob = InSource("tools/train/package-section-hierarchical.fovea");
  const CommandResult printed = Fovea({"inspect", blob, "--rows", "8", "--batch", "2", "--header", "--explain"});
  ASSERT_EQ(printed.status, 0) << printed.err;
  const Header header = Parse(printed.out);
  const tools::Model model(blob, tools::Model::Options{FOVEA_BACKEND_HIGHWAY});
  const std::string name = "PACKAGE_SECTION_HIERARCHICAL";
  tools::SessionRequest request;
  request.limits = header.limits.at(name);
  for (const char* step : {"word_attention", "sentence_attention"}) {
    request.taps.push_back(tools::TapOf(*model.FindAttention(0, step)));
    request.taps.back().reduce = FOVEA_REDUCE_MEAN;
    const std::string tap = "{.struct_size = sizeof(fovea_tap), .step = " + std::to_string(request.taps.back().step);
    EXPECT_NE(printed.out.find(tap + "u, .form = 0u, .rows = 0u, .stride = 0u, .reduce = 1u}"), std::string::npos)
        << printed.out;
  }
  EXPECT_EQ(tools::SessionSizes(model, request).scratch_size, header.numbers.at(name + "_SCRATCH_BYTES"));
  EXPECT_EQ(Fovea({"inspect", blob, "--header"}).out.find("TAPS"), std::string::npos);
}

TEST(TapMemory, NeedsMetadata) {
  const CommandResult refused = Fovea({"inspect", TinyBlob("sequence"), "--header", "--explain"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("metadata explain.<space>"), std::string::npos) << refused.err;
}

// Sizes of a host's backend are not firmware's: without a backend among the options the command prints firmware's.
TEST(BackendMemory, IsNamed) {
  const std::string& blob = TinyBlob("sequence");
  const CommandResult usual = Fovea({"inspect", blob, "--header"});
  const CommandResult highway = Fovea({"inspect", blob, "--header", "--backend", "highway"});
  ASSERT_EQ(usual.status, 0) << usual.err;
  ASSERT_EQ(highway.status, 0) << highway.err;
  EXPECT_NE(highway.out.find("for backend highway"), std::string::npos) << highway.out;
  EXPECT_EQ(highway.err, "");
  EXPECT_EQ(usual.out, highway.out);
  EXPECT_NE(usual.err.find("note: these sizes are for the backend highway"), std::string::npos) << usual.err;
  const CommandResult xnnpack = Fovea({"inspect", blob, "--header", "--backend", "xnnpack"});
  if (xnnpack.status != 0) GTEST_SKIP() << "no other backend in this build";
  EXPECT_NE(xnnpack.out.find("for backend xnnpack"), std::string::npos) << xnnpack.out;
  EXPECT_EQ(xnnpack.err, "");
  // The numbers that the library needs for each.
  for (const auto& [backend, out] :
       {std::pair{FOVEA_BACKEND_HIGHWAY, usual.out}, {FOVEA_BACKEND_XNNPACK, xnnpack.out}}) {
    const tools::Model model(blob, tools::Model::Options{static_cast<uint32_t>(backend)});
    const std::string bytes = "_MODEL_BYTES " + std::to_string(model.memory_bytes()) + "u\n";
    EXPECT_NE(out.find(bytes), std::string::npos) << out << bytes;
    EXPECT_NE(out.find("_BACKEND " + std::to_string(backend) + "u\n"), std::string::npos) << out;
  }
}

TEST(TextMemory, NeedsATokenizer) {
  const std::string blob = testing::TempDir() + "no_text_" + std::to_string(getpid()) + ".fovea";
  ASSERT_EQ(Fovea({"convert", InSource("tools/convert/examples/relu-attention/graph.json"), "-o", blob}).status, 0);
  const CommandResult refused = Fovea({"inspect", blob, "--header", "--text-bytes", "100"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("texts of 100 bytes"), std::string::npos) << refused.err;
  remove(blob.c_str());
}

TEST_F(GenerationHeader, RefusesWhatWritesNothing) {
  const CommandResult made =
      Fovea({"inspect", InSource("tools/train/package-section-hierarchical.fovea"), "--generation", "--header"});
  EXPECT_EQ(made.status, 2);
  EXPECT_NE(made.err.find("no program 'decode'"), std::string::npos) << made.err;
  EXPECT_NE(Fovea({"inspect", InSource("tools/train/package-section-hierarchical.fovea"), "--generation"}).status, 0);
}

}  // namespace
}  // namespace fovea::test
