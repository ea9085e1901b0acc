/* Addresses from the linker script, and what the startup code of every processor does with them. */
#ifndef FOVEA_PORTS_BAREMETAL_MEMORY_H_
#define FOVEA_PORTS_BAREMETAL_MEMORY_H_

#include <stddef.h>
#include <stdint.h>

extern uint32_t board_data_load[], board_data[], board_data_end[], board_bss[], board_bss_end[];
extern uint32_t board_stack[], board_stack_top[];

/* A number, not an address: ticks per second, if the processor cannot report it. */
extern const char board_hertz[];

/* A word that programs are unlikely to push. */
#define BOARD_UNUSED 0xc0debeefu

/* Called without arguments: 0 and NULL. */
int main(int argc, char** argv);

/* Called first, on an empty stack whose lowest used address is `stack_pointer`. */
void board_start(uint32_t* stack_pointer);

#endif /* FOVEA_PORTS_BAREMETAL_MEMORY_H_ */
