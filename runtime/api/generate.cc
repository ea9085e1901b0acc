// Implements fovea/generate.h.
#include "runtime/generate/generate.h"

#include "runtime/api/handles.h"
#include "runtime/generate/settings.h"
#include "runtime/model/find.h"

struct fovea_generator {
  static constexpr uint32_t kMark = 0x47766f66;
  uint32_t mark = 0;
  fovea::Generator generator;
};

namespace fovea {
namespace {

bool IsGenerator(const fovea_generator* handle) {
  return kHasGeneration && handle != nullptr && handle->mark == fovea_generator::kMark;
}

// Shared by size and init, so that both compute the same.
Status Place(const fovea_generate_options* given, Arena& arena, Reporter& reporter, fovea_generator** handle) {
  if (!kHasGeneration) return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks generation");
  if (given == nullptr) return reporter.Fail(FOVEA_E_NULL, "options is NULL");
  fovea_generate_options options;
  FOVEA_TRY(ReadStruct(given, &options, reporter));
  if (!IsLive(options.decode)) return reporter.Fail(FOVEA_E_HANDLE, "decode is an invalid handle");
  if (options.encode != nullptr && !IsLive(options.encode)) {
    return reporter.Fail(FOVEA_E_HANDLE, "encode is an invalid handle");
  }
  if (options.draft != nullptr && !IsLive(options.draft)) {
    return reporter.Fail(FOVEA_E_HANDLE, "draft is an invalid handle");
  }
  *handle = arena.Take<fovea_generator>(1);
  Generator generator;
  FOVEA_TRY(PlaceGenerator(options, options.decode->session,
                           options.encode == nullptr ? nullptr : options.encode->session,
                           options.draft == nullptr ? nullptr : options.draft->session, arena, reporter, &generator));
  if (*handle != nullptr) (*handle)->generator = generator;
  return kOk;
}

Status Init(const fovea_generate_options* options, void* memory, uint64_t size, fovea_generator** generator,
            Reporter& reporter) {
  Arena counting;
  fovea_generator* handle = nullptr;
  FOVEA_TRY(Place(options, counting, reporter, &handle));
  if (memory == nullptr) return reporter.Fail(FOVEA_E_NULL, "memory is NULL");
  if (size < counting.needed()) {
    return reporter.Fail(FOVEA_E_TOO_SMALL, "memory for the generator is too small", counting.needed(), size);
  }
  FOVEA_TRY(CheckAligned(memory, reporter));
  Arena arena(memory, static_cast<size_t>(counting.needed()));
  FOVEA_TRY(Place(options, arena, reporter, &handle));
  if (!arena.ok()) return reporter.Fail(FOVEA_E_INTERNAL, "sizing and placing disagree", counting.needed(), size);
  handle->mark = fovea_generator::kMark;
  *generator = handle;
  return kOk;
}

// The program that metadata `key` names, else the one of this name; kBlobNone if there is none.
uint32_t ProgramOf(const Blob& blob, const char* key, const char* name) {
  const char* given = FindMetadata(blob, key);
  return FindProgram(blob, given == nullptr ? name : given);
}

}  // namespace
}  // namespace fovea

using namespace fovea;  // NOLINT: this file is the border

