// Documents too long for a fine model: their sentences are scored against a query, by words or by a light encoder, and
// only the best are read by the fine one. And what two levels of an encoder need.
#include <map>

#include "runtime/blob/attributes.h"
#include "tests/session/plain.h"
#include "tests/support/two_levels.h"

namespace fovea::test {
namespace {

using namespace plain;

constexpr uint32_t kWidth = 8, kNarrow = 4, kWords = 30, kMost = 3;
const Lengths kDocuments = {6, 0, 2, 9}, kQueries = {3, 2, 0, 5};
const Lengths kSentences = {4, 7, 1, 0, 12, 5, 3, 8, 2, 2, 9, 0, 6, 17, 1, 4, 4};

struct Coarse {
  ModelBuilder b;
  uint32_t documents = b.Space("documents"), sentences = b.Space("sentences", documents);
  uint32_t tokens = b.Space("tokens", sentences), queries = b.Space("queries", documents);
  uint32_t ids = b.Input("ids", tokens, 1, DType::kI32), query = b.Input("query", queries, 1, DType::kI32);
  std::vector<int32_t> words = RandomIds(85, kWords, 1), asked = RandomIds(10, kWords, 2);
  Rows narrow, table, positions, wq, wk, wv;
  uint32_t narrow_tensor, table_tensor, position_tensor, q_tensor, k_tensor, v_tensor;

  Coarse()
      : narrow_tensor(Tensor(kWords, kNarrow, &narrow)),
        table_tensor(Tensor(kWords, kWidth, &table)),
        position_tensor(Tensor(20, kWidth, &positions)),
        q_tensor(Tensor(kWidth, kWidth, &wq)),
        k_tensor(Tensor(kWidth, kWidth, &wk)),
        v_tensor(Tensor(kWidth, kWidth, &wv)) {}

  uint32_t Tensor(uint32_t rows, uint32_t width, Rows* plain_rows) {
    const std::vector<float> values = b.RandomFloats(size_t{rows} * width, 0.7f);
    *plain_rows = RowsOf(values, width);
    return b.Tensor(rows, width, values);
  }
  uint32_t Op(std::string_view op, std::vector<uint32_t> in, std::vector<uint32_t> tensors, uint32_t space,
              uint32_t width, const Attributes& attributes = {}) {
    return b.Op(op, std::move(in), std::move(tensors), space, width, attributes);
  }
  uint32_t Layer(uint32_t x, uint32_t space) {
    std::vector<uint32_t> qkv;
    for (const uint32_t tensor : {q_tensor, k_tensor, v_tensor}) {
      qkv.push_back(Op("linear", {x}, {tensor}, space, kWidth));
    }
    return Op("add", {x, Op("attention", qkv, {}, space, kWidth)}, {}, space, kWidth);
  }
  // The fine model on the sentences with the best scores: words attend within their sentence, sentences to each other.
  uint32_t Fine(uint32_t scores, const std::string& name, uint32_t* chosen) {
    const uint32_t best = b.SelectedSpace(name, sentences, kMost),
                   fine = b.ExpandedSpace(name + " words", tokens, best);
    *chosen = Op("select", {scores}, {}, best, 1, {{Attribute::kKind, 2}});
    const uint32_t rows = Op("expand", {*chosen}, {}, fine, 1);
    const uint32_t of_best = Op("gather", {ids, rows}, {}, fine, 1);
    const uint32_t x = Op("embed", {of_best}, {table_tensor}, fine, kWidth);
    const uint32_t seen = Layer(Op("position", {x}, {position_tensor}, fine, kWidth), fine);
    const uint32_t pooled = Op("pool", {seen}, {}, best, kWidth, {{Attribute::kKind, 2}});
    return Op("pool", {Layer(pooled, best)}, {}, documents, kWidth, {{Attribute::kKind, 2}});
  }

  Rows PlainLayer(const Rows& x) const {
    Rows y;
    for (const Row& row : x) y.push_back(Add(row, Attend(Linear(row, wq), Linear(x, wk), Linear(x, wv))));
    return y;
  }
  using Sentence = std::vector<int32_t>;
  Row PlainFine(const std::vector<Sentence>& all, const Row& scores, std::vector<int32_t>* chosen, size_t first) const {
    Rows vectors;
    for (const size_t i : Best(scores, kMost)) {
      chosen->push_back(static_cast<int32_t>(first + i));
      Rows x;
      for (const int32_t id : all[i]) x.push_back(Add(table[static_cast<size_t>(id)], positions[x.size()]));
      vectors.push_back(Mean(PlainLayer(x), kWidth));
    }
    return Mean(PlainLayer(vectors), kWidth);
  }
};

Row Bm25(const std::vector<Coarse::Sentence>& all, const Coarse::Sentence& query) {
  double words = 0;
  for (const auto& sentence : all) words += static_cast<double>(sentence.size());
  Row scores;
  for (const auto& sentence : all) {
    double score = 0;
    for (const int32_t term : query) {
      double with = 0;
      for (const auto& other : all) with += std::count(other.begin(), other.end(), term) > 0 ? 1 : 0;
      const auto n = static_cast<double>(all.size());
      const auto count = static_cast<double>(std::count(sentence.begin(), sentence.end(), term));
      const double length = static_cast<double>(sentence.size()) / (words / n);
      score += std::log(1 + (n - with + 0.5) / (with + 0.5)) * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length));
    }
    scores.push_back(score);
  }
  return scores;
}

