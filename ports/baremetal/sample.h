/* What samples have in common: their model and its memory as model_memory.h has it, and what they say. */
#ifndef FOVEA_PORTS_BAREMETAL_SAMPLE_H_
#define FOVEA_PORTS_BAREMETAL_SAMPLE_H_

#include <fovea/session.h>
#include <stddef.h>
#include <stdint.h>

/* Memory and options of a session, by the beginnings of its names in model_memory.h: MODEL_DECODE, model_decode. */
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

/* The model in flash. 1: it failed, and that was said. */
int sample_model(void* memory, uint64_t size, fovea_model** model, fovea_error* error);

/* "name number" and the end of the line. */
void sample_number(const char* name, uint64_t number);
/* "class" and the label of the highest of the first row's scores. */
void sample_class(const fovea_model* model, const fovea_view* scores);
/* "scores" and the bits of each of the first row's scores as a hexadecimal number. */
void sample_scores(const fovea_view* scores);
/* Says what went wrong; 1. */
int sample_failed(const char* what, const fovea_error* error);
/* The ticks of both parts and the bytes that only a run shows. */
void sample_report(uint64_t init_ticks, uint64_t run_ticks);

#endif
