// Text calls: every argument that must not be NULL, every limit, and the error reported for each.
#include <functional>
#include <memory>

#include "tests/api/api_fixture.h"
#include "tests/text/fixtures.h"

namespace fovea::test {
namespace {

// Tokens of texts, embedded by id and type.
struct Reader {
  Reader() {
    texts = b.Space("texts");
    tokens = b.Space("tokens", texts);
    ids = b.Input("input_ids", tokens, 1, DType::kI32);
    types = b.Input("token_type_ids", tokens, 1, DType::kI32);
    rows = b.Op("embed", {ids, types}, {b.RandomTensor(28, 8), b.RandomTensor(2, 8)}, tokens, 8);
    b.SetOutput(rows);
    b.content().text = SectionOf(WordPieceJson());
    model = std::make_unique<TestModel>(b.Blob());
  }
  ModelBuilder b;
  uint32_t texts, tokens, ids, types, rows;
  std::unique_ptr<TestModel> model;
};
const Reader& Read() {
  static const Reader reader;
  return reader;
}
const fovea_model* Model() { return Read().model->model; }

struct Outcome {
  fovea_status status;
  fovea_error error;
};
void Expect(const Outcome& outcome, fovea_status status, uint64_t expected = 0, uint64_t found = 0,
            uint64_t index = 0) {
  EXPECT_EQ(outcome.status, status) << (outcome.error.text == nullptr ? "" : outcome.error.text);
  if (status == FOVEA_OK) return;
  EXPECT_EQ(outcome.error.status, status);
  EXPECT_EQ(outcome.error.expected, expected) << outcome.error.text;
  EXPECT_EQ(outcome.error.found, found) << outcome.error.text;
  EXPECT_EQ(outcome.error.index, index) << outcome.error.text;
}
template <typename F>
Outcome Call(const F& f) {
  Outcome outcome = {};
  outcome.status = f(&outcome.error);
  return outcome;
}

TEST(TextCalls, Info) {
  fovea_text_info info = Sized<fovea_text_info>();
  const auto get = [&](fovea_text_info* to) {
    return Call([&](fovea_error* error) { return fovea_text_get_info(Model(), to, error); });
  };
  Expect(get(nullptr), FOVEA_E_NULL);
  Expect(get(&info), FOVEA_OK);
  EXPECT_EQ(info.kind, uint32_t{FOVEA_TEXT_WORD_PIECE});
  EXPECT_EQ(info.vocabulary, 28u);
  EXPECT_EQ(info.single_special, 2u);
  EXPECT_EQ(info.pair_special, 3u);
  EXPECT_EQ(info.unknown_id, 1);
  EXPECT_EQ(info.pad_id, 0);
  EXPECT_EQ(info.mask_id, 4);
  info.struct_size = sizeof(size_t) - 1;
  Expect(get(&info), FOVEA_E_STRUCT_SIZE, sizeof(info), sizeof(size_t) - 1);
  // Fields that an older caller lacks are not written; fields of a newer caller become zero.
  struct Newer {
    fovea_text_info info;
    uint64_t more;
  } newer = {Sized<fovea_text_info>(), 7};
  newer.info.struct_size = offsetof(fovea_text_info, max_length);
  newer.info.max_length = 99;
  Expect(get(&newer.info), FOVEA_OK);
  EXPECT_EQ(newer.info.kind, uint32_t{FOVEA_TEXT_WORD_PIECE});
  EXPECT_EQ(newer.info.max_length, 99u);
  newer.info.struct_size = sizeof(newer);
  Expect(get(&newer.info), FOVEA_OK);
  EXPECT_EQ(newer.info.max_length, info.max_length);
  EXPECT_EQ(newer.more, 0u);
}

// A valid call of fovea_text_encode, for tests to break.
struct Encoding {
  explicit Encoding(const std::string& of = "the un") : text(of), scratch(1 << 16), ids(20, -9), types(20, -9) {
    tokens.ids = ids.data();
    tokens.types = types.data();
    tokens.capacity = ids.size();
  }
  Outcome Run() {
    return Call([&](fovea_error* error) {
      return fovea_text_encode(Model(), first, first == nullptr ? size : text.size(), second, second_size, &options,
                               memory, memory_size, &tokens, error);
    });
  }
  std::string text;
  AlignedBytes scratch;
  std::vector<int32_t> ids, types;
  const char* first = text.data();
  uint64_t size = 0;
  const char* second = nullptr;
  uint64_t second_size = 0;
  fovea_text_encode_options options = Sized<fovea_text_encode_options>();
  void* memory = scratch.data();
  uint64_t memory_size = scratch.size();
  fovea_text_tokens tokens = Sized<fovea_text_tokens>();
};
Outcome With(const std::function<void(Encoding&)>& spoil) {
  Encoding e;
  spoil(e);
  return e.Run();
}

// "[SEP]" and "<L>" are special tokens of the fixture, "[MASK]" and "[UNK]" are allowed to be written, "<R>" is none.
TEST(TextCalls, SpelledSpecialTokensAreCounted) {
  const char kText[] = "the [SEP] un <L> [MASK] [UNK] <R> [SEP]";
  Encoding e(kText);
  Expect(e.Run(), FOVEA_OK);
  EXPECT_EQ(e.tokens.spelled, 3u);
  e.options.max_length = 5;  // [CLS], three tokens and [SEP]
  Expect(e.Run(), FOVEA_OK);
  EXPECT_EQ(e.tokens.spelled, 1u);
  e.options.flags = FOVEA_TEXT_CUT_LEFT;  // "[UNK] <R> [SEP]"
  Expect(e.Run(), FOVEA_OK);
  EXPECT_EQ(e.tokens.spelled, 1u);
  e.options.flags = FOVEA_TEXT_LITERAL;
  e.options.max_length = 0;
  Expect(e.Run(), FOVEA_OK);
  EXPECT_EQ(e.tokens.spelled, 0u);
  e.options.flags = 0;
  e.tokens.capacity = 0;  // what the arrays cannot hold also counts
  Expect(e.Run(), FOVEA_E_CAPACITY, 10, 0);
  EXPECT_EQ(e.tokens.spelled, 3u);
  e.second = "<L>";
  e.second_size = 3;
  Expect(e.Run(), FOVEA_E_CAPACITY, 12, 0);
  EXPECT_EQ(e.tokens.spelled, 4u);

  fovea_text_sentences sentences = Sized<fovea_text_sentences>();
  uint32_t lengths[4];
  sentences.lengths = lengths;
  sentences.capacity = 4;
  e.tokens.capacity = e.ids.size();
  const char kDocument[] = "the <L>\nun [SEP] the";
  ASSERT_EQ(fovea_text_encode_document(Model(), kDocument, sizeof(kDocument) - 1, nullptr, e.memory, e.memory_size,
                                       &e.tokens, &sentences, nullptr),
            FOVEA_OK);
  EXPECT_EQ(sentences.count, 2u);
  EXPECT_EQ(e.tokens.spelled, 2u);

  // A caller whose struct has no such field.
  Encoding older(kText);
  older.tokens.struct_size = offsetof(fovea_text_tokens, spelled);
  older.tokens.spelled = 77;
  Expect(older.Run(), FOVEA_OK);
  EXPECT_EQ(older.tokens.spelled, 77u);
  EXPECT_EQ(older.tokens.count, 10u);
}

TEST(TextCalls, EncodeRefusesWrongArguments) {
  using E = Encoding;
  Expect(With([](E&) {}), FOVEA_OK);
  Expect(With([](E& e) { e.first = nullptr, e.size = 1; }), FOVEA_E_NULL);
  Expect(With([](E& e) { e.first = nullptr, e.size = 0; }), FOVEA_OK);
  Expect(With([](E& e) { e.second = "", e.second_size = 0; }), FOVEA_OK);
  Expect(With([](E& e) { e.memory = nullptr; }), FOVEA_E_NULL);
  Expect(With([](E& e) { e.tokens.struct_size -= 1; }), FOVEA_E_STRUCT_SIZE, sizeof(fovea_text_tokens),
         sizeof(fovea_text_tokens) - 1);
  Expect(With([](E& e) { e.options.struct_size = 1; }), FOVEA_E_STRUCT_SIZE, sizeof(fovea_text_encode_options), 1);
  EXPECT_EQ(fovea_text_encode(Model(), "a", 1, nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr), FOVEA_E_NULL);
  Expect(With([](E& e) { e.options.flags = FOVEA_TEXT_LITERAL; }), FOVEA_OK);
  Expect(With([](E& e) { e.options.flags = 32; }), FOVEA_E_OPTION);
  Expect(With([](E& e) { e.options.flags = FOVEA_TEXT_WRAPPED; }), FOVEA_E_OPTION);
  Expect(With([](E& e) { e.options.max_sentences = 1; }), FOVEA_E_OPTION);
  Expect(With([](E& e) { e.options.truncation = FOVEA_TEXT_ONLY_SECOND; }), FOVEA_OK);
  Expect(With([](E& e) { e.options.truncation = FOVEA_TEXT_ONLY_SECOND + 1; }), FOVEA_E_OPTION);
  Expect(With([](E& e) { e.options.flags = FOVEA_TEXT_UNLIMITED; }), FOVEA_OK);
  Expect(With([](E& e) { e.options.flags = FOVEA_TEXT_UNLIMITED, e.options.max_length = 9; }), FOVEA_E_OPTION);
  Expect(With([](E& e) { e.options.max_length = 2; }), FOVEA_OK);
  Expect(With([](E& e) { e.options.max_length = 1; }), FOVEA_E_OPTION, 2, 1);
  // Five tokens have room for three of the text, so windows that share two advance by one.
  Expect(With([](E& e) { e.options.max_length = 5, e.options.stride = 2; }), FOVEA_OK);
  Expect(With([](E& e) { e.options.max_length = 5, e.options.stride = 3; }), FOVEA_E_OPTION);
  Expect(With([](E& e) { e.second = "a", e.second_size = 1, e.options.window = 1; }), FOVEA_E_OPTION);
  Expect(With([](E& e) { e.options.max_length = 3, e.options.window = 1; }), FOVEA_OK);
  Expect(With([](E& e) { e.options.max_length = 3, e.options.window = 2; }), FOVEA_E_INDEX, 2, 2);
}

TEST(TextCalls, EncodeSaysWhatIsNeeded) {
  using E = Encoding;
  uint64_t needed = 0;
  ASSERT_EQ(fovea_text_scratch_size(Model(), 6, &needed, nullptr), FOVEA_OK);
  Expect(With([&](E& e) { e.memory_size = needed; }), FOVEA_OK);
  Expect(With([&](E& e) { e.memory_size = needed - 1; }), FOVEA_E_TOO_SMALL, needed, needed - 1);
  Expect(With([&](E& e) { e.memory = e.scratch.data() + 1, e.memory_size -= 1; }), FOVEA_E_MISALIGNED, 64, 1);
  Expect(With([](E& e) { e.tokens.capacity = 4; }), FOVEA_OK);
  Expect(With([](E& e) { e.tokens.capacity = 3; }), FOVEA_E_CAPACITY, 4, 3);
  // Both texts have five tokens and three special ones. Four must be cut: the second text has three.
  const auto cut = [](uint32_t which, uint32_t max_length) {
    return With([&](E& e) {
      e.second = "a b a", e.second_size = 5;
      e.options.truncation = which;
      e.options.max_length = max_length;
    });
  };
  Expect(cut(FOVEA_TEXT_ONLY_SECOND, 6), FOVEA_OK);
  Expect(cut(FOVEA_TEXT_ONLY_SECOND, 5), FOVEA_E_LENGTH, 4, 3);
  Expect(cut(FOVEA_TEXT_ONLY_FIRST, 7), FOVEA_OK);
  Expect(cut(FOVEA_TEXT_ONLY_FIRST, 6), FOVEA_E_LENGTH, 3, 2);
  Encoding broken("ab\xffzz");
  Expect(broken.Run(), FOVEA_E_UTF8, 0, 0, 2);
  const auto size = [&](uint64_t length, uint64_t* to) {
    return Call([&](fovea_error* error) { return fovea_text_scratch_size(Model(), length, to, error); });
  };
  Expect(size(1, nullptr), FOVEA_E_NULL);
  Expect(size(UINT64_MAX, &needed), FOVEA_E_LENGTH);
  Expect(size(uint64_t{1} << 31, &needed), FOVEA_E_LENGTH);
}

TEST(TextCalls, DecodeRefusesWrongArguments) {
  const int32_t ids[] = {5, 22, 27, 28, -1};
  char out[64];
  uint64_t written = 99;
  const auto decode = [&](const int32_t* from, uint64_t count, uint32_t flags, char* to, uint64_t capacity) {
    return Call([&](fovea_error* error) {
      return fovea_text_decode(Model(), from, count, flags, to, capacity, &written, error);
    });
  };
  Expect(decode(ids, 3, 0, out, sizeof(out)), FOVEA_OK);
  EXPECT_EQ(std::string(out, written), "the ab \u00c9lan");
  Expect(decode(nullptr, 1, 0, out, sizeof(out)), FOVEA_E_NULL);
  Expect(decode(nullptr, 0, 0, out, sizeof(out)), FOVEA_OK);
  EXPECT_EQ(written, 0u);
  Expect(decode(ids, 1, 0, nullptr, 1), FOVEA_E_NULL);
  Expect(decode(nullptr, 0, 0, nullptr, 0), FOVEA_OK);
  Expect(decode(ids, 2, 0, nullptr, 0), FOVEA_E_CAPACITY, 6, 0);
  EXPECT_EQ(written, 6u);
  Expect(decode(ids, 2, 0, out, 5), FOVEA_E_CAPACITY, 6, 5);
  EXPECT_EQ(std::string(out, 5), "the a");
  Expect(decode(ids, 2, 0, out, 6), FOVEA_OK);
  Expect(decode(ids, 2, 3, out, 6), FOVEA_OK);
  Expect(decode(ids, 2, 4, out, 6), FOVEA_E_OPTION);
  Expect(decode(ids, 4, 0, out, sizeof(out)), FOVEA_E_ID, 28, 28, 3);
  Expect(decode(ids + 4, 1, 0, out, sizeof(out)), FOVEA_E_ID, 28, UINT64_MAX, 0);
  EXPECT_EQ(fovea_text_decode(Model(), ids, 1, 0, out, sizeof(out), nullptr, nullptr), FOVEA_E_NULL);
}

TEST(TextCalls, StreamsRefuseWrongArguments) {
  const int32_t ids[] = {5, 22, 27, 28};
  char out[64];
  uint64_t written = 99;
  fovea_text_stream stream = {};
  const auto next = [&](const int32_t* from, uint64_t count, char* to, uint64_t capacity) {
    return Call([&](fovea_error* error) {
      return fovea_text_decode_next(Model(), &stream, from, count, to, capacity, &written, error);
    });
  };
  const auto end = [&](char* to, uint64_t capacity) {
    return Call(
        [&](fovea_error* error) { return fovea_text_decode_end(Model(), &stream, to, capacity, &written, error); });
  };
  Expect(next(ids, 1, out, sizeof(out)), FOVEA_E_STRUCT_SIZE, sizeof(stream), 0);
  stream.struct_size = sizeof(stream);
  stream.flags = FOVEA_TEXT_CLEAN_UP;
  Expect(next(ids, 1, out, sizeof(out)), FOVEA_E_OPTION);
  stream.flags = 0;
  Expect(next(ids, 1, out, sizeof(out)), FOVEA_OK);
  EXPECT_EQ(std::string(out, written), "the");
  Expect(next(nullptr, 1, out, sizeof(out)), FOVEA_E_NULL);
  Expect(next(ids, 1, nullptr, 1), FOVEA_E_NULL);
  // A call that fails consumes no input.
  Expect(next(ids + 1, 1, out, 2), FOVEA_E_CAPACITY, 3, 2);
  EXPECT_EQ(written, 3u);
  Expect(next(ids + 1, 3, out, sizeof(out)), FOVEA_E_ID, 28, 28, 2);
  Expect(next(ids + 1, 2, out, sizeof(out)), FOVEA_OK);
  EXPECT_EQ(std::string(out, written), " ab \u00c9lan");
  Expect(end(nullptr, 1), FOVEA_E_NULL);
  Expect(end(nullptr, 0), FOVEA_OK);
  EXPECT_EQ(written, 0u);
  Expect(next(ids, 1, out, sizeof(out)), FOVEA_OK);  // another text
  EXPECT_EQ(std::string(out, written), "the");
  EXPECT_EQ(fovea_text_decode_next(Model(), nullptr, ids, 1, out, sizeof(out), &written, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_text_decode_next(Model(), &stream, ids, 1, out, sizeof(out), nullptr, nullptr), FOVEA_E_NULL);
  for (uint32_t& word : stream.state) word = UINT32_MAX;
  Expect(next(ids, 1, out, sizeof(out)), FOVEA_E_OPTION);
}

TEST(TextCalls, PiecesRefuseWrongArguments) {
  const char* piece = nullptr;
  uint32_t size = 0, special = 9;
  const auto token = [&](int32_t id, const char** to, uint32_t* to_size, uint32_t* to_special) {
    return Call([&](fovea_error* error) { return fovea_text_get_token(Model(), id, to, to_size, to_special, error); });
  };
  Expect(token(27, &piece, &size, &special), FOVEA_OK);
  EXPECT_EQ(std::string(piece, size), "\u00c9lan");
  EXPECT_EQ(special, 0u);
  Expect(token(2, &piece, &size, &special), FOVEA_OK);
  EXPECT_EQ(special, 1u);
  Expect(token(0, &piece, &size, nullptr), FOVEA_OK);
  Expect(token(0, nullptr, &size, nullptr), FOVEA_E_NULL);
  Expect(token(0, &piece, nullptr, nullptr), FOVEA_E_NULL);
  Expect(token(28, &piece, &size, nullptr), FOVEA_E_ID, 28, 28);
  Expect(token(-1, &piece, &size, nullptr), FOVEA_E_ID, 28, UINT64_MAX);
  int32_t id = -9;
  const auto find = [&](const char* text, uint32_t bytes, int32_t* to) {
    return Call([&](fovea_error* error) { return fovea_text_find_token(Model(), text, bytes, to, error); });
  };
  Expect(find("[MASK]", 6, &id), FOVEA_OK);
  EXPECT_EQ(id, 4);
  Expect(find("##able", 6, &id), FOVEA_OK);
  EXPECT_EQ(id, 8);
  Expect(find("##able", 5, &id), FOVEA_E_NAME);
  Expect(find("", 0, &id), FOVEA_E_NAME);
  Expect(find(nullptr, 0, &id), FOVEA_E_NULL);
  Expect(find("a", 1, nullptr), FOVEA_E_NULL);
}

TEST(TextCalls, SentenceRefusesWrongArguments) {
  uint64_t begin = 7, end = 0;
  EXPECT_EQ(fovea_text_sentence("A. B", 4, 0, &begin, &end), 1u);
  EXPECT_EQ(fovea_text_sentence(nullptr, 4, 0, &begin, &end), 0u);
  EXPECT_EQ(fovea_text_sentence("A. B", 4, 0, nullptr, &end), 0u);
  EXPECT_EQ(fovea_text_sentence("A. B", 4, 0, &begin, nullptr), 0u);
  end = 4;
  EXPECT_EQ(fovea_text_sentence("A. B", 4, 0, &begin, &end), 0u);
}

TEST(TextCalls, BindRefusesWrongArguments) {
  const std::vector<fovea_limit> limits = {{Read().texts, 2, 0}, {Read().tokens, 9, 6}};
  TestSession session(*Read().model, Options(limits));
  Encoding a, b;
  ASSERT_EQ(a.Run().status, FOVEA_OK);
  ASSERT_EQ(b.Run().status, FOVEA_OK);
  const auto bind = [&](const std::vector<fovea_text_tokens>& tokens) {
    return Call([&](fovea_error* error) {
      return fovea_text_bind(session.session, tokens.data(), static_cast<uint32_t>(tokens.size()), error);
    });
  };
  const auto second = [&](const std::function<void(fovea_text_tokens&)>& spoil) {
    fovea_text_tokens spoilt = b.tokens;
    spoil(spoilt);
    return bind({a.tokens, spoilt});
  };
  using T = fovea_text_tokens;
  Expect(second([](T&) {}), FOVEA_OK);
  session.Run();
  Expect(second([](T& t) { t.ids = nullptr; }), FOVEA_E_NULL, 0, 0, 1);
  Expect(second([](T& t) { t.ids = nullptr, t.count = 0; }), FOVEA_OK);
  EXPECT_EQ(session.Segments(Read().tokens), (Lengths{4, 0}));
  Expect(second([](T& t) { t.types = nullptr; }), FOVEA_OK);
  Expect(second([](T& t) { t.capacity = 4; }), FOVEA_OK);
  Expect(second([](T& t) { t.capacity = 3; }), FOVEA_E_CAPACITY, 4, 3, 1);
  Expect(second([](T& t) { t.struct_size -= 8; }), FOVEA_E_STRUCT_SIZE, sizeof(T), sizeof(T) - 8, 1);
  Expect(second([](T& t) { t.count = 5; }), FOVEA_OK);
  Expect(second([](T& t) { t.count = 6; }), FOVEA_E_ROWS, 9, 10);
  Expect(second([](T& t) { t.count = 7; }), FOVEA_E_LENGTH, 6, 7, 1);
  Expect(bind({a.tokens, b.tokens, b.tokens}), FOVEA_E_SEGMENTS, 2, 3);
  Expect(bind({}), FOVEA_OK);
  EXPECT_EQ(fovea_text_bind(session.session, nullptr, 1, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_text_bind(nullptr, &a.tokens, 1, nullptr), FOVEA_E_HANDLE);
}

}  // namespace
}  // namespace fovea::test
