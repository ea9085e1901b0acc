// Describes the rows of a model's spaces for the record.
#include "tools/attend/rows.h"

#include <string.h>

#include <algorithm>
#include <numeric>

#include "runtime/blob/strides.h"
#include "tools/attend/dropped_rows.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/text/text_inputs.h"

namespace fovea::tools {
namespace {

bool IsTail(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) == 0x80; }

// The list's first entry, or the only value.
template <typename T>
T At(const std::vector<T>& list, size_t row) {
  return row < list.size() ? list[row] : T();
}

// Appends the description of row `row`; none: an empty one.
void AppendRow(const RowMeaning& from, std::optional<uint32_t> row, RowMeaning* to) {
  to->labels.push_back(row ? At(from.labels, *row) : "");
  if (!from.places.empty()) to->places.push_back(row ? At(from.places, *row) : std::nullopt);
  if (!from.times.empty()) to->times.push_back(row ? At(from.times, *row) : std::nullopt);
}

// Appends rows [begin, end) as one row.
void AppendGroup(const RowMeaning& from, uint32_t begin, uint32_t end, RowMeaning* to) {
  AppendRow(from, begin, to);
  for (uint32_t row = begin + 1; row < end; ++row) {
    std::string& label = to->labels.back();
    const std::string more = At(from.labels, row);
    if (!more.empty()) label += (label.empty() ? "" : " ") + more;
    if (!from.places.empty() && from.places[row]) {
      std::optional<Place>& place = to->places.back();
      if (!place) {
        place = from.places[row];
      } else if (place->text == from.places[row]->text) {
        place->begin = std::min(place->begin, from.places[row]->begin);
        place->end = std::max(place->end, from.places[row]->end);
      }
    }
    if (!from.times.empty() && from.times[row]) {
      std::optional<Heard>& time = to->times.back();
      if (!time) {
        time = from.times[row];
      } else {
        time->end = from.times[row]->end;
      }
    }
  }
}

}  // namespace

Utf16Places::Utf16Places(const std::string& text) : text_(text), units_(text.size() + 1) {
  uint32_t unit = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!IsTail(text[i])) {
      const size_t begin = i;
      while (i + 1 < text.size() && IsTail(text[i + 1])) ++i;
      for (size_t k = begin; k <= i; ++k) units_[k] = unit;
      unit += static_cast<uint8_t>(text[begin]) >= 0xf0 ? 2 : 1;
    } else {
      units_[i] = unit;
    }
  }
  units_[text.size()] = unit;
}

std::pair<uint32_t, uint32_t> Utf16Places::Whole(uint32_t begin, uint32_t end) const {
  while (begin > 0 && begin < text_.size() && IsTail(text_[begin])) --begin;
  while (end < text_.size() && IsTail(text_[end])) ++end;
  return {begin, end};
}

std::string Abridged(const std::string& text, size_t characters) {
  size_t at = 0;
  for (size_t count = 0; at < text.size(); ++count) {
    if (count == characters) return text.substr(0, at) + "\xe2\x80\xa6";
    ++at;
    while (at < text.size() && IsTail(text[at])) ++at;
  }
  return text;
}

Rows::Rows(const Model& model, uint32_t program) : model_(model), program_(program) {
  const uint32_t steps = model.Program(program).step_count;
  for (uint32_t step = 0; step < steps; ++step) {
    const fovea_step_info info = model.Step(program, step);
    if (strcmp(info.op, "select") != 0 && strcmp(info.op, "expand") != 0) continue;
    const fovea_value_info value = model.Value(program, info.output);
    if (!indices_.emplace(value.space, info.output).second) continue;
    if (value.role == FOVEA_ROLE_INTERNAL) keep_.push_back(info.output);
    if (DropsRows(model, program, step)) dropping_.insert(value.space);
  }
}

