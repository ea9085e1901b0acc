// fovea attend: every number of a record is a tap's, and every row has the label of its token, picture cell or frame.
#include <gtest/gtest.h>
#include <math.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "tests/support/fewer_cases.h"
#include "tests/support/parsed_json.h"
#include "tests/tools/attend_support.h"
#include "tools/model/session.h"
#include "tools/text/tokenizer.h"

namespace fovea::test {
namespace {

using nlohmann::json;
using tools::SafetensorsReader;
using tools::SafetensorsWriter;

std::string Traced(const std::string& blob, const std::string& input, const std::string& program = "") {
  const std::string out = Temporary("traced.safetensors");
  std::vector<std::string> arguments = {"run", blob, "--input", input, "--output", out, "--trace"};
  if (!program.empty()) arguments.insert(arguments.end(), {"--program", program});
  const CommandResult run = Fovea(arguments);
  EXPECT_EQ(run.status, 0) << run.err;
  return out;
}

// Texts of ids as a padded batch.
std::string PaddedIds(const std::vector<std::vector<int64_t>>& texts, const std::string& name) {
  size_t longest = 0;
  for (const auto& text : texts) longest = std::max(longest, text.size());
  std::vector<int64_t> ids, mask;
  for (const auto& text : texts) {
    for (size_t i = 0; i < longest; ++i) {
      ids.push_back(i < text.size() ? text[i] : 0);
      mask.push_back(i < text.size() ? 1 : 0);
    }
  }
  SafetensorsWriter writer;
  writer.AddIntegers("input_ids", {texts.size(), longest}, ids.data());
  writer.AddIntegers("attention_mask", {texts.size(), longest}, mask.data());
  writer.Write(Temporary(name));
  return Temporary(name);
}

std::string Piece(const json& record, const json& place) {
  const std::string text = record["texts"][place[0].get<size_t>()];
  // ASCII alone: a code unit is a byte.
  return text.substr(place[1].get<size_t>(), place[2].get<size_t>() - place[1].get<size_t>());
}

TEST(Attend, TextsAreThoseOfTheTrace) {
  const std::string& blob = TinyBlob("base");
  const json record = RecordOf({blob, "--text", "The Cats in the harbour", "--text", "a soup"});
  // [CLS] the cat ##s in the harbour [SEP], [CLS] a soup [SEP]
  const std::string traced = Traced(blob, PaddedIds({{2, 10, 6, 7, 9, 10, 11, 3}, {2, 5, 8, 3}}, "two-texts"));
  ASSERT_EQ(record["steps"].size(), 2u);
  for (const char* step : {"attentions.0", "attentions.1"}) ExpectTraced(record, step, traced);
  EXPECT_EQ(record["fovea_attention"], 1);
  EXPECT_EQ(record["model"]["architecture"], "bert");
  const json& step = record["steps"][1];
  EXPECT_EQ(step["layer"], 1);
  EXPECT_EQ(step["part"], "encoder");
  EXPECT_EQ(step["type"], "f32");
  EXPECT_EQ(step["causal"], false);
  const json& tokens = record["spaces"][step["query_space"].get<size_t>()];
  EXPECT_EQ(tokens["offsets"], json({0, 8, 12}));
  EXPECT_EQ(tokens["labels"],
            json({"[CLS]", "The", "Cat", "s", "in", "the", "harbour", "[SEP]", "[CLS]", "a", "soup", "[SEP]"}));
  EXPECT_EQ(tokens["places"][0], json());
  EXPECT_EQ(tokens["places"][2], json({0, 4, 7}));
  EXPECT_EQ(tokens["places"][10], json({1, 2, 6}));
  const json& texts = record["spaces"][tokens["parent"].get<size_t>()];
  EXPECT_EQ(texts["labels"], json({"The Cats in the harbour", "a soup"}));
  EXPECT_EQ(texts["parent"], json());
}

TEST(Attend, PlacesCountCodeUnits) {
  const json record = RecordOf({TinyBlob("base"), "--text", "\xf0\x9f\x90\x88 \xc3\xa9 cat"});
  const json& tokens = record["spaces"][record["steps"][0]["query_space"].get<size_t>()];
  const size_t cat = tokens["labels"].size() - 2;
  EXPECT_EQ(tokens["labels"][cat], "cat");
  EXPECT_EQ(tokens["places"][cat], json({0, 5, 8}));
}

TEST(Attend, ChoicesKeepWhatTheyName) {
  const std::string& blob = TinyBlob("base");
  const std::vector<std::string> text = {blob, "--text", "the cat", "--text", "a cats soup in"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), text.begin(), text.end());
    return RecordOf(more);
  };
  const Weights all = WeightsOf(with({}), "attentions.1");
  json record = with({"--layers", "1", "--heads", "1"});
  ASSERT_EQ(record["steps"].size(), 1u);
  EXPECT_EQ(record["steps"][0]["heads"], json({1}));
  const Weights head = WeightsOf(record, "attentions.1");
  EXPECT_EQ(head.size(), all.size() / 2);
  for (const auto& [at, weight] : head) EXPECT_EQ(weight, all.at(at));
  record = with({"--reduce", "mean"});
  EXPECT_EQ(record["steps"][1]["heads"], json::array());
  EXPECT_EQ(record["steps"][1]["reduced"], "mean");
  for (const auto& [at, weight] : WeightsOf(record, "attentions.1")) {
    const auto [row, none, key] = at;
    EXPECT_NEAR(weight, (double{all.at({row, 0, key})} + all.at({row, 1, key})) / 2, 1e-6);
  }
  record = with({"--rows", "last"});
  EXPECT_EQ(record["steps"][0]["rows"], json({3, 10}));
  record = with({"--rows", "stride", "--stride", "2", "--offset", "1"});
  EXPECT_EQ(record["steps"][0]["rows"], json({1, 3, 5, 7, 9}));
  for (const auto& [at, weight] : WeightsOf(record, "attentions.1")) EXPECT_EQ(weight, all.at(at));
  record = with({"--sparse"});
  EXPECT_EQ(record["steps"][0]["form"], "sparse");
  const Weights sparse = WeightsOf(record, "attentions.1");
  EXPECT_EQ(sparse, all);
  record = with({"--pattern"});
  EXPECT_EQ(record["steps"][0]["form"], "pattern");
  EXPECT_FALSE(record["steps"][0].contains("weights"));
  record = with({"--scores"});
  EXPECT_EQ(record["steps"][0]["scores"], true);
  const Weights scores = WeightsOf(record, "attentions.1");
  double sum = 0;
  for (uint32_t key = 0; key < 4; ++key) sum += exp(double{scores.at({0, 0, key})});
  for (uint32_t key = 0; key < 4; ++key) {
    EXPECT_NEAR(exp(double{scores.at({0, 0, key})}) / sum, (all.at({0, 0, key})), 1e-6);
  }
}

