// The attention record: the content of a run for display, in terms of texts, images, row spaces and weights, without
// reference to a model. README.md specifies its JSON.
#ifndef FOVEA_TOOLS_ATTEND_RECORD_H_
#define FOVEA_TOOLS_ATTEND_RECORD_H_

#include <stdint.h>

#include <optional>
#include <string>
#include <vector>

namespace fovea::tools {

// Range of a row in a text, in UTF-16 code units.
struct Place {
  uint32_t text, begin, end;
};
// Cell of a row in the grid of an image, in row-major order.
struct Cell {
  uint32_t image, cell;
};
// Time range of a row in a sound, in seconds.
struct Heard {
  uint32_t sound;
  double begin, end;
};
struct CellGrid {
  uint32_t rows = 0, columns = 0;
  bool operator==(const CellGrid& other) const { return rows == other.rows && columns == other.columns; }
};

// Descriptions of the rows of a space; each list has one entry per row, or none.
struct RowMeaning {
  std::vector<std::string> labels;
  std::vector<std::string> writes;  // the token that was generated after this row was read
  std::vector<std::optional<Place>> places;
  std::vector<std::optional<Cell>> cells;
  std::vector<std::optional<Heard>> times;
};

struct RecordSpace {
  std::string name;
  int parent = -1;                // index of a space
  std::vector<uint32_t> offsets;  // begin of each segment, one segment per row of the parent
  RowMeaning rows;
  std::vector<uint8_t> chosen;  // 0: hard selection dropped the row; empty: no selection

  uint32_t count() const { return offsets.back(); }
  uint32_t segments() const { return static_cast<uint32_t>(offsets.size()) - 1; }
};

enum class StepForm { kDense, kSparse, kPattern };

struct RecordStep {
  std::string name;
  uint32_t layer = 0;
  std::string part;  // "encoder", "decoder", "cross", "pool" or "hop"
  uint32_t query_space = 0, key_space = 0;
  std::vector<uint32_t> heads;  // empty if the heads are reduced to one
  std::string reduced;          // "mean" or "max"
  std::vector<uint32_t> rows;   // kept rows of the query space, ascending
  bool causal = false, scores = false;
  StepForm form = StepForm::kDense;
  std::string note;

  // Line r * line_heads() + h is kept row r, kept head h: entries line_offsets[line] to line_offsets[line + 1].
  // Dense: one for each key of the row's segment. Sparse: one for each entry of `keys`, rows of the key space.
  std::vector<uint64_t> line_offsets;
  std::vector<float> weights;
  std::vector<uint32_t> keys;

  // Vectors of all rows of the two spaces, if they were requested: [rows, heads, vector_width]; keys may have fewer
  // heads, each for several heads of queries (GQA). Before rotary positions and biases.
  uint32_t vector_width = 0, all_heads = 0;
  std::vector<float> queries, keys_of_rows;

  uint32_t line_heads() const { return heads.empty() ? 1 : static_cast<uint32_t>(heads.size()); }
  size_t lines() const { return rows.size() * line_heads(); }
};

struct RecordImage {
  uint32_t width = 0, height = 0;
  std::string png;  // bytes of a PNG file
  CellGrid grid;
  int of = -1;  // index of the same image with another grid
};

struct RecordSound {
  double seconds = 0;
  uint32_t rate = 0;
  std::vector<float> peaks;             // pairs: lowest and highest sample of equal intervals
  std::vector<std::string> notes = {};  // assumptions about its file, and parts that were not read
  // Levels of equal intervals, 0 to 255, `bands` of each interval from low to high frequencies; may be empty.
  std::string spectrogram = {};
  uint32_t bands = 0;
};

// How much of a text was read.
struct RecordReading {
  uint32_t text = 0;
  uint64_t tokens = 0, of_tokens = 0;
  uint64_t sentences = 0, of_sentences = 0;  // 0: not a document
};

// The answer of the model for one input.
struct RecordLabel {
  std::string label;
  std::string of;  // the span of text, or the position of the mask
  double number = 0;
};
struct RecordAnswer {
  std::string kind;  // "classes", "scores", "spans", "words" (for a mask), "text" or "embedding"
  // For an embedding: the most similar of the other inputs, by number from 1, with the cosine.
  // For a text: itself, with the geometric mean of its tokens' probabilities.
  std::vector<RecordLabel> entries;
  uint32_t width = 0;  // embeddings: count of numbers
};

struct RecordGeneration {
  int source_space = -1;
  uint32_t target_space = 0;
  bool shift = false;           // true: a row's line was computed to generate the next row's token
  std::vector<uint32_t> first;  // first generated row of each segment
};

struct AttentionRecord {
  std::string title, model, architecture, task;
  std::vector<std::string> texts;
  std::vector<RecordImage> images;
  std::vector<RecordSound> sounds;
  std::vector<RecordSpace> spaces;
  std::vector<RecordStep> steps;
  std::optional<RecordGeneration> generation;
  std::vector<RecordAnswer> answers;  // one per input, or none
  std::vector<RecordReading> reads;   // texts that were tokenized
  std::vector<std::string> notes;     // parts of texts that were dropped
  std::vector<std::string> explain;   // deciding step of each level, outermost first
  uint64_t tap_bytes = 0, session_bytes = 0;

  // The segment of the key space that a row of the query space attends to.
  uint32_t KeySegment(const RecordStep& step, uint32_t query_row) const;
};

// The number N of a name that ends in ".N", as for layers.
std::optional<uint32_t> NumberOf(const std::string& name);

// The segment that contains a row.
uint32_t SegmentOf(const std::vector<uint32_t>& offsets, uint32_t row);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_RECORD_H_
