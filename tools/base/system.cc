#include "tools/base/system.h"

#include <filesystem>
#include <system_error>

#include "tools/base/utf8_path.h"

#ifndef _WIN32
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include <fstream>
#endif

namespace fovea::tools {

void RemoveFile(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove(Utf8Path(path), ignored);
}

#ifndef _WIN32  // system_windows.cc has the rest there

Process::Process(int argc, char** argv) : pointers_(argv, argv + argc) { pointers_.push_back(nullptr); }
Process::~Process() = default;

bool InputIsTerminal() { return isatty(STDIN_FILENO) != 0; }
bool OutputIsTerminal() { return isatty(STDOUT_FILENO) != 0; }
bool ErrorsAreTerminal() { return isatty(STDERR_FILENO) != 0; }

size_t TerminalColumns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

FILE* CreateNewFile(const std::string& path) { return fopen(path.c_str(), "w+bx"); }

#ifdef __linux__  // where files are mapped
void ForgetMapped(const uint8_t* begin, uint64_t size) {
  const uint64_t from = reinterpret_cast<uintptr_t>(begin);
  // Whole pages.
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t inner = (from + page - 1) / page * page, end = (from + size) / page * page;
  if (inner < end) {
    madvise(reinterpret_cast<void*>(static_cast<uintptr_t>(inner)), static_cast<size_t>(end - inner), MADV_DONTNEED);
  }
}
#else
void ForgetMapped(const uint8_t*, uint64_t) {}
#endif

uint64_t PeakResidentBytes() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

namespace {

std::string Processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (colon != std::string::npos && line.rfind("model name", 0) == 0) return line.substr(colon + 2);
  }
  std::ifstream board("/proc/device-tree/model");  // Arm and RISC-V; ends with a zero
  std::string name;
  std::getline(board, name, '\0');
  return name;
}

}  // namespace

MachineNames NamesOfMachine() {
  struct utsname system = {};
  uname(&system);
  return {system.sysname, system.machine, Processor()};
}

#endif

}  // namespace fovea::tools
