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
  // 0: as many as the machine runs at a time. Where the port has no threads, the caller's is the only one.
  explicit Workers(uint32_t count = 0);

  uint32_t count() const { return threads_.threads(); }

  // Calls `task` with 0 to tasks - 1, each once, several at a time. What a task throws is thrown here once all are
  // done; of several the first by number. Tasks must not call ForEach.
  void ForEach(size_t tasks, const std::function<void(size_t)>& task);

  // The same for parts of 0 to count - 1 that are at most `most` long: `task` gets first and end.
  void ForParts(size_t count, size_t most, const std::function<void(size_t, size_t)>& task);

 private:
  ports::ThreadRunner threads_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_WORKERS_H_
