// The port's runner: every index once per round, also with more indices than threads, and the memory order of a
// function call.
#include "ports/thread_runner.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace fovea::test {
namespace {

using ports::ThreadRunner;

struct Counts {
  explicit Counts(size_t workers) : calls(workers) {}
  std::vector<uint32_t> calls;  // plain: the runner must order memory
  std::mutex mutex;
  std::set<std::thread::id> threads;
};

void Count(void* context, uint32_t worker) {
  Counts& counts = *static_cast<Counts*>(context);
  ++counts.calls[worker];
  const std::lock_guard<std::mutex> lock(counts.mutex);
  counts.threads.insert(std::this_thread::get_id());
}

TEST(ThreadRunner, EveryIndexOncePerRound) {
  constexpr uint32_t kRounds = 300;
  for (uint32_t threads = 1; threads <= 8; ++threads) {
    ThreadRunner runner(threads);
    EXPECT_EQ(runner.threads(), threads);
    for (const uint32_t workers : {1u, threads, threads + 1, 13u}) {
      Counts counts(workers);
      for (uint32_t round = 1; round <= kRounds; ++round) {
        ThreadRunner::Run(&runner, workers, Count, &counts);
        for (uint32_t i = 0; i < workers; ++i) ASSERT_EQ(counts.calls[i], round) << threads << " threads, index " << i;
      }
      EXPECT_LE(counts.threads.size(), threads);
      if (workers >= threads) {
        EXPECT_EQ(counts.threads.size(), threads);
      }
    }
  }
}

TEST(ThreadRunner, NothingToDo) {
  ThreadRunner runner(3);
  Counts counts(1);
  ThreadRunner::Run(&runner, 0, Count, &counts);
  EXPECT_EQ(counts.calls[0], 0u);
}

TEST(ThreadRunner, UnusedOnesEnd) {
  for (int i = 0; i < 20; ++i) ThreadRunner runner(4);
  ThreadRunner none(0);
  EXPECT_EQ(none.threads(), 1u);
}

// Tasks of a round see what was written before it, and the caller sees what they wrote.
TEST(ThreadRunner, OrdersMemory) {
  struct Chain {
    uint64_t seed = 1;
    uint64_t results[4] = {};
  } chain;
  const auto task = [](void* context, uint32_t worker) {
    Chain& c = *static_cast<Chain*>(context);
    c.results[worker] = c.seed * (worker + 3);
  };
  ThreadRunner runner(4);
  uint64_t expected = 1;
  for (int round = 0; round < 1000; ++round) {
    ThreadRunner::Run(&runner, 4, task, &chain);
    uint64_t sum = 0;
    for (const uint64_t result : chain.results) sum += result;
    chain.seed = sum;
    expected *= 3 + 4 + 5 + 6;
    ASSERT_EQ(chain.seed, expected);
  }
}

// Between two barriers each worker writes its slot and, after the first barrier, reads every slot: plain memory, so
// that a barrier that lets a worker through early, or orders nothing, fails here or in the thread sanitizer. Some
// workers are later than the rest spin.
TEST(ThreadRunner, BarrierHoldsUntilAllAreThere) {
  constexpr uint32_t kRounds = 400, kMost = 5;
  struct Places {
    ThreadRunner* runner;
    uint32_t workers;
    uint32_t at[kMost] = {};
    uint32_t wrong[kMost] = {};
  };
  const auto task = [](void* context, uint32_t worker) {
    Places& places = *static_cast<Places*>(context);
    for (uint32_t round = 1; round <= kRounds; ++round) {
      if ((round + worker) % 67 == 0) std::this_thread::sleep_for(std::chrono::microseconds(150));
      places.at[worker] = round;
      ThreadRunner::Barrier(places.runner, places.workers);
      for (uint32_t w = 0; w < places.workers; ++w) places.wrong[worker] += places.at[w] == round ? 0 : 1;
      ThreadRunner::Barrier(places.runner, places.workers);
    }
  };
  ThreadRunner runner(kMost);
  for (const uint32_t workers : {1u, 2u, 3u, kMost, 2u}) {
    Places places{&runner, workers};
    ThreadRunner::Run(&runner, workers, task, &places);
    for (uint32_t w = 0; w < workers; ++w) {
      EXPECT_EQ(places.at[w], kRounds);
      EXPECT_EQ(places.wrong[w], 0u);
    }
  }
}

}  // namespace
}  // namespace fovea::test
