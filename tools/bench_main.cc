// fovea-bench: `fovea bench` as a separate program to copy to a device; needs no file except the blob.
#include <iostream>
#include <vector>

#include "tools/base/system.h"
#include "tools/commands/bench.h"

int main(int argc, char** argv) {
  fovea::tools::Process process(argc, argv);
  std::vector<const char*> arguments = {"fovea", "bench"};
  if (argc > 1) arguments.insert(arguments.end(), process.argv() + 1, process.argv() + process.argc());
  return fovea::tools::RunCommands({fovea::tools::AddBench}, static_cast<int>(arguments.size()), arguments.data(),
                                   std::cout, std::cerr);
}
