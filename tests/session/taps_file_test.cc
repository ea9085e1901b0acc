// Attention maps of taps written as a file: its size is exact, and its numbers equal the session's.
#include "runtime/blob/attributes.h"
#include "tests/session/taps_fixture.h"
#include "tests/support/heap_trap.h"
#include "tools/safetensors/metadata.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::test {
namespace {

const Lengths kKeys = {0, 33, 1, 0, 20, 7, 0}, kQueries = {3, 0, 2, 0, 41, 8, 1};
const Attributes kWindow = {{Attribute::kPattern, 1}, {Attribute::kLeft, 3}, {Attribute::kRight, 2}};

// The lines of a file's tensors.
TapLines ReadFile(const tools::StoredTensors& tensors, const std::string& step, const TapLines& shape) {
  TapLines read;
  for (const int64_t row : tools::ToIntegers(tensors.at(step + ".query_rows"))) {
    read.query_rows.push_back(static_cast<uint32_t>(row));
  }
  const std::vector<float> values = tools::ToFloats(tensors.at(step + ".weights"));
  if (tensors.count(step + ".line_offsets") != 0) {
    const auto offsets = tools::ToIntegers(tensors.at(step + ".line_offsets")),
               keys = tools::ToIntegers(tensors.at(step + ".keys"));
    for (size_t line = 0; line + 1 < offsets.size(); ++line) {
      read.lines.emplace_back(shape.lines.empty() ? 0 : shape.lines[0].size());
      for (auto i = static_cast<size_t>(offsets[line]); i < static_cast<size_t>(offsets[line + 1]); ++i) {
        read.lines.back().at(static_cast<size_t>(keys[i])) = values[i];
      }
    }
    return read;
  }
  const std::vector<uint64_t>& sizes = tensors.at(step + ".weights").shape;
  EXPECT_EQ(sizes[0], read.query_rows.size());
  const auto offsets = tools::ToIntegers(tensors.at("tokens.offsets"));
  for (size_t line = 0; line < sizes[0] * sizes[1]; ++line) {
    // The segment is the one that has the nonzero numbers of this line in the session's attention map.
    const std::vector<float>& own = shape.lines.at(line);
    const auto first =
        static_cast<size_t>(std::find_if(own.begin(), own.end(), [](float x) { return x != 0; }) - own.begin());
    size_t segment = 0;
    while (first < own.size() && static_cast<size_t>(offsets[segment + 1]) <= first) ++segment;
    read.lines.emplace_back(own.size());
    if (first == own.size()) continue;
    for (size_t j = 0; j < sizes[2]; ++j) {
      const float value = values[line * sizes[2] + j];
      const auto key = static_cast<size_t>(offsets[segment]) + j;
      if (key < static_cast<size_t>(offsets[segment + 1])) {
        read.lines.back().at(key) = value;
      } else {
        EXPECT_EQ(value, 0.0f);
      }
    }
  }
  return read;
}

void CheckFile(Queries queries, const fovea_tap& asked) {
  TapProgram program(queries, kWindow);
  fovea_tap tap = asked;
  tap.step = program.step;
  const bool parent = queries == Queries::kTexts;
  const TapCase c(std::move(program), kKeys, kQueries);
  const fovea_session_options options = WithTap(Options(c.limits(), 2, 5), &tap);
  TestSession session(c.model(), options);
  fovea_error error = {};
  uint64_t size = 0;
  EXPECT_EQ(fovea_taps_file_size(session.session, &size, &error), FOVEA_E_ORDER);
  c.Run(&session);
  ASSERT_EQ(fovea_taps_file_size(session.session, &size, &error), FOVEA_OK);
  AlignedBytes bytes(size);
  std::fill_n(bytes.data(), size, uint8_t{0xa5});
  EXPECT_EQ(fovea_taps_file_write(session.session, bytes.data(), size - 1, &error), FOVEA_E_TOO_SMALL);
  EXPECT_EQ(error.expected, size);
  EXPECT_EQ(bytes.data()[0], 0xa5);
  EXPECT_EQ(fovea_taps_file_write(session.session, bytes.data() + 4, size - 4, &error), FOVEA_E_MISALIGNED);
  uint64_t calls = 0;
  {
    fovea::testing::HeapTrap trap;
    fovea_taps_file_size(session.session, &size, &error);
    fovea_taps_file_write(session.session, bytes.data(), size, &error);
    calls = trap.calls();
  }
  EXPECT_EQ(calls, 0u);
  const tools::StoredTensors tensors = tools::ParseSafetensors(bytes.data(), size, "taps");
  const tools::SafetensorsMetadata says = tools::ParseSafetensorsMetadata(bytes.data(), size, "taps");
  EXPECT_EQ(says.at("fovea_taps"), "1");
  EXPECT_EQ(says.at("taps"), "1");
  EXPECT_EQ(says.at("tap.0.key_space"), "tokens");
  EXPECT_EQ(says.at("parent.tokens"), "texts");
  EXPECT_EQ(says.at("parent.texts"), "");
  EXPECT_EQ(says.at("tap.0.heads"), tap.heads == 0 ? "0 1 2 3" : "1 3");
  EXPECT_EQ(says.at("tap.0.reduce"), tap.reduce == FOVEA_REDUCE_NONE ? "none" : "mean");
  const std::string name = says.at("tap.0.step");
  const TapLines own = ReadTap(session, 0, parent), read = ReadFile(tensors, name, own);
  EXPECT_EQ(read.query_rows, own.query_rows);
  ASSERT_EQ(read.lines.size(), own.lines.size());
  for (size_t line = 0; line < own.lines.size(); ++line) EXPECT_EQ(read.lines[line], own.lines[line]) << line;
  std::vector<int64_t> offsets = {0};
  for (const uint32_t length : kKeys) offsets.push_back(offsets.back() + length);
  EXPECT_EQ(tools::ToIntegers(tensors.at("tokens.offsets")), offsets);
}

TEST(TapsFile, HasWhatTheSessionGives) {
  for (const Queries queries : {Queries::kKeys, Queries::kOthers, Queries::kTexts}) {
    for (const uint32_t form : {FOVEA_TAP_DENSE, FOVEA_TAP_SPARSE}) {
      fovea_tap tap = TapOf(0, form);
      CheckFile(queries, tap);
      tap.heads = 0b1010;
      CheckFile(queries, tap);
      tap.rows = FOVEA_TAP_ROWS_STRIDE;
      tap.stride = 3;
      tap.offset = 1;
      tap.reduce = FOVEA_REDUCE_MEAN;
      CheckFile(queries, tap);
    }
  }
}

TEST(TapsFile, WithoutTapsThereIsAHeader) {
  TapProgram program(Queries::kKeys, kWindow);
  const TapCase c(std::move(program), kKeys, {});
  TestSession session(c.model(), Options(c.limits()));
  c.Run(&session);
  uint64_t size = 0;
  fovea_error error = {};
  ASSERT_EQ(fovea_taps_file_size(session.session, &size, &error), FOVEA_OK);
  AlignedBytes bytes(size);
  ASSERT_EQ(fovea_taps_file_write(session.session, bytes.data(), size, &error), FOVEA_OK);
  EXPECT_EQ(tools::ParseSafetensorsMetadata(bytes.data(), size, "taps").at("taps"), "0");
  EXPECT_EQ(fovea_taps_file_size(nullptr, &size, &error), FOVEA_E_HANDLE);
  EXPECT_EQ(fovea_taps_file_size(session.session, nullptr, &error), FOVEA_E_NULL);
  EXPECT_EQ(fovea_taps_file_write(session.session, nullptr, size, &error), FOVEA_E_NULL);
}

}  // namespace
}  // namespace fovea::test