TEST(Attend, PairsAreOneSegmentOfTwoTexts) {
  const json record = RecordOf({TinyBlob("base"), "--pair", "the cat", "a soup"});
  const json& tokens = record["spaces"][record["steps"][0]["query_space"].get<size_t>()];
  EXPECT_EQ(tokens["labels"], json({"[CLS]", "the", "cat", "[SEP]", "a", "soup", "[SEP]"}));
  EXPECT_EQ(tokens["places"][2], json({0, 4, 7}));
  EXPECT_EQ(tokens["places"][4], json({1, 0, 1}));
  EXPECT_EQ(record["texts"], json({"the cat", "a soup"}));
  // Token types of the second text are its own.
  SafetensorsWriter writer;
  const std::vector<int64_t> ids = {2, 10, 6, 3, 5, 8, 3}, types = {0, 0, 0, 0, 1, 1, 1};
  writer.AddIntegers("input_ids", {1, 7}, ids.data());
  writer.AddIntegers("token_type_ids", {1, 7}, types.data());
  writer.Write(Temporary("pair"));
  ExpectTraced(record, "attentions.1", Traced(TinyBlob("base"), Temporary("pair")));
}

TEST(Attend, BytesAreExact) {
  const std::string& blob = TinyBlob("base");
  const CommandResult bytes = Fovea({"attend", blob, "--text", "the cat", "--text", "a", "--bytes"});
  EXPECT_EQ(bytes.status, 0) << bytes.err;
  EXPECT_EQ(bytes.err, "");
  const tools::Model model(blob, {});
  tools::SessionRequest request;
  uint32_t tokens = 0;
  ASSERT_EQ(fovea_model_find_space(model.get(), "tokens", &tokens), FOVEA_OK);
  request.limits = {{tokens, 7, 4}, {model.Space(tokens).parent, 2, 0}};
  const auto total = [&] {
    const fovea_session_memory sizes = tools::SessionSizes(model, request);
    return sizes.fixed_size + sizes.state_size + sizes.scratch_size;
  };
  const uint64_t without = total();
  request.taps = {tools::TapOf(*model.FindAttention(0, "attentions.0")),
                  tools::TapOf(*model.FindAttention(0, "attentions.1"))};
  EXPECT_EQ(bytes.out, std::to_string(total() - without) + "\n");
}

