// Which optional backends this build has.
#include "runtime/gemm/gemm.h"

namespace fovea {

#if !defined(FOVEA_WITH_XNNPACK)
const GemmBackend* XnnpackGemm() { return nullptr; }
#endif

}  // namespace fovea