void Rows::SetTexts(uint32_t space, const std::vector<std::string>& texts, const std::vector<Tokens>& tokens,
                    uint32_t first_text) {
  const bool has_text = model_.Info().has_text != 0;
  RowMeaning rows, sentences, whole;
  for (size_t i = 0; i < tokens.size(); ++i) {
    // A pair is shown as both texts, a single text as itself.
    const bool pair = !tokens[i].second.empty();
    const std::string& text = texts[i];
    const Utf16Places places(text), second_places(pair ? texts[i + 1] : text);
    const auto number = static_cast<uint32_t>(first_text + i);
    for (size_t k = 0; k < tokens[i].ids.size(); ++k) {
      const bool is_second = pair && tokens[i].second[k] != 0;
      const std::string& of = is_second ? texts[i + 1] : text;
      const Utf16Places& in = is_second ? second_places : places;
      const auto [begin, end] = in.Whole(tokens[i].begin[k], tokens[i].end[k]);
      if (tokens[i].special[k] == 0 && begin < end) {
        rows.labels.push_back(of.substr(begin, end - begin));
        rows.places.push_back(Place{number + (is_second ? 1 : 0), in.Unit(begin), in.Unit(end)});
      } else {
        rows.labels.push_back(has_text ? Tokenizer(model_).Piece(tokens[i].ids[k]) : std::to_string(tokens[i].ids[k]));
        rows.places.push_back(std::nullopt);
      }
    }
    for (const Tokens::Sentence& sentence : tokens[i].sentences) {
      sentences.labels.push_back(Abridged(text.substr(sentence.begin, sentence.end - sentence.begin)));
      sentences.places.push_back(Place{number, places.Unit(sentence.begin), places.Unit(sentence.end)});
    }
    whole.labels.push_back(Abridged(pair ? text + " / " + texts[i + 1] : text));
    whole.places.push_back(Place{number, 0, places.Unit(static_cast<uint32_t>(text.size()))});
  }
  given_[space] = std::move(rows);
  uint32_t parent = model_.Space(space).parent;
  if (ReadsDocuments(model_, program_) && space == TokenSpace(model_, program_)) {
    given_[parent] = std::move(sentences);
    parent = model_.Space(parent).parent;
  }
  if (parent != FOVEA_NONE) given_[parent] = std::move(whole);
}

void Rows::SetSounds(const SoundInput& input, const std::vector<Sound>& sounds) {
  SoundRows& rows = sounds_.emplace_back();
  rows.input = input;
  RowMeaning samples;
  for (size_t i = 0; i < sounds.size(); ++i) {
    rows.seconds.push_back(sounds[i].seconds());
    for (size_t k = 0; k < sounds[i].samples.size(); ++k) {
      const double at = static_cast<double>(k) / input.rate;
      samples.times.push_back(Heard{static_cast<uint32_t>(i), at, at + 1.0 / input.rate});
    }
  }
  const uint32_t space = model_.Value(program_, input.value).space;
  if (model_.Space(space).is_input != 0) given_[space] = std::move(samples);
}

void Rows::SetPictures(const PictureInput& input, uint32_t count) {
  pictures_.emplace(model_, program_, input);
  picture_count_ = count;
}

std::vector<uint32_t> Rows::OffsetsOf(const Session& session, uint32_t space) const {
  std::vector<uint32_t> offsets = {0};
  for (const uint32_t length : session.Lengths(space)) offsets.push_back(offsets.back() + length);
  if (offsets.size() == 1) offsets.push_back(0);
  return offsets;
}

const RowMeaning& Rows::MeaningOf(const Session& session, uint32_t space) {
  const auto given = given_.find(space);
  if (given != given_.end()) return given->second;
  const auto [derived, is_new] = derived_.emplace(space, RowMeaning());
  if (is_new) {
    RowMeaning meaning = Derive(session, space);
    derived_[space] = std::move(meaning);
  }
  return derived_[space];
}

RowMeaning Rows::Derive(const Session& session, uint32_t space) {
  const SpaceRecord record = model_.SpaceRecordOf(space);
  if (record.kind == SpaceKind::kFixed) return FixedFrames(session, space);
  if (!SpaceHasSource(record.kind)) return {};
  const RowMeaning& source = MeaningOf(session, record.source);
  const std::vector<uint32_t> from = OffsetsOf(session, record.source), to = OffsetsOf(session, space);
  RowMeaning meaning;
  if (record.kind == SpaceKind::kSelected) {
    const auto indices = indices_.find(space);
    if (indices == indices_.end()) return {};
    for (const float row : session.Output(indices->second).values) {
      AppendRow(source, static_cast<uint32_t>(row), &meaning);
    }
    return meaning;
  }
  const Strides strides(record);
  for (size_t segment = 0; segment + 1 < to.size() && segment + 1 < from.size(); ++segment) {
    const uint32_t begin = from[segment], count = from[segment + 1] - begin, rows = to[segment + 1] - to[segment];
    for (uint32_t i = 0; i < rows; ++i) {
      if (record.kind == SpaceKind::kStrided) {
        const auto first = static_cast<uint32_t>(std::min<uint64_t>(count, strides.Source(i)));
        const auto end = static_cast<uint32_t>(std::min<uint64_t>(count, strides.Source(uint64_t{i} + 1)));
        AppendGroup(source, begin + first, begin + end, &meaning);
        continue;
      }
      // Rows that were prepended, or that the text had before this run.
      const uint32_t front = rows - std::min(rows, count);
      AppendRow(source, i < front ? std::nullopt : std::optional<uint32_t>(begin + i - front), &meaning);
    }
  }
  return meaning;
}

