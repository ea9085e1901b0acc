/* Cortex-M: vectors, reset, and SysTick as a counter of cycles. */
#include <stdint.h>

#include "board.h"
#include "memory.h"

#define REGISTER(address) (*(volatile uint32_t*)(address))
#define CPACR REGISTER(0xe000ed88u)
#define ICSR REGISTER(0xe000ed04u)
#define SYST_CSR REGISTER(0xe000e010u)
#define SYST_RVR REGISTER(0xe000e014u)
#define SYST_CVR REGISTER(0xe000e018u)
#define SYST_PERIOD 0x1000000u

static volatile uint32_t periods;

static void SysTick(void) { ++periods; }

static void Fault(void) {
  board_write("fault\n");
  board_exit(99);
}

void board_reset(void) {
  CPACR |= 0xfu << 20; /* enables floating point and MVE (Helium) */
  __asm__ volatile("dsb\n isb" ::: "memory");
  SYST_RVR = SYST_PERIOD - 1;
  SYST_CVR = 0;
  SYST_CSR = 7; /* enables it, with its interrupt, at the processor's clock */
  uint32_t* stack_pointer;
  __asm__ volatile("mov %0, sp" : "=r"(stack_pointer));
  board_start(stack_pointer);
}

typedef void (*Vector)(void);

__attribute__((section(".vectors"), used)) static const struct {
  uint32_t* stack;
  Vector vectors[15];
} vectors = {
    board_stack_top,
    {board_reset, Fault, Fault, Fault, Fault, Fault, Fault, Fault, Fault, Fault, Fault, Fault, Fault, Fault, SysTick}};

const char board_counter[] = "SysTick", board_counts[] = "cycles";

uint64_t board_ticks_per_second(void) { return (uintptr_t)board_hertz; }

/* When the count reaches 0, a new period begins; QEMU may report that with a delay. */
uint64_t board_ticks(void) {
  for (;;) {
    const uint32_t before = periods, left = SYST_CVR;
    if (left == 0 || periods != before || (ICSR & (1u << 26)) != 0) continue;
    return (uint64_t)before * SYST_PERIOD + (SYST_PERIOD - 1 - left);
  }
}
