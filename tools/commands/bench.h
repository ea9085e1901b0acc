// The subcommand `bench` and its part `bench attention`, which fovea-bench also has.
#ifndef FOVEA_TOOLS_COMMANDS_BENCH_H_
#define FOVEA_TOOLS_COMMANDS_BENCH_H_

#include "tools/commands/commands.h"

namespace fovea::tools {

void AddBench(Command app, Console* console);
void AddBenchAttention(Command bench, Console* console);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMANDS_BENCH_H_
