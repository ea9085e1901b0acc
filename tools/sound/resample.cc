// Changes the sampling rate of a sound.
#include "tools/sound/resample.h"

#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/sound/sample_format.h"

namespace fovea::tools {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kCrossings = 32, kBeta = 9;

// Modified Bessel function of the first kind, order zero.
double Bessel(double x) {
  double sum = 1, term = 1;
  for (int i = 1; term > sum * 1e-17; ++i) {
    term *= x / (2 * i) * (x / (2 * i));
    sum += term;
  }
  return sum;
}

// Sinc with a Kaiser window, x in zero crossings.
double LowPass(double x) {
  if (fabs(x) >= kCrossings) return 0;
  const double place = x / kCrossings, sinc = x == 0 ? 1 : sin(kPi * x) / (kPi * x);
  return sinc * Bessel(kBeta * sqrt(1 - place * place)) / Bessel(kBeta);
}

uint32_t Gcd(uint32_t a, uint32_t b) { return b == 0 ? a : Gcd(b, a % b); }

}  // namespace

Sound Resample(const Sound& sound, uint32_t rate) {
  if (rate == 0 || rate > kMaxSampleRate) Fail("a sampling rate of {} Hz is out of range", rate);
  if (rate == sound.rate) return sound;
  // Output sample i is at input position i * down / up; one filter for each fractional position.
  const uint32_t common = Gcd(rate, sound.rate), up = rate / common, down = sound.rate / common;
  const double cutoff = std::min(1.0, static_cast<double>(up) / down);
  const auto half = static_cast<int64_t>(ceil(kCrossings / cutoff));
  const auto taps = static_cast<size_t>(2 * half + 1);
  std::vector<std::vector<float>> tables(up);
  const uint64_t count = (sound.samples.size() * up + down - 1) / down;
  Sound result;
  result.rate = rate;
  result.notes = sound.notes;
  result.samples.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const auto place = static_cast<int64_t>(i * down / up);
    const uint64_t phase = i * down % up;
    std::vector<float>& table = tables[phase];
    for (size_t k = table.size(); k < taps; ++k) {
      const double distance = static_cast<double>(phase) / up + static_cast<double>(half) - static_cast<double>(k);
      table.push_back(static_cast<float>(cutoff * LowPass(distance * cutoff)));
    }
    double sum = 0;
    for (size_t k = 0; k < taps; ++k) {
      const int64_t from = place - half + static_cast<int64_t>(k);
      if (from < 0 || from >= static_cast<int64_t>(sound.samples.size())) continue;
      sum += static_cast<double>(table[k]) * sound.samples[static_cast<size_t>(from)];
    }
    result.samples.push_back(static_cast<float>(sum));
  }
  return result;
}

}  // namespace fovea::tools