extern "C" {

fovea_status fovea_generate_find_programs(const fovea_model* model, uint32_t* decode, uint32_t* encode,
                                          fovea_error* error) {
  Reporter reporter(error);
  if (!IsLive(model)) return reporter.Fail(FOVEA_E_HANDLE, "invalid model handle").code;
  if (decode == nullptr) return reporter.Fail(FOVEA_E_NULL, "decode is NULL").code;
  const Blob& blob = model->model.blob;
  *decode = ProgramOf(blob, "generate.decode", "decode");
  if (encode != nullptr) *encode = *decode == kBlobNone ? kBlobNone : ProgramOf(blob, "generate.encode", "encode");
  if (*decode != kBlobNone) return FOVEA_OK;
  return reporter.Fail(FOVEA_E_NAME, "the model generates no text: it has no program for it").code;
}

fovea_status fovea_generate_get_linked(const fovea_model* model, uint32_t decode_program, uint32_t* inputs,
                                       uint32_t capacity, uint32_t* count, fovea_error* error) {
  Reporter reporter(error);
  if (!IsLive(model)) return reporter.Fail(FOVEA_E_HANDLE, "invalid model handle").code;
  if (count == nullptr || (inputs == nullptr && capacity != 0)) {
    return reporter.Fail(FOVEA_E_NULL, "inputs or count is NULL").code;
  }
  const Blob& blob = model->model.blob;
  if (decode_program >= blob.programs.count) {
    return reporter.Fail(FOVEA_E_INDEX, "the program does not exist", blob.programs.count, decode_program).code;
  }
  const ProgramRecord& program = blob.programs[decode_program];
  uint32_t found = 0;
  const Status status = ForEachLink(blob, program, reporter, [&](uint32_t input, uint32_t) -> Status {
    if (blob.values[program.first_value + input].role != ValueRole::kInput) return kOk;
    if (found < capacity) inputs[found] = input;
    ++found;
    return kOk;
  });
  if (!status.ok()) return status.code;
  *count = found;
  if (found <= capacity) return FOVEA_OK;
  return reporter.Fail(FOVEA_E_CAPACITY, "more linked inputs than the array holds", found, capacity).code;
}

fovea_status fovea_generate_size(const fovea_generate_options* options, uint64_t* needed, fovea_error* error) {
  Reporter reporter(error);
  if (needed == nullptr) return reporter.Fail(FOVEA_E_NULL, "needed is NULL").code;
  Arena counting;
  fovea_generator* handle = nullptr;
  const Status status = Place(options, counting, reporter, &handle);
  if (status.ok()) *needed = counting.needed();
  return status.code;
}

fovea_status fovea_generate_init(const fovea_generate_options* options, void* memory, uint64_t size,
                                 fovea_generator** generator, fovea_error* error) {
  Reporter reporter(error);
  if (generator == nullptr) return reporter.Fail(FOVEA_E_NULL, "generator is NULL").code;
  *generator = nullptr;
  return Init(options, memory, size, generator, reporter).code;
}

fovea_status fovea_generate_start(fovea_generator* generator, fovea_error* error) {
  Reporter reporter(error);
  if (!IsGenerator(generator)) return reporter.Fail(FOVEA_E_HANDLE, "invalid generator handle").code;
  return StartGenerator(generator->generator, reporter).code;
}

fovea_status fovea_generate_set_prompts(fovea_generator* generator, const int32_t* tokens, const uint32_t* lengths,
                                        uint32_t count, uint32_t keep, fovea_error* error) {
  Reporter reporter(error);
  if (!IsGenerator(generator)) return reporter.Fail(FOVEA_E_HANDLE, "invalid generator handle").code;
  return TakePrompts(generator->generator, tokens, lengths, count, keep != 0, reporter).code;
}

fovea_status fovea_generate_set_sequences(fovea_generator* generator, const uint64_t* numbers, uint32_t count,
                                          fovea_error* error) {
  Reporter reporter(error);
  if (!IsGenerator(generator)) return reporter.Fail(FOVEA_E_HANDLE, "invalid generator handle").code;
  return NumberTexts(generator->generator, numbers, count, reporter).code;
}

fovea_status fovea_generate_next(fovea_generator* generator, const int32_t* forced, fovea_generated* generated,
                                 fovea_error* error) {
  Reporter reporter(error);
  if (!IsGenerator(generator)) return reporter.Fail(FOVEA_E_HANDLE, "invalid generator handle").code;
  Generator& g = generator->generator;
  Status status = generated == nullptr ? kOk : CheckStructSize(*generated, reporter);
  if (status.ok()) status = StepGenerator(g, forced, reporter);
  if (!status.ok() || generated == nullptr) return status.code;
  fovea_generated values{};
  values.texts = g.progress.texts;
  values.left = g.progress.left;
  values.step = g.progress.steps - 1;
  values.tokens = g.progress.tokens;
  values.scores = g.progress.best;
  values.ended = g.progress.ended;
  values.logprobs = g.logprobs.chosen;
  values.ends = g.progress.ends;
  values.top_count = g.sampler.options().top_logprobs;
  if (values.top_count != 0) values.top_tokens = g.logprobs.top_tokens, values.top_logprobs = g.logprobs.top;
  return WriteStruct(values, generated);
}

fovea_status fovea_generate_get_hypothesis(fovea_generator* generator, uint32_t text, uint32_t rank,
                                           fovea_hypothesis* hypothesis, fovea_error* error) {
  Reporter reporter(error);
  if (!IsGenerator(generator)) return reporter.Fail(FOVEA_E_HANDLE, "invalid generator handle").code;
  return ReadHypothesis(generator->generator, text, rank, hypothesis, reporter).code;
}

fovea_status fovea_generate_get_beam(fovea_generator* generator, uint32_t beam, fovea_hypothesis* hypothesis,
                                     fovea_error* error) {
  Reporter reporter(error);
  if (!IsGenerator(generator)) return reporter.Fail(FOVEA_E_HANDLE, "invalid generator handle").code;
  return ReadBeam(generator->generator, beam, hypothesis, reporter).code;
}

}  // extern "C"
