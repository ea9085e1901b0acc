// Return values and outputs of the calls on one input, in order. Two runs that must agree have equal transcripts.
#ifndef FOVEA_TESTS_FUZZ_TRANSCRIPT_H_
#define FOVEA_TESTS_FUZZ_TRANSCRIPT_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "fovea/status.h"

namespace fovea::fuzz {

class Transcript {
 public:
  void Bytes(const std::string& what, const void* data, uint64_t size);
  // All NaNs are equal.
  void Floats(const std::string& what, const float* data, uint64_t count);
  void Number(const std::string& what, uint64_t number) { Bytes(what, &number, sizeof(number)); }
  void Text(const std::string& what, const char* text);
  // A status and, if it is a failure, its record: which is complete and has the same status.
  void Status(const std::string& what, fovea_status status, const fovea_error& error);

  // Stops the program at the first difference.
  static void Compare(const Transcript& a, const Transcript& b);

 private:
  struct Entry {
    std::string what;
    std::vector<uint8_t> bytes;
  };
  std::vector<Entry> entries_;
};

}  // namespace fovea::fuzz

#endif  // FOVEA_TESTS_FUZZ_TRANSCRIPT_H_
