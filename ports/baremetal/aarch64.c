/* 64-bit Arm: reset, and the generic timer as a counter. The MMU stays off, so the program must read data aligned. */
#include <stdint.h>

#include "board.h"
#include "memory.h"

void board_fault(void) {
  board_write("fault\n");
  board_exit(99);
}

__asm__(
    ".section .vectors, \"ax\"\n"
    ".global board_reset\n"
    "board_reset:\n"
    "  mov x0, #(3 << 20)\n" /* floating point and NEON on */
    "  msr cpacr_el1, x0\n"
    "  adr x0, board_vectors\n"
    "  msr vbar_el1, x0\n"
    "  isb\n"
    "  ldr x0, =board_stack_top\n"
    "  mov sp, x0\n"
    "  b board_start\n"
    "  .balign 2048\n"
    "board_vectors:\n"
    "  .rept 16\n"
    "  b board_fault\n"
    "  .balign 128\n"
    "  .endr\n"
    ".text\n");

uint64_t board_ticks(void) {
  uint64_t ticks;
  __asm__ volatile("isb\n mrs %0, cntpct_el0" : "=r"(ticks));
  return ticks;
}

const char board_counter[] = "generic timer", board_counts[] = "ticks";

uint64_t board_ticks_per_second(void) {
  uint64_t frequency;
  __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
  return frequency;
}
