// The fovea command.
#include <iostream>

#include "tools/commands/commands.h"

int main(int argc, char** argv) { return fovea::tools::RunCommand(argc, argv, std::cout, std::cerr); }