// Frames of sounds: equal parts of each clip.
RowMeaning Rows::FixedFrames(const Session& session, uint32_t space) const {
  RowMeaning meaning;
  for (const SoundRows& sound : sounds_) {
    const fovea_value_info input = model_.Value(program_, sound.input.value);
    if (model_.Space(space).parent != model_.Space(input.space).parent) continue;
    const std::string key = fmt::format("clip_length.{}", input.name);
    const std::vector<uint32_t> lengths = session.Lengths(space);
    for (size_t i = 0; i < lengths.size() && i < sound.seconds.size(); ++i) {
      double seconds = sound.seconds[i];
      if (const char* length = model_.Metadata(key)) {
        seconds = static_cast<double>(WholeNumberIn(length, key, {1, UINT32_MAX})) / sound.input.rate;
      }
      const double part = seconds / std::max(1u, lengths[i]);
      for (uint32_t row = 0; row < lengths[i]; ++row) {
        meaning.times.push_back(Heard{static_cast<uint32_t>(i), row * part, (row + 1) * part});
      }
    }
  }
  return meaning;
}

// Rows of all images. Divides the record's images into cells by the layout.
RowMeaning Rows::Parts(const Session& session, uint32_t space, int variant, AttentionRecord* record) const {
  RowMeaning meaning;
  const PictureRows::Layout& layout = pictures_->layout(variant);
  const std::vector<uint32_t> offsets = OffsetsOf(session, space);
  std::vector<uint32_t> images;
  for (uint32_t i = 0; i < picture_count_ && i < record->images.size(); ++i) {
    const auto fits = [&](const RecordImage& image) {
      return (image.of == static_cast<int>(i) || &image == &record->images[i]) && image.grid == layout.grid;
    };
    const auto found = std::find_if(record->images.begin(), record->images.end(), fits);
    images.push_back(static_cast<uint32_t>(found - record->images.begin()));
    if (found != record->images.end()) continue;
    record->images.push_back({record->images[i].width, record->images[i].height, "", layout.grid, static_cast<int>(i)});
  }
  for (uint32_t row = 0; row < offsets.back(); ++row) {
    const size_t image = row / layout.cells.size();
    const int32_t cell = layout.cells[row % layout.cells.size()];
    const bool none = cell < 0 || image >= images.size();
    meaning.cells.push_back(none ? std::nullopt : std::optional<Cell>({images[image], static_cast<uint32_t>(cell)}));
  }
  return meaning;
}

uint32_t Rows::Add(const Session& session, uint32_t value, AttentionRecord* record) {
  const uint32_t space = model_.Value(program_, value).space;
  return AddSpace(session, space, pictures_ ? pictures_->LayoutOf(value) : -1, record);
}

uint32_t Rows::AddSpace(const Session& session, uint32_t space, int variant, AttentionRecord* record) {
  const auto known = added_.find({space, variant});
  if (known != added_.end()) return known->second;
  const fovea_space_info info = model_.Space(space);
  RecordSpace added;
  if (info.parent != FOVEA_NONE) added.parent = static_cast<int>(AddSpace(session, info.parent, -1, record));
  added.name = info.name;
  const auto same_name = [&](const RecordSpace& other) { return other.name == info.name; };
  if (variant >= 0 && std::any_of(record->spaces.begin(), record->spaces.end(), same_name)) {
    added.name += fmt::format("/{}", variant);
  }
  added.offsets = OffsetsOf(session, space);
  if (info.parent == FOVEA_NONE) added.offsets = {0, added.offsets.back()};
  added.rows = MeaningOf(session, space);
  if (variant >= 0) added.rows = Parts(session, space, variant, record);
  if (added.rows.labels.empty() && pictures_ && info.parent == FOVEA_NONE) {
    for (uint32_t i = 0; i < added.count(); ++i) added.rows.labels.push_back(fmt::format("picture {}", i + 1));
  }
  // Drop lists of another length: they do not describe these rows.
  const auto clear = [&](auto& list) {
    if (list.size() != added.count()) list.clear();
  };
  clear(added.rows.labels), clear(added.rows.places), clear(added.rows.times), clear(added.rows.cells);
  record->spaces.push_back(std::move(added));
  const auto index = static_cast<uint32_t>(record->spaces.size() - 1);
  added_[{space, variant}] = index;
  const SpaceRecord stored = model_.SpaceRecordOf(space);
  if (dropping_.count(space) != 0) {
    const uint32_t source = AddSpace(session, stored.source, -1, record);
    MarkChosen(session, space, source, record);
  }
  return index;
}

void Rows::MarkChosen(const Session& session, uint32_t space, uint32_t source, AttentionRecord* record) const {
  std::vector<uint8_t>& chosen = record->spaces[source].chosen;
  chosen.resize(record->spaces[source].count());
  for (const float row : session.Output(indices_.at(space)).values) chosen.at(static_cast<uint32_t>(row)) = 1;
}

}  // namespace fovea::tools
