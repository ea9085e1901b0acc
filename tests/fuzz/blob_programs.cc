// Sessions of a model's programs and its generator, each under two conditions that must not matter.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/fuzz/blob_use.h"
#include "tests/fuzz/check.h"

namespace fovea::fuzz {
namespace {

void UseProgram(const fovea_model* model, const SessionChoices& choices, const Conditions& conditions, Random random,
                Transcript& transcript) {
  UsedSession session(model, choices, conditions, transcript);
  for (const uint32_t longest : {random.Below(4), 4 + random.Below(9), random.Below(30)}) {
    session.SetSegments(longest, random);
    session.FillInputs(random);
    const bool ran = session.Run(random);
    if (ran) session.Read();
    session.SaveAndRestore(random);
    session.UseTexts(random);
    if (ran && random.OneIn(2) && session.Run(random)) session.Read();
  }
}

uint32_t ProgramOf(const fovea_model* model, const char* key, const char* usual) {
  const char* name = fovea_model_find_metadata(model, key);
  uint32_t program = FOVEA_NONE;
  return fovea_model_find_program(model, name == nullptr ? usual : name, &program) == FOVEA_OK ? program : FOVEA_NONE;
}

// Tokens until all texts have ended, some of them forced.
void Generate(fovea_generator* generator, UsedSession& decode, Random& random, Transcript& transcript) {
  fovea_error error = {};
  const fovea_status started = fovea_generate_start(generator, &error);
  transcript.Status("generate start", started, error);
  if (started == FOVEA_OK) decode.FillInputs(random, random.OneIn(4));
  auto step = Sized<fovea_generated>();
  for (uint32_t i = 0; i < 5 && started == FOVEA_OK; ++i) {
    std::vector<int32_t> forced(step.texts, -1);  // none in the first step
    for (int32_t& token : forced) {
      if (random.OneIn(8)) token = static_cast<int32_t>(random.Number());
    }
    const fovea_status status = fovea_generate_next(generator, forced.empty() ? nullptr : forced.data(), &step, &error);
    transcript.Status("generate next", status, error);
    if (status != FOVEA_OK) continue;
    transcript.Bytes("tokens", step.tokens, uint64_t{step.texts} * sizeof(int32_t));
    transcript.Floats("scores", step.scores, step.texts);
    transcript.Bytes("ended", step.ended, step.texts);
  }
}

struct GeneratorChoices {
  SessionChoices encode, decode;
  fovea_status status = FOVEA_OK;  // result of looking up the links
};

// The two programs that the metadata name; nothing if one is not there.
std::optional<GeneratorChoices> ChooseGenerator(const fovea_model* model, Random& random, Transcript& transcript) {
  const uint32_t encoder = ProgramOf(model, "generate.encode", "encode");
  const uint32_t decoder = ProgramOf(model, "generate.decode", "decode");
  if (encoder == FOVEA_NONE || decoder == FOVEA_NONE) return std::nullopt;
  GeneratorChoices choices = {SessionChoices(model, encoder, random), SessionChoices(model, decoder, random)};
  uint32_t count = 0;
  fovea_error error = {};
  choices.status = fovea_generate_get_linked(model, decoder, nullptr, 0, &count, &error);
  if (choices.status == FOVEA_E_CAPACITY) {
    std::vector<uint32_t>& linked = choices.decode.linked;
    linked.resize(count);
    choices.status = fovea_generate_get_linked(model, decoder, linked.data(), count, &count, &error);
    Check(choices.status == FOVEA_OK && count == linked.size(), "links are not counted alike");
  }
  transcript.Status("links", choices.status, error);
  return choices;
}

bool Fits(const fovea_model* model, const GeneratorChoices& choices, const Conditions& conditions) {
  return UsedSession::Fits(model, choices.encode, conditions) && UsedSession::Fits(model, choices.decode, conditions);
}

void UsePair(const fovea_model* model, const GeneratorChoices& choices, const Conditions& conditions, Random random,
             Transcript& transcript) {
  UsedSession encode(model, choices.encode, conditions, transcript);
  UsedSession decode(model, choices.decode, conditions, transcript);
  for (int batch = 0; batch < 2; ++batch) {
    encode.SetSegments(random.Below(8), random);
    encode.FillInputs(random);
    encode.Run(random);
    if (random.OneIn(4)) decode.SetSegments(random.Below(8), random);
    auto options = Sized<fovea_generate_options>();
    options.decode = decode.get();
    options.encode = random.OneIn(16) ? nullptr : encode.get();
    uint64_t needed = 0;
    fovea_error error = {};
    const fovea_status sized = fovea_generate_size(&options, &needed, &error);
    transcript.Status("generator size", sized, error);
    if (sized != FOVEA_OK || needed > kMaxBlockBytes) return;
    const Guarded memory(needed, conditions.filling);
    fovea_generator* generator = nullptr;
    Check(fovea_generate_init(&options, memory.data(), needed, &generator, &error) == FOVEA_OK,
          "the generator's size was not enough");
    Generate(generator, decode, random, transcript);
    decode.Read();
    decode.SaveAndRestore(random);
  }
}

}  // namespace

void UsePrograms(const fovea_model* model, uint64_t seed, const Conditions& conditions, const Conditions& others,
                 Transcript& transcript) {
  auto info = Sized<fovea_model_info>();
  fovea_model_get_info(model, &info);
  for (uint32_t program = 0; program < std::min(info.program_count, 4u); ++program) {
    Random random(seed + program);
    const SessionChoices choices(model, program, random);
    // Too large under either: both leave it out.
    if (!UsedSession::Fits(model, choices, conditions) || !UsedSession::Fits(model, choices, others)) continue;
    UseProgram(model, choices, conditions, random, transcript);
  }
}

void UseGenerator(const fovea_model* model, uint64_t seed, const Conditions& conditions, const Conditions& others,
                  Transcript& transcript) {
  Random random(seed);
  const auto choices = ChooseGenerator(model, random, transcript);
  if (!choices || choices->status != FOVEA_OK) return;
  if (Fits(model, *choices, conditions) && Fits(model, *choices, others)) {
    UsePair(model, *choices, conditions, random, transcript);
  }
}

void CheckGenerator(const fovea_model* model, uint64_t seed) {
  for (const char* key : {"generate.token", "generate.scores", "generate.start"}) {
    if (fovea_model_find_metadata(model, key) == nullptr) return;  // only where the options must specify it
  }
  Random random(seed);
  Transcript transcript;
  auto choices = ChooseGenerator(model, random, transcript);
  if (!choices) return;
  choices->decode.limits = choices->encode.limits;
  Check(choices->status == FOVEA_OK, "links that the converter accepted");
  if (!Fits(model, *choices, {})) return;
  UsedSession encode(model, choices->encode, {}, transcript);
  const UsedSession decode(model, choices->decode, {}, transcript);
  encode.SetSegments(4, random);
  encode.FillInputs(random);
  if (!encode.Run(random)) return;
  auto options = Sized<fovea_generate_options>();
  options.encode = encode.get();
  options.decode = decode.get();
  uint64_t needed = 0;
  fovea_error error = {};
  bool made = fovea_generate_size(&options, &needed, &error) == FOVEA_OK;
  const Guarded memory(needed);
  fovea_generator* generator = nullptr;
  made = made && fovea_generate_init(&options, memory.data(), needed, &generator, &error) == FOVEA_OK &&
         fovea_generate_start(generator, &error) == FOVEA_OK;
  if (!made) Broken(std::string("generation that the converter accepted: ") + error.text);
}

Transcript UseBlob(const uint8_t* bytes, uint64_t size, uint64_t seed, const Conditions& conditions,
                   const Conditions& others) {
  Transcript transcript;
  const UsedModel model(bytes, size, conditions.filling, transcript);
  if (model.get() == nullptr) return transcript;
  Inspect(model.get(), transcript);
  UsePrograms(model.get(), seed, conditions, others, transcript);
  UseGenerator(model.get(), seed, conditions, others, transcript);
  return transcript;
}

}  // namespace fovea::fuzz
