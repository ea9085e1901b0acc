// fovea/fovea.hpp and fovea/result.hpp against the C calls: the same results, exact memory, failures that are
// reported.
#include <math.h>
#include <string.h>

#include <vector>

#include "tests/generate/tiny_generator.h"
#include "tests/support/paths.h"
#include "tools/base/mapped_file.h"
// After the library's headers, which use names of namespace fovea that this one has as well.
#include "fovea/result.hpp"

namespace {

namespace cpp = fovea::FOVEA_CPP;
using fovea::test::AlignedBytes;

constexpr char kText[] = "A library to read compressed audio files.";

const AlignedBytes& Blob() {
  static const AlignedBytes blob = [] {
    const std::string file =
        fovea::tools::ReadFile(fovea::test::InSource("tools/train/package-section-hierarchical.fovea"));
    AlignedBytes bytes(file.size());
    memcpy(bytes.data(), file.data(), file.size());
    return bytes;
  }();
  return blob;
}
cpp::Bytes View() { return {Blob().data(), Blob().size()}; }

// Limits for one document of one sentence.
fovea_session_options Options(std::uint32_t program) {
  fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
  options.program = program;
  options.rows = 64;
  return options;
}

// The bits of the logits, by C calls alone.
std::vector<float> Expected() {
  fovea_error error = {};
  std::uint64_t bytes = 0;
  EXPECT_EQ(fovea_model_size(Blob().data(), Blob().size(), nullptr, &bytes, &error), FOVEA_OK) << error.text;
  AlignedBytes memory(bytes);
  fovea_model* model = nullptr;
  EXPECT_EQ(fovea_model_init(Blob().data(), Blob().size(), nullptr, memory.data(), bytes, &model, &error), FOVEA_OK);
  const fovea_session_options options = Options(0);
  fovea_session_memory sizes = FOVEA_SESSION_MEMORY_INIT;
  EXPECT_EQ(fovea_session_size(model, &options, &sizes, &error), FOVEA_OK) << error.text;
  AlignedBytes fixed(sizes.fixed_size), state(sizes.state_size), scratch(sizes.scratch_size);
  sizes.fixed = fixed.data(), sizes.state = state.data(), sizes.scratch = scratch.data();
  fovea_session* session = nullptr;
  EXPECT_EQ(fovea_session_init(model, &options, &sizes, &session, &error), FOVEA_OK) << error.text;
  EXPECT_EQ(fovea_text_scratch_size(model, strlen(kText), &bytes, &error), FOVEA_OK);
  AlignedBytes room(bytes);
  std::int32_t ids[64], types[64];
  fovea_text_tokens tokens = FOVEA_TEXT_TOKENS_INIT;
  tokens.capacity = 64, tokens.ids = ids, tokens.types = types;
  EXPECT_EQ(fovea_text_encode(model, kText, strlen(kText), nullptr, 0, nullptr, room.data(), bytes, &tokens, &error),
            FOVEA_OK);
  std::uint32_t space = 0, one = 1;
  EXPECT_EQ(fovea_text_bind(session, &tokens, 1, &error), FOVEA_OK) << error.text;
  EXPECT_EQ(fovea_model_find_space(model, "sentences", &space), FOVEA_OK);
  EXPECT_EQ(fovea_session_set_segments(session, space, &one, 1, &error), FOVEA_OK) << error.text;
  EXPECT_EQ(fovea_session_run(session, &error), FOVEA_OK) << error.text;
  fovea_view view = {};
  EXPECT_EQ(fovea_session_find_output(session, "logits", &view, &error), FOVEA_OK) << error.text;
  const float* logits = static_cast<const float*>(view.data);
  return std::vector<float>(logits, logits + view.width);
}

void Bind(const cpp::Model& model, const cpp::Tokens& tokens, cpp::Session& session) {
  const std::uint32_t one[] = {1};
  const cpp::Status bound = session.bind(tokens);
  ASSERT_TRUE(bound) << bound.text();
  const cpp::Result<std::uint32_t> space = model.find_space("sentences");
  ASSERT_TRUE(space) << space.text();
  const cpp::Status set = session.set_segments(*space, one);
  ASSERT_TRUE(set) << set.text();
}

std::vector<float> Logits(const cpp::Session& session) {
  const auto logits = session.output<float>("logits");
  EXPECT_TRUE(logits) << logits.text();
  EXPECT_EQ(logits->rows(), 1u);
  const cpp::Span<const float> row = logits->row(0);
  return std::vector<float>(row.begin(), row.end());
}

TEST(Cpp, ResultsHaveTheBitsOfTheCCalls) {
  auto model = cpp::Model::make(View());
  ASSERT_TRUE(model) << model.text();
  const auto tokens = cpp::Tokenizer(*model).encode(kText);
  ASSERT_TRUE(tokens) << tokens.text();
  auto session = cpp::Session::make(*model, Options(0));
  ASSERT_TRUE(session) << session.text();
  Bind(*model, *tokens, *session);
  const cpp::Status ran = session->run();
  ASSERT_TRUE(ran) << ran.text();
  EXPECT_EQ(Logits(*session), Expected());

  // As results: the probabilities of the classes.
  const auto info = model->result();
  ASSERT_TRUE(info) << info.text();
  EXPECT_EQ(info->kind, FOVEA_RESULT_CLASSES);
  EXPECT_EQ(*session->result_count(*info), 1u);
  std::vector<float> shares(info->width);
  ASSERT_TRUE(session->read(*info, 0, shares));
  double sum = 0;
  for (const float logit : Expected()) sum += exp(double{logit});
  for (std::uint32_t i = 0; i < info->width; ++i) {
    EXPECT_NEAR(shares[i], exp(double{Expected()[i]}) / sum, 1e-6) << i;
  }
  EXPECT_EQ(model->result(0, "none").code(), FOVEA_E_NAME);
  EXPECT_EQ(session->advance_for(1).code(), FOVEA_E_OPTION);

  // In pieces, and with both handles moved in between.
  ASSERT_TRUE(session->begin());
  const cpp::Model moved_model = *std::move(model);
  cpp::Session moved = *std::move(session);
  std::uint32_t left = 1;
  for (std::uint32_t turn = 0; left > 0 && turn < 1000; ++turn) {
    const auto advanced = moved.advance(1);
    ASSERT_TRUE(advanced) << advanced.text();
    left = *advanced;
  }
  EXPECT_EQ(Logits(moved), Expected());
  EXPECT_EQ(session->run().code(), FOVEA_E_HANDLE);
  EXPECT_EQ(model->info().code(), FOVEA_E_HANDLE);
  EXPECT_TRUE(moved_model.info());

  // A request to cancel is reported, and may be cleared.
  moved.cancel();
  EXPECT_EQ(moved.run().code(), FOVEA_E_CANCELLED);
  moved.cancel(), moved.clear_cancel();
  EXPECT_TRUE(moved.run());
}

TEST(Cpp, MemoryOfTheCallerOfTheExactSizesIsEnough) {
  const auto size = cpp::Model::size(View());
  ASSERT_TRUE(size);
  AlignedBytes memory(*size);
  const auto placed = [&](std::uint64_t bytes) {
    return cpp::Model::make(View(), FOVEA_MODEL_OPTIONS_INIT, cpp::Memory::borrow(memory.data(), bytes));
  };
  const auto refused = placed(*size - 1);
  EXPECT_EQ(refused.code(), FOVEA_E_TOO_SMALL);
  EXPECT_EQ(refused.error().expected, *size);
  EXPECT_EQ(refused->get(), nullptr);
  const auto model = placed(*size);
  ASSERT_TRUE(model) << model.text();

  const auto sizes = cpp::Session::size(*model, Options(0));
  ASSERT_TRUE(sizes);
  AlignedBytes fixed(sizes->fixed_size), state(sizes->state_size), scratch(sizes->scratch_size);
  const auto session_in = [&](std::uint64_t scratch_size) {
    return cpp::Session::make(*model, Options(0), cpp::Memory::borrow(fixed.data(), fixed.size()),
                              cpp::Memory::borrow(state.data(), state.size()),
                              cpp::Memory::borrow(scratch.data(), scratch_size));
  };
  EXPECT_EQ(session_in(sizes->scratch_size - 1).error().expected, sizes->scratch_size);
  auto session = session_in(sizes->scratch_size);
  ASSERT_TRUE(session) << session.text();

  const cpp::Tokenizer tokenizer(*model);
  const auto needed = tokenizer.scratch_size(strlen(kText));
  ASSERT_TRUE(needed);
  AlignedBytes room(*needed);
  auto tokens = cpp::Tokens::make(64);
  ASSERT_TRUE(tokens);
  const cpp::Status encoded = tokenizer.encode(kText, {}, FOVEA_TEXT_ENCODE_OPTIONS_INIT,
                                               cpp::Memory::borrow(room.data(), *needed), tokens->get());
  ASSERT_TRUE(encoded) << encoded.text();
  Bind(*model, *tokens, *session);
  ASSERT_TRUE(session->run());
  EXPECT_EQ(Logits(*session), Expected());
}

TEST(Cpp, TokensBecomeTextAgain) {
  const auto model = cpp::Model::make(View());
  ASSERT_TRUE(model);
  const cpp::Tokenizer tokenizer(*model);
  const std::string words(3000, 'a');  // more tokens than bytes are not expected, fewer are
  for (const std::string& text : {std::string("compressed audio"), std::string(), words}) {
    fovea_text_encode_options plain = FOVEA_TEXT_ENCODE_OPTIONS_INIT;
    plain.flags = FOVEA_TEXT_PLAIN | FOVEA_TEXT_UNLIMITED;
    const auto tokens = tokenizer.encode(text, plain);
    ASSERT_TRUE(tokens) << tokens.text();
    EXPECT_EQ(tokens->ids().size(), tokens->get().count);
    EXPECT_EQ(tokens->ranges().size(), 2 * tokens->size());
    const auto decoded = tokenizer.decode(tokens->ids());
    ASSERT_TRUE(decoded) << decoded.text();
    if (text != words) {
      EXPECT_EQ(decoded->view(), text);
    }
    cpp::TextStream stream(*model);
    std::string streamed;
    for (std::size_t i = 0; i < tokens->size(); ++i) {
      const auto part = stream.next(tokens->ids().subspan(i, 1));
      ASSERT_TRUE(part) << part.text();
      streamed += *part;
    }
    const auto rest = stream.end();
    ASSERT_TRUE(rest) << rest.text();
    streamed += *rest;
    EXPECT_EQ(streamed, decoded->view());
  }
  EXPECT_EQ(cpp::TextStream().next({}).code(), FOVEA_E_HANDLE);
  const auto pair = tokenizer.encode("compressed", "audio");
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->types()[0], 0);
  EXPECT_EQ(pair->special()[0], 1);
  const auto id = tokenizer.find("audio");
  ASSERT_TRUE(id);
  EXPECT_EQ(*tokenizer.piece(*id), "audio");
  EXPECT_EQ(tokenizer.find("no such piece").code(), FOVEA_E_NAME);
  EXPECT_EQ(tokenizer.encode("\xff").error().index, 0u);
  EXPECT_EQ(tokenizer.encode("a\xff").error().index, 1u);
}

