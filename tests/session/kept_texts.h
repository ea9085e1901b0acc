// Sessions of a small decoder: one with a KV cache, and one that runs whole texts, whose results are the expected ones.
#ifndef FOVEA_TESTS_SESSION_KEPT_TEXTS_H_
#define FOVEA_TESTS_SESSION_KEPT_TEXTS_H_

#include <map>

#include "tests/support/cached_decoder.h"

namespace fovea::test {

// A session that keeps texts.
class KeptTexts {
 public:
  KeptTexts(const CachedDecoder& d, fovea_session_options options) : d_(d), session_(d.model, Kept(options)) {}

  fovea_session* get() const { return session_.session; }
  // New tokens of each text; returns the rows that the run made, of all of them.
  std::vector<float> Append(const std::vector<std::vector<int32_t>>& ids) {
    std::vector<int32_t> all;
    Lengths lengths;
    for (const auto& of_text : ids) {
      lengths.push_back(static_cast<uint32_t>(of_text.size()));
      all.insert(all.end(), of_text.begin(), of_text.end());
    }
    session_.SetSegments(d_.tokens, lengths);
    session_.SetInput(d_.ids, all);
    session_.Run();
    return session_.Output(d_.hidden);
  }
  uint32_t Rows(uint32_t text) const {
    uint32_t rows = 0;
    EXPECT_EQ(fovea_cache_rows(get(), text, &rows, nullptr), FOVEA_OK);
    return rows;
  }
  fovea_status Rewind(uint32_t text, uint32_t rows) { return fovea_cache_rewind(get(), text, rows, nullptr); }
  TestSession& session() { return session_; }

 private:
  static fovea_session_options Kept(fovea_session_options options) {
    options.program = 1;
    return options;
  }
  const CachedDecoder& d_;
  TestSession session_;
};

// All rows of one text, by the program that takes it whole.
class Whole {
 public:
  explicit Whole(const CachedDecoder& d, uint32_t rows = 160)
      : d_(d), limits_({{d.texts, 1, 0}, {d.tokens, rows, 0}}), session_(d.model, Options(limits_)) {}
  const std::vector<float>& Rows(const std::vector<int32_t>& ids) {
    std::vector<float>& rows = known_[ids];
    if (!rows.empty() || ids.empty()) return rows;
    session_.SetSegments(d_.tokens, {static_cast<uint32_t>(ids.size())});
    session_.SetInput(d_.ids, ids);
    session_.Run();
    return rows = session_.Output(d_.whole);
  }

 private:
  const CachedDecoder& d_;
  const std::vector<fovea_limit> limits_;
  TestSession session_;
  std::map<std::vector<int32_t>, std::vector<float>> known_;
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SESSION_KEPT_TEXTS_H_