// Both ways to choose in one program, which encodes each chosen sentence with the same weights.
TEST(CoarseToFine, ByWordsAndByALightEncoder) {
  Coarse c;
  const uint32_t by_words = c.Op("lexical", {c.ids, c.query}, {}, c.sentences, 1);
  const uint32_t light = c.Op("embed", {c.ids}, {c.narrow_tensor}, c.tokens, kNarrow);
  const uint32_t light_query = c.Op("embed", {c.query}, {c.narrow_tensor}, c.queries, kNarrow);
  const Attributes mean = {{Attribute::kKind, 2}};
  const uint32_t of_sentences = c.Op("pool", {light}, {}, c.sentences, kNarrow, mean);
  const uint32_t of_queries = c.Op("pool", {light_query}, {}, c.documents, kNarrow, mean);
  const uint32_t beside = c.Op("broadcast", {of_queries}, {}, c.sentences, kNarrow);
  const uint32_t products = c.Op("gate", {beside, of_sentences}, {}, c.sentences, kNarrow);
  const uint32_t ones = c.b.Tensor(1, kNarrow, std::vector<float>(kNarrow, 1));
  const uint32_t by_vectors = c.Op("linear", {products}, {ones}, c.sentences, 1);
  uint32_t chosen[2];
  const uint32_t out[] = {c.Fine(by_words, "best words", &chosen[0]), c.Fine(by_vectors, "best vectors", &chosen[1])};
  for (const uint32_t value : {out[0], out[1], chosen[0], chosen[1]}) c.b.SetOutput(value);

  Rows expected[2];
  std::vector<int32_t> expected_chosen[2];
  size_t first = 0, word = 0, asked = 0;
  for (size_t d = 0; d < kDocuments.size(); ++d) {
    std::vector<Coarse::Sentence> all;
    for (uint32_t s = 0; s < kDocuments[d]; ++s) {
      const auto begin = c.words.begin() + static_cast<ptrdiff_t>(word);
      all.emplace_back(begin, begin + kSentences[first + s]);
      word += kSentences[first + s];
    }
    const auto begin = c.asked.begin() + static_cast<ptrdiff_t>(asked);
    const Coarse::Sentence query(begin, begin + kQueries[d]);
    asked += kQueries[d];
    const auto vector_of = [&](const Coarse::Sentence& sentence) {
      Rows rows;
      for (const int32_t id : sentence) rows.push_back(c.narrow[static_cast<size_t>(id)]);
      return Mean(rows, kNarrow);
    };
    Row products_of;
    for (const auto& sentence : all) products_of.push_back(Dot(vector_of(sentence), vector_of(query)));
    const Row scores[] = {Bm25(all, query), products_of};
    for (size_t way = 0; way < 2; ++way) {
      expected[way].push_back(c.PlainFine(all, scores[way], &expected_chosen[way], first));
    }
    first += kDocuments[d];
  }

  const TestModel model(c.b.Blob());
  const std::vector<fovea_limit> limits = {
      {c.documents, 4, 0}, {c.sentences, 17, 0}, {c.tokens, 85, 0}, {c.queries, 10, 0}};
  for (const uint32_t workers : {1u, 3u}) {
    TestSession session(model, Options(limits, workers, workers == 1 ? 0 : 2));
    session.SetSegments(c.sentences, kDocuments);
    session.SetSegments(c.tokens, kSentences);
    session.SetSegments(c.queries, kQueries);
    session.SetInput(c.ids, c.words);
    session.SetInput(c.query, c.asked);
    session.Run();
    for (size_t way = 0; way < 2; ++way) {
      EXPECT_EQ(session.Indices(chosen[way]), expected_chosen[way]);
      ExpectRows(session.Output(out[way]), expected[way], 2e-5, way == 0 ? "words" : "vectors");
    }
  }
}

// Each word costs its id and five rows of the words' width, each sentence where it ends and three rows: nothing grows
// with the square of anything.
TEST(TwoLevels, BytesGrowWithTheWords) {
  const EncoderSize size = {128, 4, 512};
  ModelBuilder b;
  const TwoLevels t = BuildTwoLevels(b, DType::kI8, size);
  const TestModel model(b.Blob());
  const auto bytes = [&](uint32_t sentences) {
    const std::vector<fovea_limit> limits = {
        {t.documents, 1, 0}, {t.sentences, sentences, 0}, {t.tokens, sentences * 32, 32}};
    const fovea_session_options options = Options(limits);
    fovea_session_memory sizes = {};
    sizes.struct_size = sizeof(sizes);
    fovea_error error = {};
    EXPECT_EQ(fovea_session_size(model.model, &options, &sizes, &error), FOVEA_OK) << error.text;
    return static_cast<double>(sizes.fixed_size + sizes.scratch_size);
  };
  const double row = 4.0 * size.width, sentence = 32 * (4 + 5 * row) + 3 * row + 4;
  for (uint32_t sentences = 32; sentences < 512; sentences *= 2) {
    EXPECT_NEAR(bytes(2 * sentences) - bytes(sentences), sentences * sentence, 1024) << sentences;
  }
  EXPECT_LT(bytes(512), 512 * sentence + (1 << 20));  // tiles of one worker and operators
}

}  // namespace
}  // namespace fovea::test
