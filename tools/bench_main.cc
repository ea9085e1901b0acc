// fovea-bench: `fovea bench` as a separate program to copy to a device; needs no file except the blob.
#include <iostream>
#include <vector>

#include "tools/base/system.h"
#include "tools/commands/bench.h"
#include "tools/sound/sndfile.h"

// This program reads no sounds, and is linked statically, so that it cannot load libraries: definitions here keep the
// linker from adding sound/sndfile.cc.
namespace fovea::tools {
std::string WhyNoSndfile() { return "fovea-bench reads WAVE files only"; }
std::unique_ptr<SampleSource> OpenBySndfile(const uint8_t*, uint64_t, const ForgetBytes&) { return nullptr; }
}  // namespace fovea::tools

int main(int argc, char** argv) {
  fovea::tools::Process process(argc, argv);
  std::vector<const char*> arguments = {"fovea", "bench"};
  if (argc > 1) arguments.insert(arguments.end(), process.argv() + 1, process.argv() + process.argc());
  return fovea::tools::RunCommands({fovea::tools::AddBench}, static_cast<int>(arguments.size()), arguments.data(),
                                   std::cout, std::cerr);
}
