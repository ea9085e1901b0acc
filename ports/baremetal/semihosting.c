/* Semihosting: the program stops at an instruction that a debugger or QEMU handles, with a request in its registers. */
#include <string.h>

#include "board.h"

enum {
  kOpen = 0x01,
  kClose = 0x02,
  kWrite0 = 0x04,
  kRead = 0x06,
  kGetCommandLine = 0x15,
  kExitExtended = 0x20,
  kApplicationExit = 0x20026
};

static intptr_t Request(uintptr_t number, const volatile void* argument) {
#if defined(__aarch64__)
  register uintptr_t request __asm__("x0") = number;
  register const volatile void* block __asm__("x1") = argument;
  __asm__ volatile("hlt #0xf000" : "+r"(request) : "r"(block) : "memory");
#else
  register uintptr_t request __asm__("r0") = number;
  register const volatile void* block __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(request) : "r"(block) : "memory");
#endif
  return (intptr_t)request;
}

void board_write(const char* text) { Request(kWrite0, text); }

int board_command_line(char* line, size_t capacity) {
  const volatile uintptr_t block[2] = {(uintptr_t)line, capacity};
  return Request(kGetCommandLine, block) == 0;
}

intptr_t board_open(const char* path) {
  const volatile uintptr_t block[3] = {(uintptr_t)path, 1 /* "rb" */, strlen(path)};
  return Request(kOpen, block);
}

size_t board_read(intptr_t file, void* bytes, size_t size) {
  const volatile uintptr_t block[3] = {(uintptr_t)file, (uintptr_t)bytes, size};
  const intptr_t left = Request(kRead, block);
  return left < 0 || (size_t)left > size ? 0 : size - (size_t)left;
}

void board_close(intptr_t file) {
  const volatile uintptr_t block[1] = {(uintptr_t)file};
  Request(kClose, block);
}

void board_exit(int status) {
  const volatile uintptr_t block[2] = {kApplicationExit, (uintptr_t)status};
  Request(kExitExtended, block);
  for (;;) {
  }
}
