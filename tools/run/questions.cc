// Answers to a question about a text of any length.
#include "tools/run/questions.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/base/fail.h"
#include "tools/model/session.h"
#include "tools/prediction/task.h"
#include "tools/text/text_inputs.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kUsualLength = 384, kUsualStride = 128;  // as in the original
constexpr size_t kTogether = 16;                            // windows of a run

template <typename T>
void Append(const std::vector<T>& from, size_t begin, size_t end, std::vector<T>* to) {
  if (from.empty()) return;
  to->insert(to->end(), from.begin() + static_cast<ptrdiff_t>(begin), from.begin() + static_cast<ptrdiff_t>(end));
}

void AppendTokens(const Tokens& from, size_t begin, size_t end, Tokens* to) {
  Append(from.ids, begin, end, &to->ids);
  Append(from.types, begin, end, &to->types);
  Append(from.special, begin, end, &to->special);
  Append(from.begin, begin, end, &to->begin);
  Append(from.end, begin, end, &to->end);
  Append(from.second, begin, end, &to->second);
}

// Byte-level byte-pair encoding writes a space as this letter.
bool IsByteLevel(const Tokenizer& tokenizer, const Tokens& tokens) {
  return std::any_of(tokens.ids.begin(), tokens.ids.end(),
                     [&](int32_t id) { return tokenizer.Piece(id).rfind("\xc4\xa0", 0) == 0; });
}

struct Scores {
  Matrix starts, ends;
};

Scores ScoresOf(const Model& model, const Session& session) {
  const auto read = [&](const char* name) {
    const std::optional<uint32_t> value = FindOutput(model, session.request().program, name);
    if (!value) Fail("{}: the program has no output '{}'", model.name(), name);
    Matrix rows = session.Output(*value);
    if (rows.width != 1) Fail("{}: output '{}' has {} numbers for a token, not one", model.name(), name, rows.width);
    return rows;
  };
  return {read("start_logits"), read("end_logits")};
}

}  // namespace

std::vector<Tokens> SplitSecond(const Tokens& pair, uint32_t limit, uint32_t shared) {
  size_t begin = 0;
  const size_t all = pair.ids.size();
  const auto inside = [&](size_t i) { return pair.second[i] != 0 && pair.special[i] == 0; };
  while (begin < all && !inside(begin)) ++begin;
  size_t end = begin;
  while (end < all && inside(end)) ++end;
  if (all <= limit) return {pair};
  const size_t around = all - (end - begin);
  if (around >= limit || limit - around <= shared) {
    Fail(
        "the question has {} tokens with the special ones: of the {} that the model reads at once, no more than the {} "
        "that neighbouring parts of the context share are left for the context; shorten the question, or give a "
        "smaller --stride or a larger --max-length",
        around, limit, shared);
  }
  const size_t room = limit - around;
  std::vector<Tokens> windows;
  for (size_t from = begin;; from += room - shared) {
    const size_t to = std::min(from + room, end);
    Tokens window;
    AppendTokens(pair, 0, begin, &window);
    AppendTokens(pair, from, to, &window);
    AppendTokens(pair, end, all, &window);
    windows.push_back(std::move(window));
    if (to == end) return windows;
  }
}

OrderedJson AnswerQuestion(const Model& model, const Tokenizer& tokenizer, const std::string& question,
                           const std::string& context, const QuestionOptions& options) {
  const uint32_t program = FindTextProgram(model, options.program);
  const uint32_t most = MaxTokens(model, program);
  const uint32_t limit = std::min(options.max_length == 0 ? kUsualLength : options.max_length, most);
  const uint32_t shared = options.stride.value_or(std::min(limit / 2, kUsualStride));
  if (ReadsDocuments(model, program)) Fail("{}: reads documents, not a question and a context", model.name());
  const Tokens whole = tokenizer.EncodePair(question, context, 0, PairCut::kNone);
  std::vector<Tokens> parts = SplitSecond(whole, limit, shared);
  for (Tokens& part : parts) PadTokens(model, program, &part);
  const bool byte_level = IsByteLevel(tokenizer, whole);
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
    const Scores scores = ScoresOf(model, session);
    uint32_t row = 0;
    for (const Tokens& tokens : some) {
      AnswerWindow window;
      window.first_is_special = !tokens.special.empty() && tokens.special[0] != 0;
      for (size_t i = 0; i < tokens.ids.size(); ++i, ++row) {
        const bool inside = tokens.second[i] != 0 && tokens.special[i] == 0;
        const bool continues = inside && tokenizer.ContinuesWord(context, tokens, i) &&
                               (!byte_level || IsInsideWord(context, tokens.begin[i]));
        window.tokens.push_back({inside, tokens.begin[i], tokens.end[i], continues});
        window.starts.push_back(scores.starts.Row(row)[0]);
        window.ends.push_back(scores.ends.Row(row)[0]);
      }
      windows.push_back(std::move(window));
    }
    first += count;
  }
  OrderedJson answers = OrderedJson::array();
  for (const Answer& answer : FindAnswers(context, windows, options.rules)) {
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
