// Heads for pairs of texts on a tiny BERT, beside the heads' formulas on the encoder's hidden states.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tools/changed_model.h"
#include "tools/base/fail.h"

namespace fovea::test {
namespace {

using nlohmann::json;

// Ids: [CLS] 2, [SEP] 3, a 5, cat 6, ##s 7, soup 8, in 9, the 10, harbour 11.

struct Ids {
  std::vector<int64_t> ids, types;

  std::map<std::string, std::vector<int64_t>> Inputs() const { return {{"input_ids", ids}, {"token_type_ids", types}}; }
};

Ids PairIds(const std::vector<int64_t>& first, const std::vector<int64_t>& second) {
  Ids pair;
  const auto add = [&](const std::vector<int64_t>& ids, int64_t type) {
    pair.ids.insert(pair.ids.end(), ids.begin(), ids.end());
    pair.types.insert(pair.types.end(), ids.size(), type);
  };
  add({2}, 0), add(first, 0), add({3}, 0), add(second, 1), add({3}, 1);
  return pair;
}

const std::string& Bert() {
  static const std::string folder = [] {
    TinyBlob("sequence");
    return Temporary("bert-sequence");
  }();
  return folder;
}

// The tiny BERT with another head; `outs`: the head's layers and their numbers of rows.
std::string WithHead(const std::string& name, const std::string& config,
                     const std::vector<std::pair<std::string, uint64_t>>& outs) {
  return Changed(Bert(), name, config, [&](StoredTensors& tensors) {
    tensors.erase("classifier.weight");
    tensors.erase("classifier.bias");
    uint32_t seed = 5;
    for (const auto& [layer, rows] : outs) AddLinear(tensors, layer, rows, 8, ++seed);
  });
}

// Hidden states of the encoder without a head.
Stored States(const std::string& folder, const Ids& ids) {
  return Outputs(BlobOfDirectory(folder, "embedding"), ids.Inputs()).at("last_hidden_state");
}

Row Pooled(const std::string& folder, const Ids& ids) {
  const StoredTensors tensors = ReadTensors(folder + "/model.safetensors");
  return Tanh(Dense(tensors, "bert.pooler.dense", RowOf(States(folder, ids), 0)));
}

// ---- question answering ----

const char kContext[] = "Cats in the harbour a soup";
const std::vector<int64_t> kQuestion = {10, 6}, kContextIds = {6, 7, 9, 10, 11, 5, 8};
// The begin and the end of the word of each context token.
const std::vector<std::pair<uint32_t, uint32_t>> kPlaces = {{0, 4},   {0, 4},   {5, 7},  {8, 11},
                                                            {12, 19}, {20, 21}, {22, 26}};

struct Span {
  uint32_t begin, end;
  double score;
};

// All pairs of tokens of the windows [first, last) of the context, as the original scores them; `top` of each window.
std::vector<Span> Expected(const std::string& folder, const std::vector<std::pair<size_t, size_t>>& windows, size_t top,
                           size_t longest, double* none) {
  const StoredTensors tensors = ReadTensors(folder + "/model.safetensors");
  std::vector<Span> answers;
  *none = 1;
  for (const auto& [first, last] : windows) {
    const std::vector<int64_t> part(kContextIds.begin() + static_cast<ptrdiff_t>(first),
                                    kContextIds.begin() + static_cast<ptrdiff_t>(last));
    const Stored states = States(folder, PairIds(kQuestion, part));
    Row starts, ends;  // for [CLS], then for the context
    for (size_t i = 0; i <= part.size(); ++i) {
      const Row scores = Dense(tensors, "qa_outputs", RowOf(states, i == 0 ? 0 : 3 + i));
      starts.push_back(scores[0]);
      ends.push_back(scores[1]);
    }
    starts = Softmax(starts);
    ends = Softmax(ends);
    *none = std::min(*none, starts[0] * ends[0]);
    std::vector<Span> found;
    for (size_t i = 1; i < starts.size(); ++i) {
      for (size_t j = i; j < ends.size() && j < i + longest; ++j) {
        found.push_back({kPlaces[first + i - 1].first, kPlaces[first + j - 1].second, starts[i] * ends[j]});
      }
    }
    std::sort(found.begin(), found.end(), [](const Span& a, const Span& b) { return a.score > b.score; });
    found.resize(std::min(found.size(), top));
    for (const Span& span : found) {
      const auto same = std::find_if(answers.begin(), answers.end(), [&](const Span& other) {
        return other.begin == span.begin && other.end == span.end;
      });
      same == answers.end() ? answers.push_back(span) : void(same->score += span.score);
    }
  }
  std::sort(answers.begin(), answers.end(), [](const Span& a, const Span& b) { return a.score > b.score; });
  answers.resize(std::min(answers.size(), top));
  return answers;
}

std::string QuestionModel() {
  static const std::string folder = WithHead(
      "bert-span", R"({"architectures": ["BertForQuestionAnswering"], "id2label": null})", {{"qa_outputs", 2}});
  return folder;
}

void ExpectAnswers(const json& entry, const std::vector<Span>& expected) {
  ASSERT_EQ(entry["answers"].size(), expected.size()) << entry.dump(1);
  for (size_t i = 0; i < expected.size(); ++i) {
    const json& answer = entry["answers"][i];
    EXPECT_EQ(answer["begin"], expected[i].begin) << entry.dump(1);
    EXPECT_EQ(answer["end"], expected[i].end) << entry.dump(1);
    EXPECT_NEAR(answer["score"].get<double>(), expected[i].score, 1e-5);
    const std::string text = answer["text"];
    EXPECT_EQ(text, std::string(kContext).substr(expected[i].begin, expected[i].end - expected[i].begin));
  }
}

TEST(Questions, AnswersOfAShortContext) {
  const std::string folder = QuestionModel(), blob = BlobOfDirectory(folder);
  const std::vector<std::string> ask = {"run", blob, "--question", "the cat", "--context", kContext, "--json"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), ask.begin(), ask.end());
    return FoveaJson(more)[0];
  };
  double none = 0;
  const json best = FoveaJson(ask)[0];
  EXPECT_EQ(best["question"], "the cat");
  EXPECT_EQ(best["windows"], 1);
  EXPECT_EQ(best["tokens"], 12);
  ExpectAnswers(best, Expected(folder, {{0, 7}}, 1, 15, &none));
  ExpectAnswers(with({"--top", "4"}), Expected(folder, {{0, 7}}, 4, 15, &none));
  ExpectAnswers(with({"--top", "5", "--max-answer", "2"}), Expected(folder, {{0, 7}}, 5, 2, &none));
  const json all = with({"--top", "9", "--allow-no-answer"})["answers"];
  const auto empty = std::find_if(all.begin(), all.end(), [](const json& answer) { return answer["text"] == ""; });
  ASSERT_NE(empty, all.end()) << all.dump(1);
  EXPECT_NEAR((*empty)["score"].get<double>(), none, 1e-5);
  // A document is a context.
  WriteText(Temporary("context.txt"), kContext);
  EXPECT_EQ(FoveaJson({"run", blob, "--question", "the cat", "--document", Temporary("context.txt"), "--json"})[0],
            best);
  // Code points are counted besides bytes.
  const json accents = FoveaJson({"run", blob, "--question", "the cat", "--context", "\u00e9\u00e9 soup",
                                  "--max-answer", "1", "--top", "9", "--json"})[0]["answers"];
  const auto soup = std::find_if(accents.begin(), accents.end(), [](const json& a) { return a["text"] == "soup"; });
  ASSERT_NE(soup, accents.end()) << accents.dump(1);
  EXPECT_EQ((*soup)["begin"], 5);
  EXPECT_EQ((*soup)["begin_character"], 3);
  EXPECT_EQ((*soup)["end_character"], 7);
}

