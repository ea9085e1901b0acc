// Reads a record without its steps from untrusted JSON.
#include "tools/attend/record_reader.h"

#include <string.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

constexpr int64_t kMostSize = 1 << 14;  // side of an image or of its grid

uint32_t Whole(const JsonView& view, int64_t most) { return view.Number({0, most}); }

// Length of a text in UTF-16 code units.
uint32_t Units(const std::string& text) {
  uint32_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if ((byte & 0xc0) != 0x80) units += byte >= 0xf0 ? 2 : 1;
  }
  return units;
}

std::vector<std::string> Strings(const JsonView& list, size_t count) {
  std::vector<std::string> strings;
  if (list.IsNull()) return strings;
  const size_t size = list.List().size();
  if (size != count) Fail("{} has {} entries, expected {}", list.name(), size, count);
  for (size_t i = 0; i < size; ++i) strings.push_back(list.At(i).Bytes());
  return strings;
}

// A list whose entries are null or lists of `parts` numbers.
template <typename T, typename Make>
std::vector<std::optional<T>> Entries(const JsonView& list, size_t count, size_t parts, const Make& make) {
  std::vector<std::optional<T>> entries;
  if (list.IsNull()) return entries;
  const size_t size = list.List().size();
  if (size != count) Fail("{} has {} entries, expected {}", list.name(), size, count);
  for (size_t i = 0; i < size; ++i) {
    const JsonView entry = list.At(i);
    if (!entry.IsNull() && entry.List().size() != parts) Fail("{} needs {} numbers", entry.name(), parts);
    entries.push_back(entry.IsNull() ? std::nullopt : std::optional<T>(make(entry)));
  }
  return entries;
}

std::string Bytes(const JsonView& view) {
  const std::optional<std::string> bytes = FromBase64(view.Text(""));
  if (!bytes) Fail("{} is not base64", view.name());
  return *bytes;
}

RecordImage ImageFrom(const JsonView& json, size_t earlier) {
  RecordImage image = {Whole(json["width"], kMostSize),
                       Whole(json["height"], kMostSize),
                       Bytes(json["png"]),
                       {Whole(json["rows"], kMostSize), Whole(json["columns"], kMostSize)},
                       -1};
  if (!json["of"].IsNull()) image.of = static_cast<int>(Whole(json["of"], static_cast<int64_t>(earlier) - 1));
  return image;
}

RecordSound SoundFrom(const JsonView& json) {
  RecordSound sound = {json["seconds"].Real({0, 1e9}), Whole(json["rate"], 1 << 24), {}};
  const std::string peaks = Bytes(json["peaks"]);
  if (peaks.size() % 8 != 0) Fail("{} must be pairs of numbers", json["peaks"].name());
  sound.peaks.resize(peaks.size() / 4);
  if (!peaks.empty()) memcpy(sound.peaks.data(), peaks.data(), peaks.size());
  if (json["bands"].IsNull()) return sound;
  sound.bands = Whole(json["bands"], kMostSize);
  sound.spectrogram = Bytes(json["spectrogram"]);
  if (sound.bands == 0 || sound.spectrogram.size() % sound.bands != 0) {
    Fail("{} must have {} levels for each interval", json["spectrogram"].name(), sound.bands);
  }
  return sound;
}

RecordAnswer AnswerFrom(const JsonView& json) {
  RecordAnswer answer;
  answer.kind = json["kind"].Text();
  if (!json["width"].IsNull()) answer.width = Whole(json["width"], UINT32_MAX);
  const JsonView entries = json["entries"];
  const size_t count = entries.List().size();
  for (size_t i = 0; i < count; ++i) {
    const JsonView entry = entries.At(i);
    answer.entries.push_back({entry["label"].Bytes(), entry["of"].Bytes(""), entry["number"].Real({-1e30, 1e30})});
  }
  return answer;
}

RecordReading ReadingFrom(const JsonView& json, size_t texts) {
  RecordReading reading;
  reading.text = Whole(json["text"], static_cast<int64_t>(texts) - 1);
  reading.tokens = Whole(json["tokens"], UINT32_MAX);
  reading.of_tokens = Whole(json["of_tokens"], UINT32_MAX);
  if (json["of_sentences"].IsNull()) return reading;
  reading.sentences = Whole(json["sentences"], UINT32_MAX);
  reading.of_sentences = Whole(json["of_sentences"], UINT32_MAX);
  return reading;
}

