// Runs a model with taps on given inputs and returns the attention record.
#include "tools/attend/attend.h"

#include "tools/attend/answers.h"
#include "tools/attend/subject.h"
#include "tools/attend/written.h"
#include "tools/base/fail.h"
#include "tools/generate/decoder_session.h"
#include "tools/vectors/directions.h"

namespace fovea::tools {
namespace {

Subject SubjectOf(const Model& model, const AttendRequest& request) {
  if (!request.pair.empty()) return PairSubject(model, request);
  if (!request.texts.empty() && request.pictures.empty()) return TextSubject(model, request);
  if (!request.input.empty()) return TensorSubject(model, request);
  if (!request.sounds.empty()) return SoundSubject(model, request);
  return PictureSubject(model, request);
}

// Whether the input is for a model with a decoder, which generates, rather than for a single program.
bool Writes(const Model& model, const AttendRequest& request) {
  if (!request.prompts.empty() || !request.sources.empty()) return true;
  if (request.sounds.empty() && request.pictures.empty()) return false;
  if (!request.program.empty()) return false;
  const auto programs = FindGeneratePrograms(model);
  return programs && programs->encode;
}

std::string Title(const Model& model, const AttentionRecord& record) {
  const char* name = model.Metadata("name");
  std::string title = name != nullptr ? name : "Attention";
  if (!record.texts.empty()) title += ": " + Abridged(record.texts[0]);
  return title;
}

AttentionRecord RunSubject(const Model& model, const AttendRequest& request, bool only_bytes) {
  Subject subject = SubjectOf(model, request);
  if (const auto session = RunTapped(model, request, only_bytes, &subject)) {
    AddAnswers(model, *session, request, &subject);
  }
  return std::move(subject.record);
}

// Adds the kept steps that metadata names as deciding for each level.
void AddExplanation(const Model& model, AttentionRecord* record) {
  std::vector<std::pair<size_t, std::string>> named;
  for (const RecordSpace& space : record->spaces) {
    const char* step = model.Metadata("explain." + space.name);
    if (step == nullptr) continue;
    for (const RecordStep& kept : record->steps) {
      if (kept.name != step) continue;
      size_t depth = 0;
      for (int at = space.parent; at >= 0; at = record->spaces[static_cast<size_t>(at)].parent) ++depth;
      named.emplace_back(depth, kept.name);
    }
  }
  std::sort(named.begin(), named.end());
  for (const auto& [depth, name] : named) record->explain.push_back(name);
}

}  // namespace

AttentionRecord Attend(const Model& model, const AttendRequest& request, bool only_bytes) {
  if (!request.pictures.empty() && !request.texts.empty() && !MatchingOf(model)) {
    Fail("{}: does not compare images with texts; leave out the texts or the images", model.name());
  }
  AttentionRecord record =
      Writes(model, request) ? AttendWritten(model, request, only_bytes) : RunSubject(model, request, only_bytes);
  const auto metadata = [&](const char* key) {
    const char* value = model.Metadata(key);
    return std::string(value == nullptr ? "" : value);
  };
  record.model = model.name().substr(model.name().rfind('/') + 1);
  record.architecture = metadata("architecture");
  record.task = metadata("task");
  record.title = Title(model, record);
  AddExplanation(model, &record);
  return record;
}

}  // namespace fovea::tools
