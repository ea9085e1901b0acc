// BM25 and TF-IDF of segments against a query, by counting each term in each segment.
#include <map>

#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"

namespace fovea::test {
namespace {

enum Kind : uint32_t { kBm25, kTfIdf };
using Ids = std::vector<int32_t>;
using Counts = std::map<int32_t, double>;

Counts Count(const Ids& ids) {
  Counts counts;
  for (const int32_t id : ids) counts[id] += 1;
  return counts;
}

// `idf`: by id, or empty.
std::vector<double> Scores(Kind kind, const std::vector<Ids>& segments, const Ids& query, double k1, double b,
                           const std::vector<float>& idf) {
  const double n = static_cast<double>(segments.size());
  double words = 0;
  Counts with;  // segments that have a term
  for (const Ids& segment : segments) {
    words += static_cast<double>(segment.size());
    for (const auto& [id, count] : Count(segment)) with[id] += 1;
  }
  const auto weight = [&](int32_t id) -> double {
    if (!idf.empty()) return idf[static_cast<size_t>(id)];
    const double df = with.count(id) != 0 ? with[id] : 0;
    return kind == kBm25 ? std::log(1 + (n - df + 0.5) / (df + 0.5)) : std::log((1 + n) / (1 + df)) + 1;
  };
  std::vector<double> scores;
  for (const Ids& segment : segments) {
    Counts counts = Count(segment);
    double score = 0, segment_norm = 0, query_norm = 0;
    for (const auto& [id, of_query] : Count(query)) {
      const double count = counts.count(id) != 0 ? counts[id] : 0, w = weight(id);
      query_norm += std::pow(of_query * w, 2);
      if (count == 0) continue;
      const double length = static_cast<double>(segment.size()) / (words / n);
      score += kind == kBm25 ? of_query * w * count * (k1 + 1) / (count + k1 * (1 - b + b * length))
                             : of_query * w * count * w;
    }
    for (const auto& [id, count] : counts) segment_norm += std::pow(count * weight(id), 2);
    if (kind == kTfIdf && score != 0) score /= std::sqrt(query_norm * segment_norm);
    scores.push_back(score);
  }
  return scores;
}

struct Case {
  Kind kind;
  double k1, b;
  bool table;
  Attributes attributes;
};
const std::vector<Case>& Cases() {
  static const std::vector<Case> all = {
      {kBm25, 1.2, 0.75, false, {}},
      {kBm25, 0, 0.5, false, {{Attribute::kK1, 0}, {Attribute::kB, 0.5}}},
      {kBm25, 2, 0, false, {{Attribute::kKind, 0}, {Attribute::kK1, 2}, {Attribute::kB, 0}}},
      {kBm25, 1.5, 1, true, {{Attribute::kK1, 1.5}, {Attribute::kB, 1}}},
      {kTfIdf, 0, 0, false, {{Attribute::kKind, 1}}},
      {kTfIdf, 0, 0, true, {{Attribute::kKind, 1}}}};
  return all;
}

struct Shape {
  Lengths of_documents, of_sentences, of_queries;
};
const std::vector<Shape>& Shapes() {
  static const std::vector<Shape> all = {{{3, 0, 5, 1}, {4, 0, 9, 1, 30, 2, 0, 7, 11}, {3, 2, 8, 0}},
                                         {{1}, {1}, {1}},
                                         {{2, 2}, {0, 0, 0, 3}, {4, 1}},
                                         {{}, {}, {}},
                                         {{40}, Lengths(40, 6), {20}}};
  return all;
}

TEST(Lexical, EqualsItsDefinition) {
  for (const Case& c : Cases()) {
    for (const Shape& shape : Shapes()) {
      for (const uint32_t vocabulary : {2u, 12u, 1000u}) {
        ModelBuilder b;
        const uint32_t documents = b.Space("documents"), sentences = b.Space("sentences", documents);
        const uint32_t tokens = b.Space("tokens", sentences), queries = b.Space("queries", documents);
        const uint32_t ids = b.Input("ids", tokens, 1, DType::kI32), query = b.Input("query", queries, 1, DType::kI32);
        const std::vector<float> table = b.RandomFloats(c.table ? vocabulary : 0);
        std::vector<uint32_t> tensors;
        if (c.table) tensors.push_back(b.Tensor(1, vocabulary, table));
        const uint32_t scores = b.Op("lexical", {ids, query}, tensors, sentences, 1, c.attributes);
        Ids words = RandomIds(Total(shape.of_sentences), vocabulary, 3);
        Ids asked = RandomIds(Total(shape.of_queries), vocabulary, 4);
        if (!c.table) {  // any number is an id
          for (Ids* list : {&words, &asked}) {
            for (int32_t& id : *list) id = id == 0 ? INT32_MIN : id == 1 ? -1 : id == 2 ? INT32_MAX : id * 1000003;
          }
        }
        const Feed feed = {{{sentences, shape.of_documents}, {tokens, shape.of_sentences}, {queries, shape.of_queries}},
                           {},
                           {{ids, words}, {query, asked}}};
        std::vector<double> expected;
        size_t sentence = 0, word = 0, asked_before = 0;
        for (size_t d = 0; d < shape.of_documents.size(); ++d) {
          std::vector<Ids> segments;
          for (uint32_t s = 0; s < shape.of_documents[d]; ++s, ++sentence) {
            segments.emplace_back(words.begin() + static_cast<ptrdiff_t>(word),
                                  words.begin() + static_cast<ptrdiff_t>(word + shape.of_sentences[sentence]));
            word += shape.of_sentences[sentence];
          }
          const auto begin = asked.begin() + static_cast<ptrdiff_t>(asked_before);
          const Ids of_document(begin, begin + shape.of_queries[d]);
          asked_before += shape.of_queries[d];
          const std::vector<double> of_segments = Scores(c.kind, segments, of_document, c.k1, c.b, table);
          expected.insert(expected.end(), of_segments.begin(), of_segments.end());
        }
        ExpectClose(RunTiled(b, feed, scores), expected, 1e-6, 0, "kind " + std::to_string(c.kind));
      }
    }
  }
}

// One collection without documents, ids gathered from chosen rows, and the best segment by its score.
TEST(Lexical, OfOneCollectionAndOfChosenRows) {
  ModelBuilder b;
  const uint32_t sentences = b.Space("sentences"), tokens = b.Space("tokens", sentences),
                 query_space = b.Space("query");
  const uint32_t few = b.SelectedSpace("few", tokens, 2), best = b.SelectedSpace("best", sentences, 1);
  const uint32_t ids = b.Input("ids", tokens, 1, DType::kI32), query = b.Input("query", query_space, 1, DType::kI32);
  const uint32_t first = b.Op("select", {ids}, {}, few, 1, {{Attribute::kKind, 3}});
  const uint32_t first_ids = b.Op("gather", {ids, first}, {}, few, 1);
  const uint32_t all = b.Op("lexical", {ids, query}, {}, sentences, 1);
  const uint32_t of_first = b.Op("lexical", {first_ids, query}, {}, sentences, 1, {{Attribute::kKind, 1}});
  const uint32_t sum = b.Op("add", {all, of_first}, {}, sentences, 1);
  b.SetOutput(b.Op("select", {all}, {}, best, 1, {{Attribute::kKind, 2}}));
  const Feed feed = {{{tokens, {3, 1, 4}}, {query_space, {2}}}, {}, {{ids, {1, 2, 3, 4, 5, 3, 3, 1}}, {query, {3, 9}}}};
  std::vector<double> expected = Scores(kBm25, {{1, 2, 3}, {4}, {5, 3, 3, 1}}, {3, 9}, 1.2, 0.75, {});
  const std::vector<double> more = Scores(kTfIdf, {{1, 2}, {4}, {5, 3}}, {3, 9}, 0, 0, {});
  EXPECT_GT(expected[2], expected[0]);
  for (size_t i = 0; i < 3; ++i) expected[i] += more[i];
  std::vector<fovea_limit> limits = {{sentences, 3, 0}, {tokens, 8, 0}, {query_space, 2, 0}};
  b.SetOutput(sum);
  const TestModel model(b.Blob());
  ExpectClose(RunWith(model, Options(limits), feed, sum), expected, 1e-6, 0);
  const fovea_session_options options = Options(limits);
  TestSession session(model, options);
  for (const auto& [space, lengths] : feed.segments) session.SetSegments(space, lengths);
  for (const auto& [input, values] : feed.ids) session.SetInput(input, values);
  session.Run();
  EXPECT_EQ(session.Indices(b.content().programs[0].operations.back().output), (Ids{2}));
}

// Only the first worker has the table of terms; ids are checked against stored weights before anything runs.
TEST(Lexical, MemoryAndIds) {
  uint32_t sentences = 0, tokens = 0, queries = 0, ids = 0, query = 0;  // the same in each model
  const auto build = [&](ModelBuilder& b, uint32_t kind, bool table) {
    sentences = b.Space("sentences"), tokens = b.Space("tokens", sentences), queries = b.Space("query");
    ids = b.Input("ids", tokens, 1, DType::kI32), query = b.Input("query", queries, 1, DType::kI32);
    std::vector<uint32_t> tensors;
    if (table) tensors.push_back(b.RandomTensor(1, 5));
    b.SetOutput(b.Op("lexical", {ids, query}, tensors, sentences, 1, {{Attribute::kKind, kind}}));
  };
  for (const uint32_t kind : {kBm25, kTfIdf}) {
    ModelBuilder b;
    build(b, kind, false);
    const TestModel model(b.Blob());
    const std::vector<fovea_limit> limits = {{sentences, 50, 0}, {tokens, 1000, 0}, {queries, 30, 0}};
    for (const uint32_t workers : {1u, 4u}) {
      TestSession session(model, Options(limits, workers));
      fovea_session_info info = {};
      info.struct_size = sizeof(info);
      ASSERT_EQ(fovea_session_get_info(session.session, &info), FOVEA_OK);
      const uint64_t terms = kind == kBm25 ? 30 : 1030;  // two places of 24 bytes for each
      EXPECT_EQ(info.worker_bytes, (terms * 48 + 63) / 64 * 64);
    }
  }
  ModelBuilder b;
  build(b, kBm25, true);
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = {{sentences, 50, 0}, {tokens, 1000, 0}, {queries, 30, 0}};
  TestSession session(model, Options(limits));
  session.SetSegments(tokens, {2, 1});
  session.SetSegments(queries, {2});
  fovea_error error = {};
  for (const uint32_t wrong : {ids, query}) {
    session.SetInput(ids, wrong == ids ? Ids{0, 4, 5} : Ids{0, 4, 3});
    session.SetInput(query, wrong == query ? Ids{-1, 0} : Ids{0, 0});
    EXPECT_EQ(fovea_session_run(session.session, &error), FOVEA_E_ID);
    EXPECT_EQ(error.tensor, wrong);
  }
  session.SetInput(query, Ids{4, 0});
  session.Run();
}

TEST(Lexical, ShapeRules) {
  struct Try {
    ModelBuilder b;
    uint32_t documents = b.Space("documents"), sentences = b.Space("sentences", documents);
    uint32_t tokens = b.Space("tokens", sentences), queries = b.Space("queries", documents), other = b.Space("other");
    uint32_t ids = b.Input("ids", tokens, 1, DType::kI32), query = b.Input("query", queries, 1, DType::kI32);
    uint32_t x = b.Input("x", tokens, 1), wide = b.Input("wide", tokens, 2, DType::kI32);
    uint32_t of_other = b.Input("of_other", other, 1, DType::kI32);
    uint32_t of_document = b.Input("of_document", documents, 1, DType::kI32);
  };
  const auto refused = [](const char* what, fovea_status status, uint32_t Try::*ids, uint32_t Try::*query,
                          uint32_t Try::*space, const Attributes& attributes, uint32_t width = 1, uint32_t rows = 0) {
    Try t;
    std::vector<uint32_t> tensors;
    if (rows != 0) tensors.push_back(t.b.RandomTensor(rows, 5));
    t.b.Op("lexical", {t.*ids, t.*query}, tensors, t.*space, width, attributes);
    ExpectStatus(t.b, status, what);
  };
  const auto ids = &Try::ids, query = &Try::query, sentences = &Try::sentences;
  const fovea_status shape = FOVEA_E_SHAPE;
  refused("fine", FOVEA_OK, ids, query, sentences, {{Attribute::kK1, 3}, {Attribute::kB, 1}}, 1, 1);
  refused("fine", FOVEA_OK, ids, query, sentences, {{Attribute::kKind, 1}});
  refused("numbers", shape, &Try::x, query, sentences, {});
  refused("pairs of ids", shape, &Try::wide, query, sentences, {});
  refused("queries elsewhere", shape, ids, &Try::of_other, sentences, {});
  refused("queries that are documents", shape, ids, &Try::of_document, sentences, {});
  refused("queries that are words", shape, ids, ids, sentences, {});
  refused("scores of words", shape, ids, query, &Try::tokens, {});
  refused("scores of documents", shape, ids, query, &Try::documents, {});
  refused("wide scores", shape, ids, query, sentences, {}, 2);
  refused("weights of two rows", shape, ids, query, sentences, {}, 1, 2);
  refused("kind", FOVEA_E_OP, ids, query, sentences, {{Attribute::kKind, 2}});
  refused("k1 of a cosine", FOVEA_E_RECORD, ids, query, sentences, {{Attribute::kKind, 1}, {Attribute::kK1, 1}});
  refused("k1", shape, ids, query, sentences, {{Attribute::kK1, -0.5}});
  refused("b", shape, ids, query, sentences, {{Attribute::kB, 1.5}});
  refused("b", shape, ids, query, sentences, {{Attribute::kB, -0.5}});
  refused("b", FOVEA_E_RECORD, ids, query, sentences, {{Attribute::kB, NAN}});
}

}  // namespace
}  // namespace fovea::test
