// Does with a blob, which may be damaged, everything that the C interface allows, in memory of exact sizes: under the
// address sanitizer any byte touched beyond them shows.
#ifndef FOVEA_TESTS_MODEL_USE_BLOB_H_
#define FOVEA_TESTS_MODEL_USE_BLOB_H_

#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <vector>

#include "fovea/fovea.h"
#include "tests/support/model_builder.h"

namespace fovea::test {

// More memory than this is not asked for here: the caller would refuse it.
inline constexpr uint64_t kMemoryCap = uint64_t{64} << 20;

struct Use {
  fovea_status status = FOVEA_OK;  // returned by fovea_model_init
  fovea_error error = {};
  uint32_t runs = 0;
};

class BlobUser {
 public:
  // `bytes` are copied to memory of exactly their size.
  static Use Try(const std::vector<uint8_t>& bytes, bool skip_checksum = true) {
    const AlignedBytes blob(bytes);
    return BlobUser().Run(blob, skip_checksum);
  }

 private:
  Use Run(const AlignedBytes& blob, bool skip_checksum) {
    fovea_error error = {};
    const fovea_status verified = fovea_blob_verify(blob.data(), blob.size(), &error);
    const fovea_model_options options = {sizeof(options), 0, skip_checksum ? 1u : 0u};
    uint64_t needed = 0;
    use_.status = fovea_model_size(blob.data(), blob.size(), &options, &needed, &use_.error);
    if (use_.status != FOVEA_OK) {
      EXPECT_NE(verified, FOVEA_OK);
      EXPECT_NE(use_.error.text, nullptr);
      return use_;
    }
    if (needed > kMemoryCap) return use_;
    const AlignedBytes memory(needed);
    fovea_model* model = nullptr;
    use_.status = fovea_model_init(blob.data(), blob.size(), &options, memory.data(), needed, &model, &use_.error);
    if (use_.status != FOVEA_OK) {
      EXPECT_EQ(model, nullptr);
      return use_;
    }
    Inspect(model);
    Text(model);
    fovea_model_info info = {};
    info.struct_size = sizeof(info);
    fovea_model_get_info(model, &info);
    for (uint32_t program = 0; program < info.program_count; ++program) Session(model, program);
    return use_;
  }

  void Touch(const void* data, uint64_t size) {
    if (size == 0) return;
    sink_ =
        sink_ + static_cast<const volatile uint8_t*>(data)[0] + static_cast<const volatile uint8_t*>(data)[size - 1];
  }
  void TouchString(const char* text) { sink_ = sink_ + strlen(text); }

  void Inspect(const fovea_model* model) {
    fovea_model_info info = {};
    info.struct_size = sizeof(info);
    EXPECT_EQ(fovea_model_get_info(model, &info), FOVEA_OK);
    fovea_section_info section = Sized<fovea_section_info>();
    for (uint32_t i = 0; fovea_model_get_section(model, i, &section) == FOVEA_OK; ++i) TouchString(section.name);
    fovea_space_info space = Sized<fovea_space_info>();
    for (uint32_t i = 0; fovea_model_get_space(model, i, &space) == FOVEA_OK; ++i) TouchString(space.name);
    fovea_tensor_info tensor = Sized<fovea_tensor_info>();
    for (uint32_t i = 0; fovea_model_get_tensor(model, i, &tensor) == FOVEA_OK; ++i) {
      TouchString(tensor.name);
      if (tensor.data != nullptr) Touch(tensor.data, 1);
    }
    const char *key, *value;
    for (uint32_t i = 0; fovea_model_get_metadata(model, i, &key, &value) == FOVEA_OK; ++i) {
      TouchString(key);
      TouchString(value);
    }
    fovea_model_find_metadata(model, "label.0");
    uint64_t bytes = 0, layout = 0;
    EXPECT_EQ(fovea_model_packed_size(model, nullptr, &bytes, &layout), FOVEA_OK);
    if (bytes <= kMemoryCap) {
      const AlignedBytes out(bytes);
      EXPECT_EQ(fovea_model_pack(model, nullptr, out.data(), bytes, nullptr), FOVEA_OK);
    }
    if (const char* target = fovea_pack_get_target(0)) {
      EXPECT_EQ(fovea_model_packed_size(model, target, &bytes, &layout), FOVEA_OK);
      const AlignedBytes out(bytes <= kMemoryCap ? bytes : 0);
      const fovea_status packed = fovea_model_pack(model, target, out.data(), out.size(), nullptr);
      EXPECT_TRUE(packed == FOVEA_OK || packed == FOVEA_E_PACKED || FOVEA_STATUS_CLASS(packed) == FOVEA_E_BLOB ||
                  bytes > kMemoryCap);
    }
    fovea_program_info program = Sized<fovea_program_info>();
    for (uint32_t p = 0; fovea_model_get_program(model, p, &program) == FOVEA_OK; ++p) {
      TouchString(program.name);
      fovea_value_info v = Sized<fovea_value_info>();
      for (uint32_t i = 0; fovea_program_get_value(model, p, i, &v) == FOVEA_OK; ++i) TouchString(v.name);
      fovea_step_info step = Sized<fovea_step_info>();
      for (uint32_t i = 0; fovea_program_get_step(model, p, i, &step) == FOVEA_OK; ++i) TouchString(step.name);
      uint32_t found;
      fovea_program_find_value(model, p, "no such value", &found);
    }
  }

