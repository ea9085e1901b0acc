// Results of outputs (fovea/result.h): beside the formulas written down plainly.
#include <cmath>
#include <numeric>

#include "runtime/api/handles.h"
#include "runtime/blob/attributes.h"
#include "runtime/result/spans.h"
#include "tests/api/api_fixture.h"

namespace fovea::test {
namespace {

using Metadata = std::vector<std::pair<std::string, std::string>>;

// Rows of 3 numbers for each token, which pass through as `of_tokens`, and their means as `of_texts` if it is named.
struct Passing {
  Passing(const Metadata& metadata, const std::string& of_tokens, const std::string& of_texts) {
    ModelBuilder b;
    texts = b.Space("texts");
    tokens = b.Space("tokens", texts);
    x = b.Input("x", tokens, 3);
    const auto role = [](const std::string& name) { return name.empty() ? ValueRole::kInternal : ValueRole::kOutput; };
    token_value = b.Op("scale", {x}, {}, tokens, 3, {}, of_tokens, role(of_tokens));
    text_value = b.Op("pool", {x}, {}, texts, 3, {{Attribute::kKind, 2}}, of_texts, role(of_texts));
    for (const uint32_t value : {token_value, text_value}) {
      const std::string& name = value == token_value ? of_tokens : of_texts;
      if (!name.empty()) b.content().programs.back().values[value].name = name;
    }
    if (of_tokens.empty()) b.content().programs.back().values[token_value].role = ValueRole::kOutput;
    b.content().metadata = metadata;
    model = std::make_unique<TestModel>(b.Blob());
  }
  fovea_result_info Info(const char* output = nullptr, fovea_status wanted = FOVEA_OK) const {
    fovea_result_info info = Sized<fovea_result_info>();
    fovea_error error = {};
    EXPECT_EQ(fovea_result_get_info(model->model, 0, output, &info, &error), wanted) << error.text;
    return info;
  }
  // Two texts, of two and of one token.
  TestSession Run(const std::vector<float>& rows = {1, 2, 3, 4, 0, -1, 0.5f, 2, 2}) const {
    TestSession session(*model, Options({{texts, 3, 0}, {tokens, 9, 0}}));
    session.SetSegments(tokens, {2, 1});
    session.SetInput(x, rows);
    session.Run();
    return session;
  }
  uint32_t texts, tokens, x, token_value, text_value;
  std::unique_ptr<TestModel> model;
};

std::vector<float> Read(const TestSession& session, const fovea_result_info& info, uint32_t first, uint32_t count) {
  std::vector<float> out(size_t{count} * info.width, -1);
  fovea_error error = {};
  EXPECT_EQ(fovea_result_read(session.session, &info, first, count, out.data(), out.size(), &error), FOVEA_OK)
      << error.text;
  return out;
}

void ExpectNear(const std::vector<float>& found, const std::vector<double>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-6) << i;
}

TEST(Result, TaskAndOutputsDecideWhatIsRead) {
  const Metadata none;
  const Passing states(none, "last_hidden_state", "");
  EXPECT_EQ(states.Info().kind, FOVEA_RESULT_EMBEDDING);
  EXPECT_EQ(states.Info().pooling, FOVEA_POOLING_MEAN);
  const Passing both(none, "last_hidden_state", "pooler_output");
  EXPECT_EQ(both.Info().value, both.text_value);
  EXPECT_EQ(both.Info().pooling, FOVEA_POOLING_NONE);
  EXPECT_EQ(both.Info("last_hidden_state").pooling, FOVEA_POOLING_MEAN);
  both.Info("last_hidden", FOVEA_E_NAME);
  const Passing classes(none, "h", "logits");
  EXPECT_EQ(classes.Info().kind, FOVEA_RESULT_CLASSES);
  EXPECT_EQ(classes.Info().activation, FOVEA_ACTIVATION_SOFTMAX);
  EXPECT_EQ(classes.Info("logits").kind, FOVEA_RESULT_EMBEDDING);
  EXPECT_EQ(Passing(none, "logits", "").Info().kind, FOVEA_RESULT_TAGS);
  EXPECT_EQ(Passing({{"task", "masked-lm"}}, "logits", "").Info().kind, FOVEA_RESULT_WORDS);
  EXPECT_EQ(Passing({{"task", "masked-lm"}}, "logits", "").Info().measure, FOVEA_MEASURE_DOT);
  EXPECT_EQ(Passing({{"task", "embedding"}}, "logits", "e").Info().kind, FOVEA_RESULT_EMBEDDING);
  EXPECT_EQ(Passing({{"problem_type", "multi_label_classification"}}, "h", "logits").Info().activation,
            FOVEA_ACTIVATION_SIGMOID);
  EXPECT_EQ(Passing({{"problem_type", "regression"}}, "h", "logits").Info().activation, FOVEA_ACTIVATION_NONE);
  EXPECT_EQ(Passing({{"similarity", "manhattan"}}, "h", "e").Info().measure, FOVEA_MEASURE_MANHATTAN);
  EXPECT_EQ(Passing({{"interaction", "late"}}, "h", "e").Info().measure, FOVEA_MEASURE_MAX_SIM);
  Passing({{"similarity", "angle"}}, "h", "e").Info(nullptr, FOVEA_E_OPTION);
  Passing({{"task", "sequence-classification"}}, "h", "e").Info(nullptr, FOVEA_E_NAME);
  for (const char* task : {"causal-lm", "seq2seq-lm", "question-answering"}) {
    const Passing generates({{"task", task}}, "logits", "");
    generates.Info(nullptr, FOVEA_E_NAME);
    EXPECT_EQ(generates.Info("logits").kind, FOVEA_RESULT_EMBEDDING);
  }
}

TEST(Result, EmbeddingsArePooledCutAndNormalised) {
  const Passing states({}, "last_hidden_state", "");
  const TestSession session = states.Run();
  fovea_result_info info = states.Info();
  uint32_t count = 0;
  ASSERT_EQ(fovea_result_get_count(session.session, &info, &count, nullptr), FOVEA_OK);
  EXPECT_EQ(count, 2u);
  ExpectNear(Read(session, info, 0, 2), {2.5, 1, 1, 0.5, 2, 2});
  ExpectNear(Read(session, info, 1, 1), {0.5, 2, 2});
  info.normalize = 1;
  const double length = std::sqrt(2.5 * 2.5 + 2);
  ExpectNear(Read(session, info, 0, 1), {2.5 / length, 1 / length, 1 / length});
  info.normalize = 0, info.width = 2;
  ExpectNear(Read(session, info, 0, 1), {2.5 / std::hypot(2.5, 1), 1 / std::hypot(2.5, 1)});

  fovea_error error = {};
  std::vector<float> out(6);
  const auto read = [&](uint32_t first, uint32_t of, uint64_t capacity) {
    return fovea_result_read(session.session, &info, first, of, out.data(), capacity, &error);
  };
  EXPECT_EQ(read(0, 3, 6), FOVEA_E_INDEX);
  EXPECT_EQ(error.expected, 2u);
  EXPECT_EQ(read(3, 0, 6), FOVEA_E_INDEX);
  EXPECT_EQ(read(UINT32_MAX, UINT32_MAX, 6), FOVEA_E_INDEX);
  EXPECT_EQ(read(0, 2, 3), FOVEA_E_CAPACITY);
  EXPECT_EQ(error.expected, 4u);
  info.width = 4;
  EXPECT_EQ(read(0, 1, 6), FOVEA_E_OPTION);
  info.width = 2, info.activation = FOVEA_ACTIVATION_SOFTMAX;
  EXPECT_EQ(read(0, 1, 6), FOVEA_E_OPTION);
  info = states.Info();
  info.program = 1;
  EXPECT_EQ(read(0, 1, 6), FOVEA_E_OPTION);
  info = states.Info();
  info.value = states.x;
  EXPECT_EQ(read(0, 1, 6), FOVEA_E_INDEX);
  info = states.Info();
  const TestSession fresh(*states.model, Options({{states.texts, 3, 0}, {states.tokens, 9, 0}}));
  EXPECT_EQ(fovea_result_read(fresh.session, &info, 0, 0, out.data(), 6, &error), FOVEA_E_ORDER);
}

TEST(Result, ScoresAreProbabilities) {
  const Passing classes({}, "h", "logits");
  const double sum = std::exp(2.5) + 2 * std::exp(1);
  const TestSession session = classes.Run();
  ExpectNear(Read(session, classes.Info(), 0, 1), {std::exp(2.5) / sum, std::exp(1) / sum, std::exp(1) / sum});
  const Passing many({{"problem_type", "multi_label_classification"}}, "h", "logits");
  const TestSession other = many.Run();
  ExpectNear(Read(other, many.Info(), 1, 1),
             {1 / (1 + std::exp(-0.5)), 1 / (1 + std::exp(-2.0)), 1 / (1 + std::exp(-2.0))});
  const Passing tags({}, "logits", "");
  const TestSession tagged = tags.Run({300, 300, -300, 1, 1, 1, 0, 0, 0});  // exp(300) is no f32
  ExpectNear(Read(tagged, tags.Info(), 0, 2), {0.5, 0.5, 0, 1 / 3.0, 1 / 3.0, 1 / 3.0});
  std::vector<float> one = {0.25f};
  EXPECT_EQ(fovea_result_activate(FOVEA_ACTIVATION_SIGMOID, one.data(), 1), FOVEA_OK);
  EXPECT_NEAR(one[0], 1 / (1 + std::exp(-0.25)), 1e-7);
  EXPECT_EQ(fovea_result_activate(99, one.data(), 1), FOVEA_E_OPTION);
  EXPECT_EQ(fovea_result_activate(FOVEA_ACTIVATION_SOFTMAX, nullptr, 1), FOVEA_E_NULL);
}

double Activated(uint32_t activation, double score) {
  const double weight = std::log(1 + std::max(0.0, score));
  switch (activation) {
    case FOVEA_ACTIVATION_SIGMOID:
      return 1 / (1 + std::exp(-score));
    case FOVEA_ACTIVATION_LOG1P:
      return weight;
    case FOVEA_ACTIVATION_LOG1P_TWICE:
      return std::log(1 + weight);
    default:
      return score;
  }
}

TEST(Result, RowsArePooledAndActivated) {
  constexpr uint32_t kWidth = 150;
  std::mt19937 random(9);
  std::normal_distribution<float> normal(0, 2);
  std::vector<float> rows(5 * kWidth), out(kWidth);
  for (float& number : rows) number = normal(random);
  for (const uint32_t pooling : {FOVEA_POOLING_MEAN, FOVEA_POOLING_MAX, FOVEA_POOLING_SUM}) {
    for (const uint32_t activation :
         {FOVEA_ACTIVATION_NONE, FOVEA_ACTIVATION_SIGMOID, FOVEA_ACTIVATION_LOG1P, FOVEA_ACTIVATION_LOG1P_TWICE}) {
      for (const uint32_t count : {0u, 1u, 5u}) {
        ASSERT_EQ(fovea_result_pool(pooling, activation, rows.data(), count, kWidth, out.data()), FOVEA_OK);
        for (uint32_t i = 0; i < kWidth; ++i) {
          double sum = 0, most = -1e9, wanted = 0;
          for (uint32_t row = 0; row < count; ++row) {
            const double number = double{rows[row * kWidth + i]}, active = Activated(activation, number);
            sum += pooling == FOVEA_POOLING_MEAN ? number : active;
            most = std::max(most, active);
          }
          if (count != 0) {
            wanted = pooling == FOVEA_POOLING_MAX   ? most
                     : pooling == FOVEA_POOLING_SUM ? sum
                                                    : Activated(activation, sum / count);
          }
          EXPECT_NEAR(out[i], wanted, 1e-6 * (1 + std::abs(wanted))) << pooling << " " << activation << " " << count;
        }
      }
    }
  }
  const auto pool = [&](uint32_t pooling, uint32_t activation) {
    return fovea_result_pool(pooling, activation, rows.data(), 5, kWidth, out.data());
  };
  EXPECT_EQ(pool(FOVEA_POOLING_MEAN, FOVEA_ACTIVATION_SOFTMAX), FOVEA_OK);
  EXPECT_NEAR(std::accumulate(out.begin(), out.end(), 0.0), 1, 1e-5);
  EXPECT_EQ(pool(FOVEA_POOLING_MAX, FOVEA_ACTIVATION_SOFTMAX), FOVEA_E_OPTION);
  EXPECT_EQ(pool(FOVEA_POOLING_NONE, FOVEA_ACTIVATION_NONE), FOVEA_E_OPTION);
  EXPECT_EQ(pool(4, FOVEA_ACTIVATION_NONE), FOVEA_E_OPTION);
  EXPECT_EQ(pool(FOVEA_POOLING_MAX, 5), FOVEA_E_OPTION);
  EXPECT_EQ(fovea_result_pool(FOVEA_POOLING_MAX, 0, nullptr, 1, 1, out.data()), FOVEA_E_NULL);
}

TEST(Result, WordWeightsByMetadata) {
  const struct {
    const char* rule;
    std::vector<double> wanted;
  } cases[] = {
      {"max relu", {std::log(5), std::log(3), std::log(4)}},
      {"sum relu", {std::log(2) + std::log(5), std::log(3), std::log(4)}},
      {"max log1p_relu", {std::log(1 + std::log(5)), std::log(1 + std::log(3)), std::log(1 + std::log(4))}},
      {"sum log1p_relu",
       {std::log(1 + std::log(2)) + std::log(1 + std::log(5)), std::log(1 + std::log(3)), std::log(1 + std::log(4))}},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.rule);
    const Passing splade({{"task", "masked-lm"}, {"word_weights", one.rule}}, "logits", "");
    const fovea_result_info info = splade.Info();
    EXPECT_EQ(info.kind, FOVEA_RESULT_WORD_WEIGHTS);
    EXPECT_EQ(info.measure, FOVEA_MEASURE_DOT);
    const TestSession session = splade.Run();
    uint32_t count = 0;
    ASSERT_EQ(fovea_result_get_count(session.session, &info, &count, nullptr), FOVEA_OK);
    EXPECT_EQ(count, 2u);
    ExpectNear(Read(session, info, 0, 1), one.wanted);
  }
  // Any masked language model can be asked for them.
  const Passing words({{"task", "masked-lm"}}, "logits", "");
  fovea_result_info info = words.Info();
  EXPECT_EQ(info.kind, FOVEA_RESULT_WORDS);
  info.pooling = FOVEA_POOLING_MAX, info.activation = FOVEA_ACTIVATION_LOG1P;
  ExpectNear(Read(words.Run(), info, 0, 1), cases[0].wanted);
  for (const char* rule : {"max", "relu", "max  relu", "sum relux", "mean relu", ""}) {
    Passing({{"task", "masked-lm"}, {"word_weights", rule}}, "logits", "").Info(nullptr, FOVEA_E_OPTION);
  }
}

