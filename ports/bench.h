/* bench.h - results of one measurement of a model, in the same form everywhere: `fovea bench --json` on a system,
 * baremetal/bench.c without one, wasm/bench.mjs in Node and in pages. Callers run the session and read their clock;
 * this file computes and writes the rest, without heap, files or floating-point output of the C library.
 * tools/bench/machines.py makes a table and bars of such texts. */
#ifndef FOVEA_PORTS_BENCH_H_
#define FOVEA_PORTS_BENCH_H_

#include "fovea/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The fewest runs that are counted; one more runs first, to warm caches. */
#define FOVEA_BENCH_RUNS 5

typedef struct fovea_bench {
  const char* model_name; /* The blob's; equal for measurements of the same model. */
  /* The machine. Texts are UTF-8; "" if unknown. */
  const char* system;
  const char* architecture;
  const char* processor;
  uint32_t hardware_threads;
  /* The clock: its name, its unit ("nanoseconds", "cycles"), and its ticks per second. */
  const char* clock;
  const char* counts;
  uint64_t ticks_per_second;
  /* Ticks to load: until the blob was readable, for the model, for the session. */
  uint64_t map_ticks;
  uint64_t model_ticks;
  uint64_t session_ticks;
  /* Memory passed to the library, and the program's peak memory. */
  uint64_t model_bytes;
  uint64_t fixed_bytes;
  uint64_t state_bytes;
  uint64_t scratch_bytes;
  uint64_t peak_bytes;
  /* The run: texts and their rows, and the ticks of each of `run_count` runs (not 0). */
  uint32_t program;
  uint32_t texts;
  uint64_t rows;
  uint64_t run_count;
  uint64_t* run_ticks;
} fovea_bench;

/* The index of a percentile (nearest rank) in `count` sorted numbers. */
uint64_t fovea_bench_rank(uint64_t count, uint32_t percent);

/* Floating-point operations of an operation with the bound segments; selected rows count as in the last run. */
double fovea_bench_step_flops(const fovea_model* model, const fovea_session* session, uint32_t program, uint32_t step);

/* Writes it as JSON, NUL-terminated, and returns its bytes without the NUL: if they are not below `capacity`, the
 * text is truncated. If the session has the measurement's clock (fovea_session_options.clock), the text ends with
 * "operations": times by kind of operation, the mean of all runs including the first. Sorts run_ticks. */
uint64_t fovea_bench_json(const fovea_bench* bench, const fovea_model* model, const fovea_session* session, char* text,
                          uint64_t capacity);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_PORTS_BENCH_H_ */
