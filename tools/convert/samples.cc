#include "tools/convert/samples.h"

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/media/picture_inputs.h"
#include "tools/media/sound_inputs.h"
#include "tools/tensors/padded_inputs.h"
#include "tools/text/text_inputs.h"
#include "tools/text/truncation.h"

namespace fovea::tools {
namespace {

// Whether a program's only required inputs are the ids of texts, one row each.
bool ReadsIdsAlone(const Model& model, uint32_t program) {
  if (!TakesTokens(model, program) || ReadsDocuments(model, program)) return false;
  const uint32_t space = TokenSpace(model, program);
  uint32_t others = 0;
  for (const uint32_t input : InputsOf(model, program)) {
    const fovea_value_info info = model.Value(program, input);
    if (info.space != space || info.type != FOVEA_TYPE_I32) return false;
    if (!DefaultId(model, info)) ++others;
  }
  return others <= 1 && model.Space(space).parent != FOVEA_NONE;
}

std::optional<Batch> OfIds(const Model& model, uint32_t program, const std::vector<std::vector<int32_t>>& rows,
                           size_t most) {
  if (!ReadsIdsAlone(model, program)) return std::nullopt;
  uint32_t limit = UINT32_MAX;
  for (const uint32_t input : InputsOf(model, program)) {
    const fovea_value_info info = model.Value(program, input);
    if (!DefaultId(model, info) && info.id_limit != 0) limit = std::min(limit, info.id_limit);
  }
  const uint32_t longest = model.Space(TokenSpace(model, program)).max_segment_rows;
  std::vector<Tokens> texts;
  for (size_t i = 0, tokens = 0; i < rows.size() && tokens < most; ++i) {
    if (rows[i].size() > longest) {
      Fail("sample ids: row {} has {} tokens, more than the maximum of {}", i + 1, rows[i].size(), longest);
    }
    for (const int32_t id : rows[i]) {
      if (id < 0 || static_cast<uint32_t>(id) >= limit) {
        Fail("sample ids: row {}: {} is not below {}", i + 1, id, limit);
      }
    }
    Tokens& text = texts.emplace_back();
    text.ids = rows[i];
    text.types.resize(text.ids.size());
    PadTokens(model, program, &text);
    tokens += text.ids.size();
  }
  return BatchFromTokens(model, program, texts);
}

std::optional<Batch> OfTexts(const Model& model, uint32_t program, const std::vector<std::string>& lines, size_t most) {
  if (!TakesTokens(model, program)) return std::nullopt;
  const Tokenizer tokenizer(model);
  std::vector<Tokens> texts;
  for (size_t i = 0, tokens = 0; i < lines.size() && tokens < most; ++i) {
    texts.push_back(EncodeFor(model, tokenizer, program, lines[i]));
    tokens += texts.back().ids.size();
  }
  return BatchFromTokens(model, program, texts);
}

std::optional<Batch> OfSounds(const Model& model, uint32_t program, const std::vector<std::string>& files,
                              size_t most) {
  constexpr size_t kTokensPerSecond = 100;
  const std::optional<SoundInput> input = FindSoundInput(model, program);
  if (!input || InputsOf(model, program).size() != 1) return std::nullopt;
  std::vector<Sound> sounds;
  for (size_t i = 0, tokens = 0; i < files.size() && tokens < most; ++i) {
    sounds.push_back(ReadSound(files[i], input->rate));  // NotesOnSamples returns the notes
    tokens += sounds.back().samples.size() * kTokensPerSecond / input->rate;
  }
  return BatchFromSounds(model, *input, program, sounds);
}

std::optional<Batch> OfPictures(const Model& model, uint32_t program, const std::vector<std::string>& files,
                                size_t most) {
  constexpr size_t kPixelsPerToken = 256;
  const std::optional<PictureInput> input = FindPictureInput(model, program);
  if (!input || InputsOf(model, program).size() != 1) return std::nullopt;
  const size_t tokens = size_t{input->size.height} * input->size.width / kPixelsPerToken + 1;
  PictureBatch batch(model, program);
  for (size_t i = 0; i < files.size() && i * tokens < most; ++i) batch.Add(ReadPicture(files[i]));
  return batch.Finish();
}

std::optional<Batch> OfTensors(const Model& model, uint32_t program, const std::string& file) {
  const SafetensorsReader reader(file);
  for (const uint32_t input : InputsOf(model, program)) {
    const fovea_value_info info = model.Value(program, input);
    if (!DefaultId(model, info) && reader.tensors().count(info.name) == 0) return std::nullopt;
  }
  return BatchFromTensors(model, program, reader.tensors());
}

}  // namespace

std::optional<Batch> GivenSamples(const Model& model, uint32_t program, const SampleSources& sources, size_t most) {
  if (!sources.ids.empty()) return OfIds(model, program, sources.ids, most);
  if (!sources.texts.empty()) return OfTexts(model, program, sources.texts, most);
  if (!sources.sounds.empty()) return OfSounds(model, program, sources.sounds, most);
  if (!sources.pictures.empty()) return OfPictures(model, program, sources.pictures, most);
  if (!sources.tensors.empty()) return OfTensors(model, program, sources.tensors);
  return std::nullopt;
}

std::vector<std::string> NotesOnSamples(const Model& model, const SampleSources& sources) {
  std::vector<std::string> notes;
  for (uint32_t program = 0; program < model.Info().program_count && notes.empty(); ++program) {
    if (!sources.texts.empty() && TakesTokens(model, program)) {
      const Tokenizer tokenizer(model);
      Truncations cuts;
      for (const std::string& line : sources.texts) cuts.Add(EncodeFor(model, tokenizer, program, line));
      if (cuts.any()) notes.push_back("samples: " + cuts.Line());
      return notes;
    }
    const std::optional<SoundInput> input = FindSoundInput(model, program);
    if (!input || InputsOf(model, program).size() != 1) continue;
    for (const std::string& file : sources.sounds) {
      for (const std::string& note : ReadClip(file, *input).notes) notes.push_back(fmt::format("{}: {}", file, note));
    }
  }
  return notes;
}

}  // namespace fovea::tools
