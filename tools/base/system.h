// Calls of the operating system that the command needs beyond C++'s library and its port.
#ifndef FOVEA_TOOLS_BASE_SYSTEM_H_
#define FOVEA_TOOLS_BASE_SYSTEM_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <string>
#include <vector>

namespace fovea::tools {

// For the life of main: arguments as UTF-8; standard streams pass bytes unchanged, and show UTF-8 on a console.
class Process {
 public:
  Process(int argc, char** argv);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int argc() const { return static_cast<int>(pointers_.size()) - 1; }
  char** argv() { return pointers_.data(); }

 private:
  std::vector<std::string> arguments_;
  std::vector<char*> pointers_;  // and a null one
};

// Whether a person types there, or reads it; a console on Windows.
bool InputIsTerminal();
bool OutputIsTerminal();
bool ErrorsAreTerminal();
// Characters of a line of the terminal that shows the output; 0: it is none, or its size is unknown.
size_t TerminalColumns();

// Opens a new file for reading and writing bytes. Null: failed, with EEXIST in errno if the name is taken.
FILE* CreateNewFile(const std::string& path);
// Removes it, if it is there.
void RemoveFile(const std::string& path);

// Lets the system drop these bytes of a mapped file from memory; they are read again on access.
void ForgetMapped(const uint8_t* begin, uint64_t size);

// The most memory that this process had; 0: unknown.
uint64_t PeakResidentBytes();

struct MachineNames {
  std::string system, architecture, processor;
};
MachineNames NamesOfMachine();

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_SYSTEM_H_