RecordSpace SpaceFrom(const JsonView& json, const AttentionRecord& record) {
  RecordSpace space;
  space.name = json["name"].Text();
  if (!json["parent"].IsNull()) {
    space.parent = static_cast<int>(Whole(json["parent"], static_cast<int64_t>(record.spaces.size()) - 1));
  }
  const JsonView offsets = json["offsets"];
  const size_t size = offsets.List().size();
  for (size_t i = 0; i < size; ++i) space.offsets.push_back(Whole(offsets.At(i), kMostRecordRows));
  CheckSpace(record.spaces, space, offsets.name());
  const size_t rows = space.count();
  space.rows.labels = Strings(json["labels"], rows);
  space.rows.writes = Strings(json["writes"], rows);
  space.rows.places = Entries<Place>(json["places"], rows, 3, [&](const JsonView& entry) {
    const uint32_t text = Whole(entry.At(0), static_cast<int64_t>(record.texts.size()) - 1);
    const uint32_t end = Whole(entry.At(2), Units(record.texts[text]));
    return Place{text, Whole(entry.At(1), end), end};
  });
  space.rows.cells = Entries<Cell>(json["cells"], rows, 2, [&](const JsonView& entry) {
    const uint32_t image = Whole(entry.At(0), static_cast<int64_t>(record.images.size()) - 1);
    const CellGrid& grid = record.images[image].grid;
    return Cell{image, Whole(entry.At(1), int64_t{grid.rows} * grid.columns - 1)};
  });
  space.rows.times = Entries<Heard>(json["times"], rows, 3, [&](const JsonView& entry) {
    const uint32_t sound = Whole(entry.At(0), static_cast<int64_t>(record.sounds.size()) - 1);
    return Heard{sound, entry.At(1).Real({0, 1e9}), entry.At(2).Real({0, 1e9})};
  });
  if (!json["chosen"].IsNull()) {
    if (json["chosen"].List().size() != rows) Fail("{} must have {} entries", json["chosen"].name(), rows);
    for (size_t i = 0; i < rows; ++i) space.chosen.push_back(static_cast<uint8_t>(Whole(json["chosen"].At(i), 1)));
  }
  return space;
}

RecordGeneration GenerationFrom(const JsonView& json, const AttentionRecord& record) {
  RecordGeneration generation;
  const int64_t last = static_cast<int64_t>(record.spaces.size()) - 1;
  if (!json["source_space"].IsNull()) generation.source_space = static_cast<int>(Whole(json["source_space"], last));
  generation.target_space = Whole(json["target_space"], last);
  generation.shift = Whole(json["shift"], 1) != 0;
  const JsonView first = json["first"];
  const RecordSpace& target = record.spaces[generation.target_space];
  const size_t count = first.json().is_array() ? first.json().size() : 1;
  if (count != target.segments()) Fail("{} has {} entries, expected {}", first.name(), count, target.segments());
  for (size_t i = 0; i < count; ++i) {
    const JsonView& one = first.json().is_array() ? first.At(i) : first;
    generation.first.push_back(Whole(one, target.offsets[i + 1] - target.offsets[i]));
  }
  return generation;
}

}  // namespace

std::optional<std::string> FromBase64(const std::string& text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const auto digit = [](char c) -> int {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
  };
  size_t used = text.size();
  while (used > 0 && text.size() - used < 2 && text[used - 1] == '=') --used;
  std::string bytes;
  uint32_t group = 0;
  for (size_t i = 0; i < used; ++i) {
    const int value = digit(text[i]);
    if (value < 0) return std::nullopt;
    group = group << 6 | static_cast<uint32_t>(value);
    if (i % 4 != 0) bytes += static_cast<char>(group >> (6 - 2 * (i % 4)) & 255);
  }
  return bytes;
}

void CheckSpace(const std::vector<RecordSpace>& earlier, const RecordSpace& space, const std::string& name) {
  const std::vector<uint32_t>& offsets = space.offsets;
  if (offsets.size() < 2 && space.parent < 0) Fail("{} needs at least two entries", name);
  if (offsets.empty() || offsets[0] != 0 || !std::is_sorted(offsets.begin(), offsets.end())) {
    Fail("{} must ascend from 0", name);
  }
  if (offsets.back() > kMostRecordRows)
    Fail("{}: {} rows exceed the limit of {}", name, offsets.back(), kMostRecordRows);
  const uint32_t rows = space.parent < 0 ? 1 : earlier[static_cast<size_t>(space.parent)].count();
  if (space.segments() != rows) Fail("{}: {} segments, expected {}", name, space.segments(), rows);
}

AttentionRecord RecordFromJson(const JsonView& json) {
  AttentionRecord record;
  record.title = json["title"].Bytes("");
  if (!json["model"].IsNull()) {
    record.model = json["model"]["name"].Bytes("");
    record.architecture = json["model"]["architecture"].Bytes("");
    record.task = json["model"]["task"].Bytes("");
  }
  const auto count = [&](const char* key) { return json[key].IsNull() ? 0 : json[key].List().size(); };
  record.texts = Strings(json["texts"], count("texts"));
  for (size_t i = 0; i < count("images"); ++i) {
    record.images.push_back(ImageFrom(json["images"].At(i), record.images.size()));
  }
  for (size_t i = 0; i < count("sounds"); ++i) record.sounds.push_back(SoundFrom(json["sounds"].At(i)));
  for (size_t i = 0; i < count("spaces"); ++i) record.spaces.push_back(SpaceFrom(json["spaces"].At(i), record));
  if (!json["generation"].IsNull()) record.generation = GenerationFrom(json["generation"], record);
  for (size_t i = 0; i < count("answers"); ++i) record.answers.push_back(AnswerFrom(json["answers"].At(i)));
  for (size_t i = 0; i < count("reads"); ++i) {
    record.reads.push_back(ReadingFrom(json["reads"].At(i), record.texts.size()));
  }
  record.notes = Strings(json["notes"], count("notes"));
  record.explain = Strings(json["explain"], count("explain"));
  return record;
}

}  // namespace fovea::tools
