// Agreement between the outputs of two models.
#ifndef FOVEA_TOOLS_EVAL_AGREEMENT_H_
#define FOVEA_TOOLS_EVAL_AGREEMENT_H_

#include <vector>

#include "tools/base/print.h"
#include "tools/model/session.h"

namespace fovea::tools {

class Agreement {
 public:
  // `chooses`: the index of a row's largest number is a prediction.
  explicit Agreement(bool chooses) : chooses_(chooses) {}

  // Adds rows for the same inputs. If their number or width differs, the outputs are not compared at all.
  void Add(const Matrix& first, const Matrix& second);
  void AddRow(const float* first, const float* second, uint32_t width);

  // Rows, "cosine" with percentiles over them, "same_choice" with the share of rows. Null if they cannot be compared.
  OrderedJson Json() const;

 private:
  const bool chooses_;
  bool comparable_ = true;
  std::vector<double> cosines_;
  uint64_t same_ = 0;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_AGREEMENT_H_
