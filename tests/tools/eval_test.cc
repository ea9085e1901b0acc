// fovea eval and fovea bench --compare: their results for a file of samples, against other commands' results for each
// sample; and one line for any fault.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/paths.h"
#include "tests/support/wav_file.h"
#include "tests/tools/golden_folder.h"
#include "tools/base/mapped_file.h"
#include "tools/eval/evaluation.h"
#include "tools/eval/metrics.h"
#include "tools/model/interrupt.h"
#include "tools/prediction/prediction.h"
#include "tools/text/text_inputs.h"

namespace fovea::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string WriteLines(const std::string& name, const std::string& text) {
  const std::string path = Temporary(name);
  tools::WriteFile(path, text.data(), text.size());
  return path;
}

const std::vector<std::string> kTexts = {
    "a cat in the harbour", "the soup", "cats",        "the harbour a soup in", "a a a",
    "soup soup the cat",    "in",       "harbour the", "the cats in a soup"};

// The likeliest class of each text by `fovea run`.
std::vector<std::string> Classes(const std::string& blob, const std::vector<std::string>& texts) {
  std::vector<std::string> arguments = {"run", blob, "--json"};
  for (const std::string& text : texts) arguments.insert(arguments.end(), {"--text", text});
  std::vector<std::string> classes;
  for (const json& one : FoveaJson(arguments)) classes.push_back(one["classes"][0]["label"]);
  return classes;
}

