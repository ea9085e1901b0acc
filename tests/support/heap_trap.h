// Counts this thread's calls of the heap and of the system's memory during the lifetime of a HeapTrap.
#ifndef FOVEA_TESTS_SUPPORT_HEAP_TRAP_H_
#define FOVEA_TESTS_SUPPORT_HEAP_TRAP_H_

#include <cstddef>

namespace fovea::testing {

class HeapTrap {
 public:
  HeapTrap();
  ~HeapTrap();
  // Calls of malloc and its kin, free of a non-null pointer, and mmap by this thread since construction.
  size_t calls() const;
  // False where the heap cannot be watched (sanitizers and C libraries other than glibc).
  static bool Works();

 private:
  size_t before_;
};

}  // namespace fovea::testing

#endif  // FOVEA_TESTS_SUPPORT_HEAP_TRAP_H_