TEST(Attend, TensorsAreThoseOfTheTrace) {
  const std::string blob = Converted(InData("hf/bert"), "bert"), input = GoldenInput("bert", "pad");
  const json record = RecordOf({blob, "--input", input});
  const std::string traced = Traced(blob, input);
  ASSERT_GE(record["steps"].size(), 2u);
  for (const json& step : record["steps"]) ExpectTraced(record, step["name"], traced);
}

TEST(Attend, CasesOfGoldenFilesAreInputs) {
  const std::string blob = Converted(InData("hf/bert"), "bert"), golden = InData("hf/bert") + "/golden.safetensors";
  EXPECT_EQ(RecordOf({blob, "--input", golden, "--case", "pad"}),
            RecordOf({blob, "--input", GoldenInput("bert", "pad")}));
  const CommandResult unknown = Fovea({"attend", blob, "--input", golden, "--case", "c", "--bytes"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("no case 'c'; the file has: a b "), std::string::npos) << unknown.err;
  EXPECT_EQ(Fovea({"attend", blob, "--text", "a", "--case", "a"}).status, 2);

  // A case names its program.
  const std::string example = InSource("tools/convert/examples/local-predictive-seq2seq/");
  const std::string translator = Converted(example + "graph.json", "local-predictive");
  const json record = RecordOf({translator, "--input", example + "golden.safetensors", "--case", "decode/text#0"});
  ASSERT_EQ(record["steps"].size(), 1u);
  EXPECT_EQ(record["steps"][0]["name"], "alignment");
}

// A text of 150 sentences.
std::string LongDocument() {
  std::string text;
  for (int i = 0; i < 150; ++i) {
    text += "Sentence number " + std::to_string(i) + " tells of a library that reads audio files" +
            (i % 3 == 0 ? ", and of games. " : ". ");
  }
  tools::WriteFile(Temporary("long.txt"), text.data(), text.size());
  return Temporary("long.txt");
}

TEST(Attend, HierarchiesSayWhatDecided) {
  const std::string blob = InSource("tools/train/package-section-hierarchical.fovea"), document = LongDocument();
  const json record = RecordOf({blob, "--document", document});
  const json run = FoveaJson({"run", blob, "--document", document, "--json", "--explain", "1000"});
  ASSERT_EQ(record["explain"].size(), 2u);
  const Weights sentences = WeightsOf(record, record["explain"][0]), words = WeightsOf(record, record["explain"][1]);
  uint32_t sentence = 0, word = 0;
  const json* steps[2] = {nullptr, nullptr};
  for (const json& step : record["steps"]) {
    for (size_t i = 0; i < 2; ++i) steps[i] = step["name"] == record["explain"][i] ? &step : steps[i];
  }
  const json& word_space = record["spaces"][(*steps[1])["key_space"].get<size_t>()];
  for (const json& told : run[0]["sentences"]) {
    EXPECT_EQ(static_cast<float>(told["share"].get<double>()), (sentences.at({0, 0, sentence})));
    for (const json& weight : told["token_weights"]) {
      const float expected = weight.is_object() ? weight["weight"].get<float>() : weight.get<float>();
      EXPECT_EQ((words.at({sentence, 0, word})), expected) << sentence;
      const json& place = word_space["places"][word];
      if (!place.is_null()) {
        EXPECT_EQ(word_space["labels"][word], Piece(record, place));
      }
      ++word;
    }
    ++sentence;
  }
  EXPECT_GT(sentence, 20u);
  EXPECT_EQ(words.size(), word);
  EXPECT_EQ(word_space["rows"], word);
  EXPECT_EQ((*steps[0])["part"], "pool");
}

TEST(Attend, DatesAlignAsGenerateSays) {
  const std::string blob = Converted(InSource("tools/train/date-normaliser/graph.json"), "dates");
  const json record = RecordOf({blob, "--source", "20JAN19", "--source", "3 March 2004"});
  const json run =
      FoveaJson({"generate", blob, "--text", "20JAN19", "--text", "3 March 2004", "--alignments", "--json"});
  const Weights weights = WeightsOf(record, "alignment");
  const json& target = record["spaces"][record["generation"]["target_space"].get<size_t>()];
  const json& source = record["spaces"][record["generation"]["source_space"].get<size_t>()];
  uint32_t row = 0;
  size_t compared = 0;
  for (size_t text = 0; text < 2; ++text) {
    EXPECT_EQ(target["offsets"][text], row);
    for (const json& line : run[text]["alignments"]) {
      const uint32_t first = source["offsets"][text];
      for (uint32_t key = 0; key < line.size(); ++key, ++compared) {
        ASSERT_EQ((weights.at({row, 0, first + key})), line[key].get<float>());
      }
      ++row;
    }
    std::string written;
    for (uint32_t i = target["offsets"][text]; i < target["offsets"][text + 1]; ++i) {
      if (!target["places"][i].is_null()) written += target["labels"][i].get<std::string>();
    }
    EXPECT_EQ(written, run[text]["text"]);
  }
  EXPECT_EQ(compared, weights.size());
  EXPECT_GT(compared, 100u);
  EXPECT_EQ(record["steps"][0]["part"], "cross");
}

TEST(Attend, WritersLookBackAsInTheTrace) {
  const std::string blob = Converted(InSource("tools/train/package-writer"), "writer");
  const json record = RecordOf({blob, "--prompt", "Section: games", "--max-tokens", "12"});
  const json run = FoveaJson({"generate", blob, "--prompt", "Section: games", "--max-tokens", "12", "--json"})[0];
  std::vector<int64_t> ids = run["input_ids"];
  const size_t first = ids.size();
  for (size_t i = 0; i + 1 < run["tokens"].size(); ++i) ids.push_back(run["tokens"][i]);
  SafetensorsWriter writer;
  writer.AddIntegers("input_ids", {1, ids.size()}, ids.data());
  writer.Write(Temporary("written"));
  const std::string traced = Traced(blob, Temporary("written"), "score");
  for (const json& step : record["steps"]) {
    ExpectTraced(record, step["name"], traced);
    EXPECT_EQ(step["causal"], true);
    EXPECT_EQ(step["part"], "decoder");
  }
  EXPECT_EQ(record["generation"]["first"], first);
  EXPECT_EQ(record["generation"]["shift"], 1);
  const json& tokens = record["spaces"][record["generation"]["target_space"].get<size_t>()];
  EXPECT_EQ(record["texts"][0], "Section: games" + run["text"].get<std::string>());
  EXPECT_EQ(tokens["writes"][first - 2], "");
  EXPECT_NE(tokens["writes"][ids.size() - 1], "");
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!tokens["places"][i].is_null()) {
      EXPECT_EQ(tokens["labels"][i], Piece(record, tokens["places"][i]));
    }
  }
}

