// A fovea_runner and fovea_barrier on threads of the host. Threads sleep until the runner is called and again after it;
// at the barrier they spin for kSpin, since the others are usually there within microseconds, and then sleep.
#ifndef FOVEA_PORTS_HOST_THREAD_RUNNER_H_
#define FOVEA_PORTS_HOST_THREAD_RUNNER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "fovea/runner.h"

namespace fovea::ports {

// Give `&ThreadRunner::Run` and the object as runner and runner_context of the session options, and
// `&ThreadRunner::Barrier` as barrier if the session has no more workers than there are threads. The calling thread
// works too, so `threads` of them need `threads - 1` new ones. Sessions may share a runner as long as they do not run
// at the same time.
class ThreadRunner {
 public:
  explicit ThreadRunner(uint32_t threads);
  ~ThreadRunner();
  ThreadRunner(const ThreadRunner&) = delete;
  ThreadRunner& operator=(const ThreadRunner&) = delete;

  uint32_t threads() const { return threads_; }

  // The fovea_runner; `context` is a ThreadRunner. Worker indices beyond the threads go round, so any `workers` will
  // do.
  static void Run(void* context, uint32_t workers, fovea_task task, void* task_context);

  // The fovea_barrier, for `workers` of at most the threads.
  static void Barrier(void* context, uint32_t workers);
  // How long a thread spins there before it sleeps. A thread that waits longer waits for one that is not running.
  static constexpr std::chrono::microseconds kSpin{50};

 private:
  struct Job {
    uint32_t workers = 0;
    fovea_task task = nullptr;
    void* context = nullptr;
  };

  void Share(const Job& job, uint32_t thread) const;
  bool SpinsUntilPassed(uint32_t round) const;
  void Help(uint32_t thread);
  void Stop();

  const uint32_t threads_;
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  Job job_;
  uint64_t round_ = 0;    // grows with every job, so that a helper takes each once
  uint32_t working_ = 0;  // helpers that have not finished this round
  bool stop_ = false;

  std::condition_variable pass_;
  std::atomic<uint32_t> arrived_{0};   // at the barrier
  std::atomic<uint32_t> passed_{0};    // barriers
  std::atomic<uint32_t> sleepers_{0};  // that have stopped spinning
  std::vector<std::thread> helpers_;
};

}  // namespace fovea::ports

#endif  // FOVEA_PORTS_HOST_THREAD_RUNNER_H_
