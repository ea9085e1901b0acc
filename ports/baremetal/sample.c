/* Shared by all samples. */
#include "sample.h"

#include <string.h>

#include "board.h"

extern const unsigned char model_blob[], model_blob_end[];

static uint64_t BlobBytes(void) { return (uint64_t)(model_blob_end - model_blob); }

int sample_model(void* memory, uint64_t size, fovea_model** model, fovea_error* error) {
  const fovea_model_options how = {.struct_size = sizeof(how), .backend = FOVEA_BACKEND_HIGHWAY};
  if (fovea_model_init(model_blob, BlobBytes(), &how, memory, size, model, error) == FOVEA_OK) return 0;
  return sample_failed("model", error);
}

void sample_number(const char* name, uint64_t number) {
  board_write(name);
  board_write(" ");
  board_write_number(number);
  board_write("\n");
}

void sample_class(const fovea_model* model, const fovea_view* scores) {
  const float* all = scores->data;
  uint32_t best = 0;
  for (uint32_t i = 1; i < scores->width; ++i) {
    if (all[i] > all[best]) best = i;
  }
  board_write("class ");
  board_write(fovea_model_get_label(model, best));
  board_write("\n");
}

void sample_scores(const fovea_view* scores) {
  const float* all = scores->data;
  board_write("scores");
  for (uint32_t i = 0; i < scores->width; ++i) {
    char digits[] = " 00000000";
    uint32_t bits;
    memcpy(&bits, &all[i], sizeof(bits));
    for (int digit = 8; digit > 0; --digit, bits >>= 4) digits[digit] = "0123456789abcdef"[bits & 15];
    board_write(digits);
  }
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
  sample_number("blob_bytes", BlobBytes());
  sample_number("stack_bytes", board_stack_used());
  sample_number("stack_limit", board_stack_size());
}
