#ifdef _WIN32
#include <windows.h>
// windows.h first: the other headers need it.
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <psapi.h>
#include <shellapi.h>
#include <sys/stat.h>

#include <iostream>
#include <streambuf>

#include "tools/base/system.h"
#include "tools/base/utf8_units.h"

namespace fovea::tools {
namespace {

std::string Utf8(const wchar_t* text, int units) {
  std::string bytes(static_cast<size_t>(WideCharToMultiByte(CP_UTF8, 0, text, units, nullptr, 0, nullptr, nullptr)),
                    '\0');
  WideCharToMultiByte(CP_UTF8, 0, text, units, bytes.data(), static_cast<int>(bytes.size()), nullptr, nullptr);
  return bytes;
}

std::wstring Wide(const std::string& bytes) {
  const int size = static_cast<int>(bytes.size());
  std::wstring text(static_cast<size_t>(MultiByteToWideChar(CP_UTF8, 0, bytes.data(), size, nullptr, 0)), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, bytes.data(), size, text.data(), static_cast<int>(text.size()));
  return text;
}

bool IsConsole(DWORD stream) {
  DWORD mode;
  return GetConsoleMode(GetStdHandle(stream), &mode) != 0;
}

// Shows UTF-8 on a console with any code page. The start of a character is kept until the rest is written.
class ConsoleOutput : public std::streambuf {
 public:
  explicit ConsoleOutput(DWORD stream) : console_(GetStdHandle(stream)) {}

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    kept_.append(text, static_cast<size_t>(size));
    if (kept_.size() >= 4096 || kept_.find('\n') != std::string::npos) return sync() == 0 ? size : 0;
    return size;
  }
  int sync() override {
    const size_t whole = WholeCharacters(kept_);
    for (size_t at = 0; at < whole;) {
      const size_t part = WholeCharacters(std::string_view(kept_).substr(at, std::min<size_t>(8192, whole - at)));
      const std::wstring text = Wide(kept_.substr(at, part));
      DWORD written;
      if (!WriteConsoleW(console_, text.data(), static_cast<DWORD>(text.size()), &written, nullptr)) return -1;
      at += part;
    }
    kept_.erase(0, whole);
    return 0;
  }

 private:
  HANDLE console_;
  std::string kept_;
};

// Typed lines as UTF-8. Ctrl-Z at the start of a line ends the input.
class ConsoleInput : public std::streambuf {
 public:
  ConsoleInput() : console_(GetStdHandle(STD_INPUT_HANDLE)) {}

 protected:
  int_type underflow() override {
    wchar_t units[1024];
    DWORD count = 0;
    std::cout.flush();
    if (!ReadConsoleW(console_, units, 1023, &count, nullptr) || count == 0 || units[0] == 0x1a) {
      return traits_type::eof();
    }
    // The second half of a pair is in the next part.
    if (units[count - 1] >= 0xd800 && units[count - 1] < 0xdc00) {
      DWORD more = 0;
      if (ReadConsoleW(console_, units + count, 1, &more, nullptr)) count += more;
    }
    line_.clear();
    for (const char c : Utf8(units, static_cast<int>(count))) {
      if (c != '\r') line_ += c;
    }
    if (line_.empty()) return underflow();
    setg(line_.data(), line_.data(), line_.data() + line_.size());
    return traits_type::to_int_type(line_[0]);
  }

