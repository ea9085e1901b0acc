#include "tests/support/by_name.h"

#include "runtime/blob/op_names.h"

namespace fovea::test {

uint32_t OperationCode(std::string_view operation) {
  for (const Named<OpCode>& known : NamesOf<OpCode>::list) {
    if (operation == known.name) return static_cast<uint32_t>(known.number);
  }
  throw std::out_of_range("no operation is called " + std::string(operation));
}

}  // namespace fovea::test
