// The input of a tapped run.
#include "tools/attend/subject.h"

#include <algorithm>
#include <numeric>

#include "tools/attend/shown_picture.h"
#include "tools/attend/spectrogram.h"
#include "tools/attend/steps.h"
#include "tools/attend/vectors.h"
#include "tools/base/fail.h"
#include "tools/image/png.h"
#include "tools/tensors/golden_cases.h"
#include "tools/tensors/padded_inputs.h"
#include "tools/text/text_inputs.h"
#include "tools/text/truncation.h"

namespace fovea::tools {
namespace {

constexpr size_t kPeaks = 2000;  // pairs of peaks of a sound

// Records the images of the batch as the model receives them.
void RecordPictures(const Model& model, const PictureInput& input, Subject* subject) {
  const std::vector<float>& values = subject->batch.numbers[input.value];
  const std::optional<Preparation> preparation = FindPreparation(model);
  const size_t size = size_t{input.channels} * input.size.height * input.size.width, count = values.size() / size;
  const CellGrid grid = PictureRows(model, subject->program, input).grid();
  for (size_t i = 0; i < count; ++i) {
    const Picture picture = ShownPicture(values.data() + i * size, input.channels, input.size, preparation);
    subject->record.images.push_back({picture.width, picture.height, PngOf(picture), grid, -1});
  }
  subject->rows.SetPictures(input, static_cast<uint32_t>(count));
}

// Labels the rows of id inputs that were given as tensors.
void NameIds(const Model& model, const Batch& batch, Subject* subject) {
  const bool has_text = model.Info().has_text != 0;
  for (const auto& [value, ids] : batch.ids) {
    const fovea_value_info info = model.Value(subject->program, value);
    const std::string name = info.name;
    const bool are_ids = name.size() >= 3 && name.compare(name.size() - 3, 3, "ids") == 0 && name != "token_type_ids";
    if (info.width != 1 || info.id_limit == 0 || (!are_ids && subject->rows.Knows(info.space))) continue;
    RowMeaning rows;
    for (const int32_t id : ids) {
      const char* piece = nullptr;
      uint32_t size = 0;
      const bool known = has_text && fovea_text_get_token(model.get(), id, &piece, &size, nullptr, nullptr) == FOVEA_OK;
      rows.labels.push_back(known ? std::string(piece, size) : std::to_string(id));
    }
    subject->rows.Set(info.space, std::move(rows));
  }
}

}  // namespace

void NoteCuts(const std::vector<Tokens>& texts, AttentionRecord* record) {
  for (size_t i = 0; i < texts.size(); ++i) {
    const Tokens& tokens = texts[i];
    RecordReading reading = {static_cast<uint32_t>(i), tokens.ids.size(), tokens.ids.size() + tokens.dropped, 0, 0};
    reading.sentences = tokens.sentences.size();
    if (reading.sentences != 0) reading.of_sentences = reading.sentences + tokens.dropped_sentences;
    record->reads.push_back(reading);
  }
  const Truncations cuts(texts);
  if (cuts.any()) record->notes.push_back(cuts.Line());
}

Subject TextSubject(const Model& model, const AttendRequest& request) {
  Subject subject(model, model.FindProgram(request.program));
  const Tokenizer tokenizer(model);
  std::vector<Tokens> tokens;
  for (const std::string& text : request.texts) {
    tokens.push_back(EncodeFor(model, tokenizer, subject.program, text, request.max_length, request.wrapped));
  }
  NoteCuts(tokens, &subject.record);
  subject.batch = BatchFromTokens(model, subject.program, tokens);
  subject.record.texts = request.texts;
  subject.rows.SetTexts(TokenSpace(model, subject.program), request.texts, tokens);
  subject.tokens = std::move(tokens);
  return subject;
}

Subject PairSubject(const Model& model, const AttendRequest& request) {
  Subject subject(model, model.FindProgram(request.program));
  const Tokens tokens =
      EncodePairFor(model, Tokenizer(model), subject.program, request.pair[0], request.pair[1], request.max_length);
  NoteCuts({tokens}, &subject.record);
  subject.batch = BatchFromTokens(model, subject.program, {tokens});
  subject.record.texts = request.pair;
  subject.rows.SetTexts(TokenSpace(model, subject.program), request.pair, {tokens});
  subject.tokens = {tokens};
  return subject;
}

Subject TensorSubject(const Model& model, const AttendRequest& request) {
  const SafetensorsReader file(request.input);
  GoldenCase given = {"", "", file.tensors(), {}};
  if (!request.golden_case.empty()) given = FindCase(CasesOf(file.tensors()), request.golden_case);
  Subject subject(model, model.FindProgram(request.program.empty() ? given.program : request.program));
  subject.batch = BatchFromTensors(model, subject.program, given.in);
  NameIds(model, subject.batch, &subject);
  if (const auto input = FindPictureInput(model, subject.program)) RecordPictures(model, *input, &subject);
  if (const auto sound = FindSoundInput(model, subject.program)) {
    const auto samples = subject.batch.numbers.find(sound->value);
    if (samples == subject.batch.numbers.end()) return subject;
    std::vector<Sound> sounds;
    const auto segments = subject.batch.spaces.find(model.Value(subject.program, sound->value).space);
    std::vector<uint32_t> lengths = {static_cast<uint32_t>(samples->second.size())};
    if (segments != subject.batch.spaces.end()) lengths = segments->second.lengths;
    auto at = samples->second.begin();
    for (const uint32_t length : lengths) {
      sounds.push_back({sound->rate, {at, at + length}});
      at += length;
    }
    AddSounds(model, *sound, sounds, &subject);
  }
  return subject;
}

void AddSounds(const Model& model, const SoundInput& input, const std::vector<Sound>& sounds, Subject* subject) {
  (void)model;
  for (const Sound& sound : sounds) {
    RecordSound shown = {sound.seconds(), sound.rate, {}, sound.notes};
    const size_t parts = std::min(kPeaks, sound.samples.size());
    for (size_t i = 0; i < parts; ++i) {
      const auto at = [&](size_t part) {
        return sound.samples.begin() + static_cast<ptrdiff_t>(part * sound.samples.size() / parts);
      };
      const auto [low, high] = std::minmax_element(at(i), at(i + 1));
      shown.peaks.insert(shown.peaks.end(), {*low, *high});
    }
    AddSpectrogram(sound, &shown);
    subject->record.sounds.push_back(std::move(shown));
  }
  subject->rows.SetSounds(input, sounds);
}

Subject SoundSubject(const Model& model, const AttendRequest& request) {
  Subject subject(model, model.FindProgram(request.program));
  const std::optional<SoundInput> input = FindSoundInput(model, subject.program);
  if (!input) Fail("{}: program '{}' does not read audio", model.name(), model.Program(subject.program).name);
  std::vector<Sound> sounds;
  for (const std::string& file : request.sounds) sounds.push_back(ReadClip(file, *input));
  subject.batch = BatchFromSounds(model, *input, subject.program, sounds);
  AddSounds(model, *input, sounds, &subject);
  return subject;
}

namespace {

// `first`: the first file's picture, if it was read before.
void AddPictureFiles(const Model& model, const std::vector<std::string>& files, const Picture* first,
                     Subject* subject) {
  const std::optional<PictureInput> input = FindPictureInput(model, subject->program);
  if (!input) Fail("{}: program '{}' does not read images", model.name(), model.Program(subject->program).name);
  PictureBatch batch(model, subject->program);
  for (size_t i = 0; i < files.size(); ++i) batch.Add(i == 0 && first != nullptr ? *first : ReadPicture(files[i]));
  subject->batch = batch.Finish();
  RecordPictures(model, *input, subject);
}

}  // namespace

void AddPictures(const Model& model, const std::vector<std::string>& files, Subject* subject) {
  AddPictureFiles(model, files, nullptr, subject);
}

Subject PictureSubject(const Model& model, const AttendRequest& request) {
  const Picture first = ReadPicture(request.pictures.at(0));
  // All images of a record have the size of the first: one program runs them.
  Subject subject(model, ProgramFor(model, PicturePrograms(model, request.program), first));
  AddPictureFiles(model, request.pictures, &first, &subject);
  return subject;
}

std::optional<Session> RunTapped(const Model& model, const AttendRequest& request, bool only_bytes, Subject* subject) {
  SessionRequest session_request;
  session_request.program = subject->program;
  session_request.workers = request.workers;
  session_request.keep = subject->rows.keep();
  session_request.limits = ExactLimits(model, subject->batch);
  TapChoice choice = request.taps;
  if (!subject->record.sounds.empty()) choice.most_bytes = kMostSoundBytes;
  const TapPlan plan = PlanTaps(model, choice, session_request, CountPairs(model, subject->batch, session_request));
  subject->record.tap_bytes = plan.tap_bytes;
  subject->record.session_bytes = plan.session_bytes;
  if (only_bytes) return std::nullopt;
  if (request.told) request.told(plan);
  session_request.taps = plan.taps;
  std::optional<Session> session = SessionFor(model, subject->batch, session_request);
  session->Run();
  AddSteps(model, *session, plan, &subject->rows, &subject->record);
  if (request.vectors) AddVectors(model, subject->batch, session_request, plan, &subject->record);
  return session;
}

}  // namespace fovea::tools
