// Texts that a session keeps (KV cache): rows in one run, in pieces and one by one, against the whole text in one run;
// joined, rewound, forked, reordered, saved and restored, against a plain model of texts.
#include <map>

#include "tests/session/kept_texts.h"
#include "tests/session/runners.h"
#include "tests/support/combinations.h"
#include "tests/support/fewer_cases.h"

namespace fovea::test {
namespace {

constexpr uint32_t kVocabulary = CachedDecoder::kVocabulary, kWidth = CachedDecoder::kWidth, kMostRows = 160;

std::vector<float> Tail(const std::vector<float>& rows, size_t count) {
  return std::vector<float>(rows.end() - static_cast<ptrdiff_t>(count * kWidth), rows.end());
}
std::vector<int32_t> Slice(const std::vector<int32_t>& ids, size_t begin, size_t end) {
  return std::vector<int32_t>(ids.begin() + static_cast<ptrdiff_t>(begin), ids.begin() + static_cast<ptrdiff_t>(end));
}

// The same bits in pieces of any size, for every type, with and without windows, by any number of workers.
struct PieceCase {
  uint32_t piece, workers;
};
struct CacheCase {
  DType stored;
  uint32_t window;
  bool all_windows;
};

// All rows of `ids`, appended in pieces beside a neighbour that grows in other pieces.
std::vector<float> ByPieces(const CachedDecoder& d, const std::vector<int32_t>& ids, const std::vector<int32_t>& others,
                            const PieceCase& c) {
  const auto limits = d.Limits(2, 300, 320);
  MeetingRunner runner(c.workers);
  fovea_session_options options = Options(limits, c.workers);
  if (c.workers > 1) runner.Join(&options);
  KeptTexts texts(d, options);
  std::vector<float> rows;
  for (uint32_t at = 0; at < ids.size(); at += c.piece) {
    const size_t end = std::min<size_t>(at + c.piece, ids.size());
    const std::vector<float> made =
        texts.Append({Slice(ids, at, end), c.workers == 1 ? std::vector<int32_t>() : Slice(others, 0, at % 3)});
    rows.insert(rows.end(), made.begin(), made.begin() + static_cast<ptrdiff_t>((end - at) * kWidth));
  }
  return rows;
}

TEST(Cache, PiecesGiveTheBitsOfTheWhole) {
  const std::vector<int32_t> ids = RandomIds(150, kVocabulary, 7), others = RandomIds(150, kVocabulary, 8);
  const std::vector<DType> types = {DType::kF32, DType::kF16, DType::kBf16, DType::kI8};
  std::vector<CacheCase> cases = Combinations<CacheCase>(types, std::vector{0u}, std::vector{false});
  for (const CacheCase& c : Combinations<CacheCase>(types, std::vector{20u, 64u}, kOffAndOn)) cases.push_back(c);
  const auto pieces = Combinations<PieceCase>(std::vector{150u, 1u, 7u, 64u}, std::vector{1u, 3u});
  for (const CacheCase& c : cases) {
    const CachedDecoder ground({c.stored, c.window, c.all_windows});
    Whole whole(ground);
    std::vector<float> expected;
    if (c.stored == DType::kF32) expected = whole.Rows(ids);
    for (const PieceCase& by : pieces) {
      const std::vector<float> rows = ByPieces(ground, ids, others, by);
      if (expected.empty()) expected = rows;
      ASSERT_EQ(rows, expected) << "type " << static_cast<uint32_t>(c.stored) << " window " << c.window << " piece "
                                << by.piece << " workers " << by.workers;
    }
  }
}

// A type that the session chooses gives the bits of a program with that type.
TEST(Cache, SessionChoosesTheType) {
  const std::vector<int32_t> ids = RandomIds(70, kVocabulary, 3);
  const CachedDecoder plain({});
  const auto limits = plain.Limits(1, 70, 70);
  for (const DType stored : {DType::kF16, DType::kBf16, DType::kI8}) {
    const CachedDecoder ground({stored});
    KeptTexts expected(ground, Options(limits));
    fovea_session_options options = Options(limits);
    const auto type = static_cast<uint32_t>(stored);
    options.cache_type = &type;
    KeptTexts chosen(plain, options);
    EXPECT_EQ(chosen.Append({ids}), expected.Append({ids}));
    EXPECT_LT(chosen.session().memory.state_size, KeptTexts(plain, Options(limits)).session().memory.state_size);
    EXPECT_EQ(chosen.session().memory.state_size, expected.session().memory.state_size);
  }
}

// A plain model of texts, and random calls.
class RandomCalls {
 public:
  RandomCalls(const CachedDecoder& ground, uint32_t window, uint32_t rewind_rows, uint32_t seed)
      : ground_(ground),
        window_(window),
        rewind_rows_(rewind_rows),
        limits_(ground.Limits(kSegments, 40, kKept, 0)),
        texts_(ground, MakeOptions()),
        whole_(ground),
        plain_(kTexts),
        random_(seed) {}

