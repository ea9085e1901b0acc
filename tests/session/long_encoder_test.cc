// Bytes of a whole windowed encoder for texts of growing length, with keys and values of every type.
#include "runtime/blob/attributes.h"
#include "tests/support/model_builder.h"
#include "tools/convert/attention_types.h"

namespace fovea::test {
namespace {

// 6 layers, width 384, 12 heads, 128 rows seen on either side: five matrices of the residual stream's width, two sets
// of keys and values among them, and the ids grow with the rows; nothing else does.
TEST(LongEncoder, MemoryGrowsByTheStreamAndTwoSetsOfKeysAndValues) {
  const uint32_t width = 384, heads = 12;
  const std::pair<DType, uint64_t> types[] = {
      {DType::kF32, 4 * width}, {DType::kF16, 2 * width}, {DType::kBf16, 2 * width}, {DType::kI8, 4 * heads + width}};
  ModelBuilder plain;
  const TinyEncoder e = BuildTinyEncoder(plain, DType::kI8, 6, width, heads, 4 * width, 50, 16384,
                                         {{Attribute::kPattern, 1}, {Attribute::kLeft, 128}, {Attribute::kRight, 128}});
  for (const auto& [type, key_bytes] : types) {
    SCOPED_TRACE(static_cast<int>(type));
    ModelBuilder b = plain;
    tools::CastKeys(type, b.content());
    const TestModel model(b.Blob());
    const auto bytes = [&](uint32_t rows) {
      const std::vector<fovea_limit> limits = {{e.texts, 1, 0}, {e.tokens, rows, 0}};
      const fovea_session_options options = Options(limits);
      fovea_session_memory sizes = {};
      sizes.struct_size = sizeof(sizes);
      fovea_error error = {};
      EXPECT_EQ(fovea_session_size(model.model, &options, &sizes, &error), FOVEA_OK) << error.text;
      return sizes.fixed_size + sizes.state_size + sizes.scratch_size;
    };
    const uint64_t row_bytes = 4 * width + 4 * key_bytes + 4;
    const uint64_t least = bytes(2048);
    EXPECT_LT(least, 2048 * row_bytes + (2 << 20));  // a worker's tile and operators
    for (const uint32_t rows : {4096u, 8192u, 16384u})
      EXPECT_EQ(bytes(rows), least + (rows - 2048) * row_bytes) << rows;
  }
}

}  // namespace
}  // namespace fovea::test
