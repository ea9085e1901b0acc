#include "tools/common/interrupt.h"

#include <atomic>

namespace fovea::tools {
namespace {

// What a signal handler may touch.
std::atomic<bool> happened{false};
std::atomic<fovea_session*> watched[2] = {{nullptr}, {nullptr}};

void OnSignal(int) {
  happened = true;
  for (const std::atomic<fovea_session*>& session : watched) {
    if (session != nullptr) fovea_session_cancel(session);
  }
}

// Once: the second time it does what it did before. A read that waits ends.
struct sigaction Once() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  return action;
}

}  // namespace

Interrupt::Interrupt() {
  happened = false;
  const struct sigaction action = Once();
  sigaction(SIGINT, &action, &before_);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &before_, nullptr);
  happened = false;
}

bool Interrupt::Happened() { return happened; }

void Interrupt::Again() {
  happened = false;
  const struct sigaction action = Once();
  sigaction(SIGINT, &action, nullptr);
}

void Interrupt::Watch(fovea_session* decode, fovea_session* draft) {
  // A request that came between two runs of an earlier generation. One that comes before they are watched Happened.
  fovea_session_clear_cancel(decode);
  fovea_session_clear_cancel(draft);
  watched[0] = decode;
  watched[1] = draft;
}

}  // namespace fovea::tools