TEST(Questions, LongContextsAreReadInParts) {
  const std::string folder = QuestionModel(), blob = BlobOfDirectory(folder);
  const std::vector<std::string> ask = {"run",          blob, "--question", "the cat", "--context", kContext,
                                        "--max-length", "10", "--stride",   "2",       "--top",     "3"};
  std::vector<std::string> as_json = ask;
  as_json.push_back("--json");
  double none = 0;
  const json entry = FoveaJson(as_json)[0];
  EXPECT_EQ(entry["windows"], 2);
  EXPECT_EQ(entry["window_tokens"], 10);
  EXPECT_EQ(entry["shared_tokens"], 2);
  ExpectAnswers(entry, Expected(folder, {{0, 5}, {3, 7}}, 3, 15, &none));
  const CommandResult plain = Fovea(ask);
  EXPECT_NE(plain.out.find("read in 2 parts of up to 10 tokens, which share 2"), std::string::npos) << plain.out;
  EXPECT_NE(
      FoveaError({"run", blob, "--question", "the cat", "--context", kContext, "--max-length", "7", "--stride", "2"})
          .find("shorten the question"),
      std::string::npos);
}

TEST(Questions, SmallBuildsNeedAnswers) {
  const auto needs = [](const std::string& blob) { return Fovea({"inspect", blob, "--needs"}).out; };
  EXPECT_NE(needs(BlobOfDirectory(QuestionModel())).find("\npart answers\n"), std::string::npos);
  EXPECT_EQ(needs(TinyBlob("sequence")).find("part answers"), std::string::npos);
}

