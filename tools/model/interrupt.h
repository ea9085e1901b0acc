// Handles Ctrl-C: cancels the run, so that the command can print partial results. A second Ctrl-C ends the process.
#ifndef FOVEA_TOOLS_MODEL_INTERRUPT_H_
#define FOVEA_TOOLS_MODEL_INTERRUPT_H_

#include <signal.h>

#include "fovea/session.h"

namespace fovea::tools {

// Exit status of an interrupted command, by the convention of shells.
inline constexpr int kExitInterrupted = 128 + SIGINT;

// Catches Ctrl-C during its lifetime. Only one can exist at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static bool Happened();
  // Clears the state and catches the next one.
  void Rearm();

  // Sets the sessions to cancel on an interrupt, until the next call. Null: none.
  static void Watch(fovea_session* decode, fovea_session* draft);

 private:
#ifdef _WIN32
  using Handling = void (*)(int);
#else
  using Handling = struct sigaction;
#endif
  Handling before_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MODEL_INTERRUPT_H_