// Scores by position: no two windows are alike.
std::vector<float> Scores(std::size_t count) {
  std::vector<float> scores(count);
  for (std::size_t i = 0; i < count; ++i) scores[i] = static_cast<float>(i * i % 17);
  return scores;
}

TEST(Cpp, AnswersAreThoseOfTheCCalls) {
  const auto model = cpp::Model::make(View());
  ASSERT_TRUE(model);
  const std::string context(kText);
  const auto pair = cpp::Tokenizer(*model).encode("which files", context);
  ASSERT_TRUE(pair);
  std::vector<cpp::Tokens> kept;
  std::vector<fovea_text_tokens> windows;
  std::size_t tokens = 0;
  do {
    auto window = cpp::window(*pair, 9, 1, windows.size());
    ASSERT_TRUE(window) << window.text();
    windows.push_back(window->get());
    tokens += window->size();
    kept.push_back(*std::move(window));
  } while (windows.size() < windows[0].windows);
  ASSERT_GT(windows.size(), 1u);
  EXPECT_EQ(cpp::window(*pair, 9, 1, windows.size()).code(), FOVEA_E_INDEX);

  const std::vector<float> scores = Scores(2 * tokens);
  fovea_answer_options options = FOVEA_ANSWER_OPTIONS_INIT;
  options.top = 3;
  const auto found = cpp::answers(*model, windows, scores, context, options);
  ASSERT_TRUE(found) << found.text();
  fovea_answer expected[40];
  std::uint64_t count = 0;
  ASSERT_EQ(
      fovea_result_get_answers(model->get(), windows.data(), static_cast<std::uint32_t>(windows.size()), scores.data(),
                               context.data(), context.size(), &options, expected, 40, &count, nullptr),
      FOVEA_OK);
  ASSERT_EQ(count, 3u);
  ASSERT_EQ(found->size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ((*found)[i].begin, expected[i].begin);
    EXPECT_EQ((*found)[i].end, expected[i].end);
    EXPECT_EQ((*found)[i].score, expected[i].score);
  }
  const cpp::Span<const float> fewer(scores.data(), scores.size() - 1);
  EXPECT_EQ(cpp::answers(*model, windows, fewer, context).code(), FOVEA_E_CAPACITY);
  EXPECT_EQ(cpp::answers(cpp::Model(), windows, scores, context).code(), FOVEA_E_HANDLE);
}

