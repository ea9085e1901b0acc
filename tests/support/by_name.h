// Handles of named things, so that a test names the space or value it means instead of counting to it. Works on the
// spaces, tensors, programs and values of tools::BlobContent and of second_reader.h, and on spaces of a tools::Model
// (whose FindValue, FindProgram and FindAttention are the handles of the rest).
//
// A test that builds its model with ModelBuilder keeps the handles that the builder returns. This header is for content
// that is built elsewhere: by the converter, by another header, or by reading a blob.
//
// A test names operations as descriptions do: it does not include OpCode, so that a new operation does not compile it
// again.
#ifndef FOVEA_TESTS_SUPPORT_BY_NAME_H_
#define FOVEA_TESTS_SUPPORT_BY_NAME_H_

#include <stdint.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::test {

// The index of the first member with this name, by which records refer to it. Throws std::out_of_range if there is
// none, which fails the test.
template <typename Named>
uint32_t IndexOf(const std::vector<Named>& members, const std::string& name) {
  for (uint32_t i = 0; i < members.size(); ++i) {
    if (members[i].name == name) return i;
  }
  throw std::out_of_range("nothing is named " + name);
}

// The first member with this name.
template <typename Named>
Named& ByName(std::vector<Named>& members, const std::string& name) {
  return members[IndexOf(members, name)];
}
template <typename Named>
const Named& ByName(const std::vector<Named>& members, const std::string& name) {
  return members[IndexOf(members, name)];
}

// The index of a space of a tools::Model.
template <typename Model>
uint32_t SpaceNamed(const Model& model, const std::string& name) {
  for (uint32_t space = 0; space < model.Info().space_count; ++space) {
    if (model.Space(space).name == name) return space;
  }
  throw std::out_of_range("no space is named " + name);
}

// The operation of a program that computes the value with this name. (Operations themselves may have no name.)
template <typename Program>
auto& OperationFor(Program& program, const std::string& output) {
  const uint32_t value = IndexOf(program.values, output);
  for (auto& operation : program.operations) {
    if (operation.output == value) return operation;
  }
  throw std::out_of_range("no operation computes " + output);
}

// The number of an operation in blobs, from its name in op_list.inc. Throws std::out_of_range if there is none.
uint32_t OperationCode(std::string_view operation);

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_BY_NAME_H_
