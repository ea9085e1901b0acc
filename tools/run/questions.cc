// Answers to a question about a text of any length.
#include "tools/run/questions.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/base/fail.h"
#include "tools/base/sized.h"
#include "tools/model/library_error.h"
#include "tools/model/session.h"
#include "tools/prediction/result_reader.h"
#include "tools/text/text_inputs.h"
#include "tools/text/token_arrays.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kUsualLength = 384, kUsualStride = 128;  // as in the original
constexpr size_t kTogether = 16;                            // windows of a run

}  // namespace

std::vector<Tokens> SplitSecond(const Tokens& pair, uint32_t limit, uint32_t shared) {
  const TokenArrays whole(pair);
  std::vector<Tokens> windows;
  uint64_t count = 1;
  do {
    const size_t room = std::min<size_t>(limit, pair.ids.size());
    Tokens window;
    window.ids.resize(room);
    window.types.resize(room);
    window.special.resize(room);
    std::vector<uint32_t> ranges(2 * room);
    fovea_text_tokens arrays = Sized<fovea_text_tokens>();
    arrays.capacity = room;
    arrays.ids = window.ids.data();
    arrays.types = window.types.data();
    arrays.special = window.special.data();
    arrays.ranges = ranges.data();
    fovea_error error = {};
    const fovea_status status = fovea_result_get_window(whole.get(), limit, shared, windows.size(), &arrays, &error);
    if (status == FOVEA_E_LENGTH) {
      Fail(
          "the question has {} tokens with the special ones: of the {} that the model reads at once, no more than the "
          "{} that neighbouring parts of the context share are left for the context; shorten the question, or give a "
          "smaller --stride or a larger --max-length",
          error.expected - shared - 1, limit, shared);
    }
    Check(status, error, "question and context");
    uint64_t begin = 0, size = 0;
    Check(fovea_result_get_second(&arrays, &begin, &size, &error), error, "question and context");
    const size_t tokens = arrays.count;
    window.ids.resize(tokens);
    window.types.resize(tokens);
    window.special.resize(tokens);
    for (size_t i = 0; i < tokens; ++i) {
      window.begin.push_back(ranges[2 * i]);
      window.end.push_back(ranges[2 * i + 1]);
      window.second.push_back(i < begin ? 0 : 1);
    }
    windows.push_back(std::move(window));
    count = arrays.windows;
  } while (windows.size() < count);
  return windows;
}

OrderedJson AnswerQuestion(const Model& model, const Tokenizer& tokenizer, const std::string& question,
                           const std::string& context, const QuestionOptions& options) {
  const uint32_t program = FindTextProgram(model, options.program);
  const uint32_t most = MaxTokens(model, program);
  const uint32_t limit = std::min(options.max_length == 0 ? kUsualLength : options.max_length, most);
  const uint32_t shared = options.stride.value_or(std::min(limit / 2, kUsualStride));
  if (ReadsDocuments(model, program)) Fail("{}: reads documents, not a question and a context", model.name());
  const fovea_result_info info = ResultInfoOf(model, program);
  const Tokens whole = tokenizer.EncodePair(question, context, 0, PairCut::kNone);
  std::vector<Tokens> parts = SplitSecond(whole, limit, shared);
  for (Tokens& part : parts) PadTokens(model, program, &part);
  const bool alone = model.Space(TokenSpace(model, program)).parent == FOVEA_NONE;
  std::vector<AnswerWindow> windows;
  for (size_t first = 0; first < parts.size();) {
    const size_t count = std::min(alone ? 1 : kTogether, parts.size() - first);
    const std::vector<Tokens> some(parts.begin() + static_cast<ptrdiff_t>(first),
                                   parts.begin() + static_cast<ptrdiff_t>(first + count));
    SessionRequest request;
    request.program = program;
    request.workers = options.workers;
    const Batch batch = BatchFromTokens(model, program, some);
    Session session = SessionFor(model, batch, request);
    session.Run();
    uint32_t row = 0;
    for (const Tokens& tokens : some) {
      const uint32_t rows = static_cast<uint32_t>(tokens.ids.size());
      windows.push_back({tokens, ReadResults(model, session, info, row, rows).values});
      row += rows;
    }
    first += count;
  }
  OrderedJson answers = OrderedJson::array();
  for (const fovea_answer& answer : FindAnswers(model, context, windows, options.answers)) {
    answers.push_back({{"text", context.substr(answer.begin, answer.end - answer.begin)},
                       {"score", answer.score},
                       {"begin", answer.begin},
                       {"end", answer.end},
                       {"begin_character", CharactersBefore(context, answer.begin)},
                       {"end_character", CharactersBefore(context, answer.end)}});
  }
  OrderedJson entry = {
      {"question", question}, {"context", context}, {"tokens", whole.ids.size()}, {"windows", parts.size()}};
  if (parts.size() > 1) {
    entry["window_tokens"] = limit;
    entry["shared_tokens"] = shared;
  }
  entry["answers"] = std::move(answers);
  return entry;
}

void PrintAnswers(std::ostream& out, const OrderedJson& entry) {
  out << Printable(entry["question"].get<std::string>()) << "\n";
  if (entry.contains("window_tokens")) {
    out << fmt::format("  (the context is read in {} parts of up to {} tokens, which share {})\n",
                       entry["windows"].get<size_t>(), entry["window_tokens"].get<uint32_t>(),
                       entry["shared_tokens"].get<uint32_t>());
  }
  if (entry["answers"].empty()) out << "  (the context has no token that could be an answer)\n";
  for (const OrderedJson& answer : entry["answers"]) {
    const std::string text = answer["text"].get<std::string>();
    const double score = answer["score"].get<double>();
    if (text.empty()) {
      out << fmt::format("  {:<7.4f} (no answer)\n", score);
      continue;
    }
    out << fmt::format("  {:<7.4f} {}  ({}-{})\n", score, Printable(text), answer["begin"].get<uint32_t>(),
                       answer["end"].get<uint32_t>());
  }
}

}  // namespace fovea::tools
