// The same with the C++ layer: bytes that are not a blob are refused with a message.
#include <stdio.h>

#include <fovea/fovea.hpp>

int main() {
  alignas(64) static const char blob[64] = {};
  const auto model = fovea::Model::make({blob, sizeof(blob)});
  printf("%s\n", model.text());
  return model.code() == FOVEA_E_MAGIC ? 0 : 1;
}
