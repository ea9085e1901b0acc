/* Writes numbers with board_write. */
#include "board.h"

void board_write_number(uint64_t number) {
  char digits[21];
  char* at = digits + sizeof(digits);
  *--at = '\0';
  do {
    *--at = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  board_write(at);
}
