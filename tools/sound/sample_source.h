// Samples of an audio file in order, a block at a time.
#ifndef FOVEA_TOOLS_SOUND_SAMPLE_SOURCE_H_
#define FOVEA_TOOLS_SOUND_SAMPLE_SOURCE_H_

#include <stdint.h>

#include <functional>
#include <string>
#include <vector>

namespace fovea::tools {

// Receives bytes of a file that are not needed any more.
using ForgetBytes = std::function<void(const uint8_t* begin, uint64_t size)>;

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  virtual uint32_t rate() const = 0;    // samples per second
  virtual uint64_t length() const = 0;  // samples, as far as the file states them; 0: unknown
  // Appends at most `count` samples, the mean of the channels; none at the end.
  virtual void Read(uint64_t count, std::vector<float>* samples) = 0;

  // Assumptions about the file and missing parts, for the user.
  const std::vector<std::string>& notes() const { return notes_; }

 protected:
  std::vector<std::string> notes_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SOUND_SAMPLE_SOURCE_H_
