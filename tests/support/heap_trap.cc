// The heap's functions with a counter, which then call glibc's own.
#include "tests/support/heap_trap.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FOVEA_SANITIZED 1
#endif
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(FOVEA_SANITIZED)
#define FOVEA_HEAP_TRAP 1
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#define FOVEA_HEAP_TRAP 0
#endif

namespace fovea::testing {
namespace {
thread_local size_t heap_calls = 0;
}  // namespace

HeapTrap::HeapTrap() : before_(heap_calls) {}
HeapTrap::~HeapTrap() = default;
size_t HeapTrap::calls() const { return heap_calls - before_; }
bool HeapTrap::Works() { return FOVEA_HEAP_TRAP != 0; }

}  // namespace fovea::testing

#if FOVEA_HEAP_TRAP
using fovea::testing::heap_calls;

extern "C" {

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t size) { return ++heap_calls, __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return ++heap_calls, __libc_calloc(count, size); }
void* realloc(void* p, size_t size) { return ++heap_calls, __libc_realloc(p, size); }
void* memalign(size_t alignment, size_t size) { return ++heap_calls, __libc_memalign(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) { return ++heap_calls, __libc_memalign(alignment, size); }
int posix_memalign(void** p, size_t alignment, size_t size) {
  ++heap_calls;
  *p = __libc_memalign(alignment, size);
  return *p == nullptr ? ENOMEM : 0;
}
void free(void* p) {
  if (p != nullptr) ++heap_calls;
  __libc_free(p);
}
#if defined(SYS_mmap)
void* mmap(void* address, size_t length, int protection, int flags, int file, off_t offset) {
  ++heap_calls;
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, length, protection, flags, file, offset));
}
#endif

}  // extern "C"
#endif