TEST(Questions, WrongUse) {
  const std::string blob = BlobOfDirectory(QuestionModel());
  EXPECT_NE(FoveaError({"run", blob, "--question", "a"}).find("--context"), std::string::npos);
  EXPECT_NE(FoveaError({"run", blob, "--context", "a"}).find("--question"), std::string::npos);
  EXPECT_NE(FoveaError({"run", blob, "--text", "a"}).find("give --question and --context"), std::string::npos);
  EXPECT_NE(FoveaError({"run", blob, "--question", "a", "--context", "b", "--context", "c"}).find("1 questions and 2"),
            std::string::npos);
  EXPECT_NE(FoveaError({"run", TinyBlob("sequence"), "--question", "a", "--context", "b"}).find("does not answer"),
            std::string::npos);
  EXPECT_NE(FoveaError({"similarity", blob, "--text", "a", "--text", "b"}).find("answers questions"),
            std::string::npos);
  const std::string wide =
      WithHead("bert-span-3", R"({"architectures": ["BertForQuestionAnswering"]})", {{"qa_outputs", 3}});
  EXPECT_NE(FoveaError({"convert", wide, "-o", Temporary("none.fovea")}).find("qa_outputs.weight has 3 rows"),
            std::string::npos);
}

// ---- one score for a pair ----

const char kPair[] = "the cat";

json Scored(const std::string& blob) {
  return FoveaJson({"run", blob, "--text", kPair, "--pair", "a soup", "--json"})[0];
}

TEST(Pairs, ScoresAsTheOriginalPresentsThem) {
  const Ids ids = PairIds({10, 6}, {5, 8});
  const std::string one =
      R"("architectures": ["BertForSequenceClassification"], "id2label": {"0": "LABEL_0", "1": null, "2": null}, )";
  const struct {
    const char* config;
    bool sigmoid;
  } cases[] = {
      {R"("hidden_act": "gelu"})", true},
      {R"("sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"})", false},
      {R"("sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity", "version": "4.1.0"}})", false},
      {R"("sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Sigmoid"},
          "sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"})",
       true},
      {R"("problem_type": "regression"})", false},
      {R"("problem_type": "regression",
          "sbert_ce_default_activation_function": "torch.nn.modules.activation.Sigmoid"})",
       true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.config);
    const std::string folder = WithHead("bert-rank", "{" + one + c.config, {{"classifier", 1}});
    const double logit = Dense(ReadTensors(folder + "/model.safetensors"), "classifier", Pooled(folder, ids))[0];
    const json entry = Scored(BlobOfDirectory(folder));
    EXPECT_EQ(entry["text"], kPair);
    EXPECT_EQ(entry["pair"], "a soup");
    EXPECT_NEAR(entry["classes"][0]["logit"].get<double>(), logit, 1e-5);
    EXPECT_NEAR(entry["classes"][0]["score"].get<double>(), c.sigmoid ? 1 / (1 + exp(-logit)) : logit, 1e-5);
  }
  const std::string folder = WithHead(
      "bert-rank", "{" + one + R"("sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Tanh"}})",
      {{"classifier", 1}});
  const CommandResult warned = Fovea({"convert", folder, "-o", Temporary("tanh.fovea"), "--compare", "none"});
  EXPECT_NE((warned.out + warned.err).find("activation.Tanh is not supported: scores are the model's logits"),
            std::string::npos)
      << warned.out << warned.err;
}

TEST(Pairs, DirectoriesOfCrossEncoders) {
  const std::string folder = WithHead(
      "bert-cross",
      R"({"architectures": ["BertForSequenceClassification"], "id2label": {"0": "LABEL_0", "1": null, "2": null}})",
      {{"classifier", 1}});
  const json expected = Scored(BlobOfDirectory(folder))["classes"][0];
  WriteText(folder + "/config_sentence_transformers.json",
            R"({"model_type": "CrossEncoder", "activation_fn": "torch.nn.modules.linear.Identity", "prompts": {}})");
  WriteText(folder + "/modules.json",
            R"([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.base.modules.Transformer"}])");
  const json entry = Scored(BlobOfDirectory(folder))["classes"][0];
  EXPECT_EQ(entry["logit"], expected["logit"]);
  EXPECT_EQ(entry["score"], expected["logit"]);
  WriteText(folder + "/modules.json",
            R"([{"path": "", "type": "x.Transformer"}, {"path": "", "type": "x.LogitScore"}])");
  EXPECT_NE(
      FoveaError({"convert", folder, "-o", Temporary("none.fovea")}).find("module x.LogitScore of a CrossEncoder"),
      std::string::npos);
}

