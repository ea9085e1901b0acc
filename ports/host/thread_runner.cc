// A fovea_runner on threads of the host: each sleeps until a phase begins and again after it.
#include "ports/host/thread_runner.h"

namespace fovea::ports {

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