// Every third text has the label that the model predicts; the rest have "food" or the number of "place".
TEST(Eval, LabelsOfTexts) {
  const std::string& blob = TinyBlob("sequence");
  const std::vector<std::string> said = Classes(blob, kTexts);
  const std::vector<std::string> names = {"animal", "food", "place"};
  tools::Confusion expected(3);
  std::string file = "\n";
  for (size_t i = 0; i < kTexts.size(); ++i) {
    const std::string label = i % 3 == 0 ? said[i] : i % 3 == 1 ? "food" : "place";
    const auto number = [&](const std::string& name) {
      return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    };
    expected.Add(number(label), number(said[i]));
    file += kTexts[i] + "\t" + (i % 3 == 2 ? "2" : label) + (i % 2 == 0 ? "\n" : "\r\n\n");
  }
  const std::string path = WriteLines("labels.tsv", file);
  const std::vector<std::vector<std::string>> ways = {{}, {"--batch", "1"}, {"--batch", "4", "--workers", "3"}};
  for (const std::vector<std::string>& options : ways) {
    std::vector<std::string> arguments = {"eval", blob, "--labels", path, "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const json told = FoveaJson(arguments);
    EXPECT_EQ(told["samples"], kTexts.size());
    const json& model = told["models"][0];
    EXPECT_EQ(model["bytes"], fs::file_size(blob));
    EXPECT_NEAR(model["accuracy"].get<double>(), expected.Accuracy(), 1e-9);
    EXPECT_NEAR(model["macro_f1"].get<double>(), expected.MacroF1(), 1e-9);
    std::map<std::string, size_t> at;
    for (const json& one : model["classes"]) {
      const auto which =
          static_cast<size_t>(std::find(names.begin(), names.end(), one["label"].get<std::string>()) - names.begin());
      const tools::Confusion::Scores scores = expected.Of(which);
      EXPECT_NEAR(one["precision"].get<double>(), scores.precision, 1e-9);
      EXPECT_NEAR(one["recall"].get<double>(), scores.recall, 1e-9);
      EXPECT_NEAR(one["f1"].get<double>(), scores.f1, 1e-9);
      EXPECT_EQ(one["support"], scores.support);
      at[names[which]] = at.size();
    }
    for (const auto& [row, i] : at) {
      for (const auto& [column, j] : at) {
        const auto number = [&](const std::string& name) {
          return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
        };
        EXPECT_EQ(model["confusion"][i][j], expected.At(number(row), number(column)));
      }
    }
  }
  const std::string text = Fovea({"eval", blob, "--labels", path}).out;
  EXPECT_NE(text.find(fmt::format("{:.4f}", expected.Accuracy())), std::string::npos) << text;
  EXPECT_NE(text.find("columns: predictions"), std::string::npos);
}

TEST(Eval, PageNeedsNothingElse) {
  const std::string path = WriteLines("page.tsv", "a cat\tanimal\nthe soup\tfood\nin the harbour\tplace\n");
  const std::string page = Temporary("page<&>.html");
  const CommandResult result =
      Fovea({"eval", TinyBlob("sequence"), "--compare", TinyBlob("sequence"), "--labels", path, "--html", page});
  EXPECT_EQ(result.status, 0) << result.err;
  const std::string html = tools::ReadFile(page);
  EXPECT_EQ(html.rfind("<!DOCTYPE html>", 0), 0u);
  for (const char* part : {"prefers-color-scheme: dark", "class=\"confusion\"", "animal", "macro F1", "</html>"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
  for (const char* part : {"<script", "http:", "https:", " src=", "url("})
    EXPECT_EQ(html.find(part), std::string::npos) << part;
  // Every element that is opened is closed.
  for (const char* element : {"table", "tr", "td", "th", "thead", "tbody", "div", "h2"}) {
    const auto count = [&](const std::string& part) {
      size_t times = 0;
      for (size_t at = html.find(part); at != std::string::npos; at = html.find(part, at + 1)) ++times;
      return times;
    };
    const std::string name = element;
    EXPECT_EQ(count("<" + name + ">") + count("<" + name + " "), count("</" + name + ">")) << name;
  }
}

TEST(Eval, PairsByCosineOfEmbeddings) {
  const std::string& blob = TinyBlob("base");
  const std::vector<double> scores = {3, 1.5, 1.5, 4, 0};
  std::vector<double> cosines;
  std::string file;
  for (size_t i = 0; i < scores.size(); ++i) {
    const json matrix =
        FoveaJson({"similarity", blob, "--text", kTexts[i], "--text", kTexts[i + 3], "--json"})["cosines"];
    cosines.push_back(matrix[0][1]);
    file += kTexts[i] + "\t" + kTexts[i + 3] + "\t" + std::to_string(scores[i]) + "\n";
  }
  const json told = FoveaJson({"eval", blob, "--pairs", WriteLines("pairs.tsv", file), "--json", "--batch", "2"});
  EXPECT_NEAR(told["models"][0]["pearson"].get<double>(), tools::Pearson(cosines, scores), 1e-6);
  EXPECT_NEAR(told["models"][0]["spearman"].get<double>(), tools::Spearman(cosines, scores), 1e-9);
  EXPECT_EQ(told["samples"], scores.size());
}

// The one number, or the classes, that a model gives two texts together.
std::vector<float> LogitsOfPair(const tools::Model& model, const std::string& first, const std::string& second) {
  const tools::Tokens tokens = tools::Tokenizer(model).EncodePair(first, second, kTinyPositions);
  tools::Session session = tools::SessionFor(model, tools::BatchFromTokens(model, 0, {tokens}));
  session.Run();
  return tools::ReadLogits(model, session).values;
}

TEST(Eval, PairsByAModelThatReadsBoth) {
  const tools::Model scorer(TinyBlob("score"), {}), classifier(TinyBlob("sequence"), {});
  const std::vector<double> scores = {3, 1.5, 1.5, 4, 0};
  std::vector<double> numbers;
  std::string pairs, labels;
  size_t right = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    numbers.push_back(LogitsOfPair(scorer, kTexts[i], kTexts[i + 3])[0]);
    const std::vector<float> logits = LogitsOfPair(classifier, kTexts[i], kTexts[i + 3]);
    right += std::max_element(logits.begin(), logits.end()) - logits.begin() == 1;
    pairs += kTexts[i] + "\t" + kTexts[i + 3] + "\t" + std::to_string(scores[i]) + "\n";
    labels += kTexts[i] + "\t" + kTexts[i + 3] + "\tfood\n";
  }
  const json told =
      FoveaJson({"eval", TinyBlob("score"), "--pairs", WriteLines("read.tsv", pairs), "--json"})["models"][0];
  EXPECT_NEAR(told["pearson"].get<double>(), tools::Pearson(numbers, scores), 1e-6);
  EXPECT_NEAR(told["spearman"].get<double>(), tools::Spearman(numbers, scores), 1e-9);
  const json classes =
      FoveaJson({"eval", TinyBlob("sequence"), "--labels", WriteLines("both.tsv", labels), "--json"})["models"][0];
  EXPECT_EQ(classes["accuracy"], static_cast<double>(right) / 5);
}

// The repository's published example: as many correct as PyTorch's count in tools/train/package-section/metrics.json.
TEST(Eval, TheRepositorysClassifierAndItsInt8) {
  std::string file;
  std::istringstream lines(tools::ReadFile(InSource("tools/train/package-section/eval.tsv")));
  for (std::string line; std::getline(lines, line);) {
    const size_t tab = line.find('\t');
    file += line.substr(tab + 1) + "\t" + line.substr(0, tab) + "\n";
  }
  const std::string path = WriteLines("sections.tsv", file);
  std::vector<std::string> blobs;
  for (const char* weights : {"f32", "int8"}) {
    blobs.push_back(Temporary(std::string("section-") + weights + ".fovea"));
    const CommandResult made = Fovea({"convert", InSource("tools/train/package-section"), "-o", blobs.back(),
                                      "--weights", weights, "--compare", "none"});
    ASSERT_EQ(made.status, 0) << made.err;
  }
  const json told = FoveaJson({"eval", blobs[0], "--compare", blobs[1], "--labels", path, "--workers", "2", "--json"});
  EXPECT_EQ(told["samples"], 400);
  EXPECT_EQ(told["models"][0]["accuracy"], 0.8175);
  EXPECT_GE(told["models"][1]["accuracy"], 0.8);
  EXPECT_GE(told["agreement"]["same_class"], 0.98);
  EXPECT_EQ(told["agreement"]["outputs"]["rows"], 400);
  EXPECT_GE(told["agreement"]["outputs"]["cosine"]["p1"], 0.999);
  EXPECT_LE(told["agreement"]["outputs"]["cosine"]["p0"], told["agreement"]["outputs"]["cosine"]["p50"]);
  EXPECT_EQ(told["time"]["first"]["runs"], 25);
  EXPECT_EQ(told["time"]["second"]["runs"], 25);
  EXPECT_LE(told["time"]["turns"]["p25"], told["time"]["turns"]["p75"]);
  EXPECT_TRUE(told["machine"].contains("processor"));
}

TEST(Eval, TextsOfWhichNothingIsKnown) {
  std::string file;
  for (const std::string& text : kTexts) file += text + "\n";
  const std::string path = WriteLines("texts.txt", file);
  const std::map<std::string, std::pair<size_t, bool>> rows = {
      {"sequence", {kTexts.size(), true}}, {"base", {kTexts.size(), false}}, {"token", {30, true}}};
  for (const auto& [head, expected] : rows) {
    const json told =
        FoveaJson({"eval", TinyBlob(head), "--compare", TinyBlob(head), "--texts", path, "--batch", "4", "--json"});
    const json& outputs = told["agreement"]["outputs"];
    EXPECT_EQ(outputs["rows"], expected.first) << head;
    EXPECT_NEAR(outputs["cosine"]["p0"].get<double>(), 1, 1e-6);
    EXPECT_EQ(outputs.contains("same_choice"), expected.second);
    EXPECT_EQ(told["time"]["first"]["runs"], 3);
  }
  // Models with other outputs have times and bytes only.
  const CommandResult other = Fovea({"eval", TinyBlob("sequence"), "--compare", TinyBlob("base"), "--texts", path});
  EXPECT_EQ(other.status, 0) << other.err;
  EXPECT_NE(other.out.find("not comparable"), std::string::npos) << other.out;
}

// Texts of a batch have the rows that each has alone, without rows of special tokens.
TEST(Eval, RowsOfTokensAreThoseOfTheirText) {
  const tools::Model model(TinyBlob("token"), {});
  tools::SampleRunner together(model, tools::SampleKind::kTexts, {}), alone(model, tools::SampleKind::kTexts, {});
  std::vector<tools::Item> items;
  for (const std::string& text : kTexts) items.push_back({{text}, text});
  together.Prepare(items);
  together.Run();
  ASSERT_EQ(together.results().size(), kTexts.size());
  for (size_t i = 0; i < items.size(); ++i) {
    alone.Prepare({items[i]});
    alone.Run();
    EXPECT_EQ(together.results()[i].values, alone.results()[0].values) << kTexts[i];
    EXPECT_EQ(together.results()[i].rows, tools::Tokenizer(model).Encode(kTexts[i], 0).ids.size() - 2);
  }
}

// A golden model's directory with further files.
std::string Blob(const std::string& golden, const std::string& preprocessor) {
  const std::string blob = Temporary(golden + ".fovea");
  const CommandResult made = Fovea({"convert", GoldenFolder(golden, preprocessor), "-o", blob, "--compare", "none"});
  EXPECT_EQ(made.status, 0) << made.err;
  return blob;
}

// Evaluates files with the labels that `fovea run` predicts, except the last, whose label is wrong.
void ExpectLikeRun(const std::string& blob, const std::vector<std::string>& files, const std::string& run,
                   const std::string& eval) {
  std::vector<std::string> arguments = {"run", blob, "--json"};
  for (const std::string& file : files) arguments.insert(arguments.end(), {run, file});
  const json said = FoveaJson(arguments);
  std::string lines;
  for (size_t i = 0; i < files.size(); ++i) {
    const json& classes = said[i]["classes"];
    lines += files[i] + "\t" + classes[i + 1 == files.size() ? 1 : 0]["label"].get<std::string>() + "\n";
  }
  const json told = FoveaJson({"eval", blob, eval, WriteLines("files.tsv", lines), "--json", "--batch", "2"});
  EXPECT_NEAR(told["models"][0]["accuracy"].get<double>(), 1 - 1 / static_cast<double>(files.size()), 1e-9);
  EXPECT_NE(FoveaError({"eval", blob, eval, WriteLines("gone.tsv", "\nnowhere.bin\tLABEL_0\n")}).find("gone.tsv:2"),
            std::string::npos);
}

TEST(Eval, Pictures) {
  const std::string blob =
      Blob("vit", R"({"image_processor_type": "ViTImageProcessor", "size": {"height": 24, "width": 24}})");
  std::vector<std::string> files;
  for (const char* name : {"rgb.png", "smooth.png", "grey.jpg", "palette.png", "baseline.jpg"})
    files.push_back(InData(std::string("images/") + name));
  ExpectLikeRun(blob, files, "--image", "--images");
  const std::string broken = WriteLines("broken.png", "no image");
  EXPECT_NE(FoveaError({"eval", blob, "--images", WriteLines("bad.tsv", "broken.png\tLABEL_0\n")}).find("bad.tsv:1"),
            std::string::npos);
}

TEST(Eval, Sounds) {
  const std::string blob =
      Blob("ast", R"({"feature_extractor_type": "ASTFeatureExtractor", "max_length": 44, "num_mel_bins": 20})");
  std::vector<std::string> files;
  for (uint32_t i = 0; i < 5; ++i) {
    std::vector<float> samples(4000 + 900 * i);
    for (size_t t = 0; t < samples.size(); ++t)
      samples[t] = static_cast<float>(0.4 * std::sin(0.02 * (i + 1) * static_cast<double>(t % (400 + 100 * i))));
    files.push_back(WriteLines("sound" + std::to_string(i) + ".wav", WavFile(samples, 16000)));
  }
  ExpectLikeRun(blob, files, "--wav", "--sounds");
}

void ExpectError(const std::vector<std::string>& arguments, const std::string& part) {
  const std::string error = FoveaError(arguments);
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

TEST(Eval, WrongUseIsRefused) {
  const std::string& blob = TinyBlob("sequence");
  const std::string good = WriteLines("good.tsv", "a cat\tanimal\n");
  ExpectError({"eval", blob}, "--labels");
  ExpectError({"eval", blob, "--labels", good, "--texts", good}, "--");
  ExpectError({"eval", blob, "--texts", good}, "--compare");
  ExpectError({"eval", blob, "--labels", Temporary("absent.tsv")}, "absent.tsv");
  ExpectError({"eval", blob, "--compare", Temporary("absent.fovea"), "--labels", good}, "absent.fovea");
  ExpectError({"eval", blob, "--labels", WriteLines("none.tsv", "\n\n")}, "no lines");
  ExpectError({"eval", blob, "--labels", WriteLines("one.tsv", "a\tfood\n\nb\n")}, "one.tsv:3");
  ExpectError({"eval", blob, "--labels", WriteLines("mixed.tsv", "a\tfood\nb\tc\tfood\n")}, "mixed.tsv:2");
  ExpectError({"eval", blob, "--labels", WriteLines("drink.tsv", "a\tfood\nb\tdrink\n")},
              "drink.tsv:2: the model has no class 'drink'; its classes: animal, food, place");
  ExpectError({"eval", blob, "--labels", WriteLines("number.tsv", "a\t3\n")}, "number.tsv:1");
  const std::string pair = WriteLines("pair.tsv", "a\tb\t1\nb\tc\t2\n");
  ExpectError({"eval", TinyBlob("base"), "--pairs", WriteLines("nan.tsv", "a\tb\t1\nb\tc\tnan\n")}, "nan.tsv:2");
  ExpectError({"eval", TinyBlob("base"), "--pairs", WriteLines("word.tsv", "a\tb\t1 of 5\n")}, "word.tsv:1");
  ExpectError({"eval", TinyBlob("base"), "--pairs", good}, "good.tsv:1");
  ExpectError({"eval", blob, "--pairs", pair}, "3 classes");
  ExpectError({"eval", TinyBlob("token"), "--pairs", pair}, "each token");
  ExpectError({"eval", TinyBlob("token"), "--labels", good}, "each token");
  ExpectError({"eval", TinyBlob("base"), "--labels", good}, "makes embeddings");
  ExpectError({"eval", TinyBlob("score"), "--labels", good},
              "has one output; labels need a model that chooses one class");
  ExpectError({"eval", blob, "--images", good}, "good.tsv:1");
  ExpectError({"eval", blob, "--pairs", pair, "--html", Temporary("x.html")}, "--html");
  ExpectError({"eval", blob, "--labels", good, "--stride", "3"}, "--perplexity");
  ExpectError({"bench", blob, "--compare", blob, "--steps"}, "--steps");
  ExpectError({"bench", blob, "--compare", Temporary("absent.fovea")}, "absent.fovea");
}

// The samples read so far are reported, and that the report is incomplete.
TEST(Eval, CtrlCEndsCleanly) {
  const tools::Model model(TinyBlob("sequence"), {});
  const tools::Interrupt interrupt;
  tools::EvaluationRequest request;
  request.measure = tools::Measure::kClasses;
  request.batch_size = 2;
  for (size_t i = 0; i < 7; ++i) request.samples.list.push_back({{kTexts[i]}, "food", 0, i + 1});
  const json told = tools::Evaluate({&model}, request, [](size_t done, size_t total) {
    EXPECT_EQ(total, 7u);
    if (done == 4) raise(SIGINT);
  });
  EXPECT_EQ(told["samples"], 6);  // the batch that had begun is read
  EXPECT_EQ(told["interrupted"], true);
  EXPECT_TRUE(told["models"][0].contains("accuracy"));
  const json nothing = tools::Evaluate({&model, &model}, request, [](size_t, size_t) { FAIL(); });
  EXPECT_EQ(nothing["samples"], 0);
  EXPECT_FALSE(nothing.contains("agreement"));
}

TEST(BenchTwo, TakesTurns) {
  const std::string& blob = TinyBlob("sequence");
  const json told = FoveaJson(
      {"bench", blob, "--compare", TinyBlob("base"), "--rows", "7", "--batch", "2", "--seconds", "0", "--json"});
  EXPECT_EQ(told["models"][0]["blob"], blob);
  EXPECT_EQ(told["models"][1]["rows"], 14);
  EXPECT_EQ(told["time"]["first"]["runs"], 5);
  EXPECT_EQ(told["time"]["second"]["runs"], 5);
  EXPECT_GT(told["time"]["ratio"], 0);
  EXPECT_LE(told["time"]["turns"]["p25"], told["time"]["turns"]["p50"]);
  EXPECT_LE(told["time"]["turns"]["p50"], told["time"]["turns"]["p75"]);
  EXPECT_TRUE(told["machine"].contains("processor"));
  const CommandResult text = Fovea({"bench", blob, "--compare", blob, "--rows", "3", "--seconds", "0"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("times as long as"), std::string::npos) << text.out;
}

// Lines with the class first: the same results, and a note.
TEST(Eval, TheClassCanBeTheFirstColumn) {
  const std::string& blob = TinyBlob("sequence");
  std::string last, first;
  for (const std::string& text : kTexts) {
    last += text + "\tfood\n";
    first += "food\t" + text + "\n";
  }
  const json expected = FoveaJson({"eval", blob, "--labels", WriteLines("last.tsv", last), "--json"});
  const json found = FoveaJson({"eval", blob, "--labels", WriteLines("first.tsv", first), "--json"});
  EXPECT_EQ(found["models"][0]["accuracy"], expected["models"][0]["accuracy"]);
  EXPECT_FALSE(expected.contains("notes"));
  ASSERT_TRUE(found.contains("notes"));
  EXPECT_NE(found["notes"][0].get<std::string>().find("first column"), std::string::npos);
}

}  // namespace
}  // namespace fovea::test