TEST(Pairs, SeveralAndLong) {
  const std::string blob = TinyBlob("sequence");
  const json two = FoveaJson({"run", blob, "--text", kPair, "--pair", "a soup", "--pair", "in the harbour", "--json"});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[1]["text"], kPair);
  EXPECT_EQ(two[1]["pair"], "in the harbour");
  EXPECT_EQ(two[0]["classes"].size(), 3u);
  WriteText(Temporary("pairs.tsv"), std::string(kPair) + "\ta soup\n" + kPair + "\tin the harbour\n");
  EXPECT_EQ(FoveaJson({"run", blob, "--pairs", Temporary("pairs.tsv"), "--json"}), two);
  // Logits of the same ids, given as tensors.
  const Stored logits = Outputs(blob, PairIds({10, 6}, {5, 8}).Inputs()).at("logits");
  for (const json& one : two[0]["classes"]) {
    const size_t index = one["label"] == "animal" ? 0 : one["label"] == "food" ? 1 : 2;
    EXPECT_NEAR(one["logit"].get<double>(), logits.values[index], 1e-5);
  }
  // 16 positions: 3 special tokens, 2 of the first text, and the second one loses the rest.
  const std::string long_text = "a a a a a a a a a a a a a a";
  const CommandResult cut = Fovea({"run", blob, "--text", kPair, "--pair", long_text, "--json"});
  EXPECT_EQ(ParsedJson(cut.out)[0]["dropped_tokens"], 3);
  EXPECT_NE(cut.err.find("left out: 3 tokens"), std::string::npos) << cut.err;

  WriteText(Temporary("pairs.tsv"), "no tab\n");
  EXPECT_NE(FoveaError({"run", blob, "--pairs", Temporary("pairs.tsv")}).find("line 1 is not two texts"),
            std::string::npos);
  EXPECT_NE(FoveaError({"run", blob, "--pair", "a"}).find("--pair needs the first text"), std::string::npos);
  EXPECT_NE(FoveaError({"run", blob, "--text", "a", "--text", "a", "--text", "a", "--pair", "a", "--pair", "a"})
                .find("3 texts and 2"),
            std::string::npos);
  EXPECT_NE(FoveaError({"run", TinyBlob("token"), "--text", "a", "--pair", "a"}).find("leave out --pair"),
            std::string::npos);
}

// ---- labels without training ----

TEST(ZeroShot, LabelsOfATinyModel) {
  const std::string folder =
      WithHead("bert-nli",
               R"({"architectures": ["BertForSequenceClassification"], "id2label": {"0": "ENTAILMENT", "1": "neutral",
          "2": "contradiction"}})",
               {{"classifier", 3}});
  const std::string blob = BlobOfDirectory(folder);
  std::vector<Row> logits;  // for "the soup", "the harbour"
  for (const int64_t word : {8, 11}) {
    logits.push_back(
        Dense(ReadTensors(folder + "/model.safetensors"), "classifier", Pooled(folder, PairIds({5, 6}, {10, word}))));
  }
  const auto scores = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", blob, "--text", "a cat", "--hypothesis", "the {}", "--json"});
    Row by_label(2);
    const json labels = FoveaJson(more)[0]["labels"];
    for (const json& one : labels) by_label[one["label"] == "soup" ? 0 : 1] = one["score"];
    return by_label;
  };
  ExpectNear(scores({"--labels", "soup, harbour"}), Softmax({logits[0][0], logits[1][0]}), 1e-5);
  const double soup = Softmax({logits[0][0], logits[0][2]})[0], harbour = Softmax({logits[1][0], logits[1][2]})[0];
  ExpectNear(scores({"--labels", "soup,harbour", "--multi-label"}), {soup, harbour}, 1e-5);
  ExpectNear(scores({"--labels", "soup"}), {soup, 0}, 1e-5);

  const CommandResult warned = Fovea({"run", TinyBlob("sequence"), "--text", "a cat", "--labels", "soup,cat"});
  EXPECT_EQ(warned.status, 0);
  EXPECT_NE(warned.err.find("no class is named entailment, so the last one, place,"), std::string::npos) << warned.err;
  EXPECT_NE(FoveaError({"run", blob, "--text", "a", "--labels", ","}).find("names no label"), std::string::npos);
  EXPECT_NE(FoveaError({"run", blob, "--text", "a", "--labels", "a", "--hypothesis", "so"}).find("exactly one {}"),
            std::string::npos);
  EXPECT_NE(FoveaError({"run", TinyBlob("score"), "--text", "a", "--labels", "a"}).find("--labels needs a classifier"),
            std::string::npos);
  // The text is cut, not the hypothesis, although that is the longer part.
  const std::string hypothesis = "{} a a a a a a a";
  const CommandResult cut =
      Fovea({"run", blob, "--text", "a a a a a a a", "--labels", "soup", "--hypothesis", hypothesis});
  EXPECT_NE(cut.err.find("left out: 2 tokens"), std::string::npos) << cut.err;
}

