// Calls the caller's runner and barrier and checks the contract of fovea/runner.h: a runner that drops a task, or a
// barrier that does not wait, would otherwise give wrong numbers without an error.
#ifndef FOVEA_RUNTIME_PARALLEL_WORKERS_H_
#define FOVEA_RUNTIME_PARALLEL_WORKERS_H_

#include <stdint.h>

#include <atomic>

#include "fovea/runner.h"
#include "runtime/parallel/tiles.h"

namespace fovea {

// Messages of FOVEA_E_RUNNER.
inline constexpr char kRunnerFault[] =
    "the runner did not call every worker's task exactly once and wait for it: see fovea/runner.h";
inline constexpr char kBarrierFault[] = "the barrier let a worker pass before all had arrived: see fovea/runner.h";

// One call of a runner at a time. It costs each worker two atomic additions.
class WorkerCalls {
 public:
  // Calls task(task_context, w) for each worker, with the runner if there is one and several workers. Returns whether
  // each was called exactly once and had returned before the runner did.
  bool Run(fovea_runner runner, void* context, uint32_t workers, fovea_task task, void* task_context) {
    if (kMaxWorkers == 1 || runner == nullptr || workers <= 1) {
      for (uint32_t w = 0; w < workers; ++w) task(task_context, w);
      return true;
    }
    task_ = task;
    task_context_ = task_context;
    for (std::atomic<uint32_t>& came : came_) came.store(0, std::memory_order_relaxed);
    finished_.store(0, std::memory_order_relaxed);
    wrong_.store(false, std::memory_order_relaxed);
    workers_.store(workers, std::memory_order_release);
    runner(context, workers, Come, this);
    // A task that arrives late is ignored: its number is no longer below the count of workers.
    workers_.store(0, std::memory_order_relaxed);
    return finished_.load(std::memory_order_acquire) == workers && !wrong_.load(std::memory_order_relaxed);
  }

 private:
  static void Come(void* context, uint32_t worker) {
    WorkerCalls& self = *static_cast<WorkerCalls*>(context);
    if (worker >= self.workers_.load(std::memory_order_acquire)) {
      self.wrong_.store(true, std::memory_order_relaxed);
      return;
    }
    const uint32_t bit = uint32_t{1} << worker % 32;
    if ((self.came_[worker / 32].fetch_or(bit, std::memory_order_relaxed) & bit) != 0) {
      self.wrong_.store(true, std::memory_order_relaxed);
      return;
    }
    self.task_(self.task_context_, worker);
    self.finished_.fetch_add(1, std::memory_order_release);
  }

  fovea_task task_ = nullptr;
  void* task_context_ = nullptr;
  std::atomic<uint32_t> workers_{0}, finished_{0};
  std::atomic<uint32_t> came_[(kMaxWorkers + 31) / 32] = {};  // one bit per worker
  std::atomic<bool> wrong_{false};
};

// A barrier for workers, made from the caller's barrier function, with a check.
class CheckedBarrier {
 public:
  // Call it before the workers start.
  void Begin(fovea_barrier barrier, void* context, uint32_t workers) {
    barrier_ = barrier;
    context_ = context;
    workers_ = workers;
    came_.store(0, std::memory_order_relaxed);
    broken_.store(false, std::memory_order_relaxed);
  }
  // A worker's next barrier. `expected`: arrivals of all workers at its earlier barriers, 0 before the first. False if
  // the caller's barrier returned before all workers arrived: their results may be missing.
  bool Wait(uint32_t* expected) {
    came_.fetch_add(1, std::memory_order_acq_rel);
    barrier_(context_, workers_);
    *expected += workers_;
    if (static_cast<int32_t>(came_.load(std::memory_order_acquire) - *expected) >= 0) return true;
    broken_.store(true, std::memory_order_relaxed);
    return false;
  }
  bool broken() const { return broken_.load(std::memory_order_relaxed); }

 private:
  fovea_barrier barrier_ = nullptr;
  void* context_ = nullptr;
  uint32_t workers_ = 0;
  std::atomic<uint32_t> came_{0};  // arrivals at all barriers so far
  std::atomic<bool> broken_{false};
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_PARALLEL_WORKERS_H_
