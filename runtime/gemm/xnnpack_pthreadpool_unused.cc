// Loops of operators that the runtime never makes. XNNPACK refers to them, so they must exist; nothing calls them.
// Their signatures are exact because WebAssembly's linker compares the types of a call and its function.
#include <pthreadpool.h>

// Parameters after the task and its context: sizes, or two core counts and sizes. The flags follow.
#define SIZE size_t
#define CORES uint32_t, uint32_t
#define NEVER_CALLED(loop, task, ...)                                                                            \
  extern "C" void pthreadpool_parallelize_##loop(pthreadpool_t, pthreadpool_task_##task##_t, void*, __VA_ARGS__, \
                                                 uint32_t) {                                                     \
    __builtin_trap();                                                                                            \
  }

NEVER_CALLED(1d_with_thread, 1d_with_thread, SIZE)
NEVER_CALLED(2d, 2d, SIZE, SIZE)
NEVER_CALLED(2d_with_thread, 2d_with_thread, SIZE, SIZE)
NEVER_CALLED(2d_tile_1d, 2d_tile_1d, SIZE, SIZE, SIZE)
NEVER_CALLED(2d_tile_1d_with_uarch, 2d_tile_1d_with_id, CORES, SIZE, SIZE, SIZE)
NEVER_CALLED(3d, 3d, SIZE, SIZE, SIZE)
NEVER_CALLED(3d_tile_1d, 3d_tile_1d, SIZE, SIZE, SIZE, SIZE)
NEVER_CALLED(3d_tile_1d_with_thread, 3d_tile_1d_with_thread, SIZE, SIZE, SIZE, SIZE)
NEVER_CALLED(3d_tile_1d_with_uarch, 3d_tile_1d_with_id, CORES, SIZE, SIZE, SIZE, SIZE)
NEVER_CALLED(3d_tile_1d_with_uarch_with_thread, 3d_tile_1d_with_id_with_thread, CORES, SIZE, SIZE, SIZE, SIZE)
NEVER_CALLED(3d_tile_2d, 3d_tile_2d, SIZE, SIZE, SIZE, SIZE, SIZE)
NEVER_CALLED(3d_tile_2d_with_uarch, 3d_tile_2d_with_id, CORES, SIZE, SIZE, SIZE, SIZE, SIZE)
NEVER_CALLED(4d, 4d, SIZE, SIZE, SIZE, SIZE)
NEVER_CALLED(4d_tile_2d, 4d_tile_2d, SIZE, SIZE, SIZE, SIZE, SIZE, SIZE)
NEVER_CALLED(4d_tile_2d_with_uarch, 4d_tile_2d_with_id, CORES, SIZE, SIZE, SIZE, SIZE, SIZE, SIZE)
NEVER_CALLED(5d, 5d, SIZE, SIZE, SIZE, SIZE, SIZE)
NEVER_CALLED(5d_tile_2d, 5d_tile_2d, SIZE, SIZE, SIZE, SIZE, SIZE, SIZE, SIZE)
NEVER_CALLED(6d_tile_2d, 6d_tile_2d, SIZE, SIZE, SIZE, SIZE, SIZE, SIZE, SIZE, SIZE)
