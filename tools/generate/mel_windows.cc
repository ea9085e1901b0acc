#include "tools/generate/mel_windows.h"

#include <math.h>
#include <stdlib.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/media/sound_inputs.h"
#include "tools/model/batch.h"
#include "tools/model/interrupt.h"

namespace fovea::tools {
namespace {

const char kLogs[] = "log_mel", kRest[] = "encode_log_mel", kEdge[] = "log_mel.edge", kRange[] = "log_mel.range";

}  // namespace

bool MelWindows::Fits(const Model& model) {
  return model.HasProgram(kLogs) && model.HasProgram(kRest) && model.Metadata(kEdge) != nullptr &&
         model.Metadata(kRange) != nullptr;
}

MelWindows::MelWindows(const Model& model, uint64_t clip, uint32_t workers)
    : model_(model), clip_(clip), workers_(workers), logs_(model.FindProgram(kLogs)), rest_(model.FindProgram(kRest)) {
  const fovea_value_info logs = model.Value(logs_, OutputsOf(model, logs_).front());
  const fovea_value_info given = model.Value(rest_, InputsOf(model, rest_).front());
  rows_ = model.Space(logs.space).max_segment_rows;
  edge_ = static_cast<uint64_t>(WholeNumberIn(model.Metadata(kEdge), "metadata log_mel.edge", {0, 1 << 16}));
  range_ = strtod(model.Metadata(kRange), nullptr);
  const bool fits = rows_ > 2 * edge_ && clip_ % rows_ == 0 && given.space == logs.space && given.width == logs.width;
  if (!fits || !(range_ >= 0)) {
    Fail("{}: programs {} and {} do not match clips of {} samples", model.name(), kLogs, kRest, clip_);
  }
  hop_ = clip_ / rows_;
}

std::vector<float> MelWindows::Rows(SoundReader* sound, uint64_t first, uint64_t count) const {
  std::vector<float> rows;
  const SoundInput input = *FindSoundInput(model_, logs_);
  const uint32_t output = OutputsOf(model_, logs_).front();
  for (const uint64_t end = first + count; first < end;) {
    // The first rows of a clip are not used, except at the beginning of the sound, which is mirrored there.
    const uint64_t before = std::min(first, edge_), begin = (first - before) * hop_;
    Sound part = sound->Part(begin, clip_);
    if (part.samples.empty()) part.samples = {0};
    SessionRequest request;
    request.program = logs_;
    request.workers = workers_;
    Session session = SessionFor(model_, BatchFromSounds(model_, input, logs_, {std::move(part)}), request);
    session.Run();
    const Matrix made = session.Output(output);
    const uint64_t taken = std::min(end - first, rows_ - edge_ - before);
    const float* const from = made.Row(static_cast<uint32_t>(before));
    rows.insert(rows.end(), from, from + taken * made.width);
    first += taken;
  }
  return rows;
}

float MelWindows::Loudest(const SoundWindow& window) const {
  SoundReader* const sound = window.sound;
  float loudest = -HUGE_VALF;
  for (uint64_t first = 0; sound->CountUpTo(first * hop_ + 1) > first * hop_ && !Interrupt::Happened();) {
    const uint64_t count = rows_ - edge_ - std::min(first, edge_);
    const std::vector<float> rows = Rows(sound, first, count);
    loudest = std::max(loudest, *std::max_element(rows.begin(), rows.end()));
    first += count;
    if (scanned_) scanned_(window.number, static_cast<double>(sound->CountUpTo(first * hop_)) / sound->rate());
  }
  return loudest;
}

Session MelWindows::Encode(const std::vector<SoundWindow>& windows) {
  const uint32_t input = InputsOf(model_, rest_).front();
  Batch batch;
  std::vector<float>& numbers = batch.numbers[input];
  for (const SoundWindow& window : windows) {
    const auto [known, is_new] = loudest_.try_emplace(window.number, 0.0f);
    if (is_new) known->second = Loudest(window);
    const auto floor = static_cast<float>(known->second - range_);
    for (const float x : Rows(window.sound, window.part.begin / hop_, rows_)) numbers.push_back(std::max(x, floor));
  }
  AddSegments(model_, model_.Value(rest_, input).space,
              MakeSegments(std::vector<uint32_t>(windows.size(), static_cast<uint32_t>(rows_))), &batch);
  SessionRequest request;
  request.program = rest_;
  request.workers = workers_;
  Session encode = SessionFor(model_, batch, request);
  encode.Run();
  return encode;
}

}  // namespace fovea::tools
