#include "tests/fuzz/guarded.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "tests/fuzz/check.h"
#include "tests/fuzz/random.h"

#if defined(__SANITIZE_ADDRESS__)
#define FOVEA_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FOVEA_POISONS 1
#endif
#endif
#ifdef FOVEA_POISONS
#include <sanitizer/asan_interface.h>
#endif

namespace fovea::fuzz {
namespace {

constexpr uint8_t kMargin = 0xa5;

uint64_t PageBytes() {
  static const uint64_t bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void Fill(uint8_t* data, uint64_t size, Filling filling) {
  if (filling == Filling::kZeros) return;  // as pages are
  if (filling == Filling::kOnes) {
    memset(data, 0xff, size);
    return;
  }
  Random random(size);
  for (uint64_t i = 0; i < size; i += 8) {
    const uint64_t word = random.Next();
    memcpy(data + i, &word, std::min<uint64_t>(8, size - i));
  }
}

}  // namespace

Guarded::Guarded(uint64_t size, Filling filling, size_t alignment) : size_(size) {
  const uint64_t page = PageBytes();
  inner_ = (size + page - 1) / page * page;
  void* pages = mmap(nullptr, inner_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  Check(pages != MAP_FAILED, "no address space");
  pages_ = static_cast<uint8_t*>(pages);
  Check(inner_ == 0 || mprotect(pages_ + page, inner_, PROT_READ | PROT_WRITE) == 0, "no memory");
  data_ = pages_ + page + inner_ - (size + alignment - 1) / alignment * alignment;
  Fill(data_, size, filling);
  memset(pages_ + page, kMargin, static_cast<size_t>(data_ - pages_ - static_cast<ptrdiff_t>(page)));
  memset(data_ + size, kMargin, static_cast<size_t>(pages_ + page + inner_ - (data_ + size)));
  Mark(true);
}

Guarded::Guarded(const void* from, uint64_t size, size_t alignment) : Guarded(size, Filling::kZeros, alignment) {
  if (size != 0) memcpy(data_, from, size);
}

Guarded::~Guarded() {
  if (pages_ == nullptr) return;
  CheckMargins();
  Mark(false);
  munmap(pages_, inner_ + 2 * PageBytes());
}

Guarded& Guarded::operator=(Guarded&& other) noexcept {
  std::swap(pages_, other.pages_);
  std::swap(inner_, other.inner_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void Guarded::Seal() const {
  if (inner_ != 0) Check(mprotect(pages_ + PageBytes(), inner_, PROT_READ) == 0, "a block cannot be sealed");
}

void Guarded::Mark(bool poison) const {
#ifdef FOVEA_POISONS
  const uint8_t* const begin = pages_ + PageBytes();
  const auto mark = poison ? &__asan_poison_memory_region : &__asan_unpoison_memory_region;
  mark(begin, static_cast<size_t>(data_ - begin));
  mark(data_ + size_, static_cast<size_t>(begin + inner_ - (data_ + size_)));
#else
  (void)poison;
#endif
}

void Guarded::CheckMargins() const {
  if (pages_ == nullptr) return;
  Mark(false);
  const uint8_t* const begin = pages_ + PageBytes();
  for (const uint8_t* at = begin; at < data_; ++at) Check(*at == kMargin, "a byte before a block has changed");
  for (const uint8_t* at = data_ + size_; at < begin + inner_; ++at) {
    Check(*at == kMargin, "a byte after a block has changed");
  }
  Mark(true);
}

}  // namespace fovea::fuzz
