// Whether this processor's int8 products have the bits of plain sums. Says what it checked and exits with 1 if not.
#include "tests/support/int8_products.h"

#include "ports/baremetal/board.h"
#include "runtime/kernels/kernels.h"

namespace {

fovea::testing::Int8Products products;

void Write(const char* name, size_t number) {
  board_write(name);
  board_write_number(number);
}

}  // namespace

int main() {
  size_t shown = 0;
  const size_t wrong = products.Check(fovea::GetKernels().gemm.i8,
                                      [&](size_t rows, size_t columns, size_t k, bool bias, size_t row, size_t column) {
                                        if (shown++ >= 10) return;
                                        Write("m ", rows);
                                        Write(" n ", columns);
                                        Write(" k ", k);
                                        Write(" bias ", bias);
                                        Write(": wrong in row ", row);
                                        Write(" column ", column);
                                        board_write("\n");
                                      });
  Write("wrong ", wrong);
  board_write("\n");
  return wrong != 0;
}
