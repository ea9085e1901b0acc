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

}  // namespace xxh64

inline uint64_t Xxh64(const void* data, size_t size) {
  using namespace xxh64;
  const uint8_t* p = static_cast<const uint8_t*>(data);
  const uint8_t* const end = p + size;
  uint64_t hash = kPrime5;  // seed 0
  if (size >= 32) {
    uint64_t lanes[4] = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
    for (; end - p >= 32; p += 32) {
      for (int i = 0; i < 4; ++i) lanes[i] = Round(lanes[i], Read<uint64_t>(p + 8 * i));
    }
    hash = RotateLeft(lanes[0], 1) + RotateLeft(lanes[1], 7) + RotateLeft(lanes[2], 12) + RotateLeft(lanes[3], 18);
    for (uint64_t lane : lanes) hash = (hash ^ Round(0, lane)) * kPrime1 + kPrime4;
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

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_CHECKSUM_H_
