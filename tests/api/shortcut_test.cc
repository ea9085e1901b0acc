// Calls that combine several calls: same results as the separate calls, and the same refusals.
#include <memory>

#include "runtime/blob/attributes.h"
#include "tests/api/api_fixture.h"

namespace fovea::test {
namespace {

// A memory function of the caller that records the sizes it was called with.
struct Memory {
  static void* Get(void* context, uint64_t size, uint32_t block) {
    Memory& memory = *static_cast<Memory*>(context);
    memory.asked.push_back(size);
    memory.kinds.push_back(block);
    if (memory.asked.size() > memory.most) return nullptr;
    memory.blocks.emplace_back(size + memory.offset);
    return memory.blocks.back().data() + memory.offset;
  }
  size_t most = SIZE_MAX, offset = 0;
  std::vector<uint64_t> asked;
  std::vector<uint32_t> kinds;
  std::vector<AlignedBytes> blocks;
};

TEST(Shortcut, ModelIsMadeInMemoryOfTheExactSize) {
  const AlignedBytes& blob = Encoder().model.blob;
  uint64_t needed = 0;
  ASSERT_EQ(fovea_model_size(blob.data(), blob.size(), nullptr, &needed, nullptr), FOVEA_OK);
  Memory memory;
  fovea_model* model = nullptr;
  ASSERT_EQ(fovea_model_make(blob.data(), blob.size(), nullptr, Memory::Get, &memory, &model, nullptr), FOVEA_OK);
  EXPECT_EQ(memory.asked, std::vector<uint64_t>{needed});
  EXPECT_EQ(memory.kinds, std::vector<uint32_t>{FOVEA_BLOCK_MODEL});
  fovea_model_info info = Sized<fovea_model_info>();
  EXPECT_EQ(fovea_model_get_info(model, &info), FOVEA_OK);

  fovea_error error = {};
  const auto make = [&](Memory* from, const fovea_model_options* options) {
    return fovea_model_make(blob.data(), blob.size(), options, Memory::Get, from, &model, &error);
  };
  Memory none, odd;
  none.most = 0;
  odd.offset = 4;
  EXPECT_EQ(make(&none, nullptr), FOVEA_E_TOO_SMALL);
  EXPECT_EQ(error.expected, needed);
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(make(&odd, nullptr), FOVEA_E_MISALIGNED);
  Memory unasked;
  const fovea_model_options options = {sizeof(options), 99, 0};
  EXPECT_EQ(make(&unasked, &options), FOVEA_E_OPTION);
  EXPECT_TRUE(unasked.asked.empty());
  EXPECT_EQ(fovea_model_make(blob.data(), blob.size(), nullptr, nullptr, nullptr, &model, &error), FOVEA_E_NULL);
  EXPECT_EQ(fovea_model_make(blob.data(), blob.size(), nullptr, Memory::Get, &memory, nullptr, &error), FOVEA_E_NULL);
}

TEST(Shortcut, SessionIsMadeInMemoryOfTheExactSizes) {
  const EncoderModel& e = Encoder();
  fovea_session_options options = Sized<fovea_session_options>();
  options.rows = 20;
  fovea_session_memory sizes = Sized<fovea_session_memory>();
  ASSERT_EQ(fovea_session_size(e.model.model, &options, &sizes, nullptr), FOVEA_OK);
  ASSERT_EQ(sizes.state_size, 0u);
  Memory memory;
  fovea_session* session = nullptr;
  fovea_error error = {};
  const auto make = [&](Memory* from) {
    return fovea_session_make(e.model.model, &options, Memory::Get, from, &session, &error);
  };
  ASSERT_EQ(make(&memory), FOVEA_OK);
  EXPECT_EQ(memory.asked, (std::vector<uint64_t>{sizes.fixed_size, sizes.scratch_size}));
  EXPECT_EQ(memory.kinds, (std::vector<uint32_t>{FOVEA_BLOCK_FIXED, FOVEA_BLOCK_SCRATCH}));
  EXPECT_EQ(fovea_session_run(session, nullptr), FOVEA_E_ORDER);
  for (const size_t most : {0, 1}) {
    Memory little;
    little.most = most;
    EXPECT_EQ(make(&little), FOVEA_E_TOO_SMALL);
    EXPECT_EQ(error.section, most == 0 ? 0u : 2u);
    EXPECT_EQ(error.expected, most == 0 ? sizes.fixed_size : sizes.scratch_size);
    EXPECT_EQ(session, nullptr);
  }
  Memory odd;
  odd.offset = 4;
  EXPECT_EQ(make(&odd), FOVEA_E_MISALIGNED);
  EXPECT_EQ(fovea_session_make(e.model.model, &options, nullptr, nullptr, &session, &error), FOVEA_E_NULL);
  EXPECT_EQ(fovea_session_make(e.model.model, &options, Memory::Get, &memory, nullptr, &error), FOVEA_E_NULL);
  EXPECT_EQ(fovea_session_make(nullptr, &options, Memory::Get, &memory, &session, &error), FOVEA_E_HANDLE);
}

// options.rows and options.texts are the limits of spaces without a limit, and only of these.
TEST(Shortcut, RowsStandForLimits) {
  const EncoderModel& e = Encoder();
  const auto size = [&](const std::vector<fovea_limit>& limits, uint64_t rows, fovea_session_memory* sizes,
                        uint64_t texts = 0) {
    fovea_session_options options = Options(limits);
    options.rows = rows;
    options.texts = texts;
    *sizes = Sized<fovea_session_memory>();
    return fovea_session_size(e.model.model, &options, sizes, nullptr);
  };
  const auto same = [](const fovea_session_memory& a, const fovea_session_memory& b) {
    return a.fixed_size == b.fixed_size && a.state_size == b.state_size && a.scratch_size == b.scratch_size;
  };
  fovea_session_memory spelled, shortened;
  ASSERT_EQ(size({{e.encoder.tokens, 37, 0}}, 0, &spelled), FOVEA_OK);
  ASSERT_EQ(size({}, 37, &shortened), FOVEA_OK);
  EXPECT_TRUE(same(spelled, shortened));
  ASSERT_EQ(size({{e.encoder.tokens, 37, 0}}, 50, &shortened), FOVEA_OK);
  EXPECT_TRUE(same(spelled, shortened));
  ASSERT_EQ(size({{e.encoder.texts, 3, 0}, {e.encoder.tokens, 37, 0}}, 0, &spelled), FOVEA_OK);
  ASSERT_EQ(size({{e.encoder.texts, 3, 0}}, 37, &shortened), FOVEA_OK);
  EXPECT_TRUE(same(spelled, shortened));
  ASSERT_EQ(size({}, 37, &shortened, 3), FOVEA_OK);
  EXPECT_TRUE(same(spelled, shortened));
  ASSERT_EQ(size({{e.encoder.tokens, 37, 0}}, 0, &shortened, 3), FOVEA_OK);
  EXPECT_TRUE(same(spelled, shortened));
  ASSERT_EQ(size({{e.encoder.texts, 3, 0}}, 37, &shortened, 9), FOVEA_OK);
  EXPECT_TRUE(same(spelled, shortened));
  EXPECT_EQ(size({}, 0, &spelled), FOVEA_E_OPTION);
  EXPECT_EQ(size({}, 0, &spelled, 3), FOVEA_E_OPTION);
  EXPECT_EQ(size({}, 37, &spelled, uint64_t{1} << 32), FOVEA_E_OPTION);
  for (const uint64_t rows : {uint64_t{1} << 31, uint64_t{1} << 32, (uint64_t{1} << 32) + 1, UINT64_MAX}) {
    EXPECT_EQ(size({}, rows, &spelled), FOVEA_E_OPTION) << rows;
  }
}

TEST(Shortcut, OutputsByName) {
  const EncoderModel& e = Encoder();
  const std::vector<fovea_limit> limits = {{e.encoder.texts, 2, 0}, {e.encoder.tokens, 20, 0}};
  TestSession s(e.model, Options(limits));
  fovea_value_info info = Sized<fovea_value_info>();
  ASSERT_EQ(fovea_program_get_value(e.model.model, 0, e.encoder.classes, &info), FOVEA_OK);
  fovea_view view = {}, same = {};
  fovea_error error = {};
  EXPECT_EQ(fovea_session_find_output(s.session, info.name, &view, &error), FOVEA_E_ORDER);
  s.SetSegments(e.encoder.tokens, {13, 7});
  s.SetInput(e.encoder.ids, RandomIds(20, 50, 1));
  s.Run();
  ASSERT_EQ(fovea_session_find_output(s.session, info.name, &view, &error), FOVEA_OK);
  ASSERT_EQ(fovea_session_get_output(s.session, e.encoder.classes, &same, &error), FOVEA_OK);
  EXPECT_EQ(view.data, same.data);
  EXPECT_EQ(view.rows, 2u);
  EXPECT_EQ(view.width, 7u);
  EXPECT_EQ(fovea_session_find_output(s.session, "input_ids", &view, &error), FOVEA_E_INDEX);
  EXPECT_EQ(fovea_session_find_output(s.session, "input_id", &view, &error), FOVEA_E_NAME);
  EXPECT_EQ(fovea_session_find_output(s.session, nullptr, &view, &error), FOVEA_E_NULL);
  EXPECT_EQ(fovea_session_find_output(s.session, info.name, nullptr, &error), FOVEA_E_NULL);
  EXPECT_EQ(fovea_session_find_output(nullptr, info.name, &view, &error), FOVEA_E_HANDLE);
}

TEST(Shortcut, Labels) {
  ModelBuilder b;
  BuildTinyEncoder(b, DType::kF32);
  for (const char* number : {"0", "7", "10", "4294967295"}) {
    b.content().metadata.push_back({std::string("label.") + number, std::string("class ") + number});
  }
  b.content().metadata.push_back({"label.08", "no number"});
  const TestModel model(b.Blob());
  EXPECT_STREQ(fovea_model_get_label(model.model, 0), "class 0");
  EXPECT_STREQ(fovea_model_get_label(model.model, 7), "class 7");
  EXPECT_STREQ(fovea_model_get_label(model.model, 10), "class 10");
  EXPECT_STREQ(fovea_model_get_label(model.model, 4294967295u), "class 4294967295");
  EXPECT_STREQ(fovea_model_get_label(model.model, 8), "");
  EXPECT_STREQ(fovea_model_get_label(model.model, 1), "");
  EXPECT_STREQ(fovea_model_get_label(nullptr, 0), "");
}

// A model of ids and types: the sum of a row of each table.
struct Typed {
  explicit Typed(const char* ids_name = "input_ids", DType types_type = DType::kI32, bool other_space = false) {
    const uint32_t texts = b.Space("texts");
    tokens = b.Space("tokens", texts);
    const uint32_t other = b.Space("other", texts);
    ids = b.Input(ids_name, tokens, 1, DType::kI32);
    const bool f32 = types_type == DType::kF32;
    types = b.Input("token_type_ids", other_space ? other : tokens, f32 ? 8 : 1, types_type);
    const bool together = !f32 && !other_space;
    sum = b.Op("embed", together ? std::vector<uint32_t>{ids, types} : std::vector<uint32_t>{ids},
               together ? std::vector<uint32_t>{b.RandomTensor(50, 8), b.RandomTensor(3, 8)}
                        : std::vector<uint32_t>{b.RandomTensor(50, 8)},
               tokens, 8);
    b.SetOutput(sum);
    if (f32) b.SetOutput(b.Op("scale", {types}, {}, tokens, 8, {{Attribute::kScale, 2.0}}));
    if (other_space) b.SetOutput(b.Op("embed", {types}, {b.RandomTensor(3, 8)}, other, 8));
    model = std::make_unique<TestModel>(b.Blob());
    options.rows = 30;
    root = {{texts, 9, 0}};
    options.limits = root.data();
    options.limit_count = 1;
    session = std::make_unique<TestSession>(*model, options);
  }
  fovea_status Bind(const std::vector<fovea_text_tokens>& texts) {
    return fovea_text_bind(session->session, texts.data(), static_cast<uint32_t>(texts.size()), &error);
  }
  ModelBuilder b;
  uint32_t tokens, ids, types, sum;
  std::vector<fovea_limit> root;
  fovea_session_options options = Sized<fovea_session_options>();
  std::unique_ptr<TestModel> model;
  std::unique_ptr<TestSession> session;
  fovea_error error = {};
};

fovea_text_tokens Tokens(std::vector<int32_t>& ids, std::vector<int32_t>* types) {
  fovea_text_tokens tokens = Sized<fovea_text_tokens>();
  tokens.ids = ids.data();
  tokens.types = types == nullptr ? nullptr : types->data();
  tokens.count = tokens.capacity = ids.size();
  return tokens;
}

TEST(Shortcut, TextsAreBoundAsSegments) {
  std::vector<int32_t> a = RandomIds(13, 50, 1), b = RandomIds(7, 50, 2), none, types = RandomIds(13, 3, 3);
  Typed bound, written;
  ASSERT_EQ(bound.Bind({Tokens(a, &types), Tokens(none, nullptr), Tokens(b, nullptr)}), FOVEA_OK) << bound.error.text;
  bound.session->Run();
  std::vector<int32_t> ids = a, all_types = types;
  ids.insert(ids.end(), b.begin(), b.end());
  all_types.resize(20);
  written.session->SetSegments(written.tokens, {13, 0, 7});
  written.session->SetInput(written.ids, ids);
  written.session->SetInput(written.types, all_types);
  written.session->Run();
  EXPECT_EQ(bound.session->Output(bound.sum), written.session->Output(written.sum));
  const uint32_t* offsets = nullptr;
  uint32_t count = 0;
  ASSERT_EQ(fovea_session_get_segments(bound.session->session, bound.tokens, &offsets, &count, nullptr), FOVEA_OK);
  EXPECT_EQ(std::vector<uint32_t>(offsets, offsets + count + 1), (std::vector<uint32_t>{0, 13, 13, 20}));
  // Types of an earlier batch are cleared.
  ASSERT_EQ(bound.Bind({Tokens(a, nullptr)}), FOVEA_OK);
  bound.session->Run();
  written.session->SetSegments(written.tokens, {13});
  written.session->SetInput(written.ids, a);
  written.session->SetInput(written.types, std::vector<int32_t>(13));
  written.session->Run();
  EXPECT_EQ(bound.session->Output(bound.sum), written.session->Output(written.sum));
  // A batch of no texts is valid.
  EXPECT_EQ(fovea_text_bind(bound.session->session, nullptr, 0, nullptr), FOVEA_OK);
}

TEST(Shortcut, BindingTextsRefuses) {
  std::vector<int32_t> a = RandomIds(13, 50, 1), b = RandomIds(31, 50, 2);
  Typed t;
  EXPECT_EQ(fovea_text_bind(nullptr, nullptr, 0, &t.error), FOVEA_E_HANDLE);
  EXPECT_EQ(fovea_text_bind(t.session->session, nullptr, 1, &t.error), FOVEA_E_NULL);
  fovea_text_tokens text = Tokens(a, nullptr), bad = text;
  bad.count = 14;
  EXPECT_EQ(t.Bind({text, bad}), FOVEA_E_CAPACITY);
  EXPECT_EQ(t.error.index, 1u);
  EXPECT_EQ(t.error.expected, 14u);
  bad = text;
  bad.ids = nullptr;
  EXPECT_EQ(t.Bind({text, bad}), FOVEA_E_NULL);
  for (const size_t size : {size_t{0}, sizeof(bad) - 1, sizeof(bad) + 1}) {
    bad = text;
    bad.struct_size = size;
    EXPECT_EQ(t.Bind({bad}), FOVEA_E_STRUCT_SIZE) << size;
    EXPECT_EQ(t.Bind({text, bad}), FOVEA_E_STRUCT_SIZE) << size;
  }
  EXPECT_EQ(t.Bind({Tokens(b, nullptr)}), FOVEA_E_LENGTH);
  EXPECT_EQ(t.Bind({text, text, text}), FOVEA_E_ROWS);
  EXPECT_EQ(t.Bind(std::vector<fovea_text_tokens>(10, Tokens(b, nullptr))), FOVEA_E_SEGMENTS);
  EXPECT_EQ(fovea_session_run(t.session->session, nullptr), FOVEA_E_ORDER);
  a[3] = 50;  // outside the table
  ASSERT_EQ(t.Bind({text}), FOVEA_OK);
  EXPECT_EQ(fovea_session_run(t.session->session, nullptr), FOVEA_E_ID);
  EXPECT_EQ(Typed("ids").Bind({text}), FOVEA_E_NAME);
  EXPECT_EQ(Typed("input_ids", DType::kI32, true).Bind({text}), FOVEA_E_NAME);
  EXPECT_EQ(Typed("input_ids", DType::kF32).Bind({text}), FOVEA_OK);  // types that are no ids are another input
}

// An array of a later version's structs, which are longer.
TEST(Shortcut, TextsOfAnotherVersion) {
  struct Later {
    fovea_text_tokens tokens;
    uint64_t more[3];
  };
  std::vector<int32_t> a = RandomIds(5, 50, 1), b = RandomIds(6, 50, 2);
  Later texts[2] = {{Tokens(a, nullptr), {1, 2, 3}}, {Tokens(b, nullptr), {4, 5, 6}}};
  for (Later& text : texts) text.tokens.struct_size = sizeof(Later);
  Typed t, same;
  ASSERT_EQ(fovea_text_bind(t.session->session, &texts[0].tokens, 2, nullptr), FOVEA_OK);
  t.session->Run();
  ASSERT_EQ(same.Bind({Tokens(a, nullptr), Tokens(b, nullptr)}), FOVEA_OK);
  same.session->Run();
  EXPECT_EQ(t.session->Output(t.sum), same.session->Output(same.sum));
}

}  // namespace
}  // namespace fovea::test