TEST(Result, TheLargestScoresInOrder) {
  std::vector<float> scores(1000);
  std::mt19937 random(5);
  for (float& score : scores) score = static_cast<float>(random() % 50);
  scores[17] = NAN;
  for (const uint32_t top : {0u, 1u, 7u, 999u, 1000u, 2000u}) {
    std::vector<uint32_t> order(scores.size()), found(top, 9999);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return std::isnan(scores[b]) ? !std::isnan(scores[a]) : scores[a] > scores[b];
    });
    order.resize(std::min<size_t>(top, order.size()));
    found.resize(fovea_result_rank(scores.data(), 1000, top, found.data()));
    EXPECT_EQ(found, order) << top;
  }
  EXPECT_EQ(fovea_result_rank(scores.data(), 1000, 5, nullptr), 0u);
}

TEST(Result, Similarities) {
  const std::vector<float> a = {3, 4, 0, 1}, b = {-4, 3, 1, 1}, zero = {0, 0, 0, 0};
  const auto of = [&](uint32_t measure, const std::vector<float>& y) {
    return fovea_result_similarity(measure, a.data(), 1, y.data(), 1, 4);
  };
  EXPECT_NEAR(of(FOVEA_MEASURE_COSINE, b), 1 / std::sqrt(26.0 * 27), 1e-12);
  EXPECT_NEAR(of(FOVEA_MEASURE_COSINE, a), 1, 1e-12);
  EXPECT_EQ(of(FOVEA_MEASURE_COSINE, zero), 0);
  EXPECT_EQ(of(FOVEA_MEASURE_DOT, b), 1);
  EXPECT_NEAR(of(FOVEA_MEASURE_EUCLIDEAN, b), -std::sqrt(49.0 + 1 + 1), 1e-12);
  EXPECT_EQ(of(FOVEA_MEASURE_MANHATTAN, b), -9);
  EXPECT_TRUE(std::isnan(of(9, b)));
  // Two rows of two against two rows of two: max(3*-4+4*3, 3+4) + max(0*-4+1*3, 1).
  EXPECT_EQ(fovea_result_similarity(FOVEA_MEASURE_MAX_SIM, a.data(), 2, b.data(), 2, 2), 7 + 3);
  EXPECT_EQ(fovea_result_similarity(FOVEA_MEASURE_MAX_SIM, a.data(), 2, b.data(), 0, 2), 0);
}

