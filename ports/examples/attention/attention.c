/* Attention without a model: each of 6 rows looks at itself and the 2 before it, and takes the mean of their values. */
#include <fovea/attention.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  static const float queries[6][4] = {{0}}, keys[6][4] = {{0}}, values[6][1] = {{1}, {2}, {3}, {4}, {5}, {6}};
  float outputs[6][1];
  fovea_attention_pattern pattern = FOVEA_ATTENTION_PATTERN_INIT; /* Zero means the default everywhere. */
  fovea_attention_options options = FOVEA_ATTENTION_OPTIONS_INIT;
  fovea_attention_rows q, k, v;
  fovea_attention_out out;
  fovea_error error;
  uint64_t size;
  char* memory;
  char* scratch;
  int i;

  pattern.window = FOVEA_WINDOW_SIDES;
  pattern.left = 2;
  options.d_k = 4;
  options.d_v = 1;
  options.pattern = &pattern;
  memset(&q, 0, sizeof(q));
  q.data = queries;
  q.rows = 6;
  k = v = q;
  k.data = keys;
  v.data = values;
  memset(&out, 0, sizeof(out));
  out.data = &outputs[0][0];
  out.rows = 6;

  if (fovea_attention_scratch_size(&options, &size, &error) != FOVEA_OK) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  memory = (char*)malloc((size_t)size + 63); /* On a multiple of 64 bytes, once; then as many runs as wanted. */
  if (memory == NULL) return 1;
  scratch = memory + (64 - (uintptr_t)memory % 64) % 64;
  if (fovea_attention_run(&options, &q, &k, &v, &out, scratch, size, &error) != FOVEA_OK) {
    fprintf(stderr, "%s\n", error.text);
    free(memory);
    return 1;
  }
  for (i = 0; i < 6; ++i) printf("%.2f ", outputs[i][0]); /* 1.00 1.50 2.00 3.00 4.00 5.00 */
  free(memory);
  return 0;
}
