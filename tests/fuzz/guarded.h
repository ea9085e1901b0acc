// Memory that ends where it ends: the page after a block faults, and so does the one before it. So a byte that code
// without instrumentation (XNNPACK) reads or writes beyond a block stops the program there.
#ifndef FOVEA_TESTS_FUZZ_GUARDED_H_
#define FOVEA_TESTS_FUZZ_GUARDED_H_

#include <stddef.h>
#include <stdint.h>

namespace fovea::fuzz {

// Contents of memory before anything is written to it.
enum class Filling : uint32_t { kZeros, kOnes, kRandom };

class Guarded {
 public:
  Guarded() = default;
  // `size` bytes on a multiple of `alignment`, a power of two up to a page. Where the size is no multiple of it, the
  // bytes up to the page's end are watched by value, and by the address sanitizer where there is one.
  explicit Guarded(uint64_t size, Filling filling = Filling::kZeros, size_t alignment = 64);
  Guarded(const void* from, uint64_t size, size_t alignment = 64);
  ~Guarded();
  Guarded(Guarded&& other) noexcept { *this = static_cast<Guarded&&>(other); }
  Guarded& operator=(Guarded&& other) noexcept;

  uint8_t* data() const { return data_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }
  uint64_t size() const { return size_; }
  // From now on writing to the block faults.
  void Seal() const;
  // Stops the program if a byte beside the block has changed. The destructor also calls it.
  void CheckMargins() const;

 private:
  void Mark(bool poison) const;

  uint8_t* pages_ = nullptr;
  uint64_t inner_ = 0;  // bytes between the pages that fault
  uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace fovea::fuzz

#endif  // FOVEA_TESTS_FUZZ_GUARDED_H_
