// Runners that bring disorder, to show that results do not depend on any.
#ifndef FOVEA_TESTS_SESSION_RUNNERS_H_
#define FOVEA_TESTS_SESSION_RUNNERS_H_

#include <thread>
#include <vector>

#include "fovea/runner.h"

namespace fovea::test {

// Workers on threads of their own, in an order that changes.
inline void ThreadRunner(void* context, uint32_t workers, fovea_task task, void* task_context) {
  (void)context;
  std::vector<std::thread> threads;
  for (uint32_t w = workers; w-- > 0;) threads.emplace_back(task, task_context, w);
  for (std::thread& t : threads) t.join();
}

// Workers one after the other, the last one first.
inline void ReverseRunner(void* context, uint32_t workers, fovea_task task, void* task_context) {
  (void)context;
  for (uint32_t w = workers; w-- > 0;) task(task_context, w);
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SESSION_RUNNERS_H_
