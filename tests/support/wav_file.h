// The bytes of a RIFF WAVE file of one channel of 32-bit floats.
#ifndef FOVEA_TESTS_SUPPORT_WAV_FILE_H_
#define FOVEA_TESTS_SUPPORT_WAV_FILE_H_

#include <stdint.h>

#include <string>
#include <vector>

namespace fovea::test {

inline std::string WavFile(const std::vector<float>& samples, uint32_t rate) {
  std::string file = "RIFF....WAVEfmt ";
  const auto put = [&](uint32_t number, int bytes) {
    for (int i = 0; i < bytes; ++i) file += static_cast<char>(number >> (8 * i) & 255);
  };
  put(16, 4), put(3, 2), put(1, 2), put(rate, 4), put(rate * 4, 4), put(4, 2), put(32, 2);
  file += "data";
  put(static_cast<uint32_t>(samples.size() * 4), 4);
  return file.append(reinterpret_cast<const char*>(samples.data()), samples.size() * 4);
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_WAV_FILE_H_
