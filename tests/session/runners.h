// Runners that bring disorder, to show that results do not depend on any.
#ifndef FOVEA_TESTS_SESSION_RUNNERS_H_
#define FOVEA_TESTS_SESSION_RUNNERS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "ports/thread_runner.h"
#include "tests/support/model_builder.h"

namespace fovea::test {

// Each worker in its own thread, started in an order that changes.
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

// Workers one after the other, in an order that differs from call to call. Such a runner cannot offer a barrier: the
// first worker would wait there for workers that have not been called.
struct ShufflingRunner {
  uint32_t calls = 0, most_workers = 0;
  std::mt19937 random{1};

  static void Run(void* context, uint32_t workers, fovea_task task, void* task_context) {
    ShufflingRunner& self = *static_cast<ShufflingRunner*>(context);
    ++self.calls;
    self.most_workers = std::max(self.most_workers, workers);
    std::vector<uint32_t> order(workers);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), self.random);
    for (const uint32_t w : order) task(task_context, w);
  }
  void Join(fovea_session_options* options) {
    options->runner = Run;
    options->runner_context = this;
  }
};

// Workers on threads, with a barrier.
struct MeetingRunner {
  explicit MeetingRunner(uint32_t workers) : threads(workers) {}
  ports::ThreadRunner threads;
  uint32_t calls = 0;

  static void Run(void* context, uint32_t workers, fovea_task task, void* task_context) {
    MeetingRunner& self = *static_cast<MeetingRunner*>(context);
    ++self.calls;
    ports::ThreadRunner::Run(&self.threads, workers, task, task_context);
  }
  static void Barrier(void* context, uint32_t workers) {
    ports::ThreadRunner::Barrier(&static_cast<MeetingRunner*>(context)->threads, workers);
  }
  void Join(fovea_session_options* options) {
    options->runner = Run;
    options->barrier = Barrier;
    options->runner_context = this;
  }
};

// Expects run(options) to be the same for any workers, tiles and runners, and with each of `values` values kept.
template <typename Run>
void ExpectOneResult(const std::vector<fovea_limit>& limits, size_t values, const Run& run) {
  const auto expected = run(Options(limits));
  for (const uint32_t workers : {1u, 2u, 4u}) {
    for (const uint32_t tile_rows : {1u, 3u, 16u, 0u}) {
      fovea_session_options options = Options(limits, workers, tile_rows);
      options.runner = tile_rows % 2 == 0 ? ThreadRunner : ReverseRunner;
      EXPECT_EQ(run(options), expected) << "workers " << workers << " tile " << tile_rows;
    }
  }
  std::vector<uint32_t> keep(values);
  std::iota(keep.begin(), keep.end(), 0);
  fovea_session_options options = Options(limits, 2, 3);
  options.keep = keep.data();
  options.keep_count = static_cast<uint32_t>(keep.size());
  EXPECT_EQ(run(options), expected);
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SESSION_RUNNERS_H_
