// XXH64 (Yann Collet, "xxHash fast digest algorithm", format specification 0.1.1): the blob's checksum.
#ifndef FOVEA_RUNTIME_BLOB_CHECKSUM_H_
#define FOVEA_RUNTIME_BLOB_CHECKSUM_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace fovea {

namespace xxh64 {

inline constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87u;
inline constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4Fu;
inline constexpr uint64_t kPrime3 = 0x165667B19E3779F9u;
inline constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63u;
inline constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5u;

inline uint64_t RotateLeft(uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }
inline uint64_t Round(uint64_t lane, uint64_t input) { return RotateLeft(lane + input * kPrime2, 31) * kPrime1; }
template <typename T>
T Read(const uint8_t* from) {
  T value;
  memcpy(&value, from, sizeof(T));
  return value;
}

// Three parts of the hash: the initial state, its update by whole stripes, and the final hash with the remaining bytes,
// `size` in all. They run in one function so that the lanes stay in registers; firmware is no larger for it.
constexpr size_t kStripe = 32;
struct Lanes {
  uint64_t at[4] = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};  // seed 0
};
__attribute__((always_inline)) inline void AddStripes(Lanes* lanes, const uint8_t* from, size_t stripes) {
  for (const uint8_t* const end = from + stripes * kStripe; from != end; from += kStripe) {
    for (int i = 0; i < 4; ++i) lanes->at[i] = Round(lanes->at[i], Read<uint64_t>(from + 8 * i));
  }
}
__attribute__((always_inline)) inline uint64_t Finish(const Lanes& state, const uint8_t* p, uint64_t size) {
  const uint64_t* lanes = state.at;
  const uint8_t* const end = p + size % kStripe;
  uint64_t hash = kPrime5;
  if (size >= kStripe) {
    hash = RotateLeft(lanes[0], 1) + RotateLeft(lanes[1], 7) + RotateLeft(lanes[2], 12) + RotateLeft(lanes[3], 18);
    for (int i = 0; i < 4; ++i) hash = (hash ^ Round(0, lanes[i])) * kPrime1 + kPrime4;
  }
  hash += size;
  for (; end - p >= 8; p += 8) hash = RotateLeft(hash ^ Round(0, Read<uint64_t>(p)), 27) * kPrime1 + kPrime4;
  if (end - p >= 4) {
    hash = RotateLeft(hash ^ (Read<uint32_t>(p) * kPrime1), 23) * kPrime2 + kPrime3;
    p += 4;
  }
  for (; p < end; ++p) hash = RotateLeft(hash ^ (*p * kPrime5), 11) * kPrime1;
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

}  // namespace xxh64

inline uint64_t Xxh64(const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  xxh64::Lanes lanes;
  xxh64::AddStripes(&lanes, bytes, size / xxh64::kStripe);
  return xxh64::Finish(lanes, bytes + size / xxh64::kStripe * xxh64::kStripe, size);
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_CHECKSUM_H_
