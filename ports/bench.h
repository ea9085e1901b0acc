/* bench.h - what one measurement of a model says, the same wherever it was made: `fovea bench --json` on a system,
 * baremetal/bench.c without one, wasm/bench.mjs in Node and in pages. Callers run the session and read their clock;
 * here is what follows from that, without heap, files or floating point output of the C library.
 * tools/bench/machines.py makes a table and bars of such texts. */
#ifndef FOVEA_PORTS_BENCH_H_
#define FOVEA_PORTS_BENCH_H_

#include "fovea/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs that are counted, at least; one more comes first, for caches. */
#define FOVEA_BENCH_RUNS 5

typedef struct fovea_bench {
  const char* model_name; /* The blob's; measurements of one model have one. */
  /* The machine. Texts are UTF-8; "" where nothing is known. */
  const char* system;
  const char* architecture;
  const char* processor;
  uint32_t hardware_threads;
  /* The clock: its name, what it counts ("nanoseconds", "cycles"), and how many of its ticks are a second. */
  const char* clock;
  const char* counts;
  uint64_t ticks_per_second;
  /* Loading: until the blob could be read, the model, the session. */
  uint64_t map_ticks;
  uint64_t model_ticks;
  uint64_t session_ticks;
  /* What was handed over, and the most memory that the program had. */
  uint64_t model_bytes;
  uint64_t fixed_bytes;
  uint64_t state_bytes;
  uint64_t scratch_bytes;
  uint64_t peak_bytes;
  /* What was run: texts and their rows, and the ticks of each of `run_count` runs (not 0). */
  uint32_t program;
  uint32_t texts;
  uint64_t rows;
  uint64_t run_count;
  uint64_t* run_ticks;
} fovea_bench;

/* The index of a percentile (nearest rank) in `count` sorted numbers. */
uint64_t fovea_bench_rank(uint64_t count, uint32_t percent);

/* Floating point operations of a step with the segments that are bound; of rows that a run selects, of the last run. */
double fovea_bench_step_flops(const fovea_model* model, const fovea_session* session, uint32_t program, uint32_t step);

/* Writes it as JSON, a zero at the end, and returns its bytes without that zero: if they are not below `capacity`, the
 * text is cut. With a session that has the measurement's clock (fovea_session_options.clock) it ends in "operations":
 * steps of one kind together, with the mean of all runs, the one that came first included. Sorts run_ticks. */
uint64_t fovea_bench_json(const fovea_bench* bench, const fovea_model* model, const fovea_session* session, char* text,
                          uint64_t capacity);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_PORTS_BENCH_H_ */
