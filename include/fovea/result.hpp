/* fovea/result.hpp - lists of results for C++17: answers to a question, spans of tags, words that explain a class.
 *
 * Functions over fovea/result.h, whose comments are the manual; fovea/fovea.hpp has the calls that a list begins with
 * (Model::result, Session::read). A list owns its memory, which grows once if the first guess was too small.
 */
#ifndef FOVEA_RESULT_HPP_
#define FOVEA_RESULT_HPP_

#include "fovea/fovea.hpp"

namespace fovea {
inline namespace FOVEA_CPP {

/* Entries and the memory that holds them; T: a struct of C. */
template <typename T>
class List {
 public:
  List() = default;

  /* `fill` writes up to a capacity of entries: status(T* entries, uint64_t capacity, uint64_t* count, error). */
  template <typename Function>
  static Result<List> filled(std::uint64_t capacity, Function&& fill) {
    for (int turn = 0;; ++turn) {
      const std::uint64_t most = UINT64_MAX / sizeof(T);
      Result<Memory> memory = Memory::allocate(capacity < most ? capacity * sizeof(T) : UINT64_MAX);
      if (!memory) return memory.status();
      List made;
      made.memory_ = *std::move(memory);
      T* entries = static_cast<T*>(made.memory_.data());
      const Status status =
          Status::of([&](fovea_error* error) { return fill(entries, capacity, &made.count_, error); });
      if (status) return made;
      if (status.code() != FOVEA_E_CAPACITY || turn == 1) return status;
      capacity = status.error().expected;
    }
  }

  std::size_t size() const { return static_cast<std::size_t>(count_); }
  const T* begin() const { return static_cast<const T*>(memory_.data()); }
  const T* end() const { return begin() + size(); }
  const T& operator[](std::size_t i) const { return begin()[i]; }

 private:
  Memory memory_;
  std::uint64_t count_ = 0;
};

/* Window `window` of a question and its context (fovea_result_get_window). The number of windows: get().windows. */
inline Result<Tokens> window(const Tokens& pair, std::uint32_t max_length, std::uint32_t stride, std::uint64_t window) {
  Result<Tokens> made = Tokens::make(pair.size() < max_length ? pair.size() : max_length);
  if (!made) return made;
  const Status status = Status::of([&](fovea_error* error) {
    return fovea_result_get_window(&pair.get(), max_length, stride, window, &made->get(), error);
  });
  return status ? std::move(made) : Result<Tokens>(status);
}

/* The best answers of all windows (fovea_result_get_answers). `windows`: Tokens::get() of each; `scores`: of their
 * tokens one after the other, two for each. */
inline Result<List<fovea_answer>> answers(const Model& model, Span<const fovea_text_tokens> windows,
                                          Span<const float> scores, std::string_view context,
                                          const fovea_answer_options& options = FOVEA_ANSWER_OPTIONS_INIT) {
  std::uint64_t tokens = 0;
  for (const fovea_text_tokens& one : windows) tokens += one.count;
  if (scores.size() / 2 < tokens) {
    return Status(FOVEA_E_CAPACITY, "the scores of some tokens are missing", 2 * tokens, scores.size());
  }
  const std::uint64_t top = options.top == 0 ? 1 : options.top;
  const auto fill = [&](fovea_answer* entries, std::uint64_t capacity, std::uint64_t* count, fovea_error* error) {
    return fovea_result_get_answers(model.get(), windows.data(), detail::count_of(windows.size()), scores.data(),
                                    context.data(), context.size(), &options, entries, capacity, count, error);
  };
  return List<fovea_answer>::filled(windows.size() * top + 1, fill);
}

/* The tags of a text merged into spans (fovea_result_get_spans); `scores`: `labels` for each token. */
inline Result<List<fovea_span>> spans(const Model& model, Span<const float> scores, std::uint32_t labels,
                                      const Tokens& tokens, std::string_view text,
                                      std::uint32_t aggregation = FOVEA_AGGREGATION_SIMPLE) {
  if (labels != 0 && scores.size() / labels < tokens.size()) {
    return Status(FOVEA_E_CAPACITY, "the scores of some tokens are missing", std::uint64_t{labels} * tokens.size(),
                  scores.size());
  }
  const auto fill = [&](fovea_span* entries, std::uint64_t capacity, std::uint64_t* count, fovea_error* error) {
    return fovea_result_get_spans(model.get(), scores.data(), labels, &tokens.get(), text.data(), text.size(),
                                  aggregation, entries, capacity, count, error);
  };
  return List<fovea_span>::filled(tokens.size() + 1, fill);
}

/* The words of a text with the sums of their tokens' weights (fovea_result_get_words); a weight for each token. */
inline Result<List<fovea_word>> words(std::string_view text, const Tokens& tokens, Span<const float> weights) {
  if (weights.size() < tokens.size()) {
    return Status(FOVEA_E_CAPACITY, "the weights of some tokens are missing", tokens.size(), weights.size());
  }
  const auto fill = [&](fovea_word* entries, std::uint64_t capacity, std::uint64_t* count, fovea_error* error) {
    return fovea_result_get_words(text.data(), text.size(), &tokens.get(), 0, tokens.size(), weights.data(), entries,
                                  capacity, count, error);
  };
  return List<fovea_word>::filled(tokens.size() + 1, fill);
}

}  // namespace FOVEA_CPP
}  // namespace fovea

#endif /* FOVEA_RESULT_HPP_ */