// A token with the probability of its label; the other labels share half of the rest.
struct Say {
  std::string label;
  float share;
};

// Tokens of two bytes with a space after each, in a model with these labels.
struct Tagging {
  explicit Tagging(const std::vector<std::string>& names) : labels(names) {
    ModelBuilder b;
    const uint32_t rows = b.Space("rows");
    b.Op("scale", {b.Input("x", rows, 1)}, {}, rows, 1, {}, "y", ValueRole::kOutput);
    for (size_t i = 0; i < names.size(); ++i) b.content().metadata.emplace_back("label." + std::to_string(i), names[i]);
    model = std::make_unique<TestModel>(b.Blob());
    tokenizer.header.model = FOVEA_TEXT_BYTE_PAIR;
    tokenizer.header.unknown_id = text::kNoId;
  }
  std::string Merge(const std::vector<std::vector<float>>& shares, const std::vector<uint32_t>& ranges,
                    const std::string& written, uint32_t aggregation) {
    std::vector<float> scores;
    for (const auto& row : shares) scores.insert(scores.end(), row.begin(), row.end());
    std::vector<int32_t> ids(shares.size());
    std::vector<uint8_t> special(shares.size());
    std::vector<uint32_t> places = ranges;
    fovea_text_tokens tokens = Sized<fovea_text_tokens>();
    tokens.ids = ids.data(), tokens.special = special.data(), tokens.ranges = places.data();
    tokens.count = tokens.capacity = shares.size();
    std::vector<fovea_span> spans(shares.size());
    const Tagged tagged = {model->model->model.blob, tokenizer,     tokens,
                           written.data(),           scores.data(), static_cast<uint32_t>(labels.size())};
    spans.resize(MergeTags(tagged, aggregation, spans.data(), spans.size()));
    EXPECT_EQ(MergeTags(tagged, aggregation, nullptr, 0), spans.size());
    std::string all;
    for (const fovea_span& span : spans) {
      char line[100];
      snprintf(line, sizeof(line), "%s %u-%u %.3f; ", span.name, span.begin, span.end, static_cast<double>(span.score));
      all += line;
    }
    return all;
  }
  std::string Merge(const std::vector<Say>& said) {
    std::vector<std::vector<float>> shares;
    std::vector<uint32_t> ranges;
    std::string written;
    for (const Say& one : said) {
      std::vector<float>& row = shares.emplace_back();
      for (const std::string& label : labels) {
        row.push_back(label == one.label ? one.share : (1 - one.share) / static_cast<float>(labels.size() * 2));
      }
      ranges.insert(ranges.end(), {static_cast<uint32_t>(written.size()), static_cast<uint32_t>(written.size() + 2)});
      written += "ab ";
    }
    return Merge(shares, ranges, written, FOVEA_AGGREGATION_SIMPLE);
  }

