// A model made of a blob, and everything that can be asked of it.
#include <string.h>

#include <string>

#include "tests/fuzz/blob_use.h"
#include "tests/fuzz/check.h"

namespace fovea::fuzz {

UsedModel::UsedModel(const uint8_t* bytes, uint64_t size, Filling filling, Transcript& transcript)
    : blob_(bytes, size) {
  blob_.Seal();
  fovea_error error = {};
  const fovea_status verified = fovea_blob_verify(blob_.data(), size, &error);
  transcript.Status("verify", verified, error);
  auto options = Sized<fovea_model_options>();
  options.skip_checksum = 1;
  uint64_t needed = 0;
  error = {};
  const fovea_status sized = fovea_model_size(blob_.data(), size, &options, &needed, &error);
  transcript.Status("model size", sized, error);
  if (sized != FOVEA_OK) {
    Check(verified != FOVEA_OK, "a blob that verifies has no size");
    return;
  }
  if (needed > kMaxBlockBytes) return;
  memory_ = Guarded(needed, filling);
  if (needed != 0) {
    Check(fovea_model_init(blob_.data(), size, &options, memory_.data(), needed - 1, &model_, &error) ==
                  FOVEA_E_TOO_SMALL &&
              error.expected == needed && model_ == nullptr,
          "a byte less than the model's size is not refused");
  }
  error = {};
  const fovea_status made = fovea_model_init(blob_.data(), size, &options, memory_.data(), needed, &model_, &error);
  transcript.Status("model", made, error);
  Check((made == FOVEA_OK) == (model_ != nullptr), "a model that failed");
  Check(made == FOVEA_OK || (made != FOVEA_E_TOO_SMALL && FOVEA_STATUS_CLASS(made) != FOVEA_E_INTERNAL),
        "the model's size was not enough");
  memory_.Seal();
}

namespace {

constexpr uint32_t kMaxSearches = 64;  // by name: each looks at all names

class Inspection {
 public:
  Inspection(const fovea_model* model, Transcript& transcript) : model_(model), transcript_(transcript) {}

  void Run() {
    auto info = Sized<fovea_model_info>();
    Check(fovea_model_get_info(model_, &info) == FOVEA_OK, "no model info");
    transcript_.Text("backend", info.backend);
    tensors_ = info.tensor_count;
    Sections(info);
    Tensors(info);
    Metadata(info);
    for (uint32_t i = 0; i < info.program_count; ++i) Program(i);
    Text(info);
    Packed();
  }

 private:
  void Sections(const fovea_model_info& info) {
    auto section = Sized<fovea_section_info>();
    for (uint32_t i = 0; i < info.section_count; ++i) {
      Check(fovea_model_get_section(model_, i, &section) == FOVEA_OK, "no section info");
      transcript_.Text("section", section.name);
    }
    auto space = Sized<fovea_space_info>();
    for (uint32_t i = 0; i < info.space_count; ++i) {
      Check(fovea_model_get_space(model_, i, &space) == FOVEA_OK, "no space info");
      transcript_.Text("space", space.name);
      transcript_.Number("longest segment", space.max_segment_rows);
      uint32_t found = 0;
      Check(fovea_model_find_space(model_, space.name, &found) == FOVEA_OK && found <= i, "a space is not found");
    }
    Check(fovea_model_get_section(model_, info.section_count, &section) == FOVEA_E_INDEX, "a section too many");
    Check(fovea_model_get_space(model_, info.space_count, &space) == FOVEA_E_INDEX, "a space too many");
  }

  void Tensors(const fovea_model_info& info) {
    auto tensor = Sized<fovea_tensor_info>();
    for (uint32_t i = 0; i < info.tensor_count; ++i) {
      Check(fovea_model_get_tensor(model_, i, &tensor) == FOVEA_OK, "no tensor info");
      transcript_.Text("tensor", tensor.name);
      const auto* data = static_cast<const uint8_t*>(tensor.data);
      transcript_.Bytes("tensor's ends", data, 1);
      transcript_.Bytes("tensor's ends", data + (tensor.scales == nullptr ? tensor.bytes - 1 : 0), 1);
    }
  }

  void Metadata(const fovea_model_info& info) {
    const char *key = nullptr, *value = nullptr;
    for (uint32_t i = 0; i < info.metadata_count; ++i) {
      Check(fovea_model_get_metadata(model_, i, &key, &value) == FOVEA_OK, "no metadata");
      transcript_.Text("key", key);
      transcript_.Text("value", value);
      if (i < kMaxSearches) Check(fovea_model_find_metadata(model_, key) != nullptr, "a key is not found");
    }
    transcript_.Text("label", fovea_model_get_label(model_, 0));
  }

