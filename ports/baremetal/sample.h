/* Shared by all samples: their model with its memory from model_memory.h, and their output. */
#ifndef FOVEA_PORTS_BAREMETAL_SAMPLE_H_
#define FOVEA_PORTS_BAREMETAL_SAMPLE_H_

#include <fovea/session.h>
#include <stddef.h>
#include <stdint.h>

/* Memory and options of a session, by the prefix of its names in model_memory.h: MODEL_DECODE, model_decode. */
#define SAMPLE_MEMORY(NAME, name)                                                                                    \
  {                                                                                                                  \
    .struct_size = sizeof(fovea_session_memory), .fixed_size = NAME##_FIXED_BYTES, .state_size = NAME##_STATE_BYTES, \
    .scratch_size = NAME##_SCRATCH_BYTES, .fixed = name##_fixed, .state = name##_state, .scratch = name##_scratch    \
  }
#define SAMPLE_OPTIONS(NAME, limit_array)                                                                   \
  {                                                                                                         \
    .struct_size = sizeof(fovea_session_options), .program = NAME##_PROGRAM, .tile_rows = NAME##_TILE_ROWS, \
    .limits = limit_array, .limit_count = sizeof(limit_array) / sizeof((limit_array)[0])                    \
  }

/* Makes the model in flash. Returns 1 after a failure, which it has printed. */
int sample_model(void* memory, uint64_t size, fovea_model** model, fovea_error* error);

/* Prints "name number" and a line end. */
void sample_number(const char* name, uint64_t number);
/* Prints "class" and the label with the highest score of the first row. */
void sample_class(const fovea_model* model, const fovea_view* scores);
/* Prints "scores" and the bits of each score of the first row as a hexadecimal number. */
void sample_scores(const fovea_view* scores);
/* Prints the fault; returns 1. */
int sample_failed(const char* what, const fovea_error* error);
/* Prints the ticks of both parts and the bytes that are known only after a run. */
void sample_report(uint64_t init_ticks, uint64_t run_ticks);

#endif