  void Call() {
    switch (Below(12)) {
      case 0:
        return Rewind();
      case 1:
        return Fork();
      case 2:
        return Reorder();
      case 3:
        return SaveAndRestore();
      case 4:
        return Cancel();
      default:
        return Append();
    }
  }
  void Check() {
    for (uint32_t i = 0; i < kTexts; ++i) ASSERT_EQ(texts_.Rows(i), plain_[i].ids.size());
  }

 private:
  static constexpr uint32_t kTexts = 5, kSegments = 3, kKept = 5 * kMostRows;
  struct Plain {
    std::vector<int32_t> ids;
    size_t least = 0;  // rows it can be rewound to
  };

  fovea_session_options MakeOptions() const {
    fovea_session_options options = Options(limits_);
    options.cached_texts = kTexts;
    options.rewind_rows = rewind_rows_;
    return options;
  }
  uint32_t Below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

  void Append(bool cancel = false) {
    std::vector<uint32_t> chosen;
    const uint32_t count = 1 + Below(kSegments);
    while (chosen.size() < count) {
      const uint32_t text = Below(kTexts);
      if (std::find(chosen.begin(), chosen.end(), text) == chosen.end()) chosen.push_back(text);
    }
    ASSERT_EQ(fovea_cache_select(texts_.get(), chosen.data(), count, nullptr), FOVEA_OK);
    std::vector<std::vector<int32_t>> ids(count);
    for (uint32_t i = 0; i < count; ++i) {
      const size_t room = kMostRows - plain_[chosen[i]].ids.size();
      const auto rows = static_cast<uint32_t>(std::min<size_t>(room, OneIn(3) ? Below(13) : Below(2)));
      ids[i] = RandomIds(rows, 5, static_cast<uint32_t>(random_()));
    }
    if (cancel) return CancelRun(ids);
    const std::vector<float> rows = texts_.Append(ids);
    auto at = rows.begin();
    for (uint32_t i = 0; i < count; ++i) {
      Plain& plain = plain_[chosen[i]];
      plain.ids.insert(plain.ids.end(), ids[i].begin(), ids[i].end());
      if (window_ != 0 && plain.ids.size() > window_ + rewind_rows_) {
        plain.least = std::max(plain.least, plain.ids.size() - rewind_rows_);
      }
      const auto end = at + static_cast<ptrdiff_t>(ids[i].size() * kWidth);
      if (!ids[i].empty()) {
        ASSERT_EQ(std::vector<float>(at, end), Tail(whole_.Rows(plain.ids), ids[i].size())) << "text " << chosen[i];
      }
      at = end;
    }
  }
  // A cancelled run leaves all texts unchanged.
  void Cancel() { Append(true); }
  void CancelRun(const std::vector<std::vector<int32_t>>& ids) {
    std::vector<int32_t> all;
    Lengths lengths;
    for (const auto& of_text : ids) {
      lengths.push_back(static_cast<uint32_t>(of_text.size()));
      all.insert(all.end(), of_text.begin(), of_text.end());
    }
    texts_.session().SetSegments(ground_.tokens, lengths);
    texts_.session().SetInput(ground_.ids, all);
    uint32_t left = 0;
    ASSERT_EQ(fovea_session_begin(texts_.get(), nullptr), FOVEA_OK);
    EXPECT_EQ(fovea_cache_rewind(texts_.get(), 0, 0, nullptr), FOVEA_E_ORDER);
    ASSERT_EQ(fovea_session_advance(texts_.get(), 1 + Below(2), &left, nullptr), FOVEA_OK);
    fovea_session_cancel(texts_.get());
    ASSERT_EQ(fovea_session_advance(texts_.get(), 100, &left, nullptr), FOVEA_E_CANCELLED);
  }
  void Rewind() {
    const uint32_t text = Below(kTexts);
    Plain& plain = plain_[text];
    const uint32_t rows = OneIn(4) ? 0 : Below(static_cast<uint32_t>(plain.ids.size()) + 2);
    const bool possible = rows == 0 || (rows <= plain.ids.size() && rows >= plain.least);
    ASSERT_EQ(texts_.Rewind(text, rows), possible ? FOVEA_OK : FOVEA_E_LENGTH);
    if (!possible) return;
    plain.ids.resize(rows);
    if (rows == 0) plain.least = 0;
  }
  void Fork() {
    const uint32_t from = Below(kTexts), to = Below(kTexts);
    ASSERT_EQ(fovea_cache_fork(texts_.get(), from, to, nullptr), FOVEA_OK);
    plain_[to] = plain_[from];
  }
  void Reorder() {
    std::vector<uint32_t> from(Below(kTexts + 1));
    for (uint32_t& text : from) text = Below(kTexts);
    ASSERT_EQ(fovea_cache_reorder(texts_.get(), from.data(), static_cast<uint32_t>(from.size()), nullptr), FOVEA_OK);
    const std::vector<Plain> before = plain_;
    for (size_t i = 0; i < from.size(); ++i) plain_[i] = before[from[i]];
  }
  void SaveAndRestore() {
    const uint32_t from = Below(kTexts), to = Below(kTexts);
    uint64_t size = 0;
    ASSERT_EQ(fovea_cache_saved_size(texts_.get(), from, &size, nullptr), FOVEA_OK);
    std::vector<uint8_t> saved(size + 1);
    EXPECT_EQ(fovea_cache_save(texts_.get(), from, saved.data() + 1, size - 1, nullptr), FOVEA_E_TOO_SMALL);
    ASSERT_EQ(fovea_cache_save(texts_.get(), from, saved.data() + 1, size, nullptr), FOVEA_OK);
    ASSERT_EQ(fovea_cache_restore(texts_.get(), to, saved.data() + 1, size, nullptr), FOVEA_OK);
    plain_[to] = plain_[from];
  }
  bool OneIn(uint32_t n) { return Below(n) == 0; }

