// Threads that share tasks.
#ifndef FOVEA_TOOLS_BASE_WORKERS_H_
#define FOVEA_TOOLS_BASE_WORKERS_H_

#include <stddef.h>
#include <stdint.h>

#include <functional>

#include "ports/thread_runner.h"

namespace fovea::tools {

class Workers {
 public:
  // 0: as many threads as the machine has hardware threads. Without thread support tasks run on the caller's.
  explicit Workers(uint32_t count = 0);

  uint32_t count() const { return threads_.threads(); }

  // Calls `task` once with each of 0 to tasks - 1, several at a time. Exceptions are rethrown here once all tasks are
  // done; of several, the one of the lowest task index. Tasks must not call ForEach.
  void ForEach(size_t tasks, const std::function<void(size_t)>& task);

  // Splits 0 to count - 1 into ranges of at most `most`: `task` gets first and end.
  void ForParts(size_t count, size_t most, const std::function<void(size_t, size_t)>& task);

 private:
  ports::ThreadRunner threads_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_WORKERS_H_
