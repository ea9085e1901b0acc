// Why a run failed: the status, the operation and the message of the worker that failed first.
#ifndef FOVEA_RUNTIME_SESSION_FAILURE_H_
#define FOVEA_RUNTIME_SESSION_FAILURE_H_

#include <stdint.h>

#include <atomic>

#include "runtime/base/status.h"
#include "runtime/ops/op.h"

namespace fovea {

// Several workers may fail at once. It is read when all have returned; the members are atomic only because a runner
// that breaks its contract may have left a task running.
class RunFailure {
 public:
  void Clear() { status_.store(FOVEA_OK, std::memory_order_relaxed); }

  // Keeps the first failure of a run.
  void Record(fovea_status status, uint32_t step, const RunFault& fault) {
    fovea_status none = FOVEA_OK;
    if (status_.compare_exchange_strong(none, status, std::memory_order_relaxed)) Describe(step, fault);
  }
  // Records a failure that explains every other one: the runner broke its contract.
  void Replace(fovea_status status, const RunFault& fault) {
    status_.store(status, std::memory_order_relaxed);
    Describe(FOVEA_NOWHERE, fault);
  }

  fovea_status status() const { return status_.load(std::memory_order_relaxed); }
  Status Report(Reporter& reporter) const {
    reporter.step = step_.load(std::memory_order_relaxed);
    const char* text = text_.load(std::memory_order_relaxed);
    return reporter.Fail(status(), text == nullptr ? "an operation failed" : text,
                         expected_.load(std::memory_order_relaxed), found_.load(std::memory_order_relaxed),
                         index_.load(std::memory_order_relaxed));
  }

 private:
  void Describe(uint32_t step, const RunFault& fault) {
    step_.store(step, std::memory_order_relaxed);
    if constexpr (!kHasErrors) return;
    text_.store(fault.text, std::memory_order_relaxed);
    expected_.store(fault.expected, std::memory_order_relaxed);
    found_.store(fault.found, std::memory_order_relaxed);
    index_.store(fault.index, std::memory_order_relaxed);
  }

  std::atomic<fovea_status> status_{FOVEA_OK};
  std::atomic<uint32_t> step_{FOVEA_NOWHERE};  // operation of the program
  std::atomic<const char*> text_{nullptr};
  std::atomic<uint32_t> expected_{0}, found_{0}, index_{0};
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_SESSION_FAILURE_H_
