// A broken promise ends the program, as a sanitizer's finding does.
#ifndef FOVEA_TESTS_FUZZ_CHECK_H_
#define FOVEA_TESTS_FUZZ_CHECK_H_

#include <stdio.h>
#include <stdlib.h>

#include <string>

namespace fovea::fuzz {

[[noreturn]] inline void Broken(const std::string& what) {
  fprintf(stderr, "== BROKEN PROMISE: %s\n", what.c_str());
  fflush(stderr);
  abort();
}

inline void Check(bool holds, const char* what) {
  if (!holds) Broken(what);
}

}  // namespace fovea::fuzz

#endif  // FOVEA_TESTS_FUZZ_CHECK_H_
