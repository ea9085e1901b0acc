// The one place that turns a caller's memory block into objects and arrays. No other file computes a byte offset in
// one.
//
//   block  |<- pad to 64 ->| object | array ........ | array .. |  unused  |
//                          ^ each starts on a multiple of 64 bytes
//
// Sizing and placing are one code path: the same function runs first on an arena without memory (which only counts)
// and later on one with memory. Takes from a counting arena return nullptr; callers must not write through them.
// An arena that runs out keeps counting, so that the error can name the exact need.
#ifndef FOVEA_RUNTIME_BASE_ARENA_H_
#define FOVEA_RUNTIME_BASE_ARENA_H_

#include <stddef.h>
#include <stdint.h>

#include <new>
#include <type_traits>

#include "runtime/base/checked.h"

namespace fovea {

inline constexpr size_t kAlignment = 64;

class Arena {
 public:
  Arena() = default;  // counts only
  Arena(void* memory, size_t size) : memory_(static_cast<uint8_t*>(memory)), size_(size) {}

  bool counting() const { return memory_ == nullptr; }
  // True if the block was large enough for everything taken so far.
  bool ok() const { return used_.ok() && (counting() || used_.value() <= size_); }
  // Bytes that the takes so far need, regardless of the block's size. UINT64_MAX after an overflow.
  uint64_t needed() const { return used_.value(); }

  // `count` bytes on a multiple of 64; nullptr when counting or exhausted. The rest of the last 64 bytes is padding.
  void* TakeBytes(CheckedSize count) {
    const CheckedSize begin = used_;
    const CheckedSize padded = count + CheckedSize(kAlignment - 1);
    used_ += CheckedSize(padded.ok() ? padded.value() / kAlignment * kAlignment : UINT64_MAX);
    if (counting() || !ok()) return nullptr;
    return memory_ + begin.value();
  }

  // `count` value-initialised objects that need no destructor.
  template <typename T>
  T* Take(uint64_t count) {
    static_assert(std::is_trivially_destructible<T>::value, "nothing in an arena is ever destroyed");
    static_assert(alignof(T) <= kAlignment, "");
    void* bytes = TakeBytes(CheckedSize(count) * CheckedSize(sizeof(T)));
    if (bytes == nullptr) return nullptr;
    T* first = static_cast<T*>(bytes);
    for (uint64_t i = 0; i < count; ++i) new (first + i) T();
    return first;
  }

 private:
  uint8_t* memory_ = nullptr;
  size_t size_ = 0;
  CheckedSize used_;
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BASE_ARENA_H_
