// Nanoseconds since an arbitrary fixed moment: the clock that sessions also use.
#ifndef FOVEA_TOOLS_BASE_CLOCK_H_
#define FOVEA_TOOLS_BASE_CLOCK_H_

#include <stdint.h>

#include <chrono>

namespace fovea::tools {

inline uint64_t NanosecondClock() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_CLOCK_H_
