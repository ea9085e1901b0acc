/* What the samples use of a board. Only they: the library needs nothing of it. */
#ifndef FOVEA_PORTS_BAREMETAL_BOARD_H_
#define FOVEA_PORTS_BAREMETAL_BOARD_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Cycles of the processor's own counter, from any start. In QEMU with -icount it counts instructions, so many at a
 * time: README.md. */
uint64_t board_ticks(void);
/* How many are a second; the counter's name, and what it counts. */
uint64_t board_ticks_per_second(void);
extern const char board_counter[], board_counts[];

/* Bytes of stack that have been used since reset, and bytes that there are; bytes of variables. */
size_t board_stack_used(void);
size_t board_stack_size(void);
size_t board_static_size(void);

/* By semihosting, that is by the debugger or QEMU. */
void board_write(const char* text);                         /* ends with a zero */
void board_write_number(uint64_t number);                   /* in decimal digits */
int board_command_line(char* line, size_t capacity);        /* 0: there is none, or it is too long */
intptr_t board_open(const char* path);                      /* a file to be read; below 0: there is none */
size_t board_read(intptr_t file, void* bytes, size_t size); /* how many were read */
void board_close(intptr_t file);
__attribute__((noreturn)) void board_exit(int status);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_PORTS_BAREMETAL_BOARD_H_ */
