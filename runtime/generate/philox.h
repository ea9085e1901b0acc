// Counter-based random numbers: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
// A number depends only on its counter and key, so a text samples the same tokens regardless of the rest of its batch.
#ifndef FOVEA_RUNTIME_GENERATE_PHILOX_H_
#define FOVEA_RUNTIME_GENERATE_PHILOX_H_

#include <stdint.h>

namespace fovea {

struct Philox {
  uint32_t words[4];

  Philox(uint64_t key, uint64_t high, uint64_t low)
      : words{static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high),
              static_cast<uint32_t>(high >> 32)} {
    auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t a = uint64_t{0xD2511F53} * words[0], b = uint64_t{0xCD9E8D57} * words[2];
      const auto first = static_cast<uint32_t>(b >> 32) ^ words[1] ^ k0;
      const auto third = static_cast<uint32_t>(a >> 32) ^ words[3] ^ k1;
      words[0] = first, words[1] = static_cast<uint32_t>(b);
      words[2] = third, words[3] = static_cast<uint32_t>(a);
      k0 += 0x9E3779B9, k1 += 0xBB67AE85;
    }
  }
  // In [0, 1), with 53 bits.
  double Uniform() const { return static_cast<double>(uint64_t{words[0]} << 21 | words[1] >> 11) * 0x1p-53; }
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GENERATE_PHILOX_H_
