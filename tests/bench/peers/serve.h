// Requests that a C++ program receives while programs run in turns, and its replies (turns.py has the list).
#ifndef FOVEA_TESTS_BENCH_PEERS_SERVE_H_
#define FOVEA_TESTS_BENCH_PEERS_SERVE_H_

#include <stdint.h>
#include <time.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace peers {

inline double Milliseconds(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

// Wall-clock time and this process's processor time.
struct Stopwatch {
  double Passed() const { return Milliseconds(CLOCK_MONOTONIC) - start; }
  double Used() const { return Milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_start; }
  double start = Milliseconds(CLOCK_MONOTONIC), cpu_start = Milliseconds(CLOCK_PROCESS_CPUTIME_ID);
};

inline uint64_t StatusBytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(key + ":", 0) == 0) return std::stoull(line.substr(key.size() + 1)) * 1024;
  }
  throw std::runtime_error("/proc/self/status has no " + key);
}

struct Rows {
  const float* data;
  size_t count, width;
};

// `Peer` has Reset (forget all texts), Run (append these ids; a decoder continues its text), Result (the last Run's
// Rows, for every id or for the last one) and Name.
template <class Peer, class Make>
void ServeWith(const Make& make) {
  const uint64_t before = StatusBytes("VmRSS");
  Stopwatch watch;
  Peer peer = make();
  std::cout << watch.Passed() << " " << peer.Name() << std::endl;
  std::vector<int32_t> text;
  for (std::string line, word; std::getline(std::cin, line);) {
    std::istringstream words(line);
    words >> word;
    if (word == "ids") {
      text.assign(std::istream_iterator<int32_t>(words), {});
      std::cout << "ok" << std::endl;
    } else if (word == "run") {
      peer.Reset();
      watch = {};
      peer.Run(text);
      std::cout << watch.Passed() << " " << watch.Used() << std::endl;
    } else if (word == "tokens") {
      int count = 0;
      words >> count;
      watch = {};
      for (int i = 0; i < count; ++i) {
        const Rows rows = peer.Result();
        const float* last = rows.data + (rows.count - 1) * rows.width;
        peer.Run({static_cast<int32_t>(std::max_element(last, last + rows.width) - last)});
      }
      std::cout << watch.Passed() / count << " " << watch.Used() / count << std::endl;
    } else if (word == "repeat" || word == "append") {
      int count = 0;
      words >> count;
      for (int i = 0; i < count; ++i) {
        if (word == "repeat") peer.Reset();
        peer.Run(word == "repeat" ? text : std::vector<int32_t>{text.front()});
      }
      std::cout << "ok" << std::endl;
    } else if (word == "write") {
      words >> word;
      const Rows rows = peer.Result();
      std::ofstream(word, std::ios::binary)
          .write(reinterpret_cast<const char*>(rows.data),
                 static_cast<std::streamsize>(rows.count * rows.width * sizeof(float)));
      std::cout << "ok" << std::endl;
    } else if (word == "memory") {
      std::cout << StatusBytes("VmHWM") - before << std::endl;
    } else {
      throw std::runtime_error("unknown: " + line);
    }
  }
}

// The whole main function.
template <class Peer, class Make>
int Serve(const char* name, const Make& make) {
  try {
    ServeWith<Peer>(make);
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace peers

#endif  // FOVEA_TESTS_BENCH_PEERS_SERVE_H_
