// How near the results of a second model are to those of a first one.
#ifndef FOVEA_TOOLS_EVAL_AGREEMENT_H_
#define FOVEA_TOOLS_EVAL_AGREEMENT_H_

#include <vector>

#include "tools/common/print.h"
#include "tools/common/session.h"

namespace fovea::tools {

class Agreement {
 public:
  // `chooses`: the largest number of a row is what a model says.
  explicit Agreement(bool chooses) : chooses_(chooses) {}

  // Rows that stand for the same; nothing more is told where there are others of one model, or of another width.
  void Add(const Matrix& first, const Matrix& second);
  void AddRow(const float* first, const float* second, uint32_t width);

  // Rows, "cosine" with percentiles over them, "same_choice" with the share of rows. Null if they cannot be compared.
  OrderedJson Told() const;

 private:
  const bool chooses_;
  bool comparable_ = true;
  std::vector<double> cosines_;
  uint64_t same_ = 0;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_AGREEMENT_H_
