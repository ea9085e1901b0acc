// Attention of six rows, without a model: prints 1.00 1.50 2.00 3.00 4.00 5.00
#include <fovea.h>

#include "sample.h"

void setup() {
  float outputs[6];
  Serial.begin(115200);
  const char* failure = fovea_sample(outputs);
  if (failure != NULL) {
    Serial.println(failure);
    return;
  }
  for (int i = 0; i < 6; ++i) {
    Serial.print(outputs[i], 2);
    Serial.print(i < 5 ? " " : "\n");
  }
}

void loop() {}
