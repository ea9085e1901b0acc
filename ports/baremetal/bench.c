/* Measures a model in flash with statically allocated memory, and prints the JSON of `fovea bench --json`, with
 * times by kind of operation. The build makes model_memory.h (`fovea inspect --header`) and model.S; BENCH_MODEL is
 * the blob's name, BENCH_ROWS the rows of the text. "counts=" on the command line names the unit of the board's
 * ticks: in an emulator they are not cycles. */
#include "ports/bench.h"

#include <fovea/model.h>
#include <fovea/session.h>
#include <string.h>

#include "board.h"
#include "one_session.h"
#include "ports/inputs.h"

static uint64_t run_ticks[FOVEA_BENCH_RUNS];
static char line[256], text[4096];

static int Load(fovea_model** model, fovea_session** session, fovea_bench* bench, fovea_error* error) {
  const uint64_t begin = board_ticks();
  if (sample_model(model_model, sizeof(model_model), model, error) != 0) return 1;
  bench->model_ticks = board_ticks() - begin;
  if (one_session(*model, board_ticks, session, error) != 0) return 1;
  bench->session_ticks = board_ticks() - begin - bench->model_ticks;
  return 0;
}

static int Run(fovea_session* session, const fovea_model* model, fovea_bench* bench, fovea_error* error) {
  if (fovea_inputs_write(session, model, MODEL_PROGRAM, BENCH_ROWS, &bench->rows, error) != FOVEA_OK) {
    return sample_failed("inputs", error);
  }
  for (uint32_t i = 0; i <= FOVEA_BENCH_RUNS; ++i) {
    if (fovea_session_reset(session, error) != FOVEA_OK) return sample_failed("reset", error);
    const uint64_t begin = board_ticks();
    if (fovea_session_run(session, error) != FOVEA_OK) return sample_failed("run", error);
    if (i > 0) run_ticks[i - 1] = board_ticks() - begin;
  }
  return 0;
}

int main(void) {
  fovea_error error = {0};
  fovea_model* model;
  fovea_session* session;
  fovea_bench bench = {.model_name = BENCH_MODEL,
                       .system = "none",
                       .architecture = sizeof(void*) == 8 ? "aarch64" : "arm",
                       .processor = BOARD_PROCESSOR,
                       .hardware_threads = 1,
                       .clock = board_counter,
                       .counts = board_counts,
                       .ticks_per_second = board_ticks_per_second(),
                       .model_bytes = MODEL_MODEL_BYTES,
                       .fixed_bytes = MODEL_FIXED_BYTES,
                       .state_bytes = MODEL_STATE_BYTES,
                       .scratch_bytes = MODEL_SCRATCH_BYTES,
                       .program = MODEL_PROGRAM,
                       .texts = 1,
                       .run_count = FOVEA_BENCH_RUNS,
                       .run_ticks = run_ticks};
  if (board_command_line(line, sizeof(line)) && strncmp(line, "counts=", 7) == 0) bench.counts = line + 7;
  if (Load(&model, &session, &bench, &error) != 0 || Run(session, model, &bench, &error) != 0) return 1;
  bench.peak_bytes = board_static_size() + board_stack_used();
  if (fovea_bench_json(&bench, model, session, text, sizeof(text)) >= sizeof(text)) {
    board_write("the text is too long\n");
    return 1;
  }
  board_write(text);
  board_write("\n");
  return 0;
}
