/* Addresses that the linker script (board.ld) gives, and what startup code of every processor does with them. */
#ifndef FOVEA_PORTS_BAREMETAL_MEMORY_H_
#define FOVEA_PORTS_BAREMETAL_MEMORY_H_

#include <stddef.h>
#include <stdint.h>

extern uint32_t board_data_load[], board_data[], board_data_end[], board_bss[], board_bss_end[];
extern uint32_t board_stack[], board_stack_top[];

/* Not a place but a number: cycles a second, where the processor does not know. */
extern const char board_hertz[];

/* A word that no program happens to push. */
#define BOARD_UNUSED 0xc0debeefu

/* Without arguments: 0 and NULL. */
int main(int argc, char** argv);

/* Called first, on an empty stack whose lowest used address is `stack_pointer`. */
void board_start(uint32_t* stack_pointer);

#endif /* FOVEA_PORTS_BAREMETAL_MEMORY_H_ */
