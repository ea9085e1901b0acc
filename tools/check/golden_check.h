// Compares what a model computes with stored tensors: every `<case>.in.*` is run, every `<case>.out.*` compared.
#ifndef FOVEA_TOOLS_CHECK_GOLDEN_CHECK_H_
#define FOVEA_TOOLS_CHECK_GOLDEN_CHECK_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/common/golden_cases.h"
#include "tools/common/model.h"
#include "tools/common/padded.h"

namespace fovea::tools {

struct CheckOptions {
  double rtol = 1e-4;  // |x - reference| <= rtol * max |reference| + atol
  double atol = 1e-5;
  std::optional<double> cosine;    // instead of the tolerance: at least this
  std::vector<std::string> cases;  // empty: all
  bool skip_unknown = false;       // inputs and outputs that the model does not have are left out, which is no failure
  std::string program;
  uint32_t workers = 1;
};

// One compared tensor; padding does not count.
struct CheckLine {
  std::string case_name;
  std::string tensor;
  std::vector<uint64_t> shape;
  double max_diff = 0;
  double max_abs = 0;  // of the reference
  double cosine = 0;
  bool compared = false;
  bool ok = false;
  std::string note;  // why it was not compared, or not all of it
};

// Rows that the reference has after the result's are padding; the note then says so.
CheckLine Compare(const PaddedTensor& result, const StoredTensor& reference, const CheckOptions& options);

// Cases without a program are of `options.program`; where one is named there, no other's are
// run. Inputs may come without padding, see ragged.h. Lines in the order of the names; `on_line` is called as soon as
// each is known.
std::vector<CheckLine> CheckGolden(const Model& model, const StoredTensors& golden, const CheckOptions& options,
                                   const std::function<void(const CheckLine&)>& on_line = nullptr);

bool AllOk(const std::vector<CheckLine>& lines);

// "a  hidden_states.1  [1, 7, 32]  max diff 9.4e-07  max 2.372  cosine 1.000000  ok"
std::string LineText(const CheckLine& line);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CHECK_GOLDEN_CHECK_H_
