// The attention record: what people see of a run, without anything about models but texts, pictures, spaces of rows and
// weights. README.md has the JSON that it becomes.
#ifndef FOVEA_TOOLS_ATTEND_RECORD_H_
#define FOVEA_TOOLS_ATTEND_RECORD_H_

#include <stdint.h>

#include <optional>
#include <string>
#include <vector>

namespace fovea::tools {

// Where a row stands in a text, in UTF-16 code units.
struct Place {
  uint32_t text, begin, end;
};
// Which cell of a picture's grid it is, row by row.
struct Cell {
  uint32_t image, cell;
};
// When it is heard, in seconds.
struct Heard {
  uint32_t sound;
  double begin, end;
};
struct CellGrid {
  uint32_t rows = 0, columns = 0;
  bool operator==(const CellGrid& other) const { return rows == other.rows && columns == other.columns; }
};

// What the rows of a space stand for, one entry for each, or none at all.
struct RowMeaning {
  std::vector<std::string> labels;
  std::vector<std::string> writes;  // the token that was written after this row had been read
  std::vector<std::optional<Place>> places;
  std::vector<std::optional<Cell>> cells;
  std::vector<std::optional<Heard>> times;
};

struct RecordSpace {
  std::string name;
  int parent = -1;                // a space of the record
  std::vector<uint32_t> offsets;  // of segments, which are the rows of the parent
  RowMeaning rows;
  std::vector<uint8_t> chosen;  // 0: hard selection dropped the row; empty: there is none

  uint32_t count() const { return offsets.back(); }
  uint32_t segments() const { return static_cast<uint32_t>(offsets.size()) - 1; }
};

enum class StepForm { kDense, kSparse, kPattern };

struct RecordStep {
  std::string name;
  uint32_t layer = 0;
  std::string part;  // encoder, decoder, cross, pool, hop
  uint32_t query_space = 0, key_space = 0;
  std::vector<uint32_t> heads;  // empty where they are reduced to one
  std::string reduced;          // mean, max
  std::vector<uint32_t> rows;   // of the query space, ascending
  bool causal = false, scores = false;
  StepForm form = StepForm::kDense;
  std::string note;

  // Line r * line_heads() + h is kept row r and kept head h: entries line_offsets[line] to line_offsets[line + 1].
  // Dense: of each key of the row's segment, one after the other. Sparse: of `keys`, rows of the key space.
  std::vector<uint64_t> line_offsets;
  std::vector<float> weights;
  std::vector<uint32_t> keys;

  uint32_t line_heads() const { return heads.empty() ? 1 : static_cast<uint32_t>(heads.size()); }
  size_t lines() const { return rows.size() * line_heads(); }
};

struct RecordImage {
  uint32_t width = 0, height = 0;
  std::string png;  // bytes of a file
  CellGrid grid;
  int of = -1;  // the image that is the same picture, cut into other cells
};

struct RecordSound {
  double seconds = 0;
  uint32_t rate = 0;
  std::vector<float> peaks;             // pairs, the lowest and highest sample of equal parts
  std::vector<std::string> notes = {};  // what was assumed about its file, and what was left out
};

struct RecordGeneration {
  int source_space = -1;
  uint32_t target_space = 0;
  bool shift = false;           // a row's line was computed to write the token of the next row, not its own
  std::vector<uint32_t> first;  // of each segment: the row that was written first
};

struct AttentionRecord {
  std::string title, model, architecture, task;
  std::vector<std::string> texts;
  std::vector<RecordImage> images;
  std::vector<RecordSound> sounds;
  std::vector<RecordSpace> spaces;
  std::vector<RecordStep> steps;
  std::optional<RecordGeneration> generation;
  std::vector<std::string> notes;    // what was left out of the texts
  std::vector<std::string> explain;  // steps that decide each level, the outermost first
  uint64_t tap_bytes = 0, session_bytes = 0;

  // The segment of the key space whose keys a row of the query space has.
  uint32_t KeySegment(const RecordStep& step, uint32_t query_row) const;
};

// The N of names that end in ".N", as those of layers do.
std::optional<uint32_t> NumberOf(const std::string& name);

// The segment that a row lies in.
uint32_t SegmentOf(const std::vector<uint32_t>& offsets, uint32_t row);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_RECORD_H_
