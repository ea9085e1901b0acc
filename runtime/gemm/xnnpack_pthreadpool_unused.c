// Loops of operators that the runtime never makes. XNNPACK refers to them, so they must exist; nothing calls them.
#define NEVER_CALLED(name) \
  void name(void);         \
  void name(void) { __builtin_trap(); }

NEVER_CALLED(pthreadpool_parallelize_1d_with_thread)
NEVER_CALLED(pthreadpool_parallelize_2d)
NEVER_CALLED(pthreadpool_parallelize_2d_with_thread)
NEVER_CALLED(pthreadpool_parallelize_2d_tile_1d)
NEVER_CALLED(pthreadpool_parallelize_2d_tile_1d_with_uarch)
NEVER_CALLED(pthreadpool_parallelize_3d)
NEVER_CALLED(pthreadpool_parallelize_3d_tile_1d)
NEVER_CALLED(pthreadpool_parallelize_3d_tile_1d_with_thread)
NEVER_CALLED(pthreadpool_parallelize_3d_tile_1d_with_uarch)
NEVER_CALLED(pthreadpool_parallelize_3d_tile_1d_with_uarch_with_thread)
NEVER_CALLED(pthreadpool_parallelize_3d_tile_2d)
NEVER_CALLED(pthreadpool_parallelize_3d_tile_2d_with_uarch)
NEVER_CALLED(pthreadpool_parallelize_4d)
NEVER_CALLED(pthreadpool_parallelize_4d_tile_2d)
NEVER_CALLED(pthreadpool_parallelize_4d_tile_2d_with_uarch)
NEVER_CALLED(pthreadpool_parallelize_5d)
NEVER_CALLED(pthreadpool_parallelize_5d_tile_2d)
NEVER_CALLED(pthreadpool_parallelize_6d_tile_2d)
