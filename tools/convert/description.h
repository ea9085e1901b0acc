// A model as the runtime sees it: spaces, programs, operations and constants, all by name. Architectures and graph.json
// are both converted to this, and a blob is written only from this.
#ifndef FOVEA_TOOLS_CONVERT_DESCRIPTION_H_
#define FOVEA_TOOLS_CONVERT_DESCRIPTION_H_

#include <stdint.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/base/dtype.h"
#include "tools/base/json.h"
#include "tools/convert/findings.h"
#include "tools/convert/weights.h"

namespace fovea::tools {

struct TextModel;  // text/model.h

struct Space {
  std::string name;
  std::string parent = "";   // empty: all rows are one segment
  std::string extends = "";  // another space, each of whose segments gets `by` rows in front
  uint32_t by = 0;
  uint32_t each = 0;         // rows of every segment of a child of `parent`; 0: the caller sets their number
  std::string selects = "";  // another space, of which a run selects rows: at most `at_most` per segment, 0: any
  uint32_t at_most = 0;
  std::string strides = "";  // another space, every `by` rows of which become one row
  uint32_t first = 0;        // for `strides`: rows at the front of a segment that are kept unchanged
  uint32_t last = 0;         // for `strides`: rows at the end of a segment that are left out
  std::string keeps = "";    // another space, whose rows are kept from run to run
  uint32_t window = 0;       // for `keeps`: the number of past rows that a sliding window sees, 0: all
};

struct Input {
  std::string name;
  std::string space;
  bool ids = true;           // i32, one per row; else f32
  uint32_t width = 1;        // if not ids
  std::string carried = "";  // an output of the program: its value in the run before is this input
  DType type = DType::kF32;  // if not ids; f16, bf16, int8: as `cast` makes them
  uint32_t heads = 0;        // int8: heads of a row, each with a scale
};

struct Operation {
  std::string op;                    // runtime/blob/op_list.inc
  std::vector<std::string> in;       // values
  std::vector<std::string> tensors;  // "" for an absent optional one
  std::string out;                   // the value it makes
  Json attributes = Json::object();  // runtime/blob/attribute_list.inc; enumerations by name
  std::string name = "";             // name of the operation, for taps and tables
  std::string space = "";            // space of the result, if several fit; pool, unfold, upsample: one with `strides`
};

struct Program {
  std::string name;
  std::vector<Input> inputs;
  std::vector<Operation> operations;
  std::vector<std::string> outputs;
  // If not empty, this is part of an earlier program, `of`: the operations that compute the values `to` (if empty, its
  // outputs) from the values `from`.
  std::string of = "";
  std::vector<std::string> from = {}, to = {};
  bool steps = false;  // runs in every step of a sequence, as a program that carries a value does
};

struct Description {
  std::vector<std::pair<std::string, std::string>> metadata;  // written by SetMetadata
  std::unordered_map<std::string, size_t> metadata_index;     // by key
  std::vector<Space> spaces;
  std::vector<Program> programs;
  Weights weights;
  Json tokenizer;                         // null: none; else in the form that tools/convert/text reads
  std::string directory;                  // directory of the tokenizer's files
  bool single_file = false;               // there is no directory; the tokenizer is `text`
  std::shared_ptr<const TextModel> text;  // tokenizer of a single file, or null
  uint32_t max_length =
      0;  // tokens that a text is cut to, besides the limits of positions and tokenizer; 0: no other limit
  // Stored tensors whose names have one of these prefixes must all be used: an unused one belongs to something that the
  // architecture file does not support.
  std::vector<std::string> must_use;
  std::vector<std::string> warnings;
  Findings findings;

  // Replaces an entry of the same key.
  void SetMetadata(const std::string& key, const std::string& value);
};

// Stored tensors that are not used; fails at the first that must be used. Only tensors that Resolve requested count.
std::vector<std::string> LeftOut(const Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_DESCRIPTION_H_
