// The threads of a port as a C++ object: started by its constructor, ended by its destructor.
#ifndef FOVEA_PORTS_THREAD_RUNNER_H_
#define FOVEA_PORTS_THREAD_RUNNER_H_

#include <memory>
#include <stdexcept>

#include "ports/port.h"

namespace fovea::ports {

// Set `&ThreadRunner::Run` and the object as runner and runner_context of the session options, and
// `&ThreadRunner::Barrier` as barrier if the session has no more workers than there are threads.
class ThreadRunner {
 public:
  explicit ThreadRunner(uint32_t threads) : threads_(fovea_port_start(threads)) {
    if (threads_ == nullptr) throw std::runtime_error("cannot start threads");
  }

  uint32_t threads() const { return fovea_port_count(threads_.get()); }

  // The fovea_runner; `context` is a ThreadRunner.
  static void Run(void* context, uint32_t workers, fovea_task task, void* task_context) {
    fovea_port_run(static_cast<ThreadRunner*>(context)->threads_.get(), workers, task, task_context);
  }
  // The fovea_barrier.
  static void Barrier(void* context, uint32_t workers) {
    fovea_port_barrier(static_cast<ThreadRunner*>(context)->threads_.get(), workers);
  }

 private:
  struct Stop {
    void operator()(fovea_port_threads* threads) const { fovea_port_stop(threads); }
  };
  std::unique_ptr<fovea_port_threads, Stop> threads_;
};

}  // namespace fovea::ports

#endif  // FOVEA_PORTS_THREAD_RUNNER_H_