  std::vector<std::string> labels;
  std::unique_ptr<TestModel> model;
  Tokenizer tokenizer;
};

TEST(ResultSpans, BeginAndGoOn) {
  Tagging t({"O", "B-TAG", "I-TAG", "B-TAG2", "I-TAG2"});
  // The example of transformers' documentation.
  EXPECT_EQ(t.Merge({{"B-TAG", 0.9f}, {"I-TAG", 0.8f}, {"I-TAG", 0.7f}, {"B-TAG2", 0.6f}, {"B-TAG2", 0.5f}}),
            "TAG 0-8 0.800; TAG2 9-11 0.600; TAG2 12-14 0.500; ");
  // I- without B- begins a span; another label also does; O separates two spans.
  EXPECT_EQ(t.Merge({{"I-TAG", 0.9f}, {"I-TAG2", 0.8f}, {"I-TAG2", 0.6f}, {"O", 0.9f}, {"I-TAG2", 0.5f}}),
            "TAG 0-2 0.900; TAG2 3-8 0.700; TAG2 12-14 0.500; ");
  EXPECT_EQ(t.Merge({{"O", 0.9f}, {"O", 0.9f}}), "");
  EXPECT_EQ(t.Merge({}), "");
}

TEST(ResultSpans, PlainLabels) {
  Tagging t({"O", "PER", "LOC", "E-mail", "S"});
  EXPECT_EQ(t.Merge({{"PER", 0.9f}, {"PER", 0.7f}, {"LOC", 0.5f}, {"E-mail", 0.9f}, {"E-mail", 0.9f}, {"S", 0.4f}}),
            "PER 0-5 0.800; LOC 6-8 0.500; E-mail 9-14 0.900; S 15-17 0.400; ");
  Tagging unnamed({"", "", ""});  // classes without names remain separate
  EXPECT_EQ(unnamed.Merge({{0.8f, 0.1f, 0.1f}, {0.7f, 0.2f, 0.1f}, {0.1f, 0.8f, 0.1f}}, {0, 1, 1, 2, 2, 3}, "abc",
                          FOVEA_AGGREGATION_SIMPLE),
            " 0-2 0.750;  2-3 0.800; ");
}

