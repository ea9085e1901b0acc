// A fovea_runner and fovea_barrier on threads of the host.
#include "ports/host/thread_runner.h"

namespace fovea::ports {

namespace {

// Leaves the core to its other hardware thread for a moment.
void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || (defined(__arm__) && __ARM_ARCH >= 7)
  __asm__ volatile("yield");
#endif
}

}  // namespace

ThreadRunner::ThreadRunner(uint32_t threads) : threads_(threads < 1 ? 1 : threads) {
  try {
    for (uint32_t i = 1; i < threads_; ++i) helpers_.emplace_back(&ThreadRunner::Help, this, i);
  } catch (...) {
    Stop();
    throw;
  }
}

ThreadRunner::~ThreadRunner() { Stop(); }

void ThreadRunner::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  begin_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void ThreadRunner::Share(const Job& job, uint32_t thread) const {
  for (uint32_t worker = thread; worker < job.workers; worker += threads_) job.task(job.context, worker);
}

void ThreadRunner::Run(void* context, uint32_t workers, fovea_task task, void* task_context) {
  ThreadRunner& self = *static_cast<ThreadRunner*>(context);
  const Job job{workers, task, task_context};
  if (workers < 2 || self.threads_ < 2) {
    for (uint32_t worker = 0; worker < workers; ++worker) task(task_context, worker);
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(self.mutex_);
    self.job_ = job;
    self.working_ = self.threads_ - 1;
    ++self.round_;
  }
  self.begin_.notify_all();
  self.Share(job, 0);
  std::unique_lock<std::mutex> lock(self.mutex_);
  self.end_.wait(lock, [&] { return self.working_ == 0; });
}

bool ThreadRunner::SpinsUntilPassed(uint32_t round) const {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (passed_.load(std::memory_order_acquire) != round) return true;
      Pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

void ThreadRunner::Barrier(void* context, uint32_t workers) {
  ThreadRunner& self = *static_cast<ThreadRunner*>(context);
  const uint32_t round = self.passed_.load(std::memory_order_acquire);
  if (self.arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == workers) {
    self.arrived_.store(0, std::memory_order_relaxed);
    // Whoever counts itself among the sleepers later sees that the barrier has been passed.
    self.passed_.store(round + 1, std::memory_order_seq_cst);
    if (self.sleepers_.load(std::memory_order_seq_cst) == 0) return;
    { const std::lock_guard<std::mutex> lock(self.mutex_); }
    self.pass_.notify_all();
    return;
  }
  if (self.SpinsUntilPassed(round)) return;
  std::unique_lock<std::mutex> lock(self.mutex_);
  self.sleepers_.fetch_add(1, std::memory_order_seq_cst);
  self.pass_.wait(lock, [&] { return self.passed_.load(std::memory_order_seq_cst) != round; });
  self.sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

void ThreadRunner::Help(uint32_t thread) {
  uint64_t done = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    begin_.wait(lock, [&] { return stop_ || round_ != done; });
    if (stop_) return;
    done = round_;
    const Job job = job_;
    lock.unlock();
    Share(job, thread);
    lock.lock();
    if (--working_ == 0) end_.notify_one();
  }
}

}  // namespace fovea::ports
