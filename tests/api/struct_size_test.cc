// A struct_size that was never set: each call refuses it before it reads or writes anything by it. The structs end at
// the end of a page, after which nothing may be touched.
#include <functional>

#include "tests/api/api_fixture.h"
#include "tests/support/cached_decoder.h"
#include "tests/support/every_operation.h"

#if defined(_WIN32)
#include <windows.h>
#elif !defined(__EMSCRIPTEN__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace fovea::test {
namespace {

#if defined(__EMSCRIPTEN__)
// Without pages there is nothing to test.
class Edge {
 public:
  explicit Edge(size_t bytes) : memory_(bytes) {}
  uint8_t* at() const { return memory_.data(); }

 private:
  AlignedBytes memory_;
};
#else
class Edge {
 public:
  explicit Edge(size_t bytes) {
    at_ = TwoPages() + page_ - bytes;
    EXPECT_NE(pages_, nullptr);
  }
#if defined(_WIN32)
  ~Edge() { VirtualFree(pages_, 0, MEM_RELEASE); }
#else
  ~Edge() { munmap(pages_, 2 * page_); }
#endif
  Edge(const Edge&) = delete;
  Edge& operator=(const Edge&) = delete;
  uint8_t* at() const { return at_; }

 private:
  // The second one may not be touched.
  uint8_t* TwoPages() {
#if defined(_WIN32)
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    page_ = info.dwPageSize;
    pages_ = static_cast<uint8_t*>(VirtualAlloc(nullptr, 2 * page_, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
    DWORD before;
    EXPECT_TRUE(VirtualProtect(pages_ + page_, page_, PAGE_NOACCESS, &before));
#else
    page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* pages = mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(pages, MAP_FAILED);
    pages_ = static_cast<uint8_t*>(pages);
    EXPECT_EQ(mprotect(pages_ + page_, page_, PROT_NONE), 0);
#endif
    return pages_;
  }

  size_t page_ = 0;
  uint8_t *pages_ = nullptr, *at_ = nullptr;
};
#endif

// Values that uninitialized memory may have: small numbers, parts of pointers and of texts, ends of ranges.
const size_t kNeverSizes[] = {0,
                              1,
                              sizeof(size_t) - 1,
                              sizeof(size_t) + 1,
                              FOVEA_STRUCT_SIZE_MAX - 1,
                              FOVEA_STRUCT_SIZE_MAX + 1,
                              FOVEA_STRUCT_SIZE_MAX + sizeof(size_t),
                              65536,
                              0x7fffffff,
                              0x80000000,
                              0xffffffff,
                              0xa5a5a5a5,
                              static_cast<size_t>(0x7ffd5c3e9a10),
                              SIZE_MAX / 2 + 1,
                              SIZE_MAX - 7,
                              SIZE_MAX};

// `value` is valid: with its right size the call returns anything but FOVEA_E_STRUCT_SIZE.
template <typename T>
void ExpectRefused(const char* name, const T& value, const std::function<fovea_status(T*)>& call) {
  static_assert(sizeof(T) <= FOVEA_STRUCT_SIZE_MAX / 2, "there is room to grow");
  const Edge edge(sizeof(T));
  T* given = reinterpret_cast<T*>(edge.at());
  T before;
  for (const size_t size : kNeverSizes) {
    memcpy(&before, &value, sizeof(T));
    before.struct_size = size;
    memcpy(given, &before, sizeof(T));
    EXPECT_EQ(call(given), FOVEA_E_STRUCT_SIZE) << name << ", size " << size;
    EXPECT_EQ(memcmp(given, &before, sizeof(T)), 0) << name << ", size " << size;
  }
  memcpy(given, &value, sizeof(T));
  given->struct_size = sizeof(T);
  EXPECT_NE(call(given), FOVEA_E_STRUCT_SIZE) << name;
}

const TestModel& Everything() {
  static const TestModel model{AlignedBytes(tools::WriteBlob(EveryOperation()))};
  return model;
}

TEST(StructSize, OfAModelAndWhatIsInIt) {
  const AlignedBytes& blob = Everything().blob;
  const fovea_model* m = Everything().model;
  uint64_t bytes = 0;
  AlignedBytes memory(1 << 20);
  fovea_model* made = nullptr;
  ExpectRefused<fovea_model_options>("model_size", Sized<fovea_model_options>(), [&](auto* o) {
    return fovea_model_size(blob.data(), blob.size(), o, &bytes, nullptr);
  });
  ExpectRefused<fovea_model_options>("model_init", Sized<fovea_model_options>(), [&](auto* o) {
    return fovea_model_init(blob.data(), blob.size(), o, memory.data(), memory.size(), &made, nullptr);
  });
  ExpectRefused<fovea_model_info>("info", {}, [&](auto* i) { return fovea_model_get_info(m, i); });
  ExpectRefused<fovea_section_info>("section", {}, [&](auto* i) { return fovea_model_get_section(m, 0, i); });
  ExpectRefused<fovea_space_info>("space", {}, [&](auto* i) { return fovea_model_get_space(m, 0, i); });
  ExpectRefused<fovea_tensor_info>("tensor", {}, [&](auto* i) { return fovea_model_get_tensor(m, 0, i); });
  ExpectRefused<fovea_program_info>("program", {}, [&](auto* i) { return fovea_model_get_program(m, 0, i); });
  ExpectRefused<fovea_value_info>("value", {}, [&](auto* i) { return fovea_program_get_value(m, 0, 0, i); });
  ExpectRefused<fovea_step_info>("step", {}, [&](auto* i) { return fovea_program_get_step(m, 0, 0, i); });
}

TEST(StructSize, OfSessions) {
  const EncoderModel& e = Encoder();
  const fovea_model* m = e.model.model;
  const std::vector<fovea_limit> limits = {{e.encoder.texts, 2, 0}, {e.encoder.tokens, 20, 0}};
  fovea_session_options options = Options(limits);
  const fovea_tap tap = TapOf(e.encoder.attention_steps[0]);
  const fovea_tap sparse = TapOf(e.encoder.attention_steps[1], FOVEA_TAP_SPARSE);
  const fovea_tap taps[] = {tap, sparse};
  options.taps = taps;
  options.tap_count = 2;
  TestSession session(e.model, options);
  fovea_session* s = session.session;
  session.SetSegments(e.encoder.tokens, {13, 7});
  session.SetInput(e.encoder.ids, RandomIds(20, 50, 1));
  session.Run();
  fovea_session_memory sizes = Sized<fovea_session_memory>();
  ASSERT_EQ(fovea_session_size(m, &options, &sizes, nullptr), FOVEA_OK);
  ExpectRefused<fovea_session_options>("session_size", options,
                                       [&](auto* o) { return fovea_session_size(m, o, &sizes, nullptr); });
  fovea_session* made = nullptr;
  const TestSession other(e.model, options);  // whose memory is used again
  ExpectRefused<fovea_session_memory>("session_init", other.memory, [&](auto* given) {
    return fovea_session_init(m, &options, given, &made, nullptr);
  });
  ExpectRefused<fovea_session_memory>("sizes", {},
                                      [&](auto* given) { return fovea_session_size(m, &options, given, nullptr); });
  ExpectRefused<fovea_tap>("a tap", tap, [&](auto* given) {
    fovea_session_options tapped = options;
    tapped.taps = given;
    tapped.tap_count = 1;
    return fovea_session_size(m, &tapped, &sizes, nullptr);
  });
  // Structs in an array may be larger than the library's: struct_size of the first one is the stride.
  fovea_tap pair[] = {tap, sparse};
  for (const size_t size : kNeverSizes) {
    pair[1].struct_size = size;
    options.taps = pair;
    EXPECT_EQ(fovea_session_size(m, &options, &sizes, nullptr), FOVEA_E_STRUCT_SIZE) << size;
  }
  ExpectRefused<fovea_session_info>("info", {}, [&](auto* i) { return fovea_session_get_info(s, i); });
  ExpectRefused<fovea_cache_info>("cache", {}, [&](auto* i) { return fovea_cache_get_info(s, i); });
  ExpectRefused<fovea_attention_map>("weights", {},
                                     [&](auto* w) { return fovea_session_get_attention_map(s, 0, w, nullptr); });
  ExpectRefused<fovea_sparse_map>("sparse", {},
                                  [&](auto* a) { return fovea_session_get_sparse_map(s, 1, a, nullptr); });
  ExpectRefused<fovea_text_tokens>("text_bind", {}, [&](auto* t) { return fovea_text_bind(s, t, 1, nullptr); });
  const fovea_text_tokens none = Sized<fovea_text_tokens>();
  ExpectRefused<fovea_text_sentences>("text_bind_documents", {}, [&](auto* sentences) {
    return fovea_text_bind_documents(s, &none, sentences, 1, nullptr);
  });
}

TEST(StructSize, OfTexts) {
  const fovea_model* m = Everything().model;
  AlignedBytes scratch(1 << 16);
  fovea_text_tokens tokens = Sized<fovea_text_tokens>();
  fovea_text_sentences sentences = Sized<fovea_text_sentences>();
  const auto encode = [&](const fovea_text_encode_options* options, fovea_text_tokens* to) {
    return fovea_text_encode(m, "a", 1, nullptr, 0, options, scratch.data(), scratch.size(), to, nullptr);
  };
  const auto document = [&](const fovea_text_encode_options* options, fovea_text_tokens* to, fovea_text_sentences* in) {
    return fovea_text_encode_document(m, "a", 1, options, scratch.data(), scratch.size(), to, in, nullptr);
  };
  ExpectRefused<fovea_text_info>("info", {}, [&](auto* i) { return fovea_text_get_info(m, i, nullptr); });
  ExpectRefused<fovea_text_encode_options>("encode", {}, [&](auto* o) { return encode(o, &tokens); });
  ExpectRefused<fovea_text_encode_options>("document", {}, [&](auto* o) { return document(o, &tokens, &sentences); });
  ExpectRefused<fovea_text_tokens>("tokens", {}, [&](auto* t) { return encode(nullptr, t); });
  ExpectRefused<fovea_text_tokens>("tokens", {}, [&](auto* t) { return document(nullptr, t, &sentences); });
  ExpectRefused<fovea_text_sentences>("sentences", {}, [&](auto* s) { return document(nullptr, &tokens, s); });
  const int32_t id = 0;
  char out[16];
  uint64_t written = 0;
  ExpectRefused<fovea_text_stream>("decode_next", {}, [&](auto* s) {
    return fovea_text_decode_next(m, s, &id, 1, out, sizeof(out), &written, nullptr);
  });
  ExpectRefused<fovea_text_stream>(
      "decode_end", {}, [&](auto* s) { return fovea_text_decode_end(m, s, out, sizeof(out), &written, nullptr); });
  const char* const strings[] = {"stop"};
  ASSERT_EQ(fovea_stop_size(strings, nullptr, 1, &written, nullptr), FOVEA_OK);
  AlignedBytes memory(written);
  fovea_stop* stop = nullptr;
  ASSERT_EQ(fovea_stop_init(strings, nullptr, 1, memory.data(), written, &stop, nullptr), FOVEA_OK);
  ExpectRefused<fovea_stopped>("stopped", {}, [&](auto* s) { return fovea_stop_next(stop, "x", 1, s, nullptr); });
}

TEST(StructSize, OfGeneration) {
  const CachedDecoder d({}, {{"generate.token", "ids"}, {"generate.scores", "scores"}});
  const std::vector<fovea_limit> limits = d.Limits(2, 40, 120);
  fovea_session_options of_session = Options(limits);
  of_session.program = 1;
  const TestSession session(d.model, of_session);
  fovea_beams beams = Sized<fovea_beams>();
  beams.width = 2;
  fovea_generate_options options = Sized<fovea_generate_options>();
  options.decode = session.session;
  options.max_tokens = 4;
  uint64_t needed = 0;
  ExpectRefused<fovea_generate_options>("options", options,
                                        [&](auto* o) { return fovea_generate_size(o, &needed, nullptr); });
  ExpectRefused<fovea_sampling>("sampling", {}, [&](auto* sampling) {
    fovea_generate_options given = options;
    given.sampling = sampling;
    return fovea_generate_size(&given, &needed, nullptr);
  });
  ExpectRefused<fovea_beams>("beams", beams, [&](auto* given_beams) {
    fovea_generate_options given = options;
    given.beams = given_beams;
    return fovea_generate_size(&given, &needed, nullptr);
  });
  options.beams = &beams;
  fovea_error error = {};
  ASSERT_EQ(fovea_generate_size(&options, &needed, &error), FOVEA_OK) << error.text;
  const AlignedBytes memory(needed);
  fovea_generator* generator = nullptr;
  ASSERT_EQ(fovea_generate_init(&options, memory.data(), needed, &generator, &error), FOVEA_OK) << error.text;
  const int32_t prompt = 7;
  const uint32_t length = 1;
  ASSERT_EQ(fovea_generate_start(generator, &error), FOVEA_OK) << error.text;
  ASSERT_EQ(fovea_generate_set_prompts(generator, &prompt, &length, 1, 0, &error), FOVEA_OK) << error.text;
  ExpectRefused<fovea_generated>("generated", {},
                                 [&](auto* g) { return fovea_generate_next(generator, nullptr, g, nullptr); });
  ExpectRefused<fovea_hypothesis>("beam", {},
                                  [&](auto* h) { return fovea_generate_get_beam(generator, 0, h, nullptr); });
  while (fovea_generate_next(generator, nullptr, nullptr, nullptr) == FOVEA_OK) {
  }
  ExpectRefused<fovea_hypothesis>("hypothesis", {},
                                  [&](auto* h) { return fovea_generate_get_hypothesis(generator, 0, 0, h, nullptr); });
}

TEST(StructSize, OfTheAttentionFunction) {
  fovea_attention_options options = Sized<fovea_attention_options>();
  options.heads = 1, options.kv_heads = 1, options.d_k = 16, options.d_v = 16;
  uint64_t bytes = 0;
  const auto with = [&](auto member, auto value) {
    using T = decltype(value);
    ExpectRefused<T>("a part", value, [&](T* part) {
      fovea_attention_options given = options;
      given.*member = part;
      return fovea_attention_scratch_size(&given, &bytes, nullptr);
    });
  };
  ExpectRefused<fovea_attention_options>("options", options,
                                         [&](auto* o) { return fovea_attention_scratch_size(o, &bytes, nullptr); });
  ExpectRefused<fovea_attention_options>("pairs", options,
                                         [&](auto* o) { return fovea_attention_pairs(o, 3, 3, &bytes, nullptr); });
  ExpectRefused<fovea_attention_options>("run", options, [&](auto* o) {
    return fovea_attention_run(o, nullptr, nullptr, nullptr, nullptr, nullptr, 0, nullptr);
  });
  with(&fovea_attention_options::pattern, fovea_attention_pattern{});
  with(&fovea_attention_options::score, fovea_attention_score{});
  with(&fovea_attention_options::weighting, fovea_attention_weighting{});
  with(&fovea_attention_options::positions, fovea_attention_positions{});
  with(&fovea_attention_options::kept, fovea_attention_kept{});
}

}  // namespace
}  // namespace fovea::test