  void Text(const fovea_model* model) {
    const char text[] = "The unaffable cafe <L>, don't";
    uint64_t needed = 0;
    if (fovea_text_scratch_size(model, sizeof(text) - 1, &needed, nullptr) != FOVEA_OK || needed > kMemoryCap) return;
    const AlignedBytes scratch(needed);
    int32_t ids[16];
    fovea_text_tokens tokens = {};
    tokens.struct_size = sizeof(tokens);
    tokens.capacity = 16;
    tokens.ids = ids;
    if (fovea_text_encode(model, text, sizeof(text) - 1, nullptr, 0, nullptr, scratch.data(), needed, &tokens,
                          nullptr) != FOVEA_OK) {
      return;
    }
    char out[64];
    uint64_t written = 0;
    fovea_text_decode(model, ids, tokens.count, 0, out, sizeof(out), &written, nullptr);
  }

  void Session(const fovea_model* model, uint32_t program) {
    // A few rows in each space whose rows the caller sets.
    std::vector<fovea_limit> limits;
    fovea_space_info space = Sized<fovea_space_info>();
    uint32_t spaces = 0;
    for (; fovea_model_get_space(model, spaces, &space) == FOVEA_OK; ++spaces) {
      if (space.is_input != 0) limits.push_back({spaces, space.parent == FOVEA_NONE ? 2u : 12u, 0});
    }
    fovea_program_info info = Sized<fovea_program_info>();
    fovea_model_get_program(model, program, &info);
    std::vector<uint32_t> keep;
    std::vector<fovea_tap> taps;
    for (uint32_t v = 0; v < info.value_count; v += 3) keep.push_back(v);
    fovea_step_info step = Sized<fovea_step_info>();
    for (uint32_t i = 0; i < info.step_count; ++i) {
      fovea_program_get_step(model, program, i, &step);
      if (step.heads == 0) continue;
      // Every form, choice of rows and reduction, one after the other.
      const uint32_t kind = static_cast<uint32_t>(taps.size());
      fovea_tap tap = Sized<fovea_tap>();
      tap.step = i;
      tap.form = kind % 2 == 0 ? FOVEA_TAP_SPARSE : FOVEA_TAP_DENSE;
      tap.rows = kind % 3;
      tap.stride = tap.rows == FOVEA_TAP_ROWS_STRIDE ? 2 : 0;
      tap.reduce = kind / 2 % 3;
      taps.push_back(tap);
    }
    fovea_session_options options = Options(limits, 2, 3);
    options.program = program;
    options.keep = keep.data();
    options.keep_count = static_cast<uint32_t>(keep.size());
    options.taps = taps.data();
    options.tap_count = static_cast<uint32_t>(taps.size());
    fovea_session_memory memory = {};
    memory.struct_size = sizeof(memory);
    if (fovea_session_size(model, &options, &memory, nullptr) != FOVEA_OK) return;
    if (memory.fixed_size > kMemoryCap || memory.scratch_size > kMemoryCap || memory.state_size > kMemoryCap) return;
    const AlignedBytes fixed(memory.fixed_size), state(memory.state_size), scratch(memory.scratch_size);
    memory.fixed = fixed.data();
    memory.state = state.data();
    memory.scratch = scratch.data();
    fovea_session* session = nullptr;
    if (fovea_session_init(model, &options, &memory, &session, nullptr) != FOVEA_OK) return;
    for (const uint32_t longest : {0u, 1u, 4u, 12u}) {
      if (!SetSegments(model, session, spaces, longest)) continue;
      FillInputs(model, session, program, info.value_count);
      if (fovea_session_run(session, nullptr) != FOVEA_OK) continue;
      ++use_.runs;
      State(session);
      fovea_view view;
      for (uint32_t v = 0; v < info.value_count; ++v) {
        if (fovea_session_get_output(session, v, &view, nullptr) == FOVEA_OK)
          Touch(view.data, uint64_t{view.rows} * view.row_bytes);
      }
      fovea_attention_map weights = Sized<fovea_attention_map>();
      for (uint32_t t = 0; t < taps.size(); ++t) {
        EXPECT_EQ(fovea_session_get_attention_map(session, t, &weights, nullptr), FOVEA_OK);
        if (weights.form == FOVEA_TAP_SPARSE) {
          ReadSparse(session, t, weights);
        } else {
          Touch(weights.data, uint64_t{weights.rows} * weights.heads * weights.stride * sizeof(float));
        }
      }
    }
  }

