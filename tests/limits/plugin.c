/* A plugin for QEMU that keeps the number of executed instructions in a file. The program that QEMU runs also maps this
 * file, and so reads its own counter.   qemu-x86_64 -plugin plugin.so,counter=FILE PROGRAM ...
 *
 * Debian has QEMU without the header of its plugins; these are the few names that are used here, as of version 1 of the
 * interface. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
struct qemu_plugin_tb;
struct qemu_plugin_insn;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn* instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn* instruction);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*callback)(uint64_t id, struct qemu_plugin_tb* block));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* block, void (*callback)(unsigned cpu, void* data),
                                          int flags, void* data);
EXPORT extern const int qemu_plugin_version;
EXPORT int qemu_plugin_install(uint64_t id, const void* info, int argc, char** argv);

const int qemu_plugin_version = 1;

static uint64_t* counter;

/* QEMU 7.2 ends a block of x86 before an instruction that crosses the end of a page, but lists its bytes up to there
 * in that block, and the instruction again as the next block. Counted twice, it would make counts depend on code
 * addresses. */
struct block {
  size_t instructions;
  uint64_t first, cut_off; /* addresses; of a last instruction that ends with its page and may be incomplete, or 0 */
};
static uint64_t cut_off;

static void executed(unsigned cpu, void* data) {
  (void)cpu;
  const struct block* block = data;
  *counter += block->instructions - (block->first == cut_off);
  cut_off = block->cut_off;
}

static void translated(uint64_t id, struct qemu_plugin_tb* translation) {
  (void)id;
  struct block* block = malloc(sizeof(*block)); /* kept for as long as the translation may run: to the end */
  if (block == NULL) abort();
  const size_t listed = block->instructions = qemu_plugin_tb_n_insns(translation);
  const struct qemu_plugin_insn* last = qemu_plugin_tb_get_insn(translation, listed - 1);
  const uint64_t address = qemu_plugin_insn_vaddr(last);
  block->first = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(translation, 0));
  block->cut_off = listed > 1 && (address + qemu_plugin_insn_size(last)) % 4096 == 0 ? address : 0;
  qemu_plugin_register_vcpu_tb_exec_cb(translation, executed, 0, block);
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
