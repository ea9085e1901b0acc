// A model shared by sessions and threads, and packed weights shared by models.
#include <cmath>
#include <functional>
#include <string>
#include <thread>

#include "tests/api/api_fixture.h"
#include "tests/support/every_operation.h"
#include "tests/support/fewer_cases.h"
#include "tools/model/packed_weights.h"

namespace fovea::test {
namespace {

std::vector<float> RunEncoder(const TestModel& model, const TinyEncoder& e, uint32_t seed) {
  const std::vector<fovea_limit> limits = {{e.texts, 3, 0}, {e.tokens, 60, 0}};
  TestSession session(model, Options(limits, 2, 5));
  session.SetSegments(e.tokens, {30, 0, 21});
  session.SetInput(e.ids, RandomIds(51, 50, seed));
  session.Run();
  return session.Output(e.classes);
}

TEST(SharedModel, TwoThreadsTwoSessions) {
  const EncoderModel& e = Encoder();
  const std::vector<float> expected[] = {RunEncoder(e.model, e.encoder, 1), RunEncoder(e.model, e.encoder, 2)};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 10; ++round) EXPECT_EQ(RunEncoder(e.model, e.encoder, t + 1), expected[t]);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Sessions that share scratch memory and run in turns.
TEST(SharedModel, SharedScratch) {
  const EncoderModel& e = Encoder();
  const std::vector<fovea_limit> limits = {{e.encoder.texts, 1, 0}, {e.encoder.tokens, 30, 0}};
  const fovea_session_options options = Options(limits);
  fovea_session_memory sizes = Sized<fovea_session_memory>();
  ASSERT_EQ(fovea_session_size(e.model.model, &options, &sizes, nullptr), FOVEA_OK);
  const AlignedBytes fixed[] = {AlignedBytes(sizes.fixed_size), AlignedBytes(sizes.fixed_size)},
                     scratch(sizes.scratch_size);
  fovea_session* sessions[2];
  sizes.scratch = scratch.data();
  for (int i = 0; i < 2; ++i) {
    sizes.fixed = fixed[i].data();
    ASSERT_EQ(fovea_session_init(e.model.model, &options, &sizes, &sessions[i], nullptr), FOVEA_OK);
  }
  std::vector<float> results[2];
  for (int round = 0; round < 4; ++round) {
    const int i = round % 2;
    const uint32_t length = 10 + 20u * static_cast<uint32_t>(i);
    fovea_view view;
    ASSERT_EQ(fovea_session_set_segments(sessions[i], e.encoder.tokens, &length, 1, nullptr), FOVEA_OK);
    ASSERT_EQ(fovea_session_get_input(sessions[i], e.encoder.ids, &view, nullptr), FOVEA_OK);
    const std::vector<int32_t> ids = RandomIds(length, 50, 5);
    memcpy(view.data, ids.data(), ids.size() * 4);
    ASSERT_EQ(fovea_session_run(sessions[i], nullptr), FOVEA_OK);
    ASSERT_EQ(fovea_session_get_output(sessions[i], e.encoder.classes, &view, nullptr), FOVEA_OK);
    const float* y = static_cast<const float*>(view.data);
    const std::vector<float> found(y, y + view.width);
    if (round >= 2) {
      EXPECT_EQ(found, results[i]);
    }
    results[i] = found;
  }
}

fovea_model_info Info(const TestModel& model) {
  fovea_model_info info = Sized<fovea_model_info>();
  EXPECT_EQ(fovea_model_get_info(model.model, &info), FOVEA_OK);
  return info;
}

TEST(Packed, UsedInPlaceWhereItFits) {
  for (const DType type : {DType::kF32, DType::kI8, DType::kI4, DType::kF16}) {
    ModelBuilder b;
    const TinyEncoder e = BuildTinyEncoder(b, type, 2, 64, 4, 128);
    const TestModel plain(b.Blob());
    EXPECT_EQ(Info(plain).uses_packed, 0u);
    const std::vector<tools::BlobPacked> packed = PackedOf(plain);
    if (packed.empty()) {
      EXPECT_EQ(Info(plain).packed_bytes, 0u);
      continue;  // this backend uses all weights in place
    }
    EXPECT_GT(Info(plain).packed_bytes, 0u);
    b.content().packed = packed;
    const TestModel with(b.Blob());
    EXPECT_EQ(Info(with).uses_packed, 1u);
    EXPECT_EQ(Info(with).packed_bytes, 0u);
    EXPECT_LE(with.memory.size() + Info(plain).packed_bytes, plain.memory.size());
    const std::vector<float> expected = RunEncoder(plain, e, 3);
    EXPECT_EQ(RunEncoder(with, e, 3), expected);
    // Packing again gives the same bytes; a buffer one byte short is refused with the figure.
    EXPECT_EQ(PackedOf(with)[0].bytes, packed[0].bytes);
    const AlignedBytes out(packed[0].bytes.size());
    fovea_error error = {};
    EXPECT_EQ(fovea_model_pack(with.model, nullptr, out.data(), out.size() - 1, &error), FOVEA_E_TOO_SMALL);
    EXPECT_EQ(error.expected, out.size());
    EXPECT_EQ(fovea_model_pack(with.model, nullptr, out.data() + 16, out.size(), &error), FOVEA_E_MISALIGNED);
    // The other backend does not use it.
    const TestModel highway(b.Blob(), FOVEA_BACKEND_HIGHWAY);
    EXPECT_EQ(Info(highway).uses_packed, 0u);

    // Sections of another machine, or with a table that does not fit, are ignored.
    const auto ignored = [&](const std::function<void(tools::BlobPacked&)>& change, const char* what) {
      tools::BlobPacked damaged = packed[0];
      change(damaged);
      b.content().packed = {damaged};
      const TestModel model(b.Blob());
      EXPECT_EQ(Info(model).uses_packed, 0u) << what;
      EXPECT_EQ(model.memory.size(), plain.memory.size()) << what;
      EXPECT_EQ(RunEncoder(model, e, 3), expected) << what;
    };
    const auto record = [](tools::BlobPacked& p, size_t i) {
      return reinterpret_cast<PackedRecord*>(p.bytes.data()) + i;
    };
    ignored([](tools::BlobPacked& p) { p.layout ^= 1; }, "layout");
    ignored([](tools::BlobPacked& p) { p.layout = 0; }, "no layout");
    ignored([](tools::BlobPacked& p) { p.bytes.resize(p.bytes.size() - 64); }, "cut");
    ignored([](tools::BlobPacked& p) { p.bytes.resize(16); }, "table cut");
    ignored([](tools::BlobPacked& p) { p.bytes.clear(); }, "empty");
    ignored([&](tools::BlobPacked& p) { record(p, 3)->size += 64; }, "size");
    ignored([&](tools::BlobPacked& p) { record(p, 3)->offset += 32; }, "misaligned");
    ignored([&](tools::BlobPacked& p) { record(p, 3)->offset = ~uint64_t{63}; }, "outside");
    // With several packed sections the library picks the one that fits.
    tools::BlobPacked foreign = packed[0];
    foreign.layout ^= 4;
    b.content().packed = {foreign, packed[0]};
    const TestModel several(b.Blob());
    EXPECT_EQ(Info(several).uses_packed, 1u);
    EXPECT_EQ(RunEncoder(several, e, 3), expected);
  }
}

// A blob without the rows that its packed sections hold: the same bits where they fit, a refusal elsewhere.
TEST(Packed, AloneInTheBlob) {
  for (const DType type : {DType::kF32, DType::kI8, DType::kI4}) {
    ModelBuilder b;
    const TinyEncoder e = BuildTinyEncoder(b, type, 2, 64, 4, 128);
    const TestModel plain(b.Blob());
    const std::vector<tools::BlobPacked> packed = PackedOf(plain);
    if (packed.empty()) GTEST_SKIP() << "this machine packs nothing";
    const fovea_model_info info = Info(plain);
    std::vector<bool> replaced;
    for (uint32_t i = 0; i < info.tensor_count; ++i) {
      uint32_t replaces = 2;
      EXPECT_EQ(fovea_pack_replaces(plain.model, nullptr, i, &replaces), FOVEA_OK);
      fovea_tensor_info tensor = Sized<fovea_tensor_info>();
      EXPECT_EQ(fovea_model_get_tensor(plain.model, i, &tensor), FOVEA_OK);
      EXPECT_EQ(replaces, i >= 2 && tensor.rows > 1 ? 1u : 0u) << i;  // not the embeddings and positions
      replaced.push_back(replaces == 1);
    }
    b.content().packed = packed;
    const AlignedBytes both = b.Blob();
    const AlignedBytes alone(tools::ReplacePacked(both.data(), packed, replaced));
    EXPECT_LT(alone.size() + 12 * RowBytes(type, 64) * 64, both.size());
    const TestModel model(AlignedBytes(tools::ReplacePacked(both.data(), packed, replaced)));
    EXPECT_EQ(Info(model).uses_packed, 1u);
    EXPECT_EQ(RunEncoder(model, e, 3), RunEncoder(plain, e, 3));
    EXPECT_EQ(PackedOf(model)[0].bytes, packed[0].bytes);
    fovea_error error = {};
    EXPECT_EQ(fovea_blob_verify(alone.data(), alone.size(), &error), FOVEA_OK) << error.text;
    for (uint32_t i = 0; i < info.tensor_count; ++i) {
      fovea_tensor_info tensor = Sized<fovea_tensor_info>();
      EXPECT_EQ(fovea_model_get_tensor(model.model, i, &tensor), FOVEA_OK);
      EXPECT_EQ(tensor.data == nullptr, replaced[i]) << tensor.name;
    }
    // For another machine: nothing to pack from.
    for (uint32_t i = 0; fovea_pack_get_target(i) != nullptr; ++i) {
      const AlignedBytes out(packed[0].bytes.size());
      uint64_t bytes = 0, layout = 0;
      EXPECT_EQ(fovea_model_packed_size(model.model, fovea_pack_get_target(i), &bytes, &layout), FOVEA_OK);
      EXPECT_EQ(layout, fovea_pack_get_layout(i));
      if (bytes == 0) continue;
      EXPECT_EQ(fovea_model_pack(model.model, fovea_pack_get_target(i), out.data(), out.size(), &error),
                FOVEA_E_PACKED);
    }
    // Another backend, another machine, a table that is wrong.
    const auto refused = [&](const AlignedBytes& blob, uint32_t backend, uint64_t expected, uint64_t found) {
      fovea_model_options options = FOVEA_MODEL_OPTIONS_INIT;
      options.backend = backend;
      uint64_t needed = 0;
      EXPECT_EQ(fovea_model_size(blob.data(), blob.size(), &options, &needed, &error), FOVEA_E_PACKED);
      EXPECT_EQ(error.expected, expected);
      EXPECT_EQ(error.found, found);
      EXPECT_EQ(needed, 0u);
    };
    refused(alone, FOVEA_BACKEND_HIGHWAY, 1, packed[0].layout);
    std::vector<tools::BlobPacked> foreign = packed;
    foreign[0].layout ^= 4;
    refused(AlignedBytes(tools::ReplacePacked(both.data(), foreign, replaced)), FOVEA_BACKEND_DEFAULT, packed[0].layout,
            foreign[0].layout);
    foreign = packed;
    reinterpret_cast<PackedRecord*>(foreign[0].bytes.data())[3].size = 0;
    refused(AlignedBytes(tools::ReplacePacked(both.data(), foreign, replaced)), FOVEA_BACKEND_DEFAULT, packed[0].layout,
            packed[0].layout);
    refused(AlignedBytes(tools::ReplacePacked(both.data(), {}, replaced)), FOVEA_BACKEND_DEFAULT, packed[0].layout, 0);
    // A tensor with any other use cannot be absent.
    for (uint32_t i = 0; i < info.tensor_count; ++i) {
      if (replaced[i]) continue;
      std::vector<bool> wrong = replaced;
      wrong[i] = true;
      const AlignedBytes blob(tools::ReplacePacked(both.data(), packed, wrong));
      EXPECT_EQ(fovea_blob_verify(blob.data(), blob.size(), &error), FOVEA_E_RECORD) << i;
    }
  }
}

// A layer that a packed section leaves out is multiplied from its rows; the section is used for the rest.
TEST(Packed, LayersWithRowsCanBeLeftOut) {
  for (const DType type : {DType::kF32, DType::kI8, DType::kI4}) {
    ModelBuilder b;
    const uint32_t texts = b.Space("texts"), tokens = b.Space("tokens", texts);
    const uint32_t ids = b.Input("input_ids", tokens, 1, DType::kI32);
    const uint32_t table = b.RandomTensor(320, 128, type);  // also the last layer's weight
    uint32_t x = b.Op("embed", {ids}, {table}, tokens, 128);
    const uint32_t inner = b.RandomTensor(128, 128, type);
    x = b.Op("linear", {x}, {inner, b.RandomTensor(1, 128)}, tokens, 128);
    const uint32_t y = b.Op("linear", {x}, {table, b.RandomTensor(1, 320)}, tokens, 320);
    b.SetOutput(y);
    const TestModel plain(b.Blob());
    const std::vector<tools::BlobPacked> packed = PackedOf(plain);
    if (packed.empty()) GTEST_SKIP() << "this machine packs nothing";
    ASSERT_EQ(Info(plain).linear_count, 2u);
    uint32_t tensor = 0;
    EXPECT_EQ(fovea_pack_get_tensor(plain.model, 0, &tensor), FOVEA_OK);
    EXPECT_EQ(tensor, inner);
    EXPECT_EQ(fovea_pack_get_tensor(plain.model, 1, &tensor), FOVEA_OK);
    EXPECT_EQ(tensor, table);
    const auto run = [&](const TestModel& model) {
      TestSession session(model, Options({{texts, 1, 0}, {tokens, 9, 0}}, 2, 4));
      session.SetSegments(tokens, {9});
      session.SetInput(ids, RandomIds(9, 320, 7));
      session.Run();
      return session.Output(y);
    };
    std::vector<bool> replaced(Info(plain).tensor_count);
    replaced[inner] = true;
    const AlignedBytes rows = b.Blob();
    // The tools leave the layer out, so that the table is stored once: less than a row's alignment more than unpacked.
    const tools::PackedWeights once =
        tools::PackWeights(rows.data(), rows.size(), "blob", {tools::kHostTarget}, tools::SharedWeights::kOnce);
    EXPECT_EQ(once.replaced, replaced);
    ASSERT_EQ(once.kept.size(), 1u);
    const uint64_t table_bytes = 320 * RowBytes(type, 128) + ScaleBytes(type, 320, 128);
    EXPECT_EQ(once.kept[0].bytes, table_bytes);
    EXPECT_LE(once.sections[0].bytes.size() + table_bytes, packed[0].bytes.size());
    const AlignedBytes alone(tools::ReplacePacked(rows.data(), once.sections, replaced));
    EXPECT_LE(alone.size() + table_bytes, tools::ReplacePacked(rows.data(), packed, replaced).size());
    const TestModel model(AlignedBytes(tools::ReplacePacked(rows.data(), once.sections, replaced)));
    EXPECT_EQ(Info(model).uses_packed, 1u);
    EXPECT_EQ(Info(model).packed_bytes, 0u);
    EXPECT_EQ(PackedOf(model)[0].bytes, once.sections[0].bytes);
    fovea_step_info step = Sized<fovea_step_info>();
    EXPECT_EQ(fovea_program_get_step(model.model, 0, 1, &step), FOVEA_OK);
    EXPECT_STREQ(step.backend, "xnnpack");
    EXPECT_EQ(fovea_program_get_step(model.model, 0, 2, &step), FOVEA_OK);
    EXPECT_STREQ(step.backend, "highway");
    // Both kernels' sums are exact for integers, and otherwise in another order.
    const std::vector<float> expected = run(plain), found = run(model);
    ASSERT_EQ(found.size(), expected.size());
    float largest = 0;
    for (const float v : expected) largest = std::max(largest, std::fabs(v));
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 2e-6f * largest) << i;
    // Refused elsewhere, as without a table; a layer without rows cannot be left out.
    const auto refused = [&](const std::vector<tools::BlobPacked>& sections, uint32_t backend) {
      const AlignedBytes blob(tools::ReplacePacked(rows.data(), sections, replaced));
      fovea_model_options options = FOVEA_MODEL_OPTIONS_INIT;
      options.backend = backend;
      uint64_t needed = 0;
      EXPECT_EQ(fovea_model_size(blob.data(), blob.size(), &options, &needed, nullptr), FOVEA_E_PACKED);
    };
    refused(once.sections, FOVEA_BACKEND_HIGHWAY);
    std::vector<tools::BlobPacked> other = once.sections;
    other[0].layout ^= 4;
    refused(other, FOVEA_BACKEND_DEFAULT);
    other = once.sections;
    reinterpret_cast<PackedRecord*>(other[0].bytes.data())[0].size = 0;
    refused(other, FOVEA_BACKEND_DEFAULT);
  }
}

// BERT-base in int8: with packed weights in the blob the model's own memory stays small.
TEST(Packed, LeavesLittleMemory) {
  const uint32_t width = FewerCases() ? 96 : 768;
  ModelBuilder b;
  BuildTinyEncoder(b, DType::kI8, 12, width, 12, 4 * width);
  const TestModel plain(b.Blob());
  b.content().packed = PackedOf(plain);
  if (b.content().packed.empty()) GTEST_SKIP() << "this machine packs nothing";
  EXPECT_LT(TestModel(b.Blob()).memory.size(), 100u << 10);
  EXPECT_GT(plain.memory.size(), uint64_t{12} * 12 * width * width);
}

// Whoever packs for a machine, a model there uses it in place, with the same bits; on other machines it is as if
// absent.
TEST(Packed, ForAnotherMachine) {
  if (fovea_pack_get_target(0) == nullptr) GTEST_SKIP() << "this library packs nothing";
  const char* const nowhere = "pdp-11";
  for (const DType type : {DType::kF32, DType::kI8, DType::kI4, DType::kF16}) {
    bool here = false;
    ModelBuilder b;
    const TinyEncoder e = BuildTinyEncoder(b, type, 2, 64, 4, 160);
    const TestModel plain(b.Blob());
    const std::vector<float> expected = RunEncoder(plain, e, 3);
    const std::vector<tools::BlobPacked> own = PackedOf(plain);
    uint64_t bytes = 0, layout = 0;
    EXPECT_EQ(fovea_model_packed_size(plain.model, nowhere, &bytes, &layout), FOVEA_E_NAME);
    std::vector<tools::BlobPacked> all;
    for (uint32_t i = 0; fovea_pack_get_target(i) != nullptr; ++i) {
      const char* const target = fovea_pack_get_target(i);
      // A model that packs nothing for its own use can still pack for another machine.
      const TestModel in_place(b.Blob(), FOVEA_BACKEND_HIGHWAY);
      const std::vector<tools::BlobPacked> packed = PackedOf(in_place, target);
      // WebAssembly reads int4 weights in place, all but two f16.
      const std::string name = target;
      const bool packs = type == DType::kF16 ? name == "aarch64-dotprod" || name == "aarch64-i8mm"
                                             : type != DType::kI4 || name != "wasm";
      ASSERT_EQ(packed.size(), packs ? 1u : 0u) << target;
      if (!packs) continue;
      EXPECT_EQ(packed[0].bytes, PackedOf(plain, target)[0].bytes) << target;
      const bool fits = !own.empty() && packed[0].layout == own[0].layout;
      EXPECT_TRUE(own.empty() || packed[0].bytes.size() == own[0].bytes.size()) << target;
      here |= fits;
      tools::BlobContent with = b.content();
      with.packed = packed;
      const TestModel model(AlignedBytes(tools::WriteBlob(with)));
      EXPECT_EQ(Info(model).uses_packed, fits ? 1u : 0u) << target;
      EXPECT_EQ(Info(model).packed_bytes, fits ? 0u : Info(plain).packed_bytes) << target;
      EXPECT_EQ(RunEncoder(model, e, 3), expected) << target;
      all.push_back(packed[0]);
    }
    // One blob for all machines.
    b.content().packed = all;
    const TestModel model(b.Blob());
    EXPECT_EQ(Info(model).uses_packed, here ? 1u : 0u);
    EXPECT_EQ(RunEncoder(model, e, 3), expected);
  }
}

}  // namespace
}  // namespace fovea::test
