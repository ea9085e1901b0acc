// The fovea command.
#include <iostream>

#include "tools/base/system.h"
#include "tools/commands/commands.h"

int main(int argc, char** argv) {
  fovea::tools::Process process(argc, argv);
  return fovea::tools::RunCommand(process.argc(), process.argv(), std::cout, std::cerr);
}