TEST(Attend, PicturesHaveCells) {
  for (const std::string model : {"vit", "deit"}) {
    const std::string blob = Converted(InData("hf/" + model), model), input = GoldenInput(model, "b");
    const json record = RecordOf({blob, "--input", input});
    const std::string traced = Traced(blob, input);
    for (const json& step : record["steps"]) ExpectTraced(record, step["name"], traced);
    const json& space = record["spaces"][record["steps"][0]["key_space"].get<size_t>()];
    const size_t leading = model == "vit" ? 1 : 2, rows = space["offsets"][1];
    const size_t cells = record["images"][0]["rows"].get<size_t>() * record["images"][0]["columns"].get<size_t>();
    ASSERT_EQ(rows, leading + cells) << model;
    for (size_t i = 0; i < space["cells"].size(); ++i) {
      const json cell = i % rows < leading ? json() : json({i / rows, i % rows - leading});
      ASSERT_EQ(space["cells"][i], cell) << i;
    }
    EXPECT_GT(record["images"][0]["png"].get<std::string>().size(), 100u);
  }
}

TEST(Attend, SwinsWindowsAreParts) {
  const std::string blob = Converted(InData("hf/swin"), "swin"), input = GoldenInput("swin", "a");
  const json record = RecordOf({blob, "--input", input});
  const std::string traced = Traced(blob, input);
  const json config = ParsedJson(tools::ReadFile(InData("hf/swin/config.json")));
  const uint32_t window = config["window_size"],
                 grid = config["image_size"].get<uint32_t>() / config["patch_size"].get<uint32_t>();
  for (uint32_t stage = 0; stage < config["depths"].size(); ++stage) {
    ExpectTraced(record, "attentions." + std::to_string(stage), traced);
  }
  // The first stage: windows in their order, and moved up and to the left by half a window in the second block.
  const uint32_t padded = (grid + window - 1) / window * window, across = padded / window;
  size_t shifted_steps = 0;
  for (const json& step : record["steps"]) {
    const json& space = record["spaces"][step["key_space"].get<size_t>()];
    const std::string name = space["name"];
    if (name.rfind("stages.0.", 0) != 0) continue;
    const uint32_t shift = name.find('/') == std::string::npos ? 0 : window / 2;
    shifted_steps += shift != 0 ? 1 : 0;
    ASSERT_EQ(space["rows"], padded * padded);
    for (uint32_t i = 0; i < padded * padded; ++i) {
      const uint32_t of = i / (window * window), at = i % (window * window);
      const uint32_t y = (of / across * window + at / window + shift) % padded,
                     x = (of % across * window + at % window + shift) % padded;
      const json cell = y < grid && x < grid ? json({0, y * grid + x}) : json();
      ASSERT_EQ(space["cells"][i], cell) << name << " " << i;
    }
  }
  EXPECT_GT(shifted_steps, 0u);
  // Later stages have larger cells over the same picture.
  EXPECT_EQ(record["images"][1]["of"], 0);
  EXPECT_EQ(record["images"][1]["rows"], (grid + 1) / 2);
}

