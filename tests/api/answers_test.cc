// Answers to questions (fovea/result.h): the rules with numbers worked out by hand, and beside a plain search in f64.
#include "runtime/result/answers.h"

#include <cmath>
#include <random>

#include "runtime/result/tokens.h"
#include "tests/api/api_fixture.h"
#include "tests/text/fixtures.h"

namespace fovea::test {
namespace {

struct Token {
  bool special;
  uint32_t begin, end;
};

// A window with the arrays that it needs; `of_first`: tokens of the question.
struct Window {
  Window(const std::vector<Token>& listed, uint64_t of_first) : ids(listed.size()), tokens(Sized<fovea_text_tokens>()) {
    for (const Token& token : listed) {
      special.push_back(token.special ? 1 : 0);
      ranges.insert(ranges.end(), {token.begin, token.end});
    }
    tokens.capacity = tokens.count = listed.size();
    tokens.text_tokens[0] = of_first;
    Point();
  }
  Window(const Window& other)
      : ids(other.ids), special(other.special), ranges(other.ranges), scores(other.scores), tokens(other.tokens) {
    Point();
  }
  // Scores whose softmax over the tokens that count are these probabilities.
  Window With(const std::vector<double>& starts, const std::vector<double>& ends) const {
    Window window = *this;
    const auto log_of = [](double share) { return static_cast<float>(share == 0 ? -1000 : std::log(share) + 3); };
    for (size_t i = 0; i < starts.size(); ++i) {
      window.scores.insert(window.scores.end(), {log_of(starts[i]), log_of(ends[i])});
    }
    return window;
  }
  void Point() { tokens.ids = ids.data(), tokens.special = special.data(), tokens.ranges = ranges.data(); }

