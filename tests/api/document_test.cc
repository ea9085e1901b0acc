// Documents: encoded sentence by sentence as each sentence alone, bound at both levels, and every wrong call refused.
#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>

#include "runtime/blob/attributes.h"
#include "tests/api/api_fixture.h"
#include "tests/text/fixtures.h"

namespace fovea::test {
namespace {

constexpr uint32_t kMostSentences = 4;

// Tokens are embedded, averaged for each sentence, given positions and averaged for each document.
struct Reader {
  Reader() {
    documents = b.Space("documents");
    sentences = b.Space("sentences", documents);
    tokens = b.Space("tokens", sentences);
    ids = b.Input("input_ids", tokens, 1, DType::kI32);
    types = b.Input("token_type_ids", tokens, 1, DType::kI32);
    const uint32_t x = b.Op("embed", {ids, types}, {b.RandomTensor(28, 8), b.RandomTensor(2, 8)}, tokens, 8);
    const uint32_t rows = b.Op("pool", {x}, {}, sentences, 8, {{Attribute::kKind, 2}});
    const uint32_t placed = b.Op("position", {rows}, {b.RandomTensor(kMostSentences, 8)}, sentences, 8);
    row = b.Op("pool", {placed}, {}, documents, 8, {{Attribute::kKind, 2}});
    b.SetOutput(row);
    b.content().text = SectionOf(WordPieceJson());
    model = std::make_unique<TestModel>(b.Blob());
  }
  ModelBuilder b;
  uint32_t documents, sentences, tokens, ids, types, row;
  std::unique_ptr<TestModel> model;
};
const Reader& Model() {
  static const Reader reader;
  return reader;
}

// Arrays of a document, and the structs with pointers to them.
struct Document {
  explicit Document(size_t token_room = 100, size_t sentence_room = 20)
      : ids(token_room, -9),
        types(token_room, -9),
        special(token_room, 9),
        ranges(2 * token_room, 9),
        lengths(sentence_room, 9),
        sentence_ranges(2 * sentence_room, 9) {
    tokens = Sized<fovea_text_tokens>();
    tokens.capacity = token_room;
    tokens.ids = ids.data();
    tokens.types = types.data();
    tokens.special = special.data();
    tokens.ranges = ranges.data();
    sentences = Sized<fovea_text_sentences>();
    sentences.capacity = sentence_room;
    sentences.lengths = lengths.data();
    sentences.ranges = sentence_ranges.data();
  }
  Document(const Document&) = delete;
  fovea_status Encode(const std::string& text, const fovea_text_encode_options* options = nullptr) {
    uint64_t bytes = 0;
    EXPECT_EQ(fovea_text_scratch_size(Model().model->model, text.size(), &bytes, nullptr), FOVEA_OK);
    const AlignedBytes scratch(bytes);
    return fovea_text_encode_document(Model().model->model, text.data(), text.size(), options, scratch.data(), bytes,
                                      &tokens, &sentences, &error);
  }
  Lengths Sentences() const { return Lengths(lengths.begin(), lengths.begin() + static_cast<long>(sentences.count)); }
  std::vector<int32_t> ids, types;
  std::vector<uint8_t> special;
  std::vector<uint32_t> ranges, lengths, sentence_ranges;
  fovea_text_tokens tokens;
  fovea_text_sentences sentences;
  fovea_error error = {};
};

fovea_text_encode_options OptionsOf(uint32_t flags, uint32_t max_length = 0, uint32_t max_sentences = 0) {
  fovea_text_encode_options options = Sized<fovea_text_encode_options>();
  options.flags = flags;
  options.max_length = max_length;
  options.max_sentences = max_sentences;
  return options;
}

const char kText[] = "  The caf\u00e9s, un. A b <L>.\r\n\x01\n  \u4e2d\u6587\u3002unaffable";

TEST(Documents, SentencesAreEncodedLikeTextsOfTheirOwn) {
  const std::string text = kText;
  for (const uint32_t flags : {0u, uint32_t{FOVEA_TEXT_PLAIN}}) {
    for (const uint32_t max_length : {0u, 4u}) {
      const fovea_text_encode_options options = OptionsOf(flags | FOVEA_TEXT_WRAPPED, max_length),
                                      single = OptionsOf(flags, max_length);
      Document document;
      ASSERT_EQ(document.Encode(text, &options), FOVEA_OK) << document.error.text;
      // Invisible characters begin the next sentence when lines are wrapped; otherwise they are a line, which is
      // skipped.
      const fovea_text_encode_options by_lines = OptionsOf(flags, max_length);
      Document lines;
      ASSERT_EQ(lines.Encode(text, &by_lines), FOVEA_OK);
      EXPECT_EQ(lines.ids, document.ids);
      ASSERT_EQ(document.sentences.count, 4u);
      EXPECT_EQ(document.sentences.dropped, 0u);
      uint64_t at = 0, uncut = 0;
      for (size_t i = 0; i < 4; ++i) {
        const uint32_t begin = lines.sentence_ranges[2 * i], end = lines.sentence_ranges[2 * i + 1];
        const std::string sentence = text.substr(begin, end - begin);
        EXPECT_EQ(sentence,
                  (std::vector<std::string>{"The caf\u00e9s, un.", "A b <L>.", "\u4e2d\u6587\u3002", "unaffable"}[i]));
        Document alone;
        uint64_t bytes = 0;
        ASSERT_EQ(fovea_text_scratch_size(Model().model->model, sentence.size(), &bytes, nullptr), FOVEA_OK);
        const AlignedBytes scratch(bytes);
        ASSERT_EQ(fovea_text_encode(Model().model->model, sentence.data(), sentence.size(), nullptr, 0, &single,
                                    scratch.data(), bytes, &alone.tokens, nullptr),
                  FOVEA_OK);
        ASSERT_EQ(lines.lengths[i], alone.tokens.count);
        for (uint64_t k = 0; k < alone.tokens.count; ++k, ++at) {
          EXPECT_EQ(lines.ids[at], alone.ids[k]);
          EXPECT_EQ(lines.types[at], alone.types[k]);
          EXPECT_EQ(lines.special[at], alone.special[k]);
          const uint32_t shift = alone.special[k] != 0 ? 0 : begin;
          EXPECT_EQ(lines.ranges[2 * at], alone.ranges[2 * k] + shift);
          EXPECT_EQ(lines.ranges[2 * at + 1], alone.ranges[2 * k + 1] + shift);
        }
        uncut += alone.tokens.text_tokens[0];
      }
      EXPECT_EQ(lines.tokens.count, at);
      EXPECT_EQ(lines.tokens.text_tokens[0], uncut);
      EXPECT_EQ(lines.tokens.text_tokens[1], 0u);
      EXPECT_EQ(lines.tokens.windows, 1u);
    }
  }
}

TEST(Documents, EmptyOnesHaveNoSentences) {
  for (const std::string text : {"", " \n ", "\x01\n\x02"}) {
    Document document;
    ASSERT_EQ(document.Encode(text), FOVEA_OK);
    EXPECT_EQ(document.sentences.count, 0u);
    EXPECT_EQ(document.tokens.count, 0u);
  }
  Document document(0, 0);
  document.sentences.lengths = nullptr;
  document.sentences.ranges = nullptr;
  document.tokens.ids = nullptr;
  EXPECT_EQ(fovea_text_encode_document(Model().model->model, nullptr, 0, nullptr, nullptr, 0, &document.tokens,
                                       &document.sentences, &document.error),
            FOVEA_OK);
}

TEST(Documents, SentencesBeyondTheLimitAreDropped) {
  Document document, two, many;
  ASSERT_EQ(document.Encode("A. b\nB! C? The. Un."), FOVEA_OK);
  EXPECT_EQ(document.sentences.count, kMostSentences);  // the model's positions
  EXPECT_EQ(document.sentences.dropped, 1u);
  fovea_text_encode_options options = OptionsOf(0, 0, 2);
  ASSERT_EQ(two.Encode("A. b\nB! C? The. Un.", &options), FOVEA_OK);
  EXPECT_EQ(two.Sentences(), (Lengths{5, 4}));
  EXPECT_EQ(two.sentences.dropped, 3u);
  EXPECT_EQ(two.tokens.count, 9u);
  options.max_sentences = 100;
  ASSERT_EQ(many.Encode("A. b\nB! C? The. Un.", &options), FOVEA_OK);
  EXPECT_EQ(many.sentences.count, 5u);
}

TEST(Documents, SmallArraysSayWhatIsNeeded) {
  Document whole;
  ASSERT_EQ(whole.Encode(kText), FOVEA_OK);
  const uint64_t count = whole.tokens.count;
  for (uint64_t room = 0; room <= count; ++room) {
    Document document(room, 20);
    EXPECT_EQ(document.Encode(kText), room == count ? FOVEA_OK : FOVEA_E_CAPACITY);
    EXPECT_EQ(document.tokens.count, count);
    EXPECT_EQ(document.sentences.count, 4u);
    if (room != count) {
      EXPECT_EQ(document.error.expected, count);
      EXPECT_EQ(document.error.found, room);
    }
    EXPECT_TRUE(std::equal(document.ids.begin(), document.ids.end(), whole.ids.begin())) << room;
    EXPECT_EQ(document.lengths, whole.lengths);
  }
  for (uint64_t room = 0; room <= 4; ++room) {
    Document document(100, room);
    EXPECT_EQ(document.Encode(kText), room == 4 ? FOVEA_OK : FOVEA_E_CAPACITY);
    EXPECT_EQ(document.tokens.count, count);
    EXPECT_EQ(document.sentences.count, 4u);
    EXPECT_TRUE(std::equal(document.lengths.begin(), document.lengths.end(), whole.lengths.begin()));
    EXPECT_TRUE(
        std::equal(document.sentence_ranges.begin(), document.sentence_ranges.end(), whole.sentence_ranges.begin()));
  }
}

TEST(Documents, ScratchOfTheLongestSentenceIsEnough) {
  const std::string text = "The. The un cafe. B";
  uint64_t bytes = 0;
  ASSERT_EQ(fovea_text_scratch_size(Model().model->model, 12, &bytes, nullptr), FOVEA_OK);
  const AlignedBytes scratch(bytes);
  Document document;
  const auto encode = [&](uint64_t room) {
    return fovea_text_encode_document(Model().model->model, text.data(), text.size(), nullptr, scratch.data(), room,
                                      &document.tokens, &document.sentences, &document.error);
  };
  EXPECT_EQ(encode(bytes), FOVEA_OK);
  EXPECT_EQ(encode(bytes - 1), FOVEA_E_TOO_SMALL);
  EXPECT_EQ(document.error.expected, bytes);
}

TEST(Documents, WrongEncodingIsRefused) {
  Document d;
  fovea_text_encode_options options = OptionsOf(32);
  EXPECT_EQ(d.Encode(kText, &options), FOVEA_E_OPTION);
  options = OptionsOf(FOVEA_TEXT_UNLIMITED, 5);
  EXPECT_EQ(d.Encode(kText, &options), FOVEA_E_OPTION);
  options = OptionsOf(0, 1);
  EXPECT_EQ(d.Encode(kText, &options), FOVEA_E_OPTION);  // no room for special tokens
  options = OptionsOf(0, 8);
  options.stride = 1;
  EXPECT_EQ(d.Encode(kText, &options), FOVEA_E_OPTION);
  options = OptionsOf(0, 8);
  options.window = 1;
  EXPECT_EQ(d.Encode(kText, &options), FOVEA_E_OPTION);
  EXPECT_EQ(d.Encode("A. b\xff. C"), FOVEA_E_UTF8);
  EXPECT_EQ(d.error.index, 4u);
  const auto with = [&](const std::function<void(Document&)>& change) {
    Document changed;
    change(changed);
    return changed.Encode(kText);
  };
  EXPECT_EQ(with([](Document& c) { c.tokens.struct_size -= 1; }), FOVEA_E_STRUCT_SIZE);
  EXPECT_EQ(with([](Document& c) { c.sentences.struct_size -= 8; }), FOVEA_E_STRUCT_SIZE);
  EXPECT_EQ(with([](Document& c) { c.sentences.lengths = nullptr; }), FOVEA_E_NULL);
  EXPECT_EQ(with([](Document& c) { c.sentences.ranges = nullptr; }), FOVEA_OK);
  const fovea_model* model = Model().model->model;
  AlignedBytes scratch(1 << 16);
  const auto encode = [&](const fovea_model* m, const char* text, uint64_t size, void* memory,
                          fovea_text_tokens* tokens, fovea_text_sentences* sentences) {
    return fovea_text_encode_document(m, text, size, nullptr, memory, scratch.size(), tokens, sentences, nullptr);
  };
  EXPECT_EQ(encode(nullptr, "a", 1, scratch.data(), &d.tokens, &d.sentences), FOVEA_E_HANDLE);
  EXPECT_EQ(encode(Encoder().model.model, "a", 1, scratch.data(), &d.tokens, &d.sentences), FOVEA_E_SECTION);
  EXPECT_EQ(encode(model, nullptr, 1, scratch.data(), &d.tokens, &d.sentences), FOVEA_E_NULL);
  EXPECT_EQ(encode(model, "a", 1, nullptr, &d.tokens, &d.sentences), FOVEA_E_NULL);
  EXPECT_EQ(encode(model, "a", 1, scratch.data(), nullptr, &d.sentences), FOVEA_E_NULL);
  EXPECT_EQ(encode(model, "a", 1, scratch.data(), &d.tokens, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(encode(model, "a", 1, scratch.data() + 8, &d.tokens, &d.sentences), FOVEA_E_MISALIGNED);
  EXPECT_EQ(encode(model, "a", uint64_t{1} << 31, scratch.data(), &d.tokens, &d.sentences), FOVEA_E_LENGTH);
  // Options of documents are refused for single texts.
  for (const fovea_text_encode_options& wrong : {OptionsOf(FOVEA_TEXT_WRAPPED), OptionsOf(0, 0, 3)}) {
    EXPECT_EQ(fovea_text_encode(model, "a", 1, nullptr, 0, &wrong, scratch.data(), scratch.size(), &d.tokens, nullptr),
              FOVEA_E_OPTION);
  }
}

struct Bound {
  Bound() : session(*Model().model, Options(limits)) {}
  fovea_status Bind(const std::vector<const Document*>& documents) {
    std::vector<fovea_text_tokens> tokens;
    std::vector<fovea_text_sentences> sentences;
    for (const Document* d : documents) {
      tokens.push_back(d->tokens);
      sentences.push_back(d->sentences);
    }
    return Bind(tokens, sentences);
  }
  fovea_status Bind(const std::vector<fovea_text_tokens>& tokens, const std::vector<fovea_text_sentences>& sentences) {
    return fovea_text_bind_documents(session.session, tokens.data(), sentences.data(),
                                     static_cast<uint32_t>(tokens.size()), &error);
  }
  std::vector<fovea_limit> limits = {{Model().documents, 3, 0}, {Model().sentences, 8, 0}, {Model().tokens, 40, 9}};
  TestSession session;
  fovea_error error = {};
};

TEST(Documents, AreBoundAtBothLevels) {
  Document a, empty, c;
  ASSERT_EQ(a.Encode("The cafe. A un. B"), FOVEA_OK);
  ASSERT_EQ(empty.Encode(""), FOVEA_OK);
  ASSERT_EQ(c.Encode("unaffable caf\u00e9s!"), FOVEA_OK);
  c.tokens.types = nullptr;
  Bound bound, written;
  ASSERT_EQ(bound.Bind({&a, &empty, &c}), FOVEA_OK) << bound.error.text;
  EXPECT_EQ(bound.session.Segments(Model().documents), (Lengths{3}));
  EXPECT_EQ(bound.session.Segments(Model().sentences), (Lengths{3, 0, 1}));
  Lengths lengths = a.Sentences();
  lengths.push_back(c.lengths[0]);
  EXPECT_EQ(bound.session.Segments(Model().tokens), lengths);
  bound.session.Run();

  std::vector<int32_t> ids(a.ids.begin(), a.ids.begin() + static_cast<long>(a.tokens.count));
  ids.insert(ids.end(), c.ids.begin(), c.ids.begin() + static_cast<long>(c.tokens.count));
  written.session.SetSegments(Model().sentences, {3, 0, 1});
  written.session.SetSegments(Model().tokens, lengths);
  written.session.SetInput(Model().ids, ids);
  written.session.SetInput(Model().types, std::vector<int32_t>(ids.size()));
  written.session.Run();
  EXPECT_EQ(bound.session.Output(Model().row), written.session.Output(Model().row));

  // A part of a document, and no documents.
  fovea_text_tokens tokens = a.tokens;
  fovea_text_sentences sentences = a.sentences;
  tokens.ids += a.lengths[0];
  tokens.types = nullptr;
  tokens.count = a.lengths[1] + a.lengths[2];
  ++sentences.lengths;
  sentences.count = 2;
  ASSERT_EQ(bound.Bind({tokens}, {sentences}), FOVEA_OK);
  EXPECT_EQ(bound.session.Segments(Model().sentences), (Lengths{2}));
  EXPECT_EQ(bound.session.Segments(Model().tokens), (Lengths{a.lengths[1], a.lengths[2]}));
  bound.session.Run();
  ASSERT_EQ(fovea_text_bind_documents(bound.session.session, nullptr, nullptr, 0, nullptr), FOVEA_OK);
  bound.session.Run();
  EXPECT_TRUE(bound.session.Output(Model().row).empty());
}

TEST(Documents, WrongBindingIsRefusedAndChangesNothing) {
  Document a;
  ASSERT_EQ(a.Encode("The cafe. A un. B"), FOVEA_OK);
  Bound bound;
  ASSERT_EQ(bound.Bind({&a}), FOVEA_OK);
  bound.session.Run();
  const std::vector<float> row = bound.session.Output(Model().row);
  const Lengths lengths = bound.session.Segments(Model().tokens);
  const auto refused = [&](const std::function<void(fovea_text_tokens&, fovea_text_sentences&)>& change) {
    std::vector<fovea_text_tokens> tokens = {a.tokens, a.tokens};
    std::vector<fovea_text_sentences> sentences = {a.sentences, a.sentences};
    change(tokens[1], sentences[1]);
    const fovea_status status = bound.Bind(tokens, sentences);
    EXPECT_EQ(bound.session.Segments(Model().tokens), lengths);
    bound.session.Run();
    EXPECT_EQ(bound.session.Output(Model().row), row);
    return status;
  };
  using Tokens = fovea_text_tokens;
  using Sentences = fovea_text_sentences;
  EXPECT_EQ(refused([](Tokens& t, Sentences&) { t.struct_size += 4; }), FOVEA_E_STRUCT_SIZE);
  EXPECT_EQ(refused([](Tokens&, Sentences& s) { s.struct_size -= 8; }), FOVEA_E_STRUCT_SIZE);
  EXPECT_EQ(refused([](Tokens&, Sentences& s) { s.struct_size += 8; }), FOVEA_E_STRUCT_SIZE);
  EXPECT_EQ(refused([](Tokens& t, Sentences&) { t.ids = nullptr; }), FOVEA_E_NULL);
  EXPECT_EQ(refused([](Tokens&, Sentences& s) { s.lengths = nullptr; }), FOVEA_E_NULL);
  EXPECT_EQ(refused([](Tokens& t, Sentences&) { t.capacity = t.count - 1; }), FOVEA_E_CAPACITY);
  EXPECT_EQ(refused([](Tokens&, Sentences& s) { s.capacity = s.count - 1; }), FOVEA_E_CAPACITY);
  EXPECT_EQ(bound.error.index, 1u);
  EXPECT_EQ(refused([](Tokens& t, Sentences&) { t.count -= 1; }), FOVEA_E_SEGMENTS);
  EXPECT_EQ(bound.error.expected + 1, bound.error.found);
  EXPECT_EQ(bound.error.index, 1u);
  EXPECT_EQ(refused([](Tokens&, Sentences& s) { s.count -= 1; }), FOVEA_E_SEGMENTS);
  // Limits of the session: a sentence too long; too many sentences in one document or in all; too many tokens or
  // documents.
  Document other;
  ASSERT_EQ(other.Encode("the the the the the the the the. B"), FOVEA_OK);
  EXPECT_EQ(bound.Bind({&a, &other}), FOVEA_E_LENGTH);
  const fovea_text_encode_options many = OptionsOf(0, 0, 5), plain = OptionsOf(FOVEA_TEXT_PLAIN, 0, 4);
  ASSERT_EQ(other.Encode("The. Un. The. Un. The.", &many), FOVEA_OK);
  EXPECT_EQ(bound.Bind({&other}), FOVEA_E_LENGTH);  // more than the model's positions
  ASSERT_EQ(other.Encode("A\nB\nB\nA", &plain), FOVEA_OK);
  EXPECT_EQ(bound.Bind({&other, &other, &other}), FOVEA_E_SEGMENTS);
  EXPECT_EQ(bound.Bind({&a, &a, &a, &a}), FOVEA_E_SEGMENTS);
  ASSERT_EQ(other.Encode("The the the the the the. The the the the the the. The the the the the the."), FOVEA_OK);
  EXPECT_EQ(bound.Bind({&other, &other}), FOVEA_E_ROWS);
  EXPECT_EQ(bound.session.Segments(Model().tokens), lengths);
  EXPECT_EQ(bound.session.Segments(Model().sentences), (Lengths{3}));

  EXPECT_EQ(fovea_text_bind_documents(nullptr, &a.tokens, &a.sentences, 1, nullptr), FOVEA_E_HANDLE);
  EXPECT_EQ(fovea_text_bind_documents(bound.session.session, nullptr, &a.sentences, 1, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_text_bind_documents(bound.session.session, &a.tokens, nullptr, 1, nullptr), FOVEA_E_NULL);
  const std::vector<fovea_limit> limits = {{Encoder().encoder.texts, 3, 0}, {Encoder().encoder.tokens, 60, 0}};
  TestSession flat(Encoder().model, Options(limits));
  EXPECT_EQ(fovea_text_bind_documents(flat.session, &a.tokens, &a.sentences, 1, nullptr), FOVEA_E_NAME);
}

}  // namespace
}  // namespace fovea::test