  const CachedDecoder& ground_;
  const uint32_t window_, rewind_rows_;
  const std::vector<fovea_limit> limits_;
  KeptTexts texts_;
  Whole whole_;
  std::vector<Plain> plain_;
  std::mt19937 random_;
};

void CallAtRandom(const CachedDecoder::Shape& shape, uint32_t rewind_rows, uint32_t seed) {
  const CachedDecoder ground(shape);
  RandomCalls calls(ground, shape.window, rewind_rows, seed);
  const uint32_t count = FewerCases() ? 1000 : 2500;  // with each seed below, 1000 fill a text to the last row
  for (uint32_t i = 0; i < count; ++i) {
    calls.Call();
    if (::testing::Test::HasFatalFailure()) break;
    calls.Check();
    if (::testing::Test::HasFatalFailure()) break;
  }
}
TEST(Cache, RandomCallsOnWholeTexts) { CallAtRandom({}, 0, 1); }
TEST(Cache, RandomCallsOnTextsWithAWindowInOneLayer) { CallAtRandom({DType::kF32, 20}, 3, 2); }
TEST(Cache, RandomCallsOnTextsWithWindows) { CallAtRandom({DType::kF32, 20, true}, 0, 5); }
TEST(Cache, RandomCallsOnTextsWithWideWindows) { CallAtRandom({DType::kF32, 70, true}, 9, 4); }
TEST(Cache, RandomCallsOnTextsThatAreConvolved) {
  CachedDecoder::Shape shape = {DType::kF32, 3};
  shape.taps = 4;
  CallAtRandom(shape, 2, 6);
}

}  // namespace
}  // namespace fovea::test
