// Replaces pthreadpool for XNNPACK: loops that run on the calling thread. Only the caller's runner uses
// threads.
#ifndef FOVEA_RUNTIME_GEMM_XNNPACK_PTHREADPOOL_H_
#define FOVEA_RUNTIME_GEMM_XNNPACK_PTHREADPOOL_H_

#include <pthreadpool.h>
#include <stddef.h>

// The loops of one matrix product, in any storage of the caller. With a null pthreadpool_t they run as XNNPACK planned
// them, with a pool they run over the pool's rows and columns: an XNNPACK operator does not read the numbers of rows
// and columns itself, so one operator serves any number of rows and any range of columns.
struct pthreadpool {
  size_t rows;
  size_t column_begin, column_end;  // `begin` a multiple of the widest microkernel
  // Columns of a tile, a multiple of the widest microkernel. All rows pass over a tile before the next begins, so the
  // tile's weights should fit in cache.
  size_t tile_columns;
  // Called after each tile, while its output is in L1; may be null.
  void (*finished)(pthreadpool* pool, size_t row, size_t column, size_t rows, size_t columns);
};

#endif  // FOVEA_RUNTIME_GEMM_XNNPACK_PTHREADPOOL_H_