  void Program(uint32_t program) {
    auto info = Sized<fovea_program_info>();
    Check(fovea_model_get_program(model_, program, &info) == FOVEA_OK, "no program info");
    transcript_.Text("program", info.name);
    transcript_.Number("phases", info.phase_count);
    uint32_t found = 0;
    for (uint32_t i = 0; i < info.value_count; ++i) {
      auto value = Sized<fovea_value_info>();
      Check(fovea_program_get_value(model_, program, i, &value) == FOVEA_OK, "no value info");
      transcript_.Text("value", value.name);
      if (i > kMaxSearches) continue;
      Check(fovea_program_find_value(model_, program, value.name, &found) == FOVEA_OK && found <= i,
            "a value is not found");
    }
    for (uint32_t i = 0; i < info.step_count; ++i) {
      auto step = Sized<fovea_step_info>();
      Check(fovea_program_get_step(model_, program, i, &step) == FOVEA_OK, "no step info");
      transcript_.Text("operation", step.op);
      transcript_.Text("step", step.name);
      Check(step.output < info.value_count && step.phase < info.phase_count, "a step's output or phase");
      References(program, i, step, info.value_count);
      Check(step.flops_per_row >= 0 && step.flops_per_row_key >= 0, "work that is no number");
      if (i < kMaxSearches) fovea_program_find_step(model_, program, step.name, &found);
    }
  }

  void References(uint32_t program, uint32_t at, const fovea_step_info& step, uint32_t values) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < step.input_count; ++i) {
      Check(fovea_program_get_step_input(model_, program, at, i, &found) == FOVEA_OK && found < values,
            "a step's input");
    }
    for (uint32_t i = 0; i < step.tensor_count; ++i) {
      Check(fovea_program_get_step_tensor(model_, program, at, i, &found) == FOVEA_OK &&
                (found < tensors_ || found == FOVEA_NONE),
            "a step's tensor");
    }
    Check(fovea_program_get_step_input(model_, program, at, step.input_count, &found) == FOVEA_E_INDEX &&
              fovea_program_get_step_tensor(model_, program, at, step.tensor_count, &found) == FOVEA_E_INDEX,
          "an input or tensor too many");
  }

  void Text(const fovea_model_info& info) {
    const char text[] = "The unaffable cafe <L>, don't";
    uint64_t needed = 0;
    fovea_error error = {};
    const fovea_status status = fovea_text_scratch_size(model_, sizeof(text) - 1, &needed, &error);
    transcript_.Status("text scratch", status, error);
    Check(info.has_text != 0 || status != FOVEA_OK, "a text without tokenizer");
    if (status != FOVEA_OK || needed > kMaxBlockBytes) return;
    const Guarded scratch(needed, Filling::kOnes);
    int32_t ids[16];
    auto tokens = Sized<fovea_text_tokens>();
    tokens.capacity = 16;
    tokens.ids = ids;
    const fovea_status encoded =
        fovea_text_encode(model_, text, sizeof(text) - 1, nullptr, 0, nullptr, scratch.data(), needed, &tokens, &error);
    transcript_.Status("encode", encoded, error);
    if (encoded == FOVEA_OK) transcript_.Bytes("ids", ids, tokens.count * sizeof(int32_t));
  }

  void Packed() {
    uint64_t bytes = 0, layout = 0;
    fovea_error error = {};
    Check(fovea_model_packed_size(model_, nullptr, &bytes, &layout) == FOVEA_OK, "no packed size");
    if (bytes > kMaxBlockBytes) return;
    const Guarded packed(bytes, Filling::kRandom);
    if (bytes != 0) {
      Check(fovea_model_pack(model_, nullptr, packed.data(), bytes, &error) == FOVEA_OK, "weights cannot be packed");
    }
    const char* target = fovea_pack_get_target(0);
    if (target == nullptr) return;
    Check(fovea_model_packed_size(model_, target, &bytes, &layout) == FOVEA_OK, "no packed size for another machine");
    if (bytes > kMaxBlockBytes) return;
    const Guarded elsewhere(bytes, Filling::kRandom);
    transcript_.Status("pack", fovea_model_pack(model_, target, elsewhere.data(), bytes, &error), error);
  }

  const fovea_model* model_;
  Transcript& transcript_;
  uint32_t tensors_ = 0;
};

}  // namespace

void Inspect(const fovea_model* model, Transcript& transcript) { Inspection(model, transcript).Run(); }

}  // namespace fovea::fuzz