TEST(ResultSpans, EndAndAlone) {
  for (const std::string scheme : {"BIES", "BILU"}) {
    const auto label = [&](char place) { return std::string(1, place) + "-X"; };
    const std::string b = label(scheme[0]), i = label(scheme[1]), e = label(scheme[2]), s = label(scheme[3]);
    Tagging t({"O", b, i, e, s});
    EXPECT_EQ(t.Merge({{b, 0.9f}, {i, 0.9f}, {e, 0.9f}, {e, 0.8f}, {s, 0.7f}, {s, 0.6f}, {i, 0.5f}, {b, 0.9f}}),
              "X 0-8 0.900; X 9-11 0.800; X 12-14 0.700; X 15-17 0.600; X 18-20 0.500; X 21-23 0.900; ")
        << scheme;
  }
}

TEST(ResultSpans, WordsByWhatTheirTokensSay) {
  Tagging t({"O", "A", "B"});
  const std::vector<std::vector<float>> shares = {{0.1f, 0.5f, 0.4f}, {0.0f, 0.1f, 0.9f}, {0.3f, 0.4f, 0.3f},
                                                  {0.2f, 0.1f, 0.7f}, {0.6f, 0.2f, 0.2f}, {0.2f, 0.8f, 0.0f}};
  const auto merged = [&](uint32_t aggregation) {
    return t.Merge(shares, {0, 2, 2, 4, 4, 5, 6, 8, 9, 11, 11, 12}, "aabbc dd eef", aggregation);
  };
  EXPECT_EQ(merged(FOVEA_AGGREGATION_SIMPLE), "A 0-2 0.500; B 2-4 0.900; A 4-5 0.400; B 6-8 0.700; A 11-12 0.800; ");
  EXPECT_EQ(merged(FOVEA_AGGREGATION_FIRST), "A 0-5 0.500; B 6-8 0.700; ");
  EXPECT_EQ(merged(FOVEA_AGGREGATION_AVERAGE), "B 0-8 0.617; A 9-12 0.500; ");  // (1.6 / 3 + 0.7) / 2
  EXPECT_EQ(merged(FOVEA_AGGREGATION_MAX), "B 0-8 0.800; A 9-12 0.800; ");
  // An unknown token never continues a word.
  t.tokenizer.header.unknown_id = 0;
  EXPECT_EQ(merged(FOVEA_AGGREGATION_FIRST), merged(FOVEA_AGGREGATION_SIMPLE));
}

