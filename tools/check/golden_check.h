// Compares a model's outputs with stored tensors: runs every `<case>.in.*`, compares every `<case>.out.*`.
#ifndef FOVEA_TOOLS_CHECK_GOLDEN_CHECK_H_
#define FOVEA_TOOLS_CHECK_GOLDEN_CHECK_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/model/model.h"
#include "tools/tensors/golden_cases.h"
#include "tools/tensors/padded_outputs.h"

namespace fovea::tools {

struct CheckOptions {
  double rtol = 1e-4;  // |x - reference| <= rtol * max |reference| + atol
  double atol = 1e-5;
  std::optional<double> cosine;    // instead of the tolerance: the least cosine
  std::vector<std::string> cases;  // empty: all
  bool skip_unknown = false;       // ignore inputs and outputs that the model does not have
  std::string program;
  uint32_t workers = 1;
};

// Result for one tensor; padding is not compared.
struct CheckLine {
  std::string case_name;
  std::string tensor;
  std::vector<uint64_t> shape;
  double max_diff = 0;
  double max_abs = 0;  // largest magnitude of the reference
  double cosine = 0;
  bool compared = false;
  bool ok = false;
  std::string note;  // why it was not compared, or not completely
};

// If the reference has more rows than the result, they are padding; the note then reports it.
CheckLine Compare(const OutputTensor& result, const StoredTensor& reference, const CheckOptions& options);

// A case without a program runs `options.program`; if one is given there, cases of other programs are skipped. Inputs
// can be unpadded (ragged.h). Lines are ordered by name; `on_line` is called for each line as soon as it is known.
std::vector<CheckLine> CheckGolden(const Model& model, const StoredTensors& golden, const CheckOptions& options,
                                   const std::function<void(const CheckLine&)>& on_line = nullptr);

bool AllOk(const std::vector<CheckLine>& lines);

// "a  hidden_states.1  [1, 7, 32]  max diff 9.4e-07  max 2.372  cosine 1.000000  ok"
std::string LineText(const CheckLine& line);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CHECK_GOLDEN_CHECK_H_