 private:
  HANDLE console_;
  std::string line_;
};

bool errors_show_escapes = false;
std::streambuf *before_in = nullptr, *before_out = nullptr, *before_err = nullptr;
DWORD mode_before_out = 0, mode_before_err = 0;

// Has the console interpret escape sequences; false on older ones.
bool EnableEscapes(DWORD stream, DWORD* before) {
  const HANDLE console = GetStdHandle(stream);
  if (!GetConsoleMode(console, before)) return false;
  return SetConsoleMode(console, *before | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

}  // namespace

Process::Process(int, char**) {
  int count = 0;
  wchar_t** wide = CommandLineToArgvW(GetCommandLineW(), &count);
  for (int i = 0; i < count; ++i) {
    arguments_.push_back(Utf8(wide[i], -1));
    arguments_.back().pop_back();  // the zero
  }
  LocalFree(wide);
  for (std::string& argument : arguments_) pointers_.push_back(argument.data());
  pointers_.push_back(nullptr);

  for (const int stream : {0, 1, 2}) _setmode(stream, _O_BINARY);
  static ConsoleOutput out(STD_OUTPUT_HANDLE), err(STD_ERROR_HANDLE);
  static ConsoleInput in;
  if (IsConsole(STD_INPUT_HANDLE)) before_in = std::cin.rdbuf(&in);
  if (IsConsole(STD_OUTPUT_HANDLE)) before_out = std::cout.rdbuf(&out);
  if (IsConsole(STD_ERROR_HANDLE)) before_err = std::cerr.rdbuf(&err);
  EnableEscapes(STD_OUTPUT_HANDLE, &mode_before_out);
  errors_show_escapes = EnableEscapes(STD_ERROR_HANDLE, &mode_before_err);
}

Process::~Process() {
  std::cout.flush();
  std::cerr.flush();
  if (before_in != nullptr) std::cin.rdbuf(before_in);
  if (before_err != nullptr) {
    std::cerr.rdbuf(before_err);
    SetConsoleMode(GetStdHandle(STD_ERROR_HANDLE), mode_before_err);
  }
  if (before_out != nullptr) {
    std::cout.rdbuf(before_out);
    SetConsoleMode(GetStdHandle(STD_OUTPUT_HANDLE), mode_before_out);
  }
}

bool InputIsTerminal() { return IsConsole(STD_INPUT_HANDLE); }
bool OutputIsTerminal() { return IsConsole(STD_OUTPUT_HANDLE); }
bool ErrorsAreTerminal() { return errors_show_escapes; }

size_t TerminalColumns() {
  CONSOLE_SCREEN_BUFFER_INFO info;
  if (GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info) == 0) return 0;
  return static_cast<size_t>(info.srWindow.Right - info.srWindow.Left + 1);
}

FILE* CreateNewFile(const std::string& path) {
  const int file =
      _wopen(Wide(path).c_str(), _O_RDWR | _O_BINARY | _O_CREAT | _O_EXCL | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
  return file < 0 ? nullptr : _fdopen(file, "w+b");
}

void ForgetMapped(const uint8_t* begin, uint64_t size) {
  // Pages that are not locked: the call fails, and takes them out of the working set.
  VirtualUnlock(const_cast<uint8_t*>(begin), static_cast<size_t>(size));
}

uint64_t PeakResidentBytes() {
  PROCESS_MEMORY_COUNTERS counters = {};
  counters.cb = sizeof(counters);
  return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof(counters)) ? counters.PeakWorkingSetSize : 0;
}

MachineNames NamesOfMachine() {
  MachineNames names = {"Windows", "", ""};
  SYSTEM_INFO info = {};
  GetNativeSystemInfo(&info);
  names.architecture = info.wProcessorArchitecture == PROCESSOR_ARCHITECTURE_AMD64   ? "x86_64"
                       : info.wProcessorArchitecture == PROCESSOR_ARCHITECTURE_ARM64 ? "aarch64"
                                                                                     : "unknown";
  wchar_t name[256];
  DWORD bytes = sizeof(name);
  if (RegGetValueW(HKEY_LOCAL_MACHINE, L"HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0", L"ProcessorNameString",
                   RRF_RT_REG_SZ, nullptr, name, &bytes) == ERROR_SUCCESS) {
    names.processor = Utf8(name, -1);
    names.processor.pop_back();  // the zero
  }
  return names;
}

}  // namespace fovea::tools
#endif