  // Goes on from what was saved.
  void State(fovea_session* session) {
    uint64_t size = 0;
    EXPECT_EQ(fovea_session_saved_size(session, &size, nullptr), FOVEA_OK);
    const AlignedBytes saved(size);
    EXPECT_EQ(fovea_session_save(session, saved.data(), size, nullptr), FOVEA_OK);
    EXPECT_EQ(fovea_session_restore(session, saved.data(), size, nullptr), FOVEA_OK);
    EXPECT_EQ(fovea_session_reset(session, nullptr), FOVEA_OK);
    fovea_session_run(session, nullptr);
  }

  void ReadSparse(const fovea_session* session, uint32_t tap, const fovea_attention_map& weights) {
    const uint64_t offsets = std::max(uint64_t{weights.rows} * weights.heads, uint64_t{weights.key_rows}) + 1;
    const AlignedBytes numbers(offsets * 8), lines(weights.entries * 4), keys(weights.entries * 4);
    const AlignedBytes values(weights.entries * 4);
    fovea_sparse_map arrays = {};
    arrays.struct_size = sizeof(arrays);
    arrays.offset_capacity = offsets;
    arrays.entry_capacity = weights.entries;
    arrays.offsets = reinterpret_cast<uint64_t*>(numbers.data());
    arrays.lines = reinterpret_cast<uint32_t*>(lines.data());
    arrays.keys = reinterpret_cast<uint32_t*>(keys.data());
    arrays.values = reinterpret_cast<float*>(values.data());
    for (arrays.layout = 0; arrays.layout <= FOVEA_SPARSE_CSC; ++arrays.layout) {
      EXPECT_EQ(fovea_session_get_sparse_map(session, tap, &arrays, nullptr), FOVEA_OK);
    }
  }

  // Two rows at the root; below, segments of 0 to `longest` rows.
  bool SetSegments(const fovea_model* model, fovea_session* session, uint32_t spaces, uint32_t longest) {
    bool all = true;
    fovea_space_info space = Sized<fovea_space_info>();
    for (uint32_t i = 0; i < spaces; ++i) {
      fovea_model_get_space(model, i, &space);
      if (space.is_input == 0) continue;
      std::vector<uint32_t> lengths = {2};
      if (space.parent != FOVEA_NONE) {
        const uint32_t* offsets;
        uint32_t count = 0;
        if (fovea_session_get_segments(session, space.parent, &offsets, &count, nullptr) != FOVEA_OK) continue;
        lengths.assign(offsets[count], 0);
        uint32_t left = 12, next = longest;
        for (uint32_t& length : lengths) {
          length = std::min({left, next, space.max_segment_rows});
          left -= length;
          next = next == 0 ? longest : next / 2;
        }
      }
      const fovea_status status =
          fovea_session_set_segments(session, i, lengths.data(), static_cast<uint32_t>(lengths.size()), nullptr);
      all = all && (status == FOVEA_OK || status == FOVEA_E_INDEX);  // a space that this program does not use
    }
    return all;
  }

  void FillInputs(const fovea_model* model, fovea_session* session, uint32_t program, uint32_t values) {
    fovea_view view;
    for (uint32_t v = 0; v < values; ++v) {
      if (fovea_session_get_input(session, v, &view, nullptr) != FOVEA_OK) continue;
      fovea_value_info info = Sized<fovea_value_info>();
      fovea_program_get_value(model, program, v, &info);
      for (uint64_t i = 0; i < uint64_t{view.rows} * view.width; ++i) {
        const uint32_t number = static_cast<uint32_t>(i) * 2654435761u;
        if (view.type == FOVEA_TYPE_I32) {
          // The largest one first.
          static_cast<int32_t*>(view.data)[i] = static_cast<int32_t>(info.id_limit == 0 ? number
                                                                     : i == 0           ? info.id_limit - 1
                                                                                        : number % info.id_limit);
        } else {
          static_cast<float*>(view.data)[i] = static_cast<float>(number % 2001) / 1000 - 1;
        }
      }
    }
  }

  Use use_;
  volatile uint64_t sink_ = 0;
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_MODEL_USE_BLOB_H_
