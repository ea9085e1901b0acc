/* Attention without a model: each of 6 rows looks at itself and the 2 before it, and takes the mean of their values. */
#include <fovea/attention.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  float queries[6][4] = {{0}}, keys[6][4] = {{0}}, values[6][1] = {{1}, {2}, {3}, {4}, {5}, {6}}, outputs[6][1];
  fovea_attention_pattern pattern = {
      .struct_size = sizeof(pattern), .window = FOVEA_WINDOW_SIDES, .left = 2, .right = 0};
  fovea_attention_options options = {.struct_size = sizeof(options), .d_k = 4, .d_v = 1, .pattern = &pattern};
  fovea_attention_rows q = {.data = queries, .rows = 6}, k = {.data = keys, .rows = 6}, v = {.data = values, .rows = 6};
  fovea_attention_out out = {.data = &outputs[0][0], .rows = 6};

  uint64_t size;
  fovea_error error = {0};
  if (fovea_attention_scratch(&options, &size, &error) != FOVEA_OK) return fprintf(stderr, "%s\n", error.text), 1;
  char* memory = malloc((size_t)size + 63); /* On a multiple of 64 bytes, once; then as many runs as wanted. */
  if (memory == NULL) return 1;
  void* scratch = memory + (64 - (uintptr_t)memory % 64) % 64;
  if (fovea_attention_run(&options, &q, &k, &v, &out, scratch, size, &error) != FOVEA_OK) {
    return fprintf(stderr, "%s\n", error.text), 1;
  }
  for (int i = 0; i < 6; ++i) printf("%.2f ", outputs[i][0]); /* 1.00 1.50 2.00 3.00 4.00 5.00 */
  free(memory);
  return 0;
}
