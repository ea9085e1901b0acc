/* What samples say. */
#include "sample.h"

#include "board.h"

void sample_number(const char* name, uint64_t number) {
  board_write(name);
  board_write(" ");
  board_write_number(number);
  board_write("\n");
}

int sample_failed(const char* what, const fovea_error* error) {
  board_write(what);
  board_write(": ");
  board_write(error->text);
  board_write("\n");
  sample_number("status", (uint64_t)error->status);
  if (error->step != FOVEA_NOWHERE) sample_number("step", error->step);
  sample_number("expected", error->expected);
  sample_number("found", error->found);
  return 1;
}

void sample_report(uint64_t init_ticks, uint64_t run_ticks) {
  sample_number("init_ticks", init_ticks);
  sample_number("run_ticks", run_ticks);
  sample_number("blob_bytes", (uint64_t)(model_blob_end - model_blob));
  sample_number("stack_bytes", board_stack_used());
  sample_number("stack_limit", board_stack_size());
}