  std::vector<int32_t> ids;
  std::vector<uint8_t> special;
  std::vector<uint32_t> ranges;
  std::vector<float> scores;
  fovea_text_tokens tokens;
};

Tokenizer BytePairs() {
  Tokenizer tokenizer;
  tokenizer.header.model = FOVEA_TEXT_BYTE_PAIR;
  tokenizer.header.unknown_id = text::kNoId;
  return tokenizer;
}

std::vector<fovea_answer> Found(const std::string& context, const std::vector<Window>& windows,
                                const fovea_answer_options& options, const Tokenizer& tokenizer = BytePairs()) {
  std::vector<fovea_text_tokens> tokens;
  std::vector<float> scores;
  for (const Window& window : windows) {
    tokens.push_back(window.tokens);
    scores.insert(scores.end(), window.scores.begin(), window.scores.end());
  }
  std::vector<fovea_answer> answers(windows.size() * std::max(1u, options.top) + 1);
  const Asked asked = {tokenizer,     {tokens.data()}, static_cast<uint32_t>(windows.size()),
                       scores.data(), context.data(),  context.size()};
  answers.resize(FindAnswers(asked, options, answers.data()));
  return answers;
}

std::string Text(const std::vector<fovea_answer>& answers) {
  std::string text;
  for (const fovea_answer& answer : answers) {
    char line[60];
    snprintf(line, sizeof(line), "%u-%u %.4f; ", answer.begin, answer.end, answer.score);
    text += line;
  }
  return text;
}

// "[CLS] who [SEP] Ada met Bob s [SEP]": "Bobs" is one word of two tokens.
const char kContext[] = "Ada met Bobs";
Window Plain(bool first_is_special = true) {
  return Window({{first_is_special, 0, 0},
                 {false, 0, 3},
                 {true, 0, 0},
                 {false, 0, 3},
                 {false, 4, 7},
                 {false, 8, 11},
                 {false, 11, 12},
                 {true, 0, 0}},
                first_is_special ? 1 : 2);
}

fovea_answer_options Rules(uint32_t top) {
  fovea_answer_options rules = Sized<fovea_answer_options>();
  rules.top = top;
  return rules;
}

TEST(ResultAnswers, ProductOfProbabilitiesOfWholeWords) {
  // The question's and the last special token do not count, however large their scores are.
  Window window = Plain().With({0.1, 0, 0, 0.5, 0.2, 0.16, 0.04, 0}, {0.2, 0, 0, 0.1, 0.1, 0.2, 0.4, 0});
  for (const size_t score : {2, 3, 5, 14, 15}) window.scores[score] = 50;
  fovea_answer_options rules = Rules(0);
  EXPECT_EQ(Text(Found(kContext, {window}, rules)), "0-12 0.2000; ");  // 0.5 * 0.4, to the end of the word
  // 0.5 * 0.4 and 0.5 * 0.2 are both "Ada met Bobs", as the word of the last token is taken as a whole.
  rules.top = 2;
  EXPECT_EQ(Text(Found(kContext, {window}, rules)), "0-12 0.3000; ");
  // Then 0.2 * 0.4 and 0.16 * 0.4.
  rules.top = 4;
  EXPECT_EQ(Text(Found(kContext, {window}, rules)), "0-12 0.3000; 4-12 0.0800; 8-12 0.0640; ");
  // One token: 0.5 * 0.1, 0.16 * 0.2 and 0.04 * 0.4 (both "Bobs"), 0.2 * 0.1.
  rules.max_tokens = 1;
  EXPECT_EQ(Text(Found(kContext, {window}, rules)), "0-3 0.0500; 8-12 0.0480; 4-7 0.0200; ");
  rules.max_tokens = 2;  // 0.5 * 0.1 twice, 0.16 * 0.4, 0.2 * 0.2
  EXPECT_EQ(Text(Found(kContext, {window}, rules)), "8-12 0.0640; 0-3 0.0500; 0-7 0.0500; 4-12 0.0400; ");
}

TEST(ResultAnswers, NoneIsTheLeastOfAllWindows) {
  const std::vector<double> shares = {0.9, 0, 0, 0.1, 0, 0, 0, 0}, others = {0.8, 0, 0, 0.2, 0, 0, 0, 0};
  const Window likely = Plain().With(shares, others);
  const Window unlikely = Plain().With({0.3, 0, 0, 0, 0.7, 0, 0, 0}, {0.4, 0, 0, 0, 0.6, 0, 0, 0});
  fovea_answer_options rules = Rules(3);
  EXPECT_EQ(Text(Found(kContext, {likely, unlikely}, rules)), "4-7 0.4200; 0-3 0.0200; ");
  rules.allow_none = 1;
  EXPECT_EQ(Text(Found(kContext, {likely}, rules)), "0-0 0.7200; 0-3 0.0200; ");
  EXPECT_EQ(Text(Found(kContext, {likely, unlikely}, rules)), "4-7 0.4200; 0-0 0.1200; 0-3 0.0200; ");
  rules.top = 1;
  EXPECT_EQ(Text(Found(kContext, {likely}, rules)), "0-0 0.7200; ");
  // A first token that is not special is one of the question.
  rules.top = 3;
  EXPECT_EQ(Text(Found(kContext, {Plain(false).With(shares, others)}, rules)), "0-3 1.0000; 0-0 0.0000; ");
  EXPECT_EQ(Text(Found("", {}, rules)), "");
  EXPECT_EQ(Text(Found("", {Window({{false, 0, 0}}, 1).With({1}, {1})}, rules)), "0-0 0.0000; ");
}

TEST(ResultAnswers, EqualTextsAreOne) {
  const std::string context = "Bob or bob or Rob";
  const Window window = Window({{false, 0, 3}, {false, 3, 6}, {false, 6, 10}, {false, 10, 13}, {false, 13, 17}}, 0)
                            .With({0, 0.2, 0.5, 0.1, 0.2}, {0, 0.2, 0.5, 0.1, 0.2});
  fovea_answer_options rules = Rules(2);
  rules.max_tokens = 1;
  // The space that a token includes belongs to no answer. The first token of a window is never one, as in the original.
  EXPECT_EQ(Text(Found(context, {window}, rules)), "7-10 0.2500; 4-6 0.0400; ");
  EXPECT_EQ(Text(Found(context, {window, window}, rules)), "7-10 0.5000; 4-6 0.0800; ");
  // Another case is the same answer.
  const Window both = Window({{true, 0, 0}, {false, 0, 3}, {false, 6, 10}, {false, 13, 17}}, 0)
                          .With({0.2, 0.3, 0.4, 0.1}, {0.2, 0.3, 0.4, 0.1});
  EXPECT_EQ(Text(Found("Bob or BOB or Rob", {both}, rules)), "7-10 0.2500; ");
}

TEST(ResultAnswers, WordsOfByteLevelTokenizersAreOfOneKindOfCharacters) {
  const std::string context = "in Rome.";
  const Window window = Window({{true, 0, 0}, {false, 0, 2}, {false, 2, 5}, {false, 5, 7}, {false, 7, 8}}, 0)
                            .With({0, 0, 1, 0, 0}, {0, 0, 1, 0, 0});
  EXPECT_EQ(Text(Found(context, {window}, Rules(1))), "3-8 1.0000; ");
  text::Step step = {};
  step.kind = static_cast<uint32_t>(text::StepKind::kByteLevel);
  Tokenizer tokenizer = BytePairs();
  tokenizer.pre_tokenizer = {&step, 1};
  EXPECT_EQ(Text(Found(context, {window}, Rules(1), tokenizer)), "3-7 1.0000; ");

  const auto inside = [](const std::string& text, size_t at) { return IsInsideWord(text.data(), text.size(), at); };
  EXPECT_TRUE(inside("London", 3));
  EXPECT_FALSE(inside("London.", 6));
  EXPECT_TRUE(inside("...", 1));
  EXPECT_FALSE(inside("mp3", 2));
  EXPECT_TRUE(inside("1889", 2));
  EXPECT_FALSE(inside("x", 0));
  EXPECT_FALSE(inside("x", 1));
  EXPECT_TRUE(inside("caf\u00e9s", 3));     // letters above ASCII
  EXPECT_TRUE(inside("caf\u00e9s", 5));     // after one
  EXPECT_TRUE(inside("caf\u00e9s", 4));     // within one
  EXPECT_FALSE(inside("one\u2014two", 3));  // a dash
  EXPECT_FALSE(inside("one\u2014two", 6));
  EXPECT_FALSE(inside("\u6771\u4eac\u3002", 6));  // an ideographic full stop
}

// The best pairs of each window by the original's formulas (question_answering.py, select_starts_ends).
std::vector<fovea_answer> Searched(const std::vector<Window>& windows, size_t top, size_t longest, double* none) {
  std::vector<fovea_answer> all;
  *none = 1;
  for (const Window& window : windows) {
    const size_t count = window.special.size();
    std::vector<double> shares[2];
    for (size_t which = 0; which < 2; ++which) {
      double sum = 0;
      const auto weight = [&](size_t i) {
        const bool counts = i == 0 || (i >= 3 && window.special[i] == 0);
        return counts ? std::exp(double{window.scores[2 * i + which]}) : 0;
      };
      for (size_t i = 0; i < count; ++i) sum += weight(i);
      for (size_t i = 0; i < count; ++i) shares[which].push_back(weight(i) / sum);
    }
    *none = std::min(*none, shares[0][0] * shares[1][0]);
    std::vector<fovea_answer> own;
    for (size_t i = 3; i + 1 < count; ++i) {
      for (size_t j = i; j + 1 < count && j < i + longest; ++j) {
        own.push_back({shares[0][i] * shares[1][j], window.ranges[2 * i], window.ranges[2 * j + 1]});
      }
    }
    std::sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
    own.resize(std::min(own.size(), top));
    all.insert(all.end(), own.begin(), own.end());
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  all.resize(std::min(all.size(), top));
  return all;
}

TEST(ResultAnswers, AsThePlainSearch) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 3);
  for (const size_t words : {1, 2, 7, 60}) {
    // Words of two letters that occur once each, a token for each.
    std::string context;
    for (size_t i = 0; i < 3 * words; ++i) {
      context += {static_cast<char>('a' + i % 20), static_cast<char>('a' + i / 20), ' '};
    }
    std::vector<Window> windows;
    for (size_t part = 0; part < 3; ++part) {
      std::vector<Token> tokens = {{true, 0, 0}, {false, 0, 3}, {true, 0, 0}};
      for (size_t i = part * words; i < (part + 1) * words; ++i) {
        tokens.push_back({false, static_cast<uint32_t>(3 * i), static_cast<uint32_t>(3 * i + 2)});
      }
      tokens.push_back({true, 0, 0});
      windows.emplace_back(tokens, 1);
      for (size_t i = 0; i < 2 * tokens.size(); ++i) windows.back().scores.push_back(normal(random));
    }
    for (const uint32_t top : {1u, 4u, 100u}) {
      for (const uint32_t longest : {1u, 4u, 15u}) {
        fovea_answer_options rules = Rules(top);
        rules.max_tokens = longest;
        double none = 0;
        const std::vector<fovea_answer> wanted = Searched(windows, top, longest, &none),
                                        found = Found(context, windows, rules);
        ASSERT_EQ(found.size(), wanted.size());
        for (size_t i = 0; i < found.size(); ++i) {
          EXPECT_EQ(found[i].begin, wanted[i].begin) << words << " " << top << " " << longest << " " << i;
          EXPECT_EQ(found[i].end, wanted[i].end);
          EXPECT_NEAR(found[i].score, wanted[i].score, 1e-12);
        }
        rules.allow_none = 1;
        rules.top = 5000;
        const std::vector<fovea_answer> all = Found(context, windows, rules);
        const auto empty = std::find_if(all.begin(), all.end(), [](const auto& a) { return a.end == 0; });
        ASSERT_NE(empty, all.end());
        EXPECT_NEAR(empty->score, none, 1e-12);
      }
    }
  }
}

TEST(ResultAnswers, EndlessScoresFindNothing) {
  for (const float score : {NAN, -INFINITY}) {
    Window window = Plain();
    window.scores.assign(16, score);
    fovea_answer_options rules = Rules(2);
    EXPECT_EQ(Text(Found(kContext, {window}, rules)), "");
  }
}

// ---- The C interface: a model of token ids with a tokenizer; two outputs are scores of starts and of ends. ----

struct Asking {
  explicit Asking(const nlohmann::json& tokenizer = WordPieceJson(), const char* ends = "end_logits") {
    ModelBuilder b;
    texts = b.Space("texts");
    tokens = b.Space("tokens", texts);
    ids = b.Input("input_ids", tokens, 1, DType::kI32);
    const uint32_t x = b.Op("embed", {ids}, {b.RandomTensor(60, 4)}, tokens, 4);
    for (const char* name : {"start_logits", ends}) {
      const uint32_t value = b.Op("linear", {x}, {b.RandomTensor(1, 4)}, tokens, 1, {}, name, ValueRole::kOutput);
      b.content().programs.back().values[value].name = name;
    }
    b.content().metadata = {{"task", "question-answering"}};
    b.content().text = SectionOf(tokenizer);
    model = std::make_unique<TestModel>(b.Blob());
  }
  uint32_t texts, tokens, ids;
  std::unique_ptr<TestModel> model;
};

// Arrays for tokens, and the struct with pointers to them.
struct Arrays {
  explicit Arrays(size_t room = 100) : ids(room), types(room), special(room), ranges(2 * room) {
    tokens = Sized<fovea_text_tokens>();
    tokens.capacity = room;
    tokens.ids = ids.data(), tokens.types = types.data();
    tokens.special = special.data(), tokens.ranges = ranges.data();
  }
  Arrays(const Arrays&) = delete;
  void Encode(const Asking& asking, const std::string& question, const std::string& context) {
    fovea_text_encode_options options = Sized<fovea_text_encode_options>();
    options.flags = FOVEA_TEXT_UNLIMITED;
    fovea_error error = {};
    uint64_t needed = 0;
    const uint64_t longest = std::max(question.size(), context.size());
    ASSERT_EQ(fovea_text_scratch_size(asking.model->model, longest, &needed, &error), FOVEA_OK);
    AlignedBytes scratch(needed);
    ASSERT_EQ(fovea_text_encode(asking.model->model, question.data(), question.size(), context.data(), context.size(),
                                &options, scratch.data(), needed, &tokens, &error),
              FOVEA_OK)
        << error.text;
  }
  std::vector<int32_t> ids, types;
  std::vector<uint8_t> special;
  std::vector<uint32_t> ranges;
  fovea_text_tokens tokens;
};

std::string SecondIn(const Arrays& arrays) {
  uint64_t first = 99, count = 99;
  EXPECT_EQ(fovea_result_get_second(&arrays.tokens, &first, &count, nullptr), FOVEA_OK);
  return std::to_string(first) + "+" + std::to_string(count) + " of " + std::to_string(arrays.tokens.count);
}

TEST(ResultAnswers, TheSecondTextOfAPair) {
  const Asking words, pieces(UnigramJson());
  Arrays a;
  a.Encode(words, "the cafes", "un b, a");  // [CLS] the cafe ##s [SEP] un b , a [SEP]
  EXPECT_EQ(SecondIn(a), "5+4 of 10");
  a.Encode(words, "", "a b");
  EXPECT_EQ(SecondIn(a), "2+2 of 5");
  a.Encode(words, "a b", "");
  EXPECT_EQ(SecondIn(a), "5+0 of 5");
  a.Encode(words, "", "");
  EXPECT_EQ(SecondIn(a), "3+0 of 3");
  a.Encode(pieces, "ab a", "b");  // no special token is between the texts
  EXPECT_EQ(a.tokens.text_tokens[0] + a.tokens.text_tokens[1] + 1, a.tokens.count);
  EXPECT_EQ(SecondIn(a), std::to_string(a.tokens.text_tokens[0]) + "+" + std::to_string(a.tokens.text_tokens[1]) +
                             " of " + std::to_string(a.tokens.count));
  uint64_t first = 0, count = 0;
  EXPECT_EQ(fovea_result_get_second(&a.tokens, &first, nullptr, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_result_get_second(nullptr, &first, &count, nullptr), FOVEA_E_NULL);
  a.tokens.capacity = 1;
  EXPECT_EQ(fovea_result_get_second(&a.tokens, &first, &count, nullptr), FOVEA_E_INDEX);
  a.tokens.special = nullptr, a.tokens.capacity = 100;
  EXPECT_EQ(fovea_result_get_second(&a.tokens, &first, &count, nullptr), FOVEA_E_NULL);
}

TEST(ResultAnswers, WindowsShareTokensOfTheSecondText) {
  const Asking words;
  std::string context;
  for (size_t i = 0; i < 23; ++i) context += "a ";
  Arrays pair, window;
  pair.Encode(words, "the cafes", context);  // 4 + 23 + 2 tokens
  for (uint32_t i = 0; i < 23; ++i) pair.ids[5 + i] = static_cast<int32_t>(30 + i);
  fovea_error error = {};
  for (uint32_t most = 7; most <= 30; ++most) {
    for (uint32_t stride = 0; stride + 6 < most; ++stride) {
      // As tokenizers cuts with a stride: each window but the last is full, the next one begins `stride` tokens before
      // its end.
      uint64_t index = 0;
      for (uint32_t from = 0;; from += most - 6 - stride, ++index) {
        const uint32_t to = std::min(from + most - 6, 23u);
        ASSERT_EQ(fovea_result_get_window(&pair.tokens, most, stride, index, &window.tokens, &error), FOVEA_OK)
            << error.text;
        std::vector<int32_t> wanted(pair.ids.begin(), pair.ids.begin() + 5), types = {0, 0, 0, 0, 0};
        std::vector<uint32_t> ranges(pair.ranges.begin(), pair.ranges.begin() + 10);
        for (uint32_t i = from; i < to; ++i) {
          wanted.push_back(static_cast<int32_t>(30 + i)), types.push_back(1);
          ranges.insert(ranges.end(), {2 * i, 2 * i + 1});
        }
        wanted.push_back(3), types.push_back(1), ranges.insert(ranges.end(), {0, 0});
        const size_t count = window.tokens.count;
        EXPECT_EQ(std::vector<int32_t>(window.ids.begin(), window.ids.begin() + static_cast<ptrdiff_t>(count)), wanted);
        EXPECT_EQ(std::vector<int32_t>(window.types.begin(), window.types.begin() + static_cast<ptrdiff_t>(count)),
                  types);
        EXPECT_EQ(
            std::vector<uint32_t>(window.ranges.begin(), window.ranges.begin() + static_cast<ptrdiff_t>(2 * count)),
            ranges);
        EXPECT_EQ(SecondIn(window), "5+" + std::to_string(to - from) + " of " + std::to_string(count));
        if (to == 23) break;
      }
      EXPECT_EQ(window.tokens.windows, index + 1);
      EXPECT_EQ(fovea_result_get_window(&pair.tokens, most, stride, index + 1, &window.tokens, &error), FOVEA_E_INDEX);
      EXPECT_EQ(error.expected, index + 1);
    }
  }
  EXPECT_EQ(fovea_result_get_window(&pair.tokens, 10, 4, 0, &window.tokens, &error), FOVEA_E_LENGTH);
  EXPECT_EQ(error.expected, 11u);
  EXPECT_EQ(fovea_result_get_window(&pair.tokens, 5, 0, 0, &window.tokens, &error), FOVEA_E_LENGTH);
  Arrays small(9);
  EXPECT_EQ(fovea_result_get_window(&pair.tokens, 10, 0, 0, &small.tokens, &error), FOVEA_E_CAPACITY);
  EXPECT_EQ(small.tokens.count, 10u);
  pair.tokens.types = nullptr;
  EXPECT_EQ(fovea_result_get_window(&pair.tokens, 10, 0, 0, &window.tokens, &error), FOVEA_E_NULL);
  window.tokens.types = nullptr;
  EXPECT_EQ(fovea_result_get_window(&pair.tokens, 10, 0, 0, &window.tokens, &error), FOVEA_OK);
}

TEST(ResultAnswers, OfARun) {
  const Asking asking;
  const std::string context = "the cafes, un b a don't ab the b";
  Arrays pair, windows[2];
  pair.Encode(asking, "the cafes", context);
  std::vector<fovea_text_tokens> tokens;
  fovea_error error = {};
  std::vector<int32_t> ids;
  std::vector<uint32_t> lengths;
  for (uint64_t i = 0; i < 2; ++i) {
    ASSERT_EQ(fovea_result_get_window(&pair.tokens, 14, 2, i, &windows[i].tokens, &error), FOVEA_OK) << error.text;
    tokens.push_back(windows[i].tokens);
    lengths.push_back(static_cast<uint32_t>(windows[i].tokens.count));
    ids.insert(ids.end(), windows[i].ids.begin(), windows[i].ids.begin() + static_cast<ptrdiff_t>(lengths.back()));
  }
  ASSERT_EQ(tokens[1].windows, 2u);
  TestSession session(*asking.model, Options({{asking.texts, 2, 0}, {asking.tokens, 40, 0}}));
  session.SetSegments(asking.tokens, lengths);
  session.SetInput(asking.ids, ids);
  session.Run();
  fovea_result_info info = Sized<fovea_result_info>();
  ASSERT_EQ(fovea_result_get_info(asking.model->model, 0, nullptr, &info, &error), FOVEA_OK) << error.text;
  EXPECT_EQ(info.kind, FOVEA_RESULT_ANSWERS);
  EXPECT_EQ(info.width, 2u);
  uint32_t count = 0;
  ASSERT_EQ(fovea_result_get_count(session.session, &info, &count, &error), FOVEA_OK) << error.text;
  ASSERT_EQ(count, ids.size());
  std::vector<float> scores(2 * ids.size());
  ASSERT_EQ(fovea_result_read(session.session, &info, 0, count, scores.data(), scores.size(), &error), FOVEA_OK);
  const std::vector<float> starts = session.Output(info.value), ends = session.Output(info.value + 1);
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(scores[2 * i], starts[i]);
    EXPECT_EQ(scores[2 * i + 1], ends[i]);
  }
  info.width = 1;
  EXPECT_EQ(fovea_result_read(session.session, &info, 0, 1, scores.data(), 9, &error), FOVEA_E_OPTION);
  info.width = 2, info.pooling = FOVEA_POOLING_MAX;
  EXPECT_EQ(fovea_result_read(session.session, &info, 0, 1, scores.data(), 9, &error), FOVEA_E_OPTION);

  fovea_answer_options options = Rules(3);
  options.max_tokens = 2;
  std::vector<fovea_answer> answers(7);
  uint64_t found = 0;
  const auto find = [&](uint32_t of = 2, uint64_t capacity = 7) {
    return fovea_result_get_answers(asking.model->model, tokens.data(), of, scores.data(), context.data(),
                                    context.size(), &options, answers.data(), capacity, &found, &error);
  };
  ASSERT_EQ(find(), FOVEA_OK) << error.text;
  ASSERT_GE(found, 1u);
  for (uint64_t i = 0; i < found; ++i) {
    EXPECT_GT(answers[i].score, 0);
    EXPECT_LE(answers[i].score, i == 0 ? 1 : answers[i - 1].score);
    // Whole words: "cafes" of two tokens is not cut.
    EXPECT_TRUE(answers[i].begin == 0 || !isalpha(context[answers[i].begin - 1]) || context[answers[i].begin] == '\'' ||
                context[answers[i].begin - 1] == '\'')
        << answers[i].begin;
  }
  EXPECT_EQ(find(2, 6), FOVEA_E_CAPACITY);
  EXPECT_EQ(error.expected, 7u);
  options.struct_size = 3;
  EXPECT_EQ(find(), FOVEA_E_STRUCT_SIZE);
  options = Rules(3);
  windows[1].ids[7] = 28;
  EXPECT_EQ(find(), FOVEA_E_ID);
  EXPECT_EQ(error.index, 7u);
  windows[1].ids[7] = 5, windows[1].ranges[15] = static_cast<uint32_t>(context.size() + 1);
  EXPECT_EQ(find(), FOVEA_E_INDEX);
  EXPECT_EQ(error.index, 7u);
  EXPECT_EQ(find(1), FOVEA_OK);
  EXPECT_EQ(find(0), FOVEA_OK);
  EXPECT_EQ(found, 0u);
  tokens[0].ranges = nullptr;
  EXPECT_EQ(find(), FOVEA_E_NULL);

  const Asking halves(WordPieceJson(), "other");
  EXPECT_EQ(fovea_result_get_info(halves.model->model, 0, nullptr, &info, &error), FOVEA_E_NAME);
}

}  // namespace
}  // namespace fovea::test
