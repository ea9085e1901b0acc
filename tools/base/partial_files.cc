#include "tools/base/partial_files.h"

#include <signal.h>
#include <string.h>

#include <atomic>

#ifndef _WIN32
#include <unistd.h>
#endif

namespace fovea::tools {

#ifdef _WIN32

PartialFile::PartialFile(const std::string&) {}
PartialFile::~PartialFile() = default;

#else

namespace {

constexpr int kMostFiles = 8;  // at a time; more than that are not removed
constexpr size_t kMostBytes = 4096;

// Read by the signal handler, which may only use what is written before `used`.
struct Slot {
  std::atomic<bool> taken{false}, used{false};
  char path[kMostBytes];
};
Slot slots[kMostFiles];

void OnSignal(int number) {
  for (const Slot& slot : slots) {
    if (slot.used) unlink(slot.path);
  }
  signal(number, SIG_DFL);
  raise(number);
}

// Does nothing for a signal that is already caught.
void CatchSignals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now = {};
    if (sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    now.sa_handler = OnSignal;
    sigaction(number, &now, nullptr);
  }
}

}  // namespace

PartialFile::PartialFile(const std::string& path) {
  if (path.size() >= kMostBytes) return;
  for (int i = 0; i < kMostFiles && slot_ < 0; ++i) {
    if (!slots[i].taken.exchange(true)) slot_ = i;
  }
  if (slot_ < 0) return;
  memcpy(slots[slot_].path, path.c_str(), path.size() + 1);
  slots[slot_].used = true;
  CatchSignals();
}

PartialFile::~PartialFile() {
  if (slot_ < 0) return;
  slots[slot_].used = false;
  slots[slot_].taken = false;
}

#endif

}  // namespace fovea::tools
