/* The whole interface. */
#ifndef FOVEA_ARDUINO_FOVEA_H_
#define FOVEA_ARDUINO_FOVEA_H_

#include "fovea/fovea.h"

#endif /* FOVEA_ARDUINO_FOVEA_H_ */
