// KV caches at their limits: exact memory, no heap, wrong calls, hostile saved texts, texts without end.
#include "runtime/kernels/attention.h"
#include "tests/session/kept_texts.h"
#include "tests/support/fewer_cases.h"
#include "tests/support/heap_trap.h"

namespace fovea::test {
namespace {

constexpr uint32_t kVocabulary = CachedDecoder::kVocabulary;

std::vector<uint8_t> Save(const KeptTexts& texts, uint32_t text) {
  uint64_t size = 0;
  EXPECT_EQ(fovea_cache_saved_size(texts.get(), text, &size, nullptr), FOVEA_OK);
  std::vector<uint8_t> saved(size);
  EXPECT_EQ(fovea_cache_save(texts.get(), text, saved.data(), size, nullptr), FOVEA_OK);
  return saved;
}

fovea_cache_info InfoOf(const KeptTexts& texts) {
  fovea_cache_info info = Sized<fovea_cache_info>();
  EXPECT_EQ(fovea_cache_get_info(texts.get(), &info), FOVEA_OK);
  return info;
}

TEST(CacheLimits, MemoryIsThatOfTheLimits) {
  const CachedDecoder d({});
  const auto limits = d.Limits(4, 16, 128, 64);
  fovea_session_options options = Options(limits);
  options.cached_texts = 6;
  KeptTexts texts(d, options);
  const fovea_cache_info info = InfoOf(texts);
  EXPECT_EQ(info.texts, 6u);
  EXPECT_EQ(info.max_rows, 64u);
  EXPECT_EQ(info.page_rows, kPageRows);
  EXPECT_EQ(info.row_bytes, 2u * 2 * 16 * sizeof(float));  // layers, keys and values, width
  // 128 rows of 6 texts: as many pages as possible with one row each, and the rest full.
  EXPECT_EQ(info.unused_rows, (6 + 122 / kPageRows) * kPageRows);
  EXPECT_GE(info.bytes, info.unused_rows * info.row_bytes);
  EXPECT_LT(info.bytes, info.unused_rows * info.row_bytes + 4096);
  EXPECT_EQ(info.bytes, texts.session().memory.state_size);
}

TEST(CacheLimits, TextsShareWhatTheyHaveInCommon) {
  const CachedDecoder d({});
  const auto limits = d.Limits(1, 100, 200, 100);
  fovea_session_options options = Options(limits);
  options.cached_texts = 8;
  KeptTexts texts(d, options);
  const uint32_t before = InfoOf(texts).unused_rows;
  texts.Append({RandomIds(80, kVocabulary, 1)});
  EXPECT_EQ(InfoOf(texts).unused_rows, before - 3 * kPageRows);
  for (uint32_t to = 1; to < 8; ++to) ASSERT_EQ(fovea_cache_fork(texts.get(), 0, to, nullptr), FOVEA_OK);
  EXPECT_EQ(InfoOf(texts).unused_rows, before - 3 * kPageRows);
  // Each text gets its own copy of the last page when it grows; the last text to do so needs none.
  for (uint32_t text = 0; text < 5; ++text) {
    ASSERT_EQ(fovea_cache_select(texts.get(), &text, 1, nullptr), FOVEA_OK);
    texts.Append({{7}});
  }
  EXPECT_EQ(InfoOf(texts).unused_rows, before - 8 * kPageRows);
  ASSERT_EQ(fovea_session_reset(texts.get(), nullptr), FOVEA_OK);
  EXPECT_EQ(InfoOf(texts).unused_rows, before);
  EXPECT_EQ(texts.Rows(3), 0u);
}

TEST(CacheLimits, ARunThatDoesNotFitChangesNothing) {
  const CachedDecoder d({});
  const auto limits = d.Limits(2, 90, 64, 60);
  KeptTexts texts(d, Options(limits));
  texts.Append({RandomIds(40, kVocabulary, 1), {1, 2}});
  const auto run = [&](const Lengths& lengths, fovea_error* error) {
    texts.session().SetSegments(d.tokens, lengths);
    fovea_view view = {};
    EXPECT_EQ(fovea_session_input(texts.get(), d.ids, &view, nullptr), FOVEA_OK);
    memset(view.data, 0, size_t{view.rows} * view.row_bytes);
    return fovea_session_run(texts.get(), error);
  };
  fovea_error error = {};
  EXPECT_EQ(run({1, 59}, &error), FOVEA_E_LENGTH);
  EXPECT_EQ(error.expected, 60u);
  EXPECT_EQ(error.found, 61u);
  EXPECT_EQ(error.byte, 1u);
  EXPECT_EQ(run({20, 58}, &error), FOVEA_E_ROWS);  // 4 pages, where 64 rows of two texts need 3 at most
  EXPECT_EQ(error.found, 1 * kPageRows);
  EXPECT_EQ(error.expected, 0u);
  EXPECT_EQ(texts.Rows(0), 40u);
  EXPECT_EQ(texts.Rows(1), 2u);
  EXPECT_EQ(run({20, 0}, &error), FOVEA_OK);
  EXPECT_EQ(texts.Rows(0), 60u);
}

TEST(CacheLimits, NothingIsAllocated) {
  if (!fovea::testing::HeapTrap::Works()) GTEST_SKIP() << "the heap is not watched here";
  const CachedDecoder d({DType::kI8, 20});
  const auto limits = d.Limits(2, 8, 200);
  KeptTexts texts(d, Options(limits));
  texts.session().SetSegments(d.tokens, {1, 1});
  texts.session().SetInput<int32_t>(0, {3, 4});
  std::vector<uint8_t> saved(1 << 16);
  uint64_t size = 0;
  const uint32_t order[] = {1, 1};
  fovea::testing::HeapTrap trap;
  for (uint32_t i = 0; i < 100; ++i) {
    ASSERT_EQ(fovea_session_run(texts.get(), nullptr), FOVEA_OK);
    ASSERT_EQ(fovea_cache_reorder(texts.get(), order, i % 20 == 3 ? 2 : 0, nullptr), FOVEA_OK);
    ASSERT_EQ(fovea_cache_rewind(texts.get(), 1, i % 30 == 5 ? 0 : 1, nullptr), FOVEA_OK);
    ASSERT_EQ(fovea_cache_saved_size(texts.get(), 0, &size, nullptr), FOVEA_OK);
    ASSERT_EQ(fovea_cache_save(texts.get(), 0, saved.data(), saved.size(), nullptr), FOVEA_OK);
    ASSERT_EQ(fovea_cache_restore(texts.get(), 0, saved.data(), size, nullptr), FOVEA_OK);
  }
  EXPECT_EQ(trap.calls(), 0u);
}

TEST(CacheLimits, WrongCalls) {
  const CachedDecoder d({});
  const auto limits = d.Limits(2, 8, 64);
  fovea_session_options options = Options(limits);
  options.cached_texts = 3;
  KeptTexts texts(d, options);
  fovea_error error = {};
  const uint32_t twice[] = {1, 1}, beyond[] = {0, 3}, three[] = {0, 1, 2};
  EXPECT_EQ(fovea_cache_select(texts.get(), twice, 2, &error), FOVEA_E_OPTION);
  EXPECT_EQ(error.byte, 1u);
  EXPECT_EQ(fovea_cache_select(texts.get(), beyond, 2, &error), FOVEA_E_INDEX);
  EXPECT_EQ(error.expected, 3u);
  EXPECT_EQ(fovea_cache_select(texts.get(), three, 3, &error), FOVEA_E_SEGMENTS);
  EXPECT_EQ(fovea_cache_select(texts.get(), three, 1, &error), FOVEA_OK);
  texts.session().SetSegments(d.tokens, {1, 1});
  texts.session().SetInput<int32_t>(0, {3, 4});
  EXPECT_EQ(fovea_session_run(texts.get(), &error), FOVEA_E_SEGMENTS);
  uint32_t rows = 0;
  EXPECT_EQ(fovea_cache_rows(texts.get(), 3, &rows, &error), FOVEA_E_INDEX);
  EXPECT_EQ(fovea_cache_rows(texts.get(), 0, nullptr, &error), FOVEA_E_NULL);
  EXPECT_EQ(fovea_cache_rewind(texts.get(), 3, 0, &error), FOVEA_E_INDEX);
  EXPECT_EQ(fovea_cache_rewind(texts.get(), 0, 1, &error), FOVEA_E_LENGTH);
  EXPECT_EQ(fovea_cache_fork(texts.get(), 3, 0, &error), FOVEA_E_INDEX);
  EXPECT_EQ(fovea_cache_fork(texts.get(), 0, 3, &error), FOVEA_E_INDEX);
  EXPECT_EQ(fovea_cache_reorder(texts.get(), beyond, 2, &error), FOVEA_E_INDEX);
  EXPECT_EQ(fovea_cache_reorder(texts.get(), nullptr, 2, &error), FOVEA_E_NULL);
  EXPECT_EQ(fovea_cache_reorder(texts.get(), three, 4, &error), FOVEA_E_INDEX);
  EXPECT_EQ(fovea_cache_rows(nullptr, 0, &rows, &error), FOVEA_E_HANDLE);

  // A program without a KV cache has no texts.
  const std::vector<fovea_limit> plain = {{d.texts, 1, 0}, {d.tokens, 8, 0}};
  TestSession whole(d.model, Options(plain));
  EXPECT_EQ(fovea_cache_rows(whole.session, 0, &rows, &error), FOVEA_E_INDEX);
  EXPECT_EQ(fovea_cache_select(whole.session, three, 1, &error), FOVEA_E_INDEX);
}

TEST(CacheLimits, WrongOptions) {
  const CachedDecoder d({});
  const auto status = [&](const std::vector<fovea_limit>& limits, auto change) {
    fovea_session_options options = Options(limits);
    options.program = 1;
    change(&options);
    fovea_session_memory sizes = Sized<fovea_session_memory>();
    return fovea_session_size(d.model.model, &options, &sizes, nullptr);
  };
  const auto nothing = [](fovea_session_options*) {};
  EXPECT_EQ(status(d.Limits(2, 8, 64), nothing), FOVEA_OK);
  EXPECT_EQ(status({{d.texts, 2, 0}, {d.tokens, 8, 0}}, nothing), FOVEA_E_OPTION);
  EXPECT_EQ(status({}, [](fovea_session_options* o) { o->rows = 30; }), FOVEA_OK);
  EXPECT_EQ(status(d.Limits(2, 8, 0), nothing), FOVEA_E_OPTION);
  EXPECT_EQ(status(d.Limits(2, 8, 64, 513), nothing), FOVEA_E_OPTION);  // the table of positions ends
  EXPECT_EQ(status(d.Limits(2, 8, 64), [](fovea_session_options* o) { o->cached_texts = (1 << 20) + 1; }),
            FOVEA_E_OPTION);
  const uint32_t type = FOVEA_TYPE_I4;
  EXPECT_EQ(status(d.Limits(2, 8, 64), [&](fovea_session_options* o) { o->cache_type = &type; }), FOVEA_E_OPTION);
  // The appended rows cannot be kept as a matrix.
  EXPECT_EQ(status(d.Limits(2, 8, 64), [&](fovea_session_options* o) { o->keep = &d.first_keys, o->keep_count = 1; }),
            FOVEA_E_OPTION);
}

// Every byte of a saved text is changed, and every length cut; a text that is accepted must run.
TEST(CacheLimits, SavedTextsAreChecked) {
  const CachedDecoder d({DType::kF32, 20});
  const auto limits = d.Limits(1, 40, 100);
  fovea_session_options options = Options(limits);
  options.rewind_rows = 2;
  KeptTexts texts(d, options);
  texts.Append({RandomIds(37, kVocabulary, 1)});
  const std::vector<uint8_t> saved = Save(texts, 0);
  const std::vector<float> expected = texts.Append({{5}});
  const auto restore = [&](const std::vector<uint8_t>& bytes, fovea_error* error) {
    return fovea_cache_restore(texts.get(), 0, bytes.data(), bytes.size(), error);
  };
  fovea_error error = {};
  for (size_t size = 1; size < saved.size(); size += size < 300 ? 1 : 61) {
    ASSERT_EQ(restore({saved.begin(), saved.begin() + static_cast<ptrdiff_t>(size)}, &error), FOVEA_E_STATE) << size;
    ASSERT_EQ(texts.Rows(0), 38u);
  }
  uint32_t taken = 0;
  const size_t tables = 48 + 2 * 4 + 4 * 16;  // header, first rows, values
  for (size_t i = 0; i < tables; ++i) {
    for (const uint8_t flip : {0x01, 0x40, 0xff}) {
      std::vector<uint8_t> changed = saved;
      changed[i] ^= flip;
      const fovea_status status = restore(changed, &error);
      if (status == FOVEA_OK) {
        ++taken;
        texts.Append({{5}});
        continue;
      }
      EXPECT_TRUE(status == FOVEA_E_STATE || status == FOVEA_E_LENGTH || status == FOVEA_E_ROWS) << status;
    }
  }
  EXPECT_LE(taken, 3u);  // how far it can be rewound
  ASSERT_EQ(restore(saved, &error), FOVEA_OK) << error.text;
  EXPECT_EQ(texts.Append({{5}}), expected);

  // Another model, another type.
  const CachedDecoder other({DType::kF16, 20});
  KeptTexts others(other, Options(limits));
  EXPECT_EQ(fovea_cache_restore(others.get(), 0, saved.data(), saved.size(), &error), FOVEA_E_STATE);
  const uint32_t type = FOVEA_TYPE_F16;
  options.cache_type = &type;
  KeptTexts halves(d, options);
  EXPECT_EQ(fovea_cache_restore(halves.get(), 0, saved.data(), saved.size(), &error), FOVEA_E_STATE);
  // A session with a smaller cache keeps what it needs; one without room refuses.
  const auto short_limits = d.Limits(1, 40, 100, 36);
  KeptTexts shorter(d, Options(short_limits));
  EXPECT_EQ(fovea_cache_restore(shorter.get(), 0, saved.data(), saved.size(), &error), FOVEA_E_LENGTH);
  KeptTexts fewer(d, Options(limits));
  ASSERT_EQ(fovea_cache_restore(fewer.get(), 0, saved.data(), saved.size(), &error), FOVEA_OK);
  EXPECT_EQ(fewer.Append({{5}}), expected);
}

// 100,000 rows in the bytes of a window; the last 1,000 equal the rows of a session that keeps everything.
TEST(CacheLimits, AWindowGoesOnForEver) {
  const uint32_t rows = FewerCases() ? 3000 : 100000, last = rows / 100;
  const uint32_t window = 512;
  const CachedDecoder d({DType::kF16, window, true, 0});
  const auto limits = d.Limits(1, 50, 50);
  KeptTexts texts(d, Options(limits));
  EXPECT_LT(InfoOf(texts).bytes, (window + 50 + 2 * kPageRows) * InfoOf(texts).row_bytes + 4096);
  const std::vector<int32_t> ids = RandomIds(rows, kVocabulary, 9);
  std::vector<float> tail;
  for (uint32_t at = 0; at < rows; at += 50) {
    const std::vector<float> made = texts.Append({{ids.begin() + at, ids.begin() + at + 50}});
    if (at >= rows - last) tail.insert(tail.end(), made.begin(), made.end());
  }
  EXPECT_EQ(texts.Rows(0), rows);
  // Rows see `window` rows through each of two layers, so this run begins early enough that the compared rows have all
  // of these. Positions do not matter here, but the start of each block of keys does: `begin` is a multiple of all
  // block sizes.
  const uint32_t begin = (rows - last - 3 * window) / 256 * 256;
  const auto all = d.Limits(1, rows, rows, rows);
  const CachedDecoder& same = d;
  KeptTexts longer(same, Options(all));
  const std::vector<float> made = longer.Append({{ids.begin() + begin, ids.end()}});
  EXPECT_EQ(std::vector<float>(made.end() - static_cast<ptrdiff_t>(tail.size()), made.end()), tail);
}

}  // namespace
}  // namespace fovea::test
