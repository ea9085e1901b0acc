/* A user's program, built against the installed library. */
#include <fovea/fovea.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  char expected[32];
  snprintf(expected, sizeof expected, "%d.%d.%d", FOVEA_VERSION_MAJOR, FOVEA_VERSION_MINOR, FOVEA_VERSION_PATCH);
  printf("fovea %s on %s\n", fovea_version(), fovea_simd_target());
  return strcmp(fovea_version(), expected) != 0;
}
