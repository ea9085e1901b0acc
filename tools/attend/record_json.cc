// The attention record as JSON.
#include "tools/attend/record_json.h"

#include <string.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/attend/key_ranges.h"
#include "tools/base/half.h"

namespace fovea::tools {
namespace {

template <typename T>
std::string Base64Of(const std::vector<T>& values) {
  return Base64(values.data(), values.size() * sizeof(T));
}

// Offsets as u32: a record has fewer than 2^32 weights.
std::string OffsetsText(const std::vector<uint64_t>& offsets) {
  std::vector<uint32_t> narrow(offsets.begin(), offsets.end());
  return Base64Of(narrow);
}

std::string HalvesText(const std::vector<float>& numbers) {
  std::vector<uint16_t> halves(numbers.size());
  std::transform(numbers.begin(), numbers.end(), halves.begin(), ToHalf);
  return Base64Of(halves);
}

OrderedJson SpaceJson(const RecordSpace& space) {
  OrderedJson json = {{"name", space.name},
                      {"parent", space.parent < 0 ? OrderedJson() : OrderedJson(space.parent)},
                      {"rows", space.count()},
                      {"offsets", space.offsets}};
  const RowMeaning& rows = space.rows;
  json["labels"] = rows.labels.empty() ? std::vector<std::string>(space.count()) : rows.labels;
  const auto add = [&](const char* key, const auto& list, const auto& entry_of) {
    if (list.empty()) return;
    OrderedJson& out = json[key] = OrderedJson::array();
    for (const auto& entry : list) out.push_back(entry ? entry_of(*entry) : OrderedJson());
  };
  add("places", rows.places, [](const Place& place) { return OrderedJson{place.text, place.begin, place.end}; });
  add("cells", rows.cells, [](const Cell& cell) { return OrderedJson{cell.image, cell.cell}; });
  add("times", rows.times, [](const Heard& heard) { return OrderedJson{heard.sound, heard.begin, heard.end}; });
  if (!rows.writes.empty()) json["writes"] = rows.writes;
  if (!space.chosen.empty()) json["chosen"] = space.chosen;
  return json;
}

OrderedJson StepJson(const RecordStep& step, bool half) {
  OrderedJson json = {{"name", step.name},           {"layer", step.layer},
                      {"part", step.part},           {"query_space", step.query_space},
                      {"key_space", step.key_space}, {"heads", step.heads}};
  if (!step.reduced.empty()) json["reduced"] = step.reduced;
  json["rows"] = step.rows;
  json["causal"] = step.causal;
  json["scores"] = step.scores;
  if (!step.note.empty()) json["note"] = step.note;
  if (step.form == StepForm::kPattern) {
    const KeyRanges ranges = RangesOf(step);
    json["form"] = "pattern";
    json["line_offsets"] = Base64Of(ranges.offsets);
    json["ranges"] = Base64Of(ranges.ranges);
    return json;
  }
  if (step.vector_width != 0) {
    json["vectors"] = {{"width", step.vector_width},
                       {"heads", step.all_heads},
                       {"queries", HalvesText(step.queries)},
                       {"keys", HalvesText(step.keys_of_rows)}};
  }
  json["form"] = step.form == StepForm::kDense ? "dense" : "sparse";
  if (step.form == StepForm::kSparse) {
    json["line_offsets"] = OffsetsText(step.line_offsets);
    const KeyRanges ranges = RangesOf(step);
    if (ranges.offsets.size() + ranges.ranges.size() < step.keys.size()) {
      json["range_offsets"] = Base64Of(ranges.offsets);
      json["ranges"] = Base64Of(ranges.ranges);
    } else {
      json["keys"] = Base64Of(step.keys);
    }
  }
  json["type"] = half ? "f16" : "f32";
  if (half) {
    json["weights"] = HalvesText(step.weights);
  } else {
    json["weights"] = Base64Of(step.weights);
  }
  return json;
}

OrderedJson AnswerJson(const RecordAnswer& answer) {
  OrderedJson json = {{"kind", answer.kind}, {"entries", OrderedJson::array()}};
  if (answer.width != 0) json["width"] = answer.width;
  for (const RecordLabel& entry : answer.entries) {
    json["entries"].push_back({{"label", entry.label}, {"number", entry.number}});
    if (!entry.of.empty()) json["entries"].back()["of"] = entry.of;
  }
  return json;
}

}  // namespace

std::string Base64(const void* bytes, size_t size) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto* from = static_cast<const uint8_t*>(bytes);
  std::string text;
  text.reserve((size + 2) / 3 * 4);
  for (size_t i = 0; i < size; i += 3) {
    const size_t left = std::min<size_t>(3, size - i);
    uint32_t group = uint32_t{from[i]} << 16;
    if (left > 1) group |= uint32_t{from[i + 1]} << 8;
    if (left > 2) group |= from[i + 2];
    for (size_t k = 0; k < 4; ++k) text += k <= left ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

uint64_t WeightCount(const AttentionRecord& record) {
  uint64_t count = 0;
  for (const RecordStep& step : record.steps) {
    if (step.form != StepForm::kPattern) count += step.weights.size();
  }
  return count;
}

OrderedJson RecordJson(const AttentionRecord& record) {
  const uint64_t exact = record.sounds.empty() ? kMostExactBytes : kMostExactSoundBytes;
  const bool half = WeightCount(record) * sizeof(float) > exact;
  OrderedJson json = {{"fovea_attention", 1},
                      {"title", record.title},
                      {"model", {{"name", record.model}, {"architecture", record.architecture}, {"task", record.task}}},
                      {"texts", record.texts}};
  OrderedJson& images = json["images"] = OrderedJson::array();
  for (const RecordImage& image : record.images) {
    images.push_back({{"width", image.width},
                      {"height", image.height},
                      {"png", Base64(image.png.data(), image.png.size())},
                      {"rows", image.grid.rows},
                      {"columns", image.grid.columns}});
    if (image.of >= 0) images.back()["of"] = image.of;
  }
  OrderedJson& sounds = json["sounds"] = OrderedJson::array();
  for (const RecordSound& sound : record.sounds) {
    sounds.push_back({{"seconds", sound.seconds}, {"rate", sound.rate}, {"peaks", Base64Of(sound.peaks)}});
    if (!sound.notes.empty()) sounds.back()["notes"] = sound.notes;
    if (sound.bands == 0) continue;
    sounds.back()["bands"] = sound.bands;
    sounds.back()["spectrogram"] = Base64(sound.spectrogram.data(), sound.spectrogram.size());
  }
  OrderedJson& spaces = json["spaces"] = OrderedJson::array();
  for (const RecordSpace& space : record.spaces) spaces.push_back(SpaceJson(space));
  OrderedJson& steps = json["steps"] = OrderedJson::array();
  for (const RecordStep& step : record.steps) steps.push_back(StepJson(step, half));
  if (record.generation) {
    const RecordGeneration& generation = *record.generation;
    json["generation"] = {
        {"source_space", generation.source_space < 0 ? OrderedJson() : OrderedJson(generation.source_space)},
        {"target_space", generation.target_space},
        {"first", generation.first.size() == 1 ? OrderedJson(generation.first[0]) : OrderedJson(generation.first)},
        {"shift", generation.shift ? 1 : 0}};
  }
  for (const RecordAnswer& answer : record.answers) json["answers"].push_back(AnswerJson(answer));
  for (const RecordReading& reading : record.reads) {
    OrderedJson& entry = json["reads"].emplace_back();
    entry = {{"text", reading.text}, {"tokens", reading.tokens}, {"of_tokens", reading.of_tokens}};
    if (reading.of_sentences == 0) continue;
    entry["sentences"] = reading.sentences;
    entry["of_sentences"] = reading.of_sentences;
  }
  if (!record.notes.empty()) json["notes"] = record.notes;
  if (!record.explain.empty()) json["explain"] = record.explain;
  if (record.session_bytes != 0) {
    json["memory"] = {{"tap_bytes", record.tap_bytes}, {"session_bytes", record.session_bytes}};
  }
  return json;
}

std::string RecordText(const AttentionRecord& record) {
  return RecordJson(record).dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace fovea::tools
