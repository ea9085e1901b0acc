// Ctrl-C: what runs is cancelled, and the command prints what there is. Pressed again it ends the process.
#ifndef FOVEA_TOOLS_COMMON_INTERRUPT_H_
#define FOVEA_TOOLS_COMMON_INTERRUPT_H_

#include <signal.h>

#include "fovea/session.h"

namespace fovea::tools {

// The exit status of a command that was interrupted, as shells have it.
inline constexpr int kExitInterrupted = 128 + SIGINT;

// While one lives, Ctrl-C is caught. There is one at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static bool Happened();
  // Forgets that it happened, and catches the next one.
  void Again();

  // Cancels these sessions when it happens, until the next call. Null: none.
  static void Watch(fovea_session* decode, fovea_session* draft);

 private:
  struct sigaction before_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_INTERRUPT_H_
