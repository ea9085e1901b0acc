#include <stdio.h>

#include "sample.h"

int main(void) {
  float outputs[6];
  const char* failure = fovea_sample(outputs);
  int i;
  if (failure != NULL) {
    printf("%s\n", failure);
    return 1;
  }
  for (i = 0; i < 6; ++i) {
    const int hundredths = (int)(outputs[i] * 100.0f + 0.5f); /* printf without floating point suffices */
    printf("%d.%02d%s", hundredths / 100, hundredths % 100, i < 5 ? " " : "\n");
  }
  return 0;
}
