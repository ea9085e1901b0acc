// The optional GEMM backends that this build includes.
#include "runtime/gemm/gemm.h"

namespace fovea {

#if !defined(FOVEA_WITH_XNNPACK)
const GemmBackend* XnnpackGemm() { return nullptr; }
const char* XnnpackTargetName(uint32_t) { return nullptr; }
const GemmTarget* XnnpackTarget(const char*) { return nullptr; }
uint64_t XnnpackTargetLayout(const GemmTarget&) { return 0; }
bool XnnpackTargetSupports(const GemmTarget&, const GemmShape&) { return false; }
Status XnnpackPackFor(const GemmTarget&, const GemmWeights&, void*, Reporter&) { return Status(FOVEA_E_BUILD); }
#endif

}  // namespace fovea
