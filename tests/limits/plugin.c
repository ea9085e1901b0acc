/* A plugin for QEMU that keeps the number of executed instructions in a file, which the program that QEMU runs has
 * mapped, too: so the program reads its own counter.   qemu-x86_64 -plugin plugin.so,counter=FILE PROGRAM ..
 *
 * Debian has QEMU without the header of its plugins; these are the few names that are used here, as of version 1 of the
 * interface. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
struct qemu_plugin_tb;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*callback)(uint64_t id, struct qemu_plugin_tb* block));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* block, void (*callback)(unsigned cpu, void* data),
                                          int flags, void* data);
EXPORT extern const int qemu_plugin_version;
EXPORT int qemu_plugin_install(uint64_t id, const void* info, int argc, char** argv);

const int qemu_plugin_version = 1;

static uint64_t* counter;

static void executed(unsigned cpu, void* instructions) {
  (void)cpu;
  *counter += (uintptr_t)instructions;
}

static void translated(uint64_t id, struct qemu_plugin_tb* block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_cb(block, executed, 0, (void*)(uintptr_t)qemu_plugin_tb_n_insns(block));
}

int qemu_plugin_install(uint64_t id, const void* info, int argc, char** argv) {
  (void)info;
  if (argc != 1 || strncmp(argv[0], "counter=", 8) != 0) return 1;
  int file = open(argv[0] + 8, O_RDWR);
  if (file < 0) return 1;
  void* memory = mmap(NULL, sizeof(*counter), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return 1;
  counter = memory;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  return 0;
}