TEST(ResultSpans, SpacesAtTheirBeginningAreNoPartOfThem) {
  Tagging t({"O", "A"});
  const auto range = [&](uint32_t begin, uint32_t end) {
    return t.Merge({{0.1f, 0.9f}}, {begin, end}, "in \fLos Altos", FOVEA_AGGREGATION_SIMPLE);
  };
  EXPECT_EQ(range(2, 13), "A 4-13 0.900; ");
  EXPECT_EQ(range(4, 7), "A 4-7 0.900; ");
  EXPECT_EQ(range(2, 4), "A 4-4 0.900; ");
}

TEST(ResultWords, TokensThatTouchAreAWord) {
  const std::string written = " tokens, \xe6\x9d\xb1\xe4\xba\xac a_1";
  std::vector<uint32_t> ranges = {0, 0, 0, 4, 4, 7, 7, 8, 9, 12, 12, 15, 15, 17, 17, 19, 0, 0};
  std::vector<uint8_t> special = {1, 0, 0, 0, 0, 0, 0, 0, 1};
  const std::vector<float> weights = {9, 0.1f, 0.2f, 0.05f, 0.3f, 0.1f, 0.15f, 0.1f, 9};
  fovea_text_tokens tokens = Sized<fovea_text_tokens>();
  tokens.special = special.data(), tokens.ranges = ranges.data(), tokens.count = tokens.capacity = 9;
  std::vector<fovea_word> words(9);
  uint64_t count = 0;
  fovea_error error = {};
  const auto words_of = [&](uint64_t first, uint64_t of, uint64_t capacity) {
    return fovea_result_get_words(written.data(), written.size(), &tokens, first, of, weights.data(), words.data(),
                                  capacity, &count, &error);
  };
  ASSERT_EQ(words_of(0, 9, 9), FOVEA_OK) << error.text;
  std::string all;
  for (uint64_t i = 0; i < count; ++i) {
    char line[100];
    snprintf(line, sizeof(line), "[%s] %.2f; ", written.substr(words[i].begin, words[i].end - words[i].begin).c_str(),
             static_cast<double>(words[i].weight));
    all += line;
  }
  EXPECT_EQ(all, "[tokens] 0.30; [,] 0.05; [\xe6\x9d\xb1] 0.30; [\xe4\xba\xac] 0.10; [a_1] 0.25; ");
  EXPECT_EQ(words_of(0, 9, 2), FOVEA_E_CAPACITY);
  EXPECT_EQ(count, 5u);
  EXPECT_EQ(words_of(8, 2, 9), FOVEA_E_INDEX);
  EXPECT_EQ(words_of(UINT64_MAX, 2, 9), FOVEA_E_INDEX);
  ranges[3] = 99;
  EXPECT_EQ(words_of(0, 9, 9), FOVEA_E_INDEX);
  EXPECT_EQ(error.index, 1u);
}

}  // namespace
}  // namespace fovea::test
