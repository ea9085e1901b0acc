// Included before XNNPACK's AMX kernels with gcc 12, whose _tile_loadd does not declare that it reads memory: stores to
// the buffer that it loads from would be dropped.
#include <immintrin.h>
#ifdef __AMX_TILE__
#undef _tile_loadd
#define _tile_loadd(tile, base, stride) \
  __asm__ volatile("tileloadd\t(%0,%1,1), %%tmm" #tile ::"r"((const void*)(base)), "r"((long)(stride)) : "memory")
#endif
