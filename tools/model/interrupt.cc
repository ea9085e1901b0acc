#include "tools/model/interrupt.h"

#include <atomic>

namespace fovea::tools {
namespace {

// Shared with the signal handler.
std::atomic<bool> happened{false};
std::atomic<fovea_session*> watched[2] = {{nullptr}, {nullptr}};

void OnSignal(int) {
  happened = true;
  for (const std::atomic<fovea_session*>& session : watched) {
    if (session != nullptr) fovea_session_cancel(session);
  }
}

// Handles one signal; the second has its former effect. A blocked read is interrupted.
#ifdef _WIN32
using Handling = void (*)(int);
Handling CatchOne() { return signal(SIGINT, OnSignal); }  // called in another thread, once
void CatchAs(Handling handling) { signal(SIGINT, handling); }
#else
using Handling = struct sigaction;
Handling CatchOne() {
  Handling action = {}, before = {};
  action.sa_handler = OnSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &before);
  return before;
}
void CatchAs(const Handling& handling) { sigaction(SIGINT, &handling, nullptr); }
#endif

}  // namespace

Interrupt::Interrupt() {
  happened = false;
  before_ = CatchOne();
}

Interrupt::~Interrupt() {
  CatchAs(before_);
  happened = false;
}

bool Interrupt::Happened() { return happened; }

void Interrupt::Rearm() {
  happened = false;
  CatchOne();
}

void Interrupt::Watch(fovea_session* decode, fovea_session* draft) {
  // Clears a request that arrived between two runs of an earlier generation; one before Watch() is in `happened`.
  fovea_session_clear_cancel(decode);
  fovea_session_clear_cancel(draft);
  watched[0] = decode;
  watched[1] = draft;
}

}  // namespace fovea::tools
