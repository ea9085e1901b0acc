// Called by Highway when an impossible case is reached: traps at once, without printing or calling abort.
#include "hwy/base.h"

namespace hwy {

HWY_DLLEXPORT HWY_NORETURN void Abort(const char*, int, const char*, ...) {
  for (;;) __builtin_trap();
}

}  // namespace hwy
