// A second reader of blobs, written from runtime/blob/README.md alone: it shares no code or struct with the library.
#ifndef FOVEA_TESTS_SUPPORT_SECOND_READER_H_
#define FOVEA_TESTS_SUPPORT_SECOND_READER_H_

#include <stdint.h>

#include <map>
#include <string>
#include <vector>

namespace fovea::test {

inline constexpr uint32_t kAbsent = 0xffffffff;

struct ReadSection {
  uint32_t kind = 0;
  uint64_t offset = 0, size = 0, layout = 0;
};
struct ReadSpace {
  std::string name;
  uint32_t parent = kAbsent, kind = 0, source = kAbsent, extra = 0, first = 0, last = 0;
};
struct ReadTensor {
  std::string name;
  uint32_t type = 0, rows = 0, width = 0;
  uint64_t data = 0, scales = 0;
  std::vector<float> values;  // decoded
};
struct ReadValue {
  std::string name;
  uint32_t space = 0, width = 0, type = 0, role = 0, carried_by = 0, parts = 0;
};
struct ReadOperation {
  uint32_t code = 0, output = 0;
  std::string name;
  std::vector<uint32_t> inputs, tensors;
  std::map<uint32_t, uint32_t> attributes;  // key -> bits
};
struct ReadProgram {
  std::string name;
  std::vector<ReadValue> values;
  std::vector<ReadOperation> operations;
};
struct ReadBlob {
  uint32_t version = 0;
  uint64_t size = 0, checksum = 0;
  std::vector<ReadSection> sections;
  std::map<std::string, std::string> metadata;
  std::vector<ReadSpace> spaces;
  std::vector<ReadTensor> tensors;
  std::vector<ReadProgram> programs;
  std::vector<uint8_t> text;
};

// Throws std::runtime_error where the bytes violate the specification.
ReadBlob SecondReader(const std::vector<uint8_t>& bytes);

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_SECOND_READER_H_
