// Checks the options of a session.
#include "runtime/session/session.h"

namespace fovea {
namespace {

constexpr uint32_t kMostTexts = 1u << 20;

Status CheckCacheOptions(const fovea_session_options& options, Reporter& reporter) {
  if (options.cached_texts > kMostTexts) {
    return reporter.Fail(FOVEA_E_OPTION, "too many cached texts", kMostTexts, options.cached_texts);
  }
  if (options.rewind_rows > INT32_MAX) {
    return reporter.Fail(FOVEA_E_OPTION, "too many rows to rewind", INT32_MAX, options.rewind_rows);
  }
  const uint32_t type = options.cache_type == nullptr ? uint32_t{FOVEA_TYPE_F32} : *options.cache_type;
  if (LacksRows(DType(type))) {
    return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks rows of this type", 0, type);
  }
  if (type == FOVEA_TYPE_F32 || type == FOVEA_TYPE_F16 || type == FOVEA_TYPE_BF16 || type == FOVEA_TYPE_I8) return kOk;
  return reporter.Fail(FOVEA_E_OPTION, "cached rows must be f32, f16, bf16 or int8", FOVEA_TYPE_F32, type);
}

}  // namespace

Status CheckSessionOptions(const Model& model, const fovea_session_options& options, Reporter& reporter) {
  const Blob& blob = model.blob;
  if constexpr (!kHasOperations) {
    return reporter.Fail(FOVEA_E_BUILD, "this build's profile lists no operation, so it has no sessions");
  }
  if (options.program >= blob.programs.count) {
    return reporter.Fail(FOVEA_E_INDEX, "the program does not exist", blob.programs.count, options.program);
  }
  if (options.workers > kMaxWorkers)
    return reporter.Fail(FOVEA_E_OPTION, "too many workers", kMaxWorkers, options.workers);
  if (options.tile_rows > kMaxTileRows) {
    return reporter.Fail(FOVEA_E_OPTION, "tile_rows is too large", kMaxTileRows, options.tile_rows);
  }
  if (options.barrier != nullptr && options.runner == nullptr) {
    return reporter.Fail(FOVEA_E_OPTION, "a barrier needs a runner");
  }
  if ((options.limit_count != 0 && options.limits == nullptr) || (options.keep_count != 0 && options.keep == nullptr) ||
      (options.linked_count != 0 && options.linked == nullptr)) {
    return reporter.Fail(FOVEA_E_NULL, "an array of the options is NULL");
  }
  for (uint32_t i = 0; i < options.limit_count; ++i) {
    const uint32_t space = options.limits[i].space;
    if (space >= blob.spaces.count)
      return reporter.Fail(FOVEA_E_INDEX, "a limit names a space that does not exist", blob.spaces.count, space);
    const SpaceKind kind = blob.spaces[space].kind;
    if (kind != SpaceKind::kInput && kind != SpaceKind::kCached) {
      return reporter.Fail(FOVEA_E_OPTION, "only input and cached spaces have limits", 0, space);
    }
    for (uint32_t k = 0; k < i; ++k) {
      if (options.limits[k].space == space) return reporter.Fail(FOVEA_E_OPTION, "a space has two limits", 1, space);
    }
  }
  FOVEA_TRY(CheckCacheOptions(options, reporter));
  const ProgramRecord& program = blob.programs[options.program];
  for (uint32_t i = 0; i < options.keep_count; ++i) {
    reporter.tensor = options.keep[i];
    if (options.keep[i] >= program.value_count) {
      return reporter.Fail(FOVEA_E_INDEX, "a value to keep does not exist", program.value_count, options.keep[i]);
    }
    if (blob.spaces[blob.values[program.first_value + options.keep[i]].space].kind == SpaceKind::kCached) {
      return reporter.Fail(FOVEA_E_OPTION, "a value of a cached space must not be in options.keep", 0, options.keep[i]);
    }
    for (uint32_t k = 0; k < i; ++k) {
      if (options.keep[k] == options.keep[i])
        return reporter.Fail(FOVEA_E_OPTION, "a value is listed twice in options.keep", 1, options.keep[i]);
    }
  }
  const uint32_t inputs = program.value_count - program.operation_count;
  for (uint32_t i = 0; i < options.linked_count; ++i) {
    const uint32_t v = options.linked[i];
    reporter.tensor = v;
    if (v >= inputs) return reporter.Fail(FOVEA_E_INDEX, "an input to link does not exist", inputs, v);
    if (blob.values[program.first_value + v].role == ValueRole::kCarried) {
      return reporter.Fail(FOVEA_E_OPTION, "a carried input must not be in options.linked: it can be linked anyway", 0,
                           v);
    }
    for (uint32_t k = 0; k < i; ++k) {
      if (options.linked[k] == v)
        return reporter.Fail(FOVEA_E_OPTION, "an input is listed twice in options.linked", 1, v);
    }
  }
  reporter.tensor = FOVEA_NOWHERE;
  return CheckTaps(model, options, reporter);
}

}  // namespace fovea