// Sparse weights and keys of a step equal the ones of `fovea run --taps sparse`.
void ExpectSparse(const json& record, const std::string& name, const std::string& file, bool half) {
  const SafetensorsReader traced(file);
  const std::vector<int64_t> keys = tools::ToIntegers(traced.Get(name + ".keys")),
                             offsets = tools::ToIntegers(traced.Get(name + ".row_offsets"));
  const std::vector<float> values = tools::ToFloats(traced.Get(name + ".values"));
  const json* step = nullptr;
  for (const json& one : record["steps"]) step = one["name"] == name ? &one : step;
  ASSERT_NE(step, nullptr) << name;
  ASSERT_EQ((*step)["form"], "sparse");
  EXPECT_EQ((*step)["type"], half ? "f16" : "f32");
  const std::vector<float> numbers = StepNumbers(*step);
  ASSERT_EQ(numbers.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(numbers[i], half ? tools::FromHalf(tools::ToHalf(values[i])) : values[i]) << i;
  }
  EXPECT_EQ(Decoded<uint32_t>((*step)["line_offsets"]), std::vector<uint32_t>(offsets.begin(), offsets.end()));
  std::vector<int64_t> found;
  if (step->contains("keys")) {
    for (const uint32_t key : Decoded<uint32_t>((*step)["keys"])) found.push_back(key);
  } else {
    const auto ranges = Decoded<uint32_t>((*step)["ranges"]);
    for (size_t i = 0; i < ranges.size(); i += 2) {
      for (uint32_t k = 0; k < ranges[i + 1]; ++k) found.push_back(ranges[i] + k);
    }
  }
  EXPECT_EQ(found, keys);
}

std::string SparseTrace(const std::string& blob, const std::string& input) {
  const std::string out = Temporary("sparse.safetensors");
  const CommandResult run = Fovea({"run", blob, "--input", input, "--trace", "--taps", "sparse", "--output", out});
  EXPECT_EQ(run.status, 0) << run.err;
  return out;
}

TEST(Attend, WindowsWithGlobalRows) {
  const std::string blob = Converted(InData("hf/longformer"), "longformer"), input = GoldenInput("longformer", "b");
  const json record = RecordOf({blob, "--input", input, "--sparse"});
  const std::string traced = SparseTrace(blob, input);
  for (const int layer : {0, 1, 2}) ExpectSparse(record, "attentions." + std::to_string(layer), traced, false);
  for (const json& step : record["steps"]) {
    const std::string name = step["name"];
    EXPECT_EQ(step["layer"], name.back() - '0');  // attentions.N and global_attentions.N
  }
}

// How many rows of each space were dropped.
std::map<std::string, size_t> Dropped(const json& record) {
  std::map<std::string, size_t> dropped;
  for (const json& space : record["spaces"]) {
    if (!space.contains("chosen")) continue;
    const std::vector<int> chosen = space["chosen"];
    dropped[space["name"]] = static_cast<size_t>(std::count(chosen.begin(), chosen.end(), 0));
  }
  return dropped;
}

