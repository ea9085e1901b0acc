// Wrong calls of every function: each is refused with the status that its comment names, and changes nothing.
#include <algorithm>
#include <functional>
#include <thread>

#include "tests/api/api_fixture.h"
#include "tests/support/every_operation.h"

namespace fovea::test {
namespace {

// Models are made once: they are immutable.
const TestModel& Everything() {
  static const TestModel model{AlignedBytes(tools::WriteBlob(EveryOperation()))};
  return model;
}
// A bound session of the small encoder, ready to run.
struct BoundSession {
  BoundSession() : session(Encoder().model, Options(limits)) {
    session.SetSegments(Encoder().encoder.tokens, {13, 7});
    session.SetInput(Encoder().encoder.ids, RandomIds(20, 50, 1));
  }
  std::vector<fovea_limit> limits = {{Encoder().encoder.texts, 2, 0}, {Encoder().encoder.tokens, 20, 0}};
  TestSession session;
};

// A call, its expected status, and the expected error record.
#define EXPECT_REFUSED(call, wanted)          \
  do {                                        \
    fovea_error error = {};                   \
    EXPECT_EQ(call, wanted) << #call;         \
    EXPECT_EQ(error.status, wanted) << #call; \
    EXPECT_NE(error.text, nullptr) << #call;  \
  } while (false)

TEST(Misuse, NullArguments) {
  const AlignedBytes& blob = Everything().blob;
  const fovea_model* m = Everything().model;
  fovea_model* made = nullptr;
  uint64_t bytes = 0, layout = 0;
  AlignedBytes memory(64);
  EXPECT_REFUSED(fovea_blob_verify(nullptr, 100, &error), FOVEA_E_NULL);
  EXPECT_REFUSED(fovea_model_size(nullptr, 100, nullptr, &bytes, &error), FOVEA_E_NULL);
  EXPECT_REFUSED(fovea_model_size(blob.data(), blob.size(), nullptr, nullptr, &error), FOVEA_E_NULL);
  EXPECT_REFUSED(fovea_model_init(nullptr, 100, nullptr, memory.data(), 64, &made, &error), FOVEA_E_NULL);
  EXPECT_REFUSED(fovea_model_init(blob.data(), blob.size(), nullptr, memory.data(), 64, nullptr, &error), FOVEA_E_NULL);
  EXPECT_REFUSED(fovea_model_init(blob.data(), blob.size(), nullptr, nullptr, UINT64_MAX, &made, &error), FOVEA_E_NULL);
  EXPECT_EQ(made, nullptr);

  EXPECT_EQ(fovea_model_get_info(m, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_model_get_section(m, 0, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_model_get_space(m, 0, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_model_get_tensor(m, 0, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_model_find_metadata(m, nullptr), nullptr);
  const char* text = nullptr;
  EXPECT_EQ(fovea_model_get_metadata(m, 0, nullptr, &text), FOVEA_E_NULL);
  EXPECT_EQ(fovea_model_get_metadata(m, 0, &text, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_model_get_program(m, 0, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_program_get_value(m, 0, 0, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_program_get_step(m, 0, 0, nullptr), FOVEA_E_NULL);
  uint32_t index = 0;
  EXPECT_EQ(fovea_program_find_value(m, 0, nullptr, &index), FOVEA_E_NULL);
  EXPECT_EQ(fovea_program_find_value(m, 0, "ids", nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_program_find_step(m, 0, nullptr, &index), FOVEA_E_NULL);
  EXPECT_EQ(fovea_program_find_step(m, 0, "self", nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_model_find_space(m, nullptr, &index), FOVEA_E_NULL);
  EXPECT_EQ(fovea_model_find_space(m, "tokens", nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_model_find_program(m, nullptr, &index), FOVEA_E_NULL);
  EXPECT_EQ(fovea_model_find_program(m, "main", nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_model_packed_size(m, nullptr, nullptr, &layout), FOVEA_E_NULL);
  EXPECT_EQ(fovea_model_packed_size(m, nullptr, &bytes, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_model_packed_size(m, nullptr, &bytes, &layout), FOVEA_OK);
  if (bytes != 0) EXPECT_REFUSED(fovea_model_pack(m, nullptr, nullptr, bytes, &error), FOVEA_E_NULL);
  const fovea_status unknown = fovea_pack_get_target(0) == nullptr ? FOVEA_E_BUILD : FOVEA_E_NAME;
  EXPECT_EQ(fovea_model_packed_size(m, "x86", &bytes, &layout), unknown);
  EXPECT_REFUSED(fovea_model_pack(m, "x86", nullptr, bytes, &error), unknown);
  EXPECT_EQ(fovea_pack_get_target(~0u), nullptr);
  EXPECT_EQ(fovea_pack_get_tensor(m, 0, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_pack_get_tensor(m, ~0u, &index), FOVEA_E_INDEX);

  const fovea_model* e = Encoder().model.model;
  const std::vector<fovea_limit> limits = {{Encoder().encoder.tokens, 20, 0}};
  const fovea_session_options options = Options(limits);
  fovea_session_memory sizes = Sized<fovea_session_memory>();
  fovea_session* session = nullptr;
  EXPECT_REFUSED(fovea_session_size(e, &options, nullptr, &error), FOVEA_E_NULL);
  ASSERT_EQ(fovea_session_size(e, &options, &sizes, nullptr), FOVEA_OK);
  AlignedBytes fixed(sizes.fixed_size), scratch(sizes.scratch_size);
  sizes.fixed = fixed.data();
  sizes.scratch = scratch.data();
  EXPECT_REFUSED(fovea_session_init(e, &options, nullptr, &session, &error), FOVEA_E_NULL);
  EXPECT_REFUSED(fovea_session_init(e, &options, &sizes, nullptr, &error), FOVEA_E_NULL);
  fovea_session_memory part = sizes;
  part.fixed = nullptr;
  EXPECT_REFUSED(fovea_session_init(e, &options, &part, &session, &error), FOVEA_E_NULL);
  part = sizes;
  part.scratch = nullptr;
  EXPECT_REFUSED(fovea_session_init(e, &options, &part, &session, &error), FOVEA_E_NULL);
  EXPECT_EQ(session, nullptr);
  for (int array = 0; array < 3; ++array) {
    fovea_session_options o = options;
    if (array == 0) o.limits = nullptr;
    if (array == 1) o.keep_count = 1;
    if (array == 2) o.tap_count = 1;
    EXPECT_REFUSED(fovea_session_size(e, &o, &sizes, &error), FOVEA_E_NULL);
  }

  BoundSession s;
  fovea_session* live = s.session.session;
  EXPECT_REFUSED(fovea_session_set_segments(live, Encoder().encoder.tokens, nullptr, 1, &error), FOVEA_E_NULL);
  EXPECT_REFUSED(fovea_session_get_input(live, Encoder().encoder.ids, nullptr, &error), FOVEA_E_NULL);
  ASSERT_EQ(fovea_session_begin(live, nullptr), FOVEA_OK);
  EXPECT_REFUSED(fovea_session_advance(live, 1, nullptr, &error), FOVEA_E_NULL);
  uint32_t left = 0;
  EXPECT_EQ(fovea_session_advance(live, UINT32_MAX, &left, nullptr), FOVEA_OK);
  EXPECT_REFUSED(fovea_session_get_output(live, Encoder().encoder.classes, nullptr, &error), FOVEA_E_NULL);
  const uint32_t* offsets = nullptr;
  EXPECT_REFUSED(fovea_session_get_segments(live, 0, nullptr, &index, &error), FOVEA_E_NULL);
  EXPECT_REFUSED(fovea_session_get_segments(live, 0, &offsets, nullptr, &error), FOVEA_E_NULL);
  EXPECT_REFUSED(fovea_session_get_attention_map(live, 0, nullptr, &error), FOVEA_E_NULL);
  EXPECT_REFUSED(fovea_session_get_sparse_map(live, 0, nullptr, &error), FOVEA_E_NULL);
  EXPECT_REFUSED(fovea_taps_file_size(live, nullptr, &error), FOVEA_E_NULL);
  EXPECT_REFUSED(fovea_taps_file_write(live, nullptr, 0, &error), FOVEA_E_NULL);
  EXPECT_EQ(fovea_session_get_step_ticks(live, 0, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_session_get_step_pairs(live, 0, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_session_get_info(live, nullptr), FOVEA_E_NULL);
}

// The info structs that functions which inspect a model fill in.
struct Infos {
  fovea_section_info section = Sized<fovea_section_info>();
  fovea_space_info space = Sized<fovea_space_info>();
  fovea_tensor_info tensor = Sized<fovea_tensor_info>();
  fovea_program_info program = Sized<fovea_program_info>();
  fovea_value_info value = Sized<fovea_value_info>();
  fovea_step_info step = Sized<fovea_step_info>();
};

// NULL and zeroed memory are not handles.
TEST(Misuse, NotAHandle) {
  const AlignedBytes zeros(4096);
  memset(zeros.data(), 0, zeros.size());
  fovea_model* const models[] = {nullptr, reinterpret_cast<fovea_model*>(zeros.data())};
  for (fovea_model* m : models) {
    fovea_model_info info = Sized<fovea_model_info>();
    Infos infos;
    const char *key, *text;
    uint32_t index;
    uint64_t bytes, layout;
    EXPECT_EQ(fovea_model_get_info(m, &info), FOVEA_E_HANDLE);
    EXPECT_EQ(fovea_model_get_section(m, 0, &infos.section), FOVEA_E_HANDLE);
    EXPECT_EQ(fovea_model_get_space(m, 0, &infos.space), FOVEA_E_HANDLE);
    EXPECT_EQ(fovea_model_get_tensor(m, 0, &infos.tensor), FOVEA_E_HANDLE);
    EXPECT_EQ(fovea_model_find_metadata(m, "name"), nullptr);
    EXPECT_EQ(fovea_model_get_metadata(m, 0, &key, &text), FOVEA_E_HANDLE);
    EXPECT_EQ(fovea_model_get_program(m, 0, &infos.program), FOVEA_E_HANDLE);
    EXPECT_EQ(fovea_program_get_value(m, 0, 0, &infos.value), FOVEA_E_HANDLE);
    EXPECT_EQ(fovea_program_get_step(m, 0, 0, &infos.step), FOVEA_E_HANDLE);
    EXPECT_EQ(fovea_program_find_value(m, 0, "x", &index), FOVEA_E_HANDLE);
    EXPECT_EQ(fovea_program_find_step(m, 0, "x", &index), FOVEA_E_HANDLE);
    EXPECT_EQ(fovea_model_find_space(m, "x", &index), FOVEA_E_HANDLE);
    EXPECT_EQ(fovea_model_find_program(m, "x", &index), FOVEA_E_HANDLE);
    EXPECT_EQ(fovea_model_packed_size(m, nullptr, &bytes, &layout), FOVEA_E_HANDLE);
    EXPECT_EQ(fovea_pack_get_tensor(m, 0, &index), FOVEA_E_HANDLE);
    EXPECT_REFUSED(fovea_model_pack(m, nullptr, zeros.data(), zeros.size(), &error), FOVEA_E_HANDLE);
    fovea_session_memory sizes = Sized<fovea_session_memory>();
    fovea_session* session = nullptr;
    EXPECT_REFUSED(fovea_session_size(m, nullptr, &sizes, &error), FOVEA_E_HANDLE);
    EXPECT_REFUSED(fovea_session_init(m, nullptr, &sizes, &session, &error), FOVEA_E_HANDLE);
    fovea_text_info text_info = Sized<fovea_text_info>();
    fovea_text_tokens tokens = Sized<fovea_text_tokens>();
    char out[4];
    int32_t id = 0;
    uint32_t size;
    EXPECT_REFUSED(fovea_text_get_info(m, &text_info, &error), FOVEA_E_HANDLE);
    EXPECT_REFUSED(fovea_text_scratch_size(m, 1, &bytes, &error), FOVEA_E_HANDLE);
    EXPECT_REFUSED(fovea_text_encode(m, "x", 1, nullptr, 0, nullptr, nullptr, 0, &tokens, &error), FOVEA_E_HANDLE);
    EXPECT_REFUSED(fovea_text_decode(m, &id, 1, 0, out, sizeof(out), &bytes, &error), FOVEA_E_HANDLE);
    fovea_text_stream stream = {};
    stream.struct_size = sizeof(stream);
    EXPECT_REFUSED(fovea_text_decode_next(m, &stream, &id, 1, out, sizeof(out), &bytes, &error), FOVEA_E_HANDLE);
    EXPECT_REFUSED(fovea_text_decode_end(m, &stream, out, sizeof(out), &bytes, &error), FOVEA_E_HANDLE);
    EXPECT_REFUSED(fovea_text_get_token(m, 0, &text, &size, nullptr, &error), FOVEA_E_HANDLE);
    EXPECT_REFUSED(fovea_text_find_token(m, "x", 1, &id, &error), FOVEA_E_HANDLE);
  }
  fovea_session* const sessions[] = {nullptr, reinterpret_cast<fovea_session*>(zeros.data())};
  for (fovea_session* s : sessions) {
    const uint32_t length = 1;
    fovea_view view;
    uint32_t left, count;
    const uint32_t* offsets;
    fovea_attention_map weights = Sized<fovea_attention_map>();
    uint64_t ticks;
    fovea_session_info info = Sized<fovea_session_info>();
    EXPECT_REFUSED(fovea_session_set_segments(s, 0, &length, 1, &error), FOVEA_E_HANDLE);
    EXPECT_REFUSED(fovea_session_get_input(s, 0, &view, &error), FOVEA_E_HANDLE);
    EXPECT_REFUSED(fovea_session_run(s, &error), FOVEA_E_HANDLE);
    EXPECT_REFUSED(fovea_session_begin(s, &error), FOVEA_E_HANDLE);
    EXPECT_REFUSED(fovea_session_advance(s, 1, &left, &error), FOVEA_E_HANDLE);
    EXPECT_REFUSED(fovea_session_get_output(s, 0, &view, &error), FOVEA_E_HANDLE);
    EXPECT_REFUSED(fovea_session_get_segments(s, 0, &offsets, &count, &error), FOVEA_E_HANDLE);
    EXPECT_REFUSED(fovea_session_get_attention_map(s, 0, &weights, &error), FOVEA_E_HANDLE);
    const fovea_sparse_map arrays = Sized<fovea_sparse_map>();
    EXPECT_REFUSED(fovea_session_get_sparse_map(s, 0, &arrays, &error), FOVEA_E_HANDLE);
    uint64_t taps_size = 0;
    EXPECT_REFUSED(fovea_taps_file_size(s, &taps_size, &error), FOVEA_E_HANDLE);
    EXPECT_REFUSED(fovea_taps_file_write(s, &taps_size, sizeof(taps_size), &error), FOVEA_E_HANDLE);
    EXPECT_EQ(fovea_session_get_step_ticks(s, 0, &ticks), FOVEA_E_HANDLE);
    EXPECT_EQ(fovea_session_get_step_pairs(s, 0, &ticks), FOVEA_E_HANDLE);
    EXPECT_EQ(fovea_session_get_info(s, &info), FOVEA_E_HANDLE);
    fovea_session_cancel(s);
    fovea_session_clear_cancel(s);
  }
}

// Every record is optional.
TEST(Misuse, ErrorsNeedNoRecord) {
  EXPECT_EQ(fovea_blob_verify(nullptr, 0, nullptr), FOVEA_E_NULL);
  EXPECT_EQ(fovea_session_run(nullptr, nullptr), FOVEA_E_HANDLE);
  EXPECT_EQ(fovea_model_pack(nullptr, nullptr, nullptr, 0, nullptr), FOVEA_E_HANDLE);
  // A call that succeeds does not write the record.
  fovea_error error;
  memset(&error, 0x5a, sizeof(error));
  const fovea_error before = error;
  EXPECT_EQ(fovea_blob_verify(Everything().blob.data(), Everything().blob.size(), &error), FOVEA_OK);
  EXPECT_EQ(memcmp(&error, &before, sizeof(error)), 0);
}

TEST(Misuse, IndicesPastTheEnd) {
  const fovea_model* m = Everything().model;
  fovea_model_info info = Sized<fovea_model_info>();
  ASSERT_EQ(fovea_model_get_info(m, &info), FOVEA_OK);
  EXPECT_EQ(info.program_count, 2u);
  EXPECT_EQ(info.space_count, 14u);
  EXPECT_EQ(info.metadata_count, 2u);
  EXPECT_EQ(info.has_text, 1u);
  const auto each = [](uint32_t count, const std::function<fovea_status(uint32_t)>& call) {
    for (uint32_t i = 0; i < count; ++i) EXPECT_EQ(call(i), FOVEA_OK) << i;
    for (const uint32_t i : {count, count + 1, 0x7fffffffu, 0x80000000u, 0xfffffffeu, 0xffffffffu}) {
      EXPECT_EQ(call(i), FOVEA_E_INDEX) << i;
    }
  };
  Infos infos;
  const char *key, *text;
  uint32_t found;
  each(info.section_count, [&](uint32_t i) { return fovea_model_get_section(m, i, &infos.section); });
  each(info.space_count, [&](uint32_t i) { return fovea_model_get_space(m, i, &infos.space); });
  each(info.tensor_count, [&](uint32_t i) { return fovea_model_get_tensor(m, i, &infos.tensor); });
  each(info.metadata_count, [&](uint32_t i) { return fovea_model_get_metadata(m, i, &key, &text); });
  each(info.program_count, [&](uint32_t i) { return fovea_model_get_program(m, i, &infos.program); });
  each(info.program_count, [&](uint32_t i) { return fovea_program_get_value(m, i, 0, &infos.value); });
  each(info.program_count, [&](uint32_t i) { return fovea_program_get_step(m, i, 0, &infos.step); });
  for (uint32_t p = 0; p < info.program_count; ++p) {
    ASSERT_EQ(fovea_model_get_program(m, p, &infos.program), FOVEA_OK);
    each(infos.program.value_count, [&](uint32_t i) { return fovea_program_get_value(m, p, i, &infos.value); });
    each(infos.program.step_count, [&](uint32_t i) { return fovea_program_get_step(m, p, i, &infos.step); });
  }
  EXPECT_EQ(fovea_program_find_value(m, 2, "x", &found), FOVEA_E_INDEX);
  EXPECT_EQ(fovea_program_find_step(m, 2, "x", &found), FOVEA_E_INDEX);

  BoundSession s;
  s.session.Run();
  fovea_session* live = s.session.session;
  fovea_view view;
  const uint32_t* offsets;
  uint64_t ticks;
  fovea_attention_map weights = Sized<fovea_attention_map>();
  uint32_t count;
  const uint32_t length = 1;
  for (const uint32_t bad : {1000u, 0x80000000u, 0xffffffffu}) {
    EXPECT_REFUSED(fovea_session_set_segments(live, bad, &length, 1, &error), FOVEA_E_INDEX);
    EXPECT_REFUSED(fovea_session_get_input(live, bad, &view, &error), FOVEA_E_INDEX);
    EXPECT_REFUSED(fovea_session_get_output(live, bad, &view, &error), FOVEA_E_INDEX);
    EXPECT_REFUSED(fovea_session_get_segments(live, bad, &offsets, &count, &error), FOVEA_E_INDEX);
    EXPECT_REFUSED(fovea_session_get_attention_map(live, bad, &weights, &error), FOVEA_E_INDEX);
    const fovea_sparse_map arrays = Sized<fovea_sparse_map>();
    EXPECT_REFUSED(fovea_session_get_sparse_map(live, bad, &arrays, &error), FOVEA_E_INDEX);
    EXPECT_EQ(fovea_session_get_step_ticks(live, bad, &ticks), FOVEA_E_INDEX);
    EXPECT_EQ(fovea_session_get_step_pairs(live, bad, &ticks), FOVEA_E_INDEX);
  }
}

TEST(Misuse, Names) {
  const fovea_model* m = Everything().model;
  uint32_t found = 77;
  EXPECT_EQ(fovea_model_find_program(m, "second", &found), FOVEA_OK);
  EXPECT_EQ(found, 1u);
  EXPECT_EQ(fovea_model_find_space(m, "longer", &found), FOVEA_OK);
  EXPECT_EQ(found, 3u);
  EXPECT_EQ(fovea_program_find_value(m, 0, "types", &found), FOVEA_OK);
  EXPECT_EQ(found, 1u);
  EXPECT_EQ(fovea_program_find_step(m, 0, "self", &found), FOVEA_OK);
  fovea_step_info step = Sized<fovea_step_info>();
  ASSERT_EQ(fovea_program_get_step(m, 0, found, &step), FOVEA_OK);
  EXPECT_STREQ(step.op, "attention");
  EXPECT_STREQ(step.name, "self");
  found = 77;
  for (const char* name : {"", "tokens ", "token", "TOKENS", "main\n"}) {
    EXPECT_EQ(fovea_model_find_program(m, name, &found), FOVEA_E_NAME);
    EXPECT_EQ(fovea_model_find_space(m, name, &found), FOVEA_E_NAME);
    EXPECT_EQ(fovea_program_find_value(m, 0, name, &found), FOVEA_E_NAME);
    EXPECT_EQ(fovea_program_find_step(m, 0, name, &found), FOVEA_E_NAME);
    EXPECT_EQ(fovea_model_find_metadata(m, name), nullptr);
  }
  EXPECT_EQ(found, 77u);
  EXPECT_STREQ(fovea_model_find_metadata(m, "label.0"), "nothing");
  for (int s = -1; s < 0x1000; ++s) EXPECT_NE(fovea_status_name(static_cast<fovea_status>(s)), nullptr);
  EXPECT_STREQ(fovea_status_name(FOVEA_E_INDEX), "FOVEA_E_INDEX");
  EXPECT_STREQ(fovea_status_name(static_cast<fovea_status>(12345)), "unknown status");
}

// Calls a function with structs of every size that a caller of another version could have. `value` has all required
// fields set; the library may write at most struct_size bytes.
template <typename T>
void ForEachSize(const T& value, const std::function<fovea_status(T*)>& call, bool reads_options) {
  struct alignas(T) Room {
    uint8_t bytes[sizeof(T) + 64];
  };
  for (size_t size = 0; size <= sizeof(T) + 64; ++size) {
    // No version ends inside a field, so half a pointer is not a valid size.
    if (reads_options && size > sizeof(size_t) && size < sizeof(T) && size % sizeof(void*) != 0) continue;
    Room room;
    memset(&room, reads_options ? 0 : 0xa5, sizeof(room));
    memcpy(&room, &value, std::min(size, sizeof(T)));
    T* given = reinterpret_cast<T*>(&room);
    memcpy(&room, &size, sizeof(size));
    const fovea_status status = call(given);
    if (size < sizeof(size_t) || size % alignof(size_t) != 0) {
      EXPECT_EQ(status, FOVEA_E_STRUCT_SIZE) << size;
    } else if (size >= sizeof(T)) {
      EXPECT_EQ(status, FOVEA_OK) << size;
    }
    size_t after = 0;
    memcpy(&after, &room, sizeof(after));
    EXPECT_EQ(after, size);
    if (reads_options) {
      // A field that only a later version knows is set.
      for (size_t i = sizeof(T); i < size && size % alignof(size_t) == 0; ++i) {
        room.bytes[i] = 1;
        EXPECT_EQ(call(given), FOVEA_E_STRUCT_SIZE) << size << " byte " << i;
        room.bytes[i] = 0;
      }
    } else {
      for (size_t i = std::max(size, sizeof(size_t)); i < sizeof(room.bytes); ++i) {
        ASSERT_EQ(room.bytes[i], 0xa5) << size << " byte " << i;
      }
    }
  }
}

TEST(Misuse, StructSizes) {
  const AlignedBytes& blob = Everything().blob;
  const fovea_model* m = Everything().model;
  uint64_t bytes = 0;
  ForEachSize<fovea_model_options>(
      {sizeof(fovea_model_options), FOVEA_BACKEND_HIGHWAY, 1},
      [&](fovea_model_options* o) { return fovea_model_size(blob.data(), blob.size(), o, &bytes, nullptr); }, true);
  ForEachSize<fovea_model_info>(
      Sized<fovea_model_info>(), [&](fovea_model_info* i) { return fovea_model_get_info(m, i); }, false);
  const auto filled = [](auto sized, auto call) {
    ForEachSize<decltype(sized)>(
        sized, [&](decltype(sized)* info) { return call(info); }, false);
  };
  filled(Sized<fovea_section_info>(), [&](auto* i) { return fovea_model_get_section(m, 0, i); });
  filled(Sized<fovea_space_info>(), [&](auto* i) { return fovea_model_get_space(m, 0, i); });
  filled(Sized<fovea_tensor_info>(), [&](auto* i) { return fovea_model_get_tensor(m, 0, i); });
  filled(Sized<fovea_program_info>(), [&](auto* i) { return fovea_model_get_program(m, 0, i); });
  filled(Sized<fovea_value_info>(), [&](auto* i) { return fovea_program_get_value(m, 0, 0, i); });
  filled(Sized<fovea_step_info>(), [&](auto* i) { return fovea_program_get_step(m, 0, 0, i); });

  const fovea_model* e = Encoder().model.model;
  const std::vector<fovea_limit> limits = {{Encoder().encoder.tokens, 20, 0}};
  const fovea_session_options options = Options(limits);
  ForEachSize<fovea_session_options>(
      options,
      [&](fovea_session_options* o) {
        fovea_session_memory sizes = Sized<fovea_session_memory>();
        return fovea_session_size(e, o, &sizes, nullptr);
      },
      true);
  fovea_session_memory sizes = Sized<fovea_session_memory>();
  ASSERT_EQ(fovea_session_size(e, &options, &sizes, nullptr), FOVEA_OK);
  AlignedBytes fixed(sizes.fixed_size), scratch(sizes.scratch_size);
  sizes.fixed = fixed.data();
  sizes.scratch = scratch.data();
  fovea_session* session = nullptr;
  ForEachSize<fovea_session_memory>(
      sizes, [&](fovea_session_memory* given) { return fovea_session_init(e, &options, given, &session, nullptr); },
      true);
  const TestSession live(Encoder().model, options);
  ForEachSize<fovea_session_info>(
      Sized<fovea_session_info>(), [&](fovea_session_info* i) { return fovea_session_get_info(live.session, i); },
      false);
}

TEST(Misuse, MisalignedBlobsAndMemory) {
  const AlignedBytes& blob = Everything().blob;
  AlignedBytes moved(blob.size() + 64);
  uint64_t needed = 0;
  ASSERT_EQ(fovea_model_size(blob.data(), blob.size(), nullptr, &needed, nullptr), FOVEA_OK);
  AlignedBytes memory(needed + 64);
  fovea_model* model = nullptr;
  for (uint64_t offset = 1; offset < 64; ++offset) {
    memcpy(moved.data() + offset, blob.data(), blob.size());
    uint64_t size = 0;
    fovea_error error = {};
    EXPECT_EQ(fovea_blob_verify(moved.data() + offset, blob.size(), &error), FOVEA_E_MISALIGNED);
    EXPECT_EQ(error.expected, 64u);
    EXPECT_EQ(error.found, offset);
    EXPECT_EQ(fovea_model_size(moved.data() + offset, blob.size(), nullptr, &size, &error), FOVEA_E_MISALIGNED);
    EXPECT_EQ(fovea_model_init(moved.data() + offset, blob.size(), nullptr, memory.data(), needed, &model, &error),
              FOVEA_E_MISALIGNED);
    EXPECT_EQ(fovea_model_init(blob.data(), blob.size(), nullptr, memory.data() + offset, needed, &model, &error),
              FOVEA_E_MISALIGNED);
    EXPECT_EQ(error.found, offset);
    EXPECT_EQ(model, nullptr);
  }
  const std::vector<fovea_limit> limits = {{Encoder().encoder.tokens, 20, 0}};
  const fovea_session_options options = Options(limits);
  fovea_session_memory sizes = Sized<fovea_session_memory>();
  ASSERT_EQ(fovea_session_size(Encoder().model.model, &options, &sizes, nullptr), FOVEA_OK);
  AlignedBytes fixed(sizes.fixed_size + 64), scratch(sizes.scratch_size + 64);
  fovea_session* session = nullptr;
  for (uint64_t offset = 0; offset < 64; ++offset) {
    for (uint64_t other = 0; other < 64; other += 63) {
      for (const bool swap : {false, true}) {
        fovea_session_memory given = sizes;
        given.fixed = fixed.data() + (swap ? other : offset);
        given.scratch = scratch.data() + (swap ? offset : other);
        const bool good = offset == 0 && other == 0;
        fovea_error error = {};
        EXPECT_EQ(fovea_session_init(Encoder().model.model, &options, &given, &session, &error),
                  good ? FOVEA_OK : FOVEA_E_MISALIGNED);
        EXPECT_EQ(session != nullptr, good);
        if (good) continue;
        EXPECT_EQ(error.section, (swap ? other : offset) != 0 ? 0u : 2u);
      }
    }
  }
}

// A memory function of the caller that returns NULL or unusable memory.
TEST(Misuse, MemoryByAFunction) {
  enum class Fault { kNone, kNull, kMisaligned, kSame, kOverlap };
  struct Giver {
    AlignedBytes bytes{1 << 22};
    Fault fault = Fault::kNone;
    uint64_t used = 0;
    static void* Give(void* context, uint64_t size, uint32_t) {
      Giver& self = *static_cast<Giver*>(context);
      if (self.fault == Fault::kNull) return nullptr;
      if (self.fault == Fault::kMisaligned) return self.bytes.data() + 8;
      if (self.fault == Fault::kSame) return self.bytes.data();
      uint8_t* given = self.bytes.data() + self.used;
      self.used += (size + 63) / 64 * 64 - (self.fault == Fault::kOverlap ? 64 : 0);
      return given;
    }
  };
  const AlignedBytes& blob = Everything().blob;
  const std::vector<fovea_limit> limits = {{Encoder().encoder.tokens, 20, 0}};
  const fovea_session_options options = Options(limits);
  for (const Fault fault : {Fault::kNull, Fault::kMisaligned, Fault::kSame, Fault::kOverlap, Fault::kNone}) {
    Giver giver;
    giver.fault = fault;
    const bool overlaps = fault == Fault::kSame || fault == Fault::kOverlap;
    const fovea_status refused = fault == Fault::kNone         ? FOVEA_OK
                                 : fault == Fault::kNull       ? FOVEA_E_TOO_SMALL
                                 : fault == Fault::kMisaligned ? FOVEA_E_MISALIGNED
                                                               : FOVEA_E_OPTION;
    fovea_session* session = nullptr;
    fovea_error error = {};
    EXPECT_EQ(fovea_session_make(Encoder().model.model, &options, Giver::Give, &giver, &session, &error), refused);
    EXPECT_EQ(session != nullptr, fault == Fault::kNone);
    if (overlaps) {
      EXPECT_EQ(error.section, 2u);  // the scratch block, there is no state
      continue;
    }
    fovea_model* model = nullptr;
    giver.used = 0;
    EXPECT_EQ(fovea_model_make(blob.data(), blob.size(), nullptr, Giver::Give, &giver, &model, &error), refused);
    EXPECT_EQ(model != nullptr, fault == Fault::kNone);
  }
}

TEST(Misuse, Options) {
  const AlignedBytes& blob = Everything().blob;
  uint64_t needed = 0;
  for (const uint32_t backend : {3u, 100u, 0xffffffffu}) {
    const fovea_model_options options = {sizeof(options), backend, 0};
    EXPECT_REFUSED(fovea_model_size(blob.data(), blob.size(), &options, &needed, &error), FOVEA_E_OPTION);
  }
  const fovea_model_options xnnpack = {sizeof(xnnpack), FOVEA_BACKEND_XNNPACK, 0};
  const fovea_status status = fovea_model_size(blob.data(), blob.size(), &xnnpack, &needed, nullptr);
  EXPECT_TRUE(status == FOVEA_OK || status == FOVEA_E_BUILD);
  // Segments, workers and tiles beyond the limits, and a space that does not exist.
  const EncoderModel& e = Encoder();
  fovea_session_memory sizes = Sized<fovea_session_memory>();
  const auto size = [&](const std::vector<fovea_limit>& limits, uint32_t workers, uint32_t tile_rows) {
    const fovea_session_options options = Options(limits, workers, tile_rows);
    return fovea_session_size(e.model.model, &options, &sizes, nullptr);
  };
  // With 32-bit sizes this many rows do not fit into memory.
  EXPECT_EQ(size({{e.encoder.tokens, 0x7fffffff, 0}}, 1, 0), sizeof(size_t) > 4 ? FOVEA_OK : FOVEA_E_OPTION);
  EXPECT_EQ(size({{e.encoder.tokens, 0x80000000, 0}}, 1, 0), FOVEA_E_OPTION);
  EXPECT_EQ(size({{e.encoder.tokens, 0xffffffff, 0}}, 1, 0), FOVEA_E_OPTION);
  EXPECT_EQ(size({{e.encoder.tokens, 10, 64}}, 64, 1024), FOVEA_OK);
  EXPECT_EQ(size({{e.encoder.tokens, 10, 0xffffffff}}, 1, 0), FOVEA_E_OPTION);
  EXPECT_EQ(size({{e.encoder.tokens, 10, 0}}, 0xffffffff, 0), FOVEA_E_OPTION);
  EXPECT_EQ(size({{e.encoder.tokens, 10, 0}}, 1, 0xffffffff), FOVEA_E_OPTION);
  EXPECT_EQ(size({{0xffffffff, 10, 0}}, 1, 0), FOVEA_E_INDEX);
  // A derived space takes no limit.
  const std::vector<fovea_limit> derived = {{3, 10, 0}};
  const fovea_session_options options = Options(derived);
  EXPECT_REFUSED(fovea_session_size(Everything().model, &options, &sizes, &error), FOVEA_E_OPTION);
}

TEST(Misuse, CallsOutOfOrder) {
  const EncoderModel& e = Encoder();
  BoundSession s;
  fovea_session* live = s.session.session;
  fovea_view view;
  uint32_t left = 0, count = 0;
  const uint32_t* offsets;
  const uint32_t lengths[] = {20};
  EXPECT_REFUSED(fovea_session_advance(live, 1, &left, &error), FOVEA_E_ORDER);
  EXPECT_REFUSED(fovea_session_get_output(live, e.encoder.classes, &view, &error), FOVEA_E_ORDER);
  // A run that is cancelled before it begins does not run.
  fovea_session_cancel(live);
  EXPECT_REFUSED(fovea_session_run(live, &error), FOVEA_E_CANCELLED);
  ASSERT_EQ(fovea_session_run(live, nullptr), FOVEA_OK);
  EXPECT_REFUSED(fovea_session_advance(live, 1, &left, &error), FOVEA_E_ORDER);
  EXPECT_EQ(fovea_session_get_output(live, e.encoder.classes, &view, nullptr), FOVEA_OK);
  // During a run new segments are refused (run_in_progress_test.cc); accepted ones invalidate old outputs.
  ASSERT_EQ(fovea_session_begin(live, nullptr), FOVEA_OK);
  EXPECT_REFUSED(fovea_session_get_output(live, e.encoder.classes, &view, &error), FOVEA_E_ORDER);
  ASSERT_EQ(fovea_session_advance(live, 1, &left, nullptr), FOVEA_OK);
  EXPECT_GT(left, 0u);
  EXPECT_REFUSED(fovea_session_set_segments(live, e.encoder.tokens, lengths, 1, &error), FOVEA_E_ORDER);
  ASSERT_EQ(fovea_session_advance(live, UINT32_MAX, &left, nullptr), FOVEA_OK);
  EXPECT_EQ(fovea_session_get_output(live, e.encoder.classes, &view, nullptr), FOVEA_OK);
  ASSERT_EQ(fovea_session_set_segments(live, e.encoder.tokens, lengths, 1, nullptr), FOVEA_OK);
  EXPECT_REFUSED(fovea_session_advance(live, 1, &left, &error), FOVEA_E_ORDER);
  EXPECT_REFUSED(fovea_session_get_output(live, e.encoder.classes, &view, &error), FOVEA_E_ORDER);
  // A refused call changes nothing.
  const uint32_t bad[] = {20, 1};
  EXPECT_REFUSED(fovea_session_set_segments(live, e.encoder.tokens, bad, 2, &error), FOVEA_E_ROWS);
  ASSERT_EQ(fovea_session_get_segments(live, e.encoder.tokens, &offsets, &count, nullptr), FOVEA_OK);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(offsets[1], 20u);
  ASSERT_EQ(fovea_session_get_segments(live, e.encoder.texts, &offsets, &count, nullptr), FOVEA_OK);
  EXPECT_EQ(offsets[count], 1u);
  EXPECT_EQ(fovea_session_run(live, nullptr), FOVEA_OK);
  // Naming the root is allowed, but the count must agree.
  const uint32_t two[] = {2};
  ASSERT_EQ(fovea_session_set_segments(live, e.encoder.texts, two, 1, nullptr), FOVEA_OK);
  EXPECT_REFUSED(fovea_session_run(live, &error), FOVEA_E_SEGMENTS);
  EXPECT_REFUSED(fovea_session_set_segments(live, e.encoder.texts, bad, 2, &error), FOVEA_E_SEGMENTS);
  EXPECT_REFUSED(fovea_session_set_segments(live, e.encoder.texts, two, 0, &error), FOVEA_E_SEGMENTS);
  const std::vector<fovea_limit> limits = {{e.encoder.tokens, 20, 0}};
  const TestSession fresh(e.model, Options(limits));
  EXPECT_REFUSED(fovea_session_get_segments(fresh.session, e.encoder.tokens, &offsets, &count, &error), FOVEA_E_ORDER);
  EXPECT_REFUSED(fovea_session_run(fresh.session, &error), FOVEA_E_ORDER);
}

// Inputs can always be read; keeping one costs nothing.
TEST(Misuse, KeepingAnInput) {
  const EncoderModel& e = Encoder();
  const std::vector<fovea_limit> limits = {{e.encoder.texts, 2, 0}, {e.encoder.tokens, 20, 0}};
  fovea_session_options options = Options(limits);
  const uint32_t keep[] = {e.encoder.ids, e.encoder.classes};
  options.keep = keep;
  options.keep_count = 2;
  TestSession session(e.model, options);
  session.SetSegments(e.encoder.tokens, {5});
  session.SetInput<int32_t>(e.encoder.ids, {1, 2, 3, 4, 5});
  session.Run();
  fovea_view view = {};
  ASSERT_EQ(fovea_session_get_output(session.session, e.encoder.ids, &view, nullptr), FOVEA_OK);
  EXPECT_EQ(view.type, static_cast<uint32_t>(FOVEA_TYPE_I32));
  EXPECT_EQ(static_cast<const int32_t*>(view.data)[4], 5);
}

}  // namespace
}  // namespace fovea::test
