/* Initialises memory as a C program expects it, fills the stack with a pattern, and measures its use. */
#include "memory.h"

#include "board.h"

void board_start(uint32_t* stack_pointer) {
  const uint32_t* from = board_data_load;
  for (uint32_t* to = board_data; to < board_data_end; ++to) *to = *from++;
  for (uint32_t* to = board_bss; to < board_bss_end; ++to) *to = 0;
  for (volatile uint32_t* to = board_stack; to < stack_pointer; ++to) *to = BOARD_UNUSED;
  board_exit(main(0, NULL));
}

size_t board_static_size(void) {
  return (size_t)((char*)board_data_end - (char*)board_data) + (size_t)((char*)board_bss_end - (char*)board_bss);
}

size_t board_stack_size(void) { return (size_t)((char*)board_stack_top - (char*)board_stack); }

size_t board_stack_used(void) {
  const volatile uint32_t* lowest = board_stack;
  while (lowest < board_stack_top && *lowest == BOARD_UNUSED) ++lowest;
  return (size_t)((char*)board_stack_top - (char*)lowest);
}
