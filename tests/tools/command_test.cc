// The fovea command on a tiny model: its output, and one line with exit status 2 for any fault in the input.
#include <gtest/gtest.h>
#include <math.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/parsed_json.h"
#include "tests/support/paths.h"
#include "tests/tools/golden_folder.h"
#include "tests/tools/tiny_bert.h"
#include "tools/base/mapped_file.h"
#include "tools/safetensors/safetensors.h"
#include "tools/text/tokenizer.h"

namespace fovea::test {
namespace {

using nlohmann::json;
using tools::SafetensorsReader;
using tools::SafetensorsWriter;
using tools::ToFloats;

void ExpectRefused(const std::vector<std::string>& arguments, const std::string& part) {
  const CommandResult result = Fovea(arguments);
  std::string line;
  for (const std::string& argument : arguments) line += argument + " ";
  EXPECT_EQ(result.status, 2) << line;
  EXPECT_EQ(result.err.rfind("fovea: ", 0), 0u) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_NE(result.err.find(part), std::string::npos) << line << "said: " << result.err;
}

// A batch of ids with a mask, both [batch, sequence].
std::string WriteInput(const std::string& name, uint64_t batch, uint64_t sequence, const std::vector<int64_t>& ids,
                       const std::vector<int64_t>& mask) {
  SafetensorsWriter writer;
  writer.AddIntegers("input_ids", {batch, sequence}, ids.data());
  if (!mask.empty()) writer.AddIntegers("attention_mask", {batch, sequence}, mask.data());
  const std::string path = Temporary(name);
  writer.Write(path);
  return path;
}

TEST(Command, HelpAndVersion) {
  EXPECT_EQ(Fovea({"--help"}).status, 0);
  EXPECT_NE(Fovea({"--version"}).out.find("fovea 0."), std::string::npos);
  for (const char* command : {"convert", "run", "generate", "transcribe", "attend", "similarity", "tokenize", "inspect",
                              "pack", "check", "eval", "bench", "verify"}) {
    const CommandResult help = Fovea({command, "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.out.find("Example"), std::string::npos) << command;
  }
}

TEST(Command, WrongUseIsRefused) {
  ExpectRefused({}, "no command is given; 'fovea help' lists them");
  ExpectRefused({"fly"}, "fly");
  ExpectRefused({"verify"}, "BLOB");
  ExpectRefused({"run", TinyBlob("sequence"), "--txt", "a"}, "--txt");
  ExpectRefused({"run", TinyBlob("sequence")}, "--text");
  ExpectRefused({"run", TinyBlob("sequence"), "--text", "a", "--workers", "0"}, "workers");
  ExpectRefused({"run", TinyBlob("sequence"), "--text", "a", "--program", "decode"}, "decode");
  ExpectRefused({"bench", TinyBlob("sequence"), "--rows", "4", "--lengths", "3,4"}, "lengths");
  ExpectRefused({"bench"}, "BLOB");
  ExpectRefused({"bench", "attention", "--max-n", "100"}, "max-n");
  ExpectRefused({"bench", "attention", "--heads", "0"}, "heads");
  ExpectRefused({"similarity", TinyBlob("sequence"), "--text", "a"}, "two");
  ExpectRefused({"convert", Temporary("nowhere"), "-o", Temporary("x.fovea")}, "nowhere");
  ExpectRefused({"convert", Temporary("nowhere"), "-o", Temporary("x.fovea"), "--weights", "int5"}, "int5");
}

// A command that does not fit names the one that does, and prints nothing before.
TEST(Command, TheWrongCommandNamesTheRightOne) {
  const CommandResult written = Fovea({"generate", TinyBlob("sequence"), "--prompt", "a cat"});
  EXPECT_EQ(written.status, 2);
  EXPECT_EQ(written.out, "");
  EXPECT_NE(written.err.find("fovea run"), std::string::npos) << written.err;
  const CommandResult compared = Fovea({"similarity", TinyBlob("sequence"), "--text", "a", "--text", "cat"});
  EXPECT_EQ(compared.status, 2);
  EXPECT_NE(compared.err.find("fovea run"), std::string::npos) << compared.err;
}

TEST(Command, MissingAndDamagedFilesAreRefused) {
  const std::string missing = Temporary("missing.fovea");
  for (const char* command : {"verify", "inspect", "bench", "tokenize", "run"}) {
    std::vector<std::string> arguments = {command, missing};
    if (command[0] == 't' || command[0] == 'r') arguments.insert(arguments.end(), {"--text", "a"});
    ExpectRefused(arguments, "missing.fovea");
  }
  const std::string good = tools::ReadFile(TinyBlob("sequence"));
  const std::string damaged = Temporary("damaged.fovea");
  const auto write = [&](const std::string& bytes) { tools::WriteFile(damaged, bytes.data(), bytes.size()); };
  write("");
  ExpectRefused({"verify", damaged}, "empty");
  write("not a blob, only some text that is long enough to hold a header of sixty-four bytes");
  ExpectRefused({"verify", damaged}, "FOVEA_E_MAGIC");
  write(good.substr(0, good.size() - 64));
  ExpectRefused({"verify", damaged}, "FOVEA_E_TRUNCATED");
  std::string flipped = good;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
  write(flipped);
  ExpectRefused({"verify", damaged}, "FOVEA_E_CHECKSUM");
  ExpectRefused({"run", damaged, "--text", "a"}, "FOVEA_E_CHECKSUM");
  EXPECT_EQ(Fovea({"verify", TinyBlob("sequence")}).status, 0);
}

TEST(Command, WrongTensorsAreRefused) {
  const std::string& blob = TinyBlob("sequence");
  const auto run = [&](const std::string& input) { return std::vector<std::string>{"run", blob, "--input", input}; };
  ExpectRefused(run(WriteInput("range", 1, 3, {2, 12, 3}, {})), "input_ids: entry 1 is 12");
  ExpectRefused(run(WriteInput("negative", 1, 3, {2, -1, 3}, {})), "input_ids");
  ExpectRefused(run(WriteInput("wide", 1, 3, {2, int64_t{1} << 40, 3}, {})), "input_ids");
  ExpectRefused(run(WriteInput("hole", 1, 4, {2, 5, 6, 3}, {1, 0, 1, 1})), "gap");
  ExpectRefused(run(WriteInput("mask", 1, 4, {2, 5, 6, 3}, {1, 2, 1, 1})), "expected 0 or 1");
  ExpectRefused(run(WriteInput("long", 1, 17, std::vector<int64_t>(17, 5), {})), "FOVEA_E_");
  SafetensorsWriter cube;
  const std::vector<int64_t> eight(8, 5);
  cube.AddIntegers("input_ids", {2, 2, 2}, eight.data());
  cube.Write(Temporary("cube"));
  ExpectRefused(run(Temporary("cube")), "[2, 2, 2]");
  SafetensorsWriter unequal;
  unequal.AddIntegers("input_ids", {2, 4}, eight.data());
  unequal.AddIntegers("attention_mask", {4, 2}, eight.data());
  unequal.Write(Temporary("unequal"));
  ExpectRefused(run(Temporary("unequal")), "attention_mask");
  SafetensorsWriter unknown;
  unknown.AddIntegers("input_ids", {2, 4}, eight.data());
  unknown.AddIntegers("pixel_values", {2, 4}, eight.data());
  unknown.Write(Temporary("unknown"));
  ExpectRefused(run(Temporary("unknown")), "pixel_values");
  SafetensorsWriter nothing;
  nothing.AddIntegers("token_type_ids", {2, 4}, eight.data());
  nothing.Write(Temporary("nothing"));
  ExpectRefused(run(Temporary("nothing")), "input_ids");
  tools::WriteFile(Temporary("text"), "hello there", 11);
  ExpectRefused(run(Temporary("text")), "text");
}

// The names of the program's values, and why some are not written.
TEST(Command, RunWritesNamedValues) {
  const std::string& blob = TinyBlob("base");
  const std::string input = WriteInput("named", 1, 3, {2, 6, 3}, {}), out = Temporary("named.safetensors");
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", blob, "--input", input, "--output", out});
    return Fovea(more);
  };
  const auto names = [&] {
    std::set<std::string> all;
    const SafetensorsReader reader(out);
    for (const auto& [name, tensor] : reader.tensors()) all.insert(name);
    return all;
  };
  ASSERT_EQ(run({"--trace"}).status, 0);
  std::map<std::string, std::vector<float>> traced;
  {
    const SafetensorsReader reader(out);
    for (const auto& [name, tensor] : reader.tensors()) traced[name] = ToFloats(tensor);
  }
  // Values of a trace can be requested by name.
  const CommandResult some = run({"--values", "hidden_states.1", "--values", "attentions.*"});
  ASSERT_EQ(some.status, 0) << some.err;
  EXPECT_EQ(some.err, "");
  EXPECT_EQ(names(), (std::set<std::string>{"last_hidden_state", "pooler_output", "hidden_states.1", "attentions.0",
                                            "attentions.1"}));
  {
    const SafetensorsReader reader(out);
    for (const auto& [name, tensor] : reader.tensors()) EXPECT_EQ(ToFloats(tensor), traced.at(name)) << name;
  }
  // All values: more than a trace, and inputs are reported as left out.
  const CommandResult all = run({"--values", "*"});
  ASSERT_EQ(all.status, 0) << all.err;
  EXPECT_NE(all.err.find("fovea: left out: input_ids: it is an input\n"), std::string::npos) << all.err;
  EXPECT_GT(names().size(), traced.size());
  for (const auto& [name, values] : traced) EXPECT_EQ(names().count(name), 1u) << name;
  ExpectRefused({"run", blob, "--input", input, "--values", "hidden_states.9"},
                "no value or attention operation 'hidden_st");
  ExpectRefused({"run", blob, "--text", "a", "--values", "*"}, "--output, --trace and --values need --input");
}

// The report about rows of ids equals a comparison of two blobs.
TEST(Command, ConversionIsMeasuredOnIds) {
  const std::string ids = Temporary("ids.txt"), report = Temporary("ids.json"), out = Temporary("ids.safetensors");
  const std::string rows = "3 9 27 81 5\n\n7\n100 101 102 3 4 5 6 7 8\n";
  tools::WriteFile(ids, rows.data(), rows.size());
  const auto convert = [&](const std::string& blob, const std::string& type) {
    return Fovea({"convert", InData("hf/llama"), "-o", blob, "--weights", type, "--sample-ids", ids, "--json"});
  };
  const std::string exact = Temporary("ids-f32.fovea"), stored = Temporary("ids-int8.fovea");
  ASSERT_EQ(convert(exact, "f32").status, 0);
  const CommandResult made = convert(stored, "int8");
  ASSERT_EQ(made.status, 0) << made.err;
  // The golden directory has no tokenizer, which is the only warning.
  EXPECT_EQ(made.err.find("warning: the blob accepts only token ids"), made.err.find("warning")) << made.err;
  EXPECT_EQ(made.err.find("warning"), made.err.rfind("warning")) << made.err;
  const nlohmann::json told = ParsedJson(made.out);
  EXPECT_EQ(told["sample_lengths"], nlohmann::json({5, 1, 9}));
  double lowest = 1, sum = 0;
  for (const std::vector<int64_t>& row :
       {std::vector<int64_t>{3, 9, 27, 81, 5}, {7}, {100, 101, 102, 3, 4, 5, 6, 7, 8}}) {
    const std::string input = WriteInput("row", 1, row.size(), row, {});
    std::vector<std::vector<float>> logits;
    for (const std::string& blob : {exact, stored}) {
      ASSERT_EQ(Fovea({"run", blob, "--program", "score", "--input", input, "--output", out}).status, 0);
      logits.push_back(ToFloats(SafetensorsReader(out).Get("logits")));
    }
    const size_t width = logits[0].size() / row.size();
    for (size_t r = 0; r < row.size(); ++r) {
      double ab = 0, aa = 0, bb = 0;
      for (size_t i = r * width; i < (r + 1) * width; ++i) {
        ab += double{logits[0][i]} * logits[1][i], aa += double{logits[0][i]} * logits[0][i];
        bb += double{logits[1][i]} * logits[1][i];
      }
      lowest = std::min(lowest, ab / sqrt(aa * bb)), sum += ab / sqrt(aa * bb);
    }
  }
  for (const nlohmann::json& output : told["outputs"]) {
    if (output["program"] != "score" || output["name"] != "logits") continue;
    EXPECT_NEAR(output["lowest_cosine"], lowest, 1e-6);
    EXPECT_NEAR(output["mean_cosine"], sum / 15, 1e-6);
    sum = 0;
  }
  EXPECT_EQ(sum, 0);  // it was there
  const auto refused = [&](const std::string& text, const std::string& part) {
    tools::WriteFile(ids, text.data(), text.size());
    ExpectRefused({"convert", InData("hf/llama"), "-o", stored, "--weights", "int8", "--sample-ids", ids}, part);
  };
  refused("1 2\n3 x\n", "ids.txt: line 2: '3 x': expected token ids separated by spaces");
  refused("\n", "has no ids");
  refused("1\n2 5000\n", "sample ids: row 2: 5000 is not below ");
  refused("-1\n", "sample ids: row 1: -1 is not below ");
}

// Inputs and rows of the KV cache, which are not a matrix, are reported as left out.
TEST(Command, RunSaysWhatItLeavesOut) {
  const std::string blob = Temporary("left-out.fovea"), input = WriteInput("decoded", 1, 3, {2, 6, 3}, {});
  ASSERT_EQ(Fovea({"convert", InData("hf/llama"), "-o", blob}).status, 0);
  const CommandResult kept = Fovea({"run", blob, "--program", "decode", "--input", input, "--values", "*"});
  EXPECT_EQ(kept.status, 0) << kept.err;
  EXPECT_NE(kept.err.find("it is in a cached space"), std::string::npos) << kept.err;
  EXPECT_NE(kept.err.find("left out: input_ids: it is an input"), std::string::npos) << kept.err;
}

// A batch gives what each text gives alone, on whichever side the padding is; padding is zero.
TEST(Command, RunPadsLikeItsInput) {
  const std::string& blob = TinyBlob("base");
  const std::string out = Temporary("out.safetensors");
  const auto run = [&](const std::string& input) {
    const CommandResult result = Fovea({"run", blob, "--input", input, "--output", out, "--trace"});
    EXPECT_EQ(result.status, 0) << result.err;
    std::map<std::string, std::pair<std::vector<uint64_t>, std::vector<float>>> tensors;
    const SafetensorsReader reader(out);
    for (const auto& [name, tensor] : reader.tensors()) tensors[name] = {tensor.shape, ToFloats(tensor)};
    return tensors;
  };
  const auto alone = run(WriteInput("alone", 1, 3, {2, 6, 3}, {}));
  const auto right = run(WriteInput("right", 2, 5, {2, 6, 3, 0, 0, 2, 5, 8, 9, 3}, {1, 1, 1, 0, 0, 1, 1, 1, 1, 1}));
  const auto left = run(WriteInput("left", 2, 5, {0, 0, 2, 6, 3, 2, 5, 8, 9, 3}, {0, 0, 1, 1, 1, 1, 1, 1, 1, 1}));
  using Shape = std::vector<uint64_t>;
  EXPECT_EQ(right.at("last_hidden_state").first, (Shape{2, 5, 8}));
  EXPECT_EQ(right.at("pooler_output").first, (Shape{2, 8}));
  EXPECT_EQ(right.at("attentions.1").first, (Shape{2, 2, 5, 5}));
  for (const char* name : {"last_hidden_state", "hidden_states.0", "hidden_states.1", "hidden_states.2"}) {
    for (size_t i = 0; i < 5 * 8; ++i) {
      const std::vector<float>& one = alone.at(name).second;
      EXPECT_EQ(right.at(name).second[i], i < 24 ? one[i] : 0.0f) << name << " " << i;
      EXPECT_EQ(left.at(name).second[i], i >= 16 ? one[i - 16] : 0.0f) << name << " " << i;
    }
  }
  for (size_t head = 0; head < 2; ++head) {
    for (size_t q = 0; q < 5; ++q) {
      double sum = 0;
      for (size_t k = 0; k < 5; ++k) {
        const float weight = right.at("attentions.0").second[(head * 5 + q) * 5 + k];
        if (q < 3 && k < 3) {
          EXPECT_EQ(weight, alone.at("attentions.0").second[(head * 3 + q) * 3 + k]);
        } else {
          EXPECT_EQ(weight, 0.0f);
        }
        EXPECT_EQ(left.at("attentions.0").second[(head * 5 + q) * 5 + k],
                  q >= 2 && k >= 2 ? alone.at("attentions.0").second[(head * 3 + q - 2) * 3 + k - 2] : 0.0f);
        sum += weight;
      }
      EXPECT_NEAR(sum, q < 3 ? 1 : 0, 1e-6);
    }
  }
}

// Sparse weights are the dense ones without padding and zeros.
TEST(Command, RunWritesSparseAttention) {
  const std::string& blob = TinyBlob("base");
  const std::string out = Temporary("out.safetensors");
  const std::string input = WriteInput("two", 2, 5, {2, 6, 3, 0, 0, 2, 5, 8, 9, 3}, {1, 1, 1, 0, 0, 1, 1, 1, 1, 1});
  const auto run = [&](const std::string& form) {
    const CommandResult result = Fovea({"run", blob, "--input", input, "--output", out, "--trace", "--taps", form});
    EXPECT_EQ(result.status, 0) << result.err;
  };
  run("dense");
  const std::vector<float> dense = ToFloats(SafetensorsReader(out).Get("attentions.1"));  // [2, 2, 5, 5]
  run("sparse");
  const SafetensorsReader sparse(out);
  EXPECT_EQ(sparse.Find("attentions.1"), nullptr);
  const std::vector<int64_t> offsets = tools::ToIntegers(sparse.Get("attentions.1.row_offsets"));
  const std::vector<int64_t> keys = tools::ToIntegers(sparse.Get("attentions.1.keys"));
  const std::vector<float> values = ToFloats(sparse.Get("attentions.1.values"));
  ASSERT_EQ(offsets.size(), (3 + 5) * 2 + 1u);
  ASSERT_EQ(values.size(), (3 * 3 + 5 * 5) * 2u);
  ASSERT_EQ(keys.size(), values.size());
  EXPECT_EQ(offsets.back(), static_cast<int64_t>(values.size()));
  for (size_t row = 0; row < 8; ++row) {
    for (size_t head = 0; head < 2; ++head) {
      const size_t text = row < 3 ? 0 : 1, first = text * 3;
      for (int64_t i = offsets[row * 2 + head]; i < offsets[row * 2 + head + 1]; ++i) {
        const size_t key = static_cast<size_t>(keys[i]) - first;
        EXPECT_EQ(values[i], dense[((text * 2 + head) * 5 + row - first) * 5 + key]);
      }
    }
  }
  EXPECT_EQ(Fovea({"run", blob, "--input", input, "--trace", "--taps", "some"}).status, 2);
}

TEST(Command, RunTextsGivesClasses) {
  const json all =
      FoveaJson({"run", TinyBlob("sequence"), "--text", "The cat", "--text", "soup in the harbour", "--json"});
  ASSERT_EQ(all.size(), 2u);
  double sum = 0;
  for (const json& c : all[1]["classes"]) sum += c["probability"].get<double>();
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_EQ(all[0]["tokens"], 4);
  // One by one and with several workers: the same numbers.
  const json one =
      FoveaJson({"run", TinyBlob("sequence"), "--text", "soup in the harbour", "--json", "--workers", "3"});
  EXPECT_EQ(one[0]["classes"], all[1]["classes"]);

  const std::string lines = Temporary("lines.txt");
  tools::WriteFile(lines, "The cat\r\nsoup in the harbour\n", 29);
  EXPECT_EQ(FoveaJson({"run", TinyBlob("sequence"), "--file", lines, "--json"}), all);
  const CommandResult text = Fovea({"run", TinyBlob("sequence"), "--text", "The cat", "--top", "1"});
  EXPECT_EQ(std::count(text.out.begin(), text.out.end(), '\n'), 2) << text.out;
}

TEST(Command, RunTextsCutsWhatIsTooLong) {
  std::string longer;
  for (int i = 0; i < 40; ++i) longer += "cat ";
  const json result = FoveaJson({"run", TinyBlob("sequence"), "--text", longer, "--json"});
  EXPECT_EQ(result[0]["tokens"], kTinyPositions);
  EXPECT_EQ(result[0]["dropped_tokens"], 40 - (kTinyPositions - 2));
}

TEST(Command, RunTextsGivesTagsAndEmbeddings) {
  const json tags =
      FoveaJson({"run", TinyBlob("token"), "--text", "A cats harbour", "--tags", "tokens", "--json"})[0]["tags"];
  ASSERT_EQ(tags.size(), 4u);
  EXPECT_EQ(tags[1]["token"], "cat");
  EXPECT_EQ(tags[2]["token"], "##s");
  EXPECT_EQ(tags[2]["text"], "s");
  const json embedding = FoveaJson({"run", TinyBlob("base"), "--text", "a cat", "--json"})[0];
  EXPECT_EQ(embedding["source"], "pooler_output");
  ASSERT_EQ(embedding["embedding"].size(), 8u);
}

TEST(Command, Similarity) {
  const json result =
      FoveaJson({"similarity", TinyBlob("base"), "--text", "a cat", "--text", "soup", "--text", "a cat", "--json"});
  EXPECT_NEAR(result["cosines"][0][2].get<double>(), 1, 1e-9);
  EXPECT_LT(result["cosines"][0][1].get<double>(), 1 - 1e-6);
  EXPECT_EQ(result["cosines"][0][1], result["cosines"][1][0]);
}

// Scores of classes are no embedding, and scores of next tokens are no classes.
TEST(Command, OnlyEmbeddingsAreCompared) {
  ExpectRefused({"similarity", TinyBlob("sequence"), "--text", "a cat", "--text", "soup"}, "--task embedding");
  ExpectRefused({"similarity", TinyBlob("token"), "--text", "a cat", "--text", "soup"}, "--task embedding");
}

// The message names the commands that write, before anything is read or run.
TEST(Command, ModelsThatWriteAreNotRunForClasses) {
  const std::string writer = Temporary("writer.fovea"), speech = Temporary("speech.fovea");
  ASSERT_EQ(Fovea({"convert", InSource("tools/train/package-writer"), "-o", writer, "--compare", "none"}).status, 0);
  ExpectRefused({"run", writer, "--text", "a library"}, "use fovea generate");
  const std::string folder = GoldenFolder("moonshine", R"({"feature_extractor_type": "Wav2Vec2FeatureExtractor",
      "sampling_rate": 16000, "feature_size": 1, "do_normalize": false})");
  ASSERT_EQ(Fovea({"convert", folder, "-o", speech, "--compare", "none"}).status, 0);
  const uint8_t nothing = 0;
  tools::WriteFile(Temporary("nothing.wav"), &nothing, 1);
  ExpectRefused({"run", speech, "--wav", Temporary("nothing.wav")}, "transcribe");
}

TEST(Command, Tokenize) {
  const json result = FoveaJson({"tokenize", TinyBlob("sequence"), "--text", "Cats?", "--json"});
  EXPECT_EQ(result[0]["ids"], json({2, 6, 7, 1, 3}));
  EXPECT_EQ(result[0]["ranges"][2], json({3, 4}));
  const tools::Model model(TinyBlob("sequence"), tools::Model::Options{});
  EXPECT_EQ(tools::Tokenizer(model).MaskId(), 4);
}

TEST(Command, InspectSaysWhatIsNeeded) {
  const json result = FoveaJson({"inspect", TinyBlob("sequence"), "--rows", "8", "--batch", "2", "--json"});
  EXPECT_EQ(result["metadata"]["architecture"], "bert");
  EXPECT_GT(result["program"]["steps"].size(), 20u);
  EXPECT_GT(result["plan"]["bytes"]["scratch"].get<uint64_t>(), 0u);
  const CommandResult header = Fovea({"inspect", TinyBlob("sequence"), "--rows", "8", "--batch", "2", "--header"});
  EXPECT_EQ(header.status, 0);
  const std::string size = result["plan"]["bytes"]["scratch"].dump();
  EXPECT_NE(header.out.find("SEQUENCE_SCRATCH_BYTES " + size + "u"), std::string::npos) << header.out;
  EXPECT_NE(Fovea({"inspect", TinyBlob("sequence")}).out.find("16 rows of tokens"), std::string::npos);
}

TEST(Command, BenchAsTable) {
  const std::string blob = TinyBlob("sequence");
  const std::vector<std::string> arguments = {"bench", blob, "--rows", "8", "--seconds", "0"};
  const auto with = [&](const char* option) {
    std::vector<std::string> all = arguments;
    all.push_back(option);
    return Fovea(all);
  };
  std::istringstream csv(with("--csv").out), markdown(with("--markdown").out);
  std::string titles, values, rule;
  ASSERT_TRUE(std::getline(csv, titles) && std::getline(csv, values));
  EXPECT_EQ(titles,
            "model,parameters,weights,processor,vectors,threads,rows,texts,mean ms,deviation ms,p50 ms,rows/s,"
            "memory MiB");
  EXPECT_EQ(values.rfind(blob + ",", 0), 0u) << values;
  EXPECT_NE(values.find(",1,8,1,"), std::string::npos) << values;
  ASSERT_TRUE(std::getline(markdown, titles) && std::getline(markdown, rule) && std::getline(markdown, values));
  const auto bars = [](const std::string& line) { return std::count(line.begin(), line.end(), '|'); };
  EXPECT_EQ(bars(titles), 14);
  EXPECT_EQ(bars(rule), 14);
  EXPECT_EQ(bars(values), 14);
  EXPECT_EQ(with("--markdown").status, 0);
  const CommandResult both = Fovea({"bench", blob, "--csv", "--json"});
  EXPECT_EQ(both.status, 2);
  EXPECT_NE(both.err.find("--json excludes --csv"), std::string::npos) << both.err;
  EXPECT_NE(Fovea(arguments).out.find(" ms, standard deviation "), std::string::npos);
}

TEST(Command, Bench) {
  const json result =
      FoveaJson({"bench", TinyBlob("sequence"), "--lengths", "3,9,1", "--seconds", "0", "--steps", "--json"});
  EXPECT_EQ(result["rows"], 13);
  EXPECT_EQ(result["texts"], 3);
  EXPECT_GT(result["latency_ms"]["min"].get<double>(), 0);
  EXPECT_LE(result["latency_ms"]["min"].get<double>(), result["latency_ms"]["p99"].get<double>());
  EXPECT_GT(result["gop_per_run"].get<double>(), 0);
  ASSERT_GT(result["steps"].size(), 20u);
  double least = 0, middle = 0, share = 0;
  for (const json& step : result["steps"]) {
    EXPECT_LE(step["microseconds"].get<double>(), step["microseconds_p50"].get<double>());
    least += step["microseconds"].get<double>();
    middle += step["microseconds_p50"].get<double>();
    share += step["share"].get<double>();
    EXPECT_EQ(step.contains("pairs"), step["op"] == "attention");
    if (!step.contains("pairs")) continue;
    EXPECT_EQ(step["pairs"], 2 * (3 * 3 + 9 * 9 + 1 * 1));
    EXPECT_NEAR(step["nanoseconds_per_pair"].get<double>() * step["pairs"].get<double>(),
                1e3 * step["microseconds"].get<double>(), 1e-3);
  }
  EXPECT_GT(least, 0);
  EXPECT_NEAR(share, 1, 1e-6);
  double by_operation = 0, middle_by_operation = 0;
  for (const json& row : result["operations"]) {
    by_operation += row["microseconds"].get<double>();
    middle_by_operation += row["microseconds_p50"].get<double>();
  }
  EXPECT_NEAR(by_operation, least, 1e-6 * least);
  EXPECT_NEAR(middle_by_operation, middle, 1e-6 * middle);
  EXPECT_EQ(Fovea({"bench", TinyBlob("sequence"), "--seconds", "0", "--steps", "--workers", "2"}).status, 0);
}

TEST(Command, ConvertReports) {
  const std::string report = Temporary("report.json");
  TinyBlob("sequence");
  const CommandResult result = Fovea({"convert", Temporary("bert-sequence"), "-o", Temporary("int8.fovea"), "--weights",
                                      "int8", "--report", report, "--sample-text", "a cat in the soup"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("int8"), std::string::npos) << result.out;
  const json read = ParsedJson(tools::ReadFile(report));
  EXPECT_EQ(read["outputs"][0]["name"], "logits");
  EXPECT_GT(read["outputs"][0]["lowest_cosine"].get<double>(), 0.9);
}

// Integer weights fit the texts that are given, which may as well come as rows of ids.
TEST(Command, ConversionFitsGivenTexts) {
  const std::vector<std::string> texts = {"a cat in the soup", "the soup", "a a cat"};
  std::vector<std::string> given;
  std::string rows;
  for (const std::string& text : texts) {
    given.insert(given.end(), {"--sample-text", text});
    const json found = FoveaJson({"tokenize", TinyBlob("sequence"), "--text", text, "--json"});
    for (const json& id : found[0]["ids"]) rows += std::to_string(id.get<int>()) + " ";
    rows += "\n";
  }
  const std::string ids = Temporary("given.ids");
  tools::WriteFile(ids, rows.data(), rows.size());
  const auto converted = [&](const std::vector<std::string>& more, const std::string& told) {
    const std::string blob = Temporary("given.fovea");
    std::vector<std::string> all = {"convert", Temporary("bert-sequence"), "-o", blob, "--weights", "int8"};
    all.insert(all.end(), more.begin(), more.end());
    const CommandResult made = Fovea(all);
    EXPECT_EQ(made.status, 0) << made.err;
    EXPECT_NE(made.out.find("Calibrated on " + told + " samples: "), std::string::npos) << made.out;
    return tools::ReadFile(blob);
  };
  const std::string by_texts = converted(given, "given");
  EXPECT_TRUE(by_texts == converted({"--sample-ids", ids}, "given"));
  EXPECT_FALSE(by_texts == converted({}, "made-up"));
}

TEST(Command, ConvertLaysPatterns) {
  TinyBlob("sequence");
  const std::string report = Temporary("report.json"), blob = Temporary("laid.fovea");
  const CommandResult made = Fovea({"convert", Temporary("bert-sequence"), "-o", blob, "--window", "4", "--global",
                                    "first", "--layers", "0", "--report", report});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_NE(made.out.find("without the pattern"), std::string::npos) << made.out;
  const json read = ParsedJson(tools::ReadFile(report));
  EXPECT_EQ(read["metadata"]["attention.laid"], "window 4, global_first 1, layers 0");
  EXPECT_LT(read["lengths"][0]["lowest_cosine"].get<double>(), 1);
  EXPECT_EQ(FoveaJson({"inspect", blob, "--json"})["metadata"]["attention.laid"], read["metadata"]["attention.laid"]);
  for (const auto& [arguments, reason] :
       std::map<std::vector<std::string>, std::string>{{{"--window", "3"}, "equal sides"},
                                                       {{"--window", "4", "--layers", "7"}, "counted from 0"},
                                                       {{"--window", "4", "--layers", "x"}, "layer"},
                                                       {{"--layers", "0"}, "--layers needs --window"},
                                                       {{"--global", "0"}, "--global"}}) {
    std::vector<std::string> all = {"convert", Temporary("bert-sequence"), "-o", Temporary("none.fovea")};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const CommandResult refused = Fovea(all);
    EXPECT_EQ(refused.status, 2);
    EXPECT_NE(refused.err.find(reason), std::string::npos) << refused.err;
    EXPECT_FALSE(std::filesystem::exists(Temporary("none.fovea")));
  }
}

TEST(Command, ConvertShortensKeysAndValues) {
  TinyBlob("sequence");
  uint64_t values[2] = {};
  for (const bool shorter : {false, true}) {
    const std::string blob = Temporary(shorter ? "keys.fovea" : "plain.fovea");
    const CommandResult made =
        Fovea({"convert", Temporary("bert-sequence"), "-o", blob, "--keys", shorter ? "bf16" : "f32"});
    ASSERT_EQ(made.status, 0) << made.err;
    EXPECT_EQ(made.out.find("logits") != std::string::npos, shorter) << made.out;  // compared with f32 keys
    const json result = FoveaJson({"inspect", blob, "--rows", "16", "--json"});
    values[shorter] = result["plan"]["scratch"]["values"];
    size_t casts = 0;
    for (const json& step : result["program"]["steps"]) {
      EXPECT_EQ(step["type"], step["op"] == "cast" ? "bf16" : "f32");
      casts += step["op"] == "cast" ? 1 : 0;
    }
    EXPECT_EQ(casts % 2, 0u);
    EXPECT_EQ(casts > 0, shorter);
    EXPECT_EQ(Fovea({"inspect", blob}).out.find("] bf16") != std::string::npos, shorter);
  }
  EXPECT_LT(values[1], values[0]);
}

}  // namespace
}  // namespace fovea::test
