// A model in the words of the runtime: spaces, programs, operations and constants, all by name. Architectures and
// graph.json both become this, and it alone becomes a blob.
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
#include "tools/convert/weights.h"

namespace fovea::tools {

struct TextModel;  // text/model.h

struct Space {
  std::string name;
  std::string parent = "";   // empty: all rows are one segment
  std::string extends = "";  // another space, each segment of which gets `by` rows in front
  uint32_t by = 0;
  uint32_t each = 0;         // rows of every segment of a child of `parent`; 0: the caller says how many
  std::string selects = "";  // another space, of which a run selects rows: at most `at_most` of a segment, 0: any
  uint32_t at_most = 0;
  std::string strides = "";  // another space, every `by` rows of which become one, but for
  uint32_t first = 0;        // .. so many at the front of a segment, which stay as they are
  uint32_t last = 0;         // .. and so many at its end, which are left out
  std::string keeps = "";    // another space, whose rows are kept from run to run; of the past those that
  uint32_t window = 0;       // .. a window of so many rows sees, 0: all
};

struct Input {
  std::string name;
  std::string space;
  bool ids = true;           // i32, one per row; else f32
  uint32_t width = 1;        // where they are not ids
  std::string carried = "";  // an output of the program: this input of a run is that of the run before
  DType type = DType::kF32;  // of numbers; f16, bf16, int8: as `cast` makes them
  uint32_t heads = 0;        // int8: of a row, each with a scale
};

struct Operation {
  std::string op;                    // runtime/blob/op_list.inc
  std::vector<std::string> in;       // values
  std::vector<std::string> tensors;  // "" where an optional one is absent
  std::string out;                   // the value it makes
  Json attributes = Json::object();  // runtime/blob/attribute_list.inc; enumerations by name
  std::string name = "";             // of the step, for taps and tables
  std::string space = "";            // of the result, where several would do; pool, unfold, upsample: one of strides
};

struct Program {
  std::string name;
  std::vector<Input> inputs;
  std::vector<Operation> operations;
  std::vector<std::string> outputs;
  // Or a part of a program before it: what makes the values `to` (its outputs, if there are none) out of those in
  // `from`.
  std::string of = "";
  std::vector<std::string> from = {}, to = {};
  bool steps = false;  // it runs in every step of a text, as one does that carries a value
};

struct Description {
  std::vector<std::pair<std::string, std::string>> metadata;  // written by SetMetadata
  std::unordered_map<std::string, size_t> metadata_index;     // by key
  std::vector<Space> spaces;
  std::vector<Program> programs;
  Weights weights;
  Json tokenizer;                         // null: none; else as tools/convert/text wants it
  std::string directory;                  // where the tokenizer's files lie
  bool single_file = false;               // there is no directory; the tokenizer is
  std::shared_ptr<const TextModel> text;  // .. this one, or none
  uint32_t max_length =
      0;  // tokens that a text is cut to, besides what positions and tokenizer allow; 0: no other limit
  // Stored tensors whose names begin so must all be used: one that is not belongs to something the architecture file
  // does not know.
  std::vector<std::string> must_use;
  std::vector<std::string> warnings;

  // Replaces an entry of the same key.
  void SetMetadata(const std::string& key, const std::string& value);
};

// Stored tensors that it does not need; fails with the first that must be used. Only what Resolve has asked for counts.
std::vector<std::string> LeftOut(const Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_DESCRIPTION_H_
