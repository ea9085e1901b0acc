/* The functions of a board that the samples use. The library needs none of them. */
#ifndef FOVEA_PORTS_BAREMETAL_BOARD_H_
#define FOVEA_PORTS_BAREMETAL_BOARD_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The processor's cycle counter, from any start. In QEMU with -icount it counts instructions, several per tick: see
 * README.md. */
uint64_t board_ticks(void);
/* Ticks per second; the counter's name, and its unit. */
uint64_t board_ticks_per_second(void);
extern const char board_counter[], board_counts[];

/* Bytes of stack used since reset, and available; bytes of variables. */
size_t board_stack_used(void);
size_t board_stack_size(void);
size_t board_static_size(void);

/* Console by semihosting, that is through a debugger or QEMU. */
void board_write(const char* text);                         /* NUL-terminated */
void board_write_number(uint64_t number);                   /* in decimal digits */
int board_command_line(char* line, size_t capacity);        /* 0: none, or it is too long */
intptr_t board_open(const char* path);                      /* opens it to read; below 0: not found */
size_t board_read(intptr_t file, void* bytes, size_t size); /* bytes read */
void board_close(intptr_t file);
__attribute__((noreturn)) void board_exit(int status);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_PORTS_BAREMETAL_BOARD_H_ */