TEST(Cpp, SpansAndWordsAreThoseOfTheCCalls) {
  const auto model = cpp::Model::make(View());
  ASSERT_TRUE(model);
  const std::string_view text(kText);
  const auto tokens = cpp::Tokenizer(*model).encode(text);
  ASSERT_TRUE(tokens);
  const std::vector<float> scores = Scores(2 * tokens->size());
  const auto spans = cpp::spans(*model, scores, 2, *tokens, text);
  ASSERT_TRUE(spans) << spans.text();
  fovea_span expected[64];
  std::uint64_t count = 0;
  ASSERT_EQ(fovea_result_get_spans(model->get(), scores.data(), 2, &tokens->get(), text.data(), text.size(),
                                   FOVEA_AGGREGATION_SIMPLE, expected, 64, &count, nullptr),
            FOVEA_OK);
  ASSERT_GT(count, 1u);
  ASSERT_EQ(spans->size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ((*spans)[i].begin, expected[i].begin);
    EXPECT_EQ((*spans)[i].label, expected[i].label);
    EXPECT_EQ((*spans)[i].score, expected[i].score);
  }
  EXPECT_EQ(cpp::spans(*model, {scores.data(), 3}, 2, *tokens, text).code(), FOVEA_E_CAPACITY);

  const auto words = cpp::words(text, *tokens, {scores.data(), tokens->size()});
  ASSERT_TRUE(words) << words.text();
  std::string joined;
  float sum = 0, all = 0;
  for (const fovea_word& word : *words) {
    joined += text.substr(word.begin, word.end - word.begin);
    sum += word.weight;
  }
  for (std::size_t i = 0; i < tokens->size(); ++i) all += tokens->special()[i] != 0 ? 0 : scores[i];
  EXPECT_EQ(joined, "Alibrarytoreadcompressedaudiofiles.");
  EXPECT_EQ(sum, all);
  EXPECT_EQ(cpp::words(text, *tokens, {scores.data(), 1}).code(), FOVEA_E_CAPACITY);
  EXPECT_EQ(cpp::words("", *tokens, {scores.data(), tokens->size()}).code(), FOVEA_E_INDEX);
}

