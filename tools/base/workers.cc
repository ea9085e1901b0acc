// Threads that share tasks.
#include "tools/base/workers.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace fovea::tools {
namespace {

constexpr uint32_t kMostThreads = 64;

struct Shared {
  const std::function<void(size_t)>* task;
  size_t tasks;
  std::atomic<size_t> next{0};
  std::mutex mutex;
  size_t failed = SIZE_MAX;  // index of the first task that failed
  std::exception_ptr failure;
};

void Take(void* context, uint32_t) {
  Shared& shared = *static_cast<Shared*>(context);
  for (size_t i; (i = shared.next++) < shared.tasks;) {
    try {
      (*shared.task)(i);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(shared.mutex);
      if (i < shared.failed) {
        shared.failed = i;
        shared.failure = std::current_exception();
      }
    }
  }
}

uint32_t Threads(uint32_t count) {
  if (count == 0) count = std::thread::hardware_concurrency();
  return std::clamp(count, 1u, kMostThreads);
}

}  // namespace

Workers::Workers(uint32_t count) : threads_(Threads(count)) {}

void Workers::ForEach(size_t tasks, const std::function<void(size_t)>& task) {
  Shared shared;
  shared.task = &task;
  shared.tasks = tasks;
  const auto workers = static_cast<uint32_t>(std::min<size_t>(tasks, count()));
  if (workers > 1) {
    ports::ThreadRunner::Run(&threads_, workers, Take, &shared);
  } else {
    Take(&shared, 0);
  }
  if (shared.failure) std::rethrow_exception(shared.failure);
}

void Workers::ForParts(size_t count, size_t most, const std::function<void(size_t, size_t)>& task) {
  ForEach((count + most - 1) / most, [&](size_t part) { task(part * most, std::min(count, (part + 1) * most)); });
}

}  // namespace fovea::tools