// ---- choices, and the next sentence ----

TEST(Pairs, ChoicesAndNextSentences) {
  const std::string folder =
      WithHead("bert-choice", R"({"architectures": ["BertForMultipleChoice"], "id2label": null})", {{"classifier", 1}});
  const StoredTensors tensors = ReadTensors(folder + "/model.safetensors");
  const Row scores = {Dense(tensors, "classifier", Pooled(folder, PairIds({10, 6}, {5, 8})))[0],
                      Dense(tensors, "classifier", Pooled(folder, PairIds({10, 6}, {9, 10, 11})))[0]};
  const std::string blob = BlobOfDirectory(folder);
  const json entry =
      FoveaJson({"run", blob, "--text", kPair, "--pair", "a soup", "--pair", "in the harbour", "--json"})[0];
  EXPECT_EQ(entry["text"], kPair);
  ASSERT_EQ(entry["choices"].size(), 2u);
  for (const json& choice : entry["choices"]) {
    const size_t index = choice["text"] == "a soup" ? 0 : 1;
    EXPECT_NEAR(choice["logit"].get<double>(), scores[index], 1e-5);
    EXPECT_NEAR(choice["probability"].get<double>(), Softmax(scores)[index], 1e-5);
  }
  EXPECT_EQ(entry["choices"][0]["text"], scores[0] > scores[1] ? "a soup" : "in the harbour");
  EXPECT_NE(FoveaError({"run", blob, "--text", "a"}).find("--pair"), std::string::npos);

  const std::string next =
      WithHead("bert-next", R"({"architectures": ["BertForNextSentencePrediction"], "id2label": null})",
               {{"cls.seq_relationship", 2}});
  const Row follows = Softmax(
      Dense(ReadTensors(next + "/model.safetensors"), "cls.seq_relationship", Pooled(next, PairIds({10, 6}, {5, 8}))));
  const json classes = Scored(BlobOfDirectory(next))["classes"];
  ASSERT_EQ(classes.size(), 2u);
  for (const json& one : classes) {
    EXPECT_NEAR(one["probability"].get<double>(), follows[one["label"] == "follows" ? 0 : 1], 1e-5);
  }
}

TEST(Heads, WhatIsNotStoredIsNotMadeUp) {
  const std::string choice =
      WithHead("bert-no-choice", R"({"architectures": ["BertForMultipleChoice"], "id2label": null})", {});
  const std::string refusal = FoveaError({"convert", choice, "-o", Temporary("none.fovea")});
  EXPECT_NE(refusal.find("no tensor classifier.weight: the head for multiple choice is not stored; --task embedding"),
            std::string::npos)
      << refusal;
  BlobOfDirectory(choice, "embedding");  // the advice
  // A head of an unknown kind: advice is given only if the encoder converts.
  const std::string unknown = WithHead("bert-unknown", R"({"architectures": ["BertForFlying"]})", {});
  EXPECT_NE(FoveaError({"convert", unknown, "-o", Temporary("none.fovea")})
                .find("head BertForFlying is not supported; --task embedding"),
            std::string::npos);
  BlobOfDirectory(unknown, "embedding");
  const std::string damaged = Changed(unknown, "bert-damaged", "{}", [](StoredTensors& tensors) {
    tensors.erase("bert.encoder.layer.1.output.dense.weight");
  });
  const std::string both = FoveaError({"convert", damaged, "-o", Temporary("none.fovea")});
  EXPECT_NE(both.find("neither is its encoder alone: no tensor bert.encoder.layer.1.output.dense.weight"),
            std::string::npos)
      << both;
}

}  // namespace
}  // namespace fovea::test
