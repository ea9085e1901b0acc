// Bias that is linear in the distance of query and key (ALiBi, arXiv 2108.12409).
#include "runtime/attention/terms.h"

namespace fovea {

void SlopeTerm::StartRow(const RowPlace& place, AttentionRow* row) {
  row->terms.slope = context_.spec.score.slopes[place.head];
}

}  // namespace fovea