TEST(Cpp, FailuresAreReportedAndLeaveEmptyValues) {
  const auto none = cpp::Model::make(cpp::Bytes(Blob().data(), 64));
  EXPECT_FALSE(none);
  EXPECT_EQ(FOVEA_STATUS_CLASS(none.code()), FOVEA_E_BLOB);
  EXPECT_STRNE(none.text(), "");
  EXPECT_EQ(none->get(), nullptr);
  EXPECT_EQ(cpp::Tokenizer(*none).encode("a").code(), FOVEA_E_HANDLE);
  auto session = cpp::Session::make(*none);
  EXPECT_EQ(session.code(), FOVEA_E_HANDLE);
  EXPECT_EQ(session->run().code(), FOVEA_E_HANDLE);
  EXPECT_EQ(session->output<float>("logits").code(), FOVEA_E_HANDLE);
  EXPECT_EQ(session->output<float>("logits")->row(0).size(), 0u);
  EXPECT_STREQ(cpp::Status().text(), "");

  const auto model = cpp::Model::make(View());
  ASSERT_TRUE(model);
  EXPECT_EQ(model->find_space("no such space").code(), FOVEA_E_NAME);
  EXPECT_STREQ(model->find_space("no such space").text(), "FOVEA_E_NAME");
  EXPECT_EQ(model->program(99).code(), FOVEA_E_INDEX);
  EXPECT_EQ(model->find_metadata("no such key"), nullptr);
  const auto program = model->program(0);
  ASSERT_TRUE(program);
  EXPECT_EQ(*model->find_program(program->name), 0u);
  auto other = cpp::Session::make(*model, Options(0));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->run().code(), FOVEA_E_ORDER);
  const auto tokens = cpp::Tokenizer(*model).encode(kText);
  Bind(*model, *tokens, *other);
  ASSERT_TRUE(other->run());
  const auto wrong = other->output<std::int32_t>("logits");
  EXPECT_EQ(wrong.code(), FOVEA_E_OPTION);
  EXPECT_EQ(wrong->rows(), 0u);
  const auto ids = other->input<std::int32_t>("input_ids");
  ASSERT_TRUE(ids) << ids.text();
  EXPECT_EQ(ids->rows(), tokens->size());
  EXPECT_EQ(ids->row(0)[0], tokens->ids()[0]);
  EXPECT_EQ(cpp::Memory::allocate(UINT64_MAX).code(), FOVEA_E_TOO_SMALL);
  EXPECT_EQ(cpp::Memory::allocate(0)->data(), nullptr);
}

TEST(Cpp, GeneratorMakesTheTokensOfTheCCalls) {
  using namespace fovea::test;  // NOLINT: the pair of sessions and its batch
  TinyPair pair(fovea::test::Model(), Decoder(), 6, 30);
  pair.Encode(Decoder(), kTexts);
  TestGenerator expected(pair);
  const Batch all = expected.All();

  auto generator = cpp::Generator::make(expected.options);
  ASSERT_TRUE(generator) << generator.text();
  const cpp::Status started = generator->start();
  ASSERT_TRUE(started) << started.text();
  Batch texts(kTexts.size());
  for (std::uint32_t left = 1; left > 0;) {
    const auto step = generator->next();
    ASSERT_TRUE(step) << step.text();
    for (std::uint32_t i = 0; i < step->texts; ++i) {
      if (step->tokens[i] >= 0) texts[i].push_back(step->tokens[i]);
    }
    left = step->left;
  }
  EXPECT_EQ(texts, all);
  EXPECT_EQ(generator->next().code(), FOVEA_E_ORDER);
  EXPECT_EQ(generator->hypothesis(0, 0).code(), FOVEA_E_OPTION);
}

}  // namespace
