// The loops that XNNPACK's fully-connected and conversion operators use, on the calling thread.
//
// Flags are ignored: PTHREADPOOL_FLAG_DISABLE_DENORMALS would make results depend on which operations share an XNNPACK
// call, and the rest of the runtime keeps denormals as well.
#include "runtime/gemm/xnnpack_pthreadpool.h"

namespace {

size_t Least(size_t a, size_t b) { return a < b ? a : b; }

// Rows of a matrix product are i and its columns j: a tile of columns stays in cache while all rows pass.
template <class Task>
void RunTiles(pthreadpool* pool, size_t range_i, size_t range_j, size_t tile_i, size_t tile_j, const Task& task) {
  size_t first_j = 0;
  if (pool != nullptr) {
    range_i = pool->rows;
    first_j = pool->column_begin;
    range_j = pool->column_end;
    tile_j = pool->tile_columns;
  }
  for (size_t j = first_j; j < range_j; j += tile_j) {
    for (size_t i = 0; i < range_i; i += tile_i) {
      const size_t rows = Least(range_i - i, tile_i), columns = Least(range_j - j, tile_j);
      task(i, j, rows, columns);
      if (pool != nullptr && pool->finished != nullptr) pool->finished(pool, i, j, rows, columns);
    }
  }
}

}  // namespace

extern "C" {

size_t pthreadpool_get_threads_count(pthreadpool_t) { return 1; }

void pthreadpool_parallelize_1d(pthreadpool_t, pthreadpool_task_1d_t task, void* context, size_t range, uint32_t) {
  for (size_t i = 0; i < range; ++i) task(context, i);
}

void pthreadpool_parallelize_1d_tile_1d(pthreadpool_t, pthreadpool_task_1d_tile_1d_t task, void* context, size_t range,
                                        size_t tile, uint32_t) {
  for (size_t i = 0; i < range; i += tile) task(context, i, Least(range - i, tile));
}

void pthreadpool_parallelize_2d_tile_2d(pthreadpool_t pool, pthreadpool_task_2d_tile_2d_t task, void* context,
                                        size_t range_i, size_t range_j, size_t tile_i, size_t tile_j, uint32_t) {
  RunTiles(pool, range_i, range_j, tile_i, tile_j,
           [=](size_t i, size_t j, size_t rows, size_t columns) { task(context, i, j, rows, columns); });
}

void pthreadpool_parallelize_2d_tile_2d_with_uarch(pthreadpool_t pool, pthreadpool_task_2d_tile_2d_with_id_t task,
                                                   void* context, uint32_t default_uarch, uint32_t, size_t range_i,
                                                   size_t range_j, size_t tile_i, size_t tile_j, uint32_t) {
  RunTiles(pool, range_i, range_j, tile_i, tile_j,
           [=](size_t i, size_t j, size_t rows, size_t columns) { task(context, default_uarch, i, j, rows, columns); });
}

}  // extern "C"
