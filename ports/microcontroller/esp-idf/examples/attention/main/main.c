#include <stdio.h>

#include "sample.h"

void app_main(void) {
  float outputs[6];
  const char* failure = fovea_sample(outputs);
  int i;
  if (failure != NULL) {
    printf("%s\n", failure);
    return;
  }
  for (i = 0; i < 6; ++i) printf("%.2f%s", (double)outputs[i], i < 5 ? " " : "\n");
}