// Global rows, and the token that represents a text, are selected in addition to the rest, which the model also reads.
TEST(Attend, ChoosingIsNotDropping) {
  const std::map<std::string, std::string> cases = {
      {"longformer", "b"}, {"longformer-seqcls", "b"}, {"led", "greedy_b"}, {"big_bird", "eval_b"}, {"clip-text", "b"}};
  for (const auto& [name, given] : cases) {
    std::vector<std::string> arguments = {Converted(InData("hf/" + name), name), "--input", GoldenInput(name, given)};
    if (name == "led") arguments.insert(arguments.end(), {"--program", "encode"});
    const json record = RecordOf(arguments);
    EXPECT_TRUE(Dropped(record).empty()) << name << ": " << json(Dropped(record));
  }
  // Query rows; all rows are keys.
  const std::string hops = InSource("tools/convert/examples/query-hops-of-rows/");
  const std::string blob = Converted(hops + "graph.json", "query-hops-of-rows");
  EXPECT_TRUE(Dropped(RecordOf({blob, "--input", hops + "golden.safetensors", "--case", "ragged"})).empty());
}

TEST(Attend, DroppedRowsAreMarked) {
  const std::string folder = InSource("tools/convert/examples/");
  for (const std::string name : {"relevance-best", "coarse-encoder", "query-selected-rows"}) {
    const std::string blob = Converted(folder + name + "/graph.json", name);
    const std::map<std::string, size_t> dropped =
        Dropped(RecordOf({blob, "--input", folder + name + "/golden.safetensors", "--case", "ragged"}));
    EXPECT_FALSE(dropped.empty()) << name;
  }
  const std::string pruned = Temporary("pruned.fovea");
  const CommandResult convert =
      Fovea({"convert", InData("hf/bert"), "-o", pruned, "--select", "0.5@1", "--compare", "none"});
  ASSERT_EQ(convert.status, 0) << convert.err;
  const json record = RecordOf({pruned, "--input", GoldenInput("bert", "b")});
  ASSERT_EQ(Dropped(record).size(), 1u);
  EXPECT_GT(Dropped(record)["tokens"], 0u);
}

// The golden Mistral with a window of 256 rows to the left.
std::string WindowModel() {
  const std::string folder = Temporary("mistral-256");
  std::filesystem::create_directories(folder);
  json config = ParsedJson(tools::ReadFile(InData("hf/mistral/config.json")));
  config["sliding_window"] = 256;
  config["max_position_embeddings"] = 4096;
  const std::string text = config.dump();
  tools::WriteFile(folder + "/config.json", text.data(), text.size());
  std::filesystem::copy_file(InData("hf/mistral/model.safetensors"), folder + "/model.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  return Converted(folder, "mistral-256");
}

TEST(Attend, WindowsOfLongTextsFitAPage) {
  if (FewerCases()) GTEST_SKIP() << "4096 rows";
  const std::string blob = WindowModel();
  const int vocabulary = ParsedJson(tools::ReadFile(InData("hf/mistral/config.json")))["vocab_size"];
  std::mt19937 random(5);
  std::vector<int64_t> ids(4096);
  for (int64_t& id : ids) id = random() % static_cast<unsigned>(vocabulary);
  SafetensorsWriter writer;
  writer.AddIntegers("input_ids", {1, 4096}, ids.data());
  writer.Write(Temporary("long"));
  // Keys that rows see, as the mean of all heads.
  const std::string page = Temporary("long.html"), file = Temporary("long.json");
  const CommandResult attend = Fovea({"attend", blob, "--input", Temporary("long"), "-o", page, "--json", file});
  ASSERT_EQ(attend.status, 0) << attend.err;
  EXPECT_EQ(attend.err, "");
  EXPECT_LT(std::filesystem::file_size(page), 10'000'000u);
  const json small = ParsedJson(tools::ReadFile(file));
  for (const json& step : small["steps"]) {
    EXPECT_EQ(step["form"], "sparse");
    EXPECT_TRUE(step.contains("ranges"));  // one for each line
    EXPECT_EQ(step["causal"], true);
    EXPECT_EQ(step["rows"].size(), 4096u);
  }
  const json record = RecordOf({blob, "--input", Temporary("long"), "--sparse", "--layers", "1"});
  ExpectSparse(record, "attentions.1", SparseTrace(blob, Temporary("long")), true);
}

}  // namespace
}  // namespace fovea::test
