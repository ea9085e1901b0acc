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

// In several sums, which compilers keep in vector registers, so that additions do not wait for each other.
float Product(const float* a, const float* b, uint64_t count) {
  constexpr uint64_t kLanes = 16;
  float sums[kLanes] = {};
  uint64_t k = 0;
  for (; k + kLanes <= count; k += kLanes) {
    for (uint64_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[k + lane] * b[k + lane];
  }
  for (; k < count; ++k) sums[k % kLanes] += a[k] * b[k];
  for (uint64_t lane = 0; lane < 8; ++lane) sums[lane] += sums[lane + 8];
  for (uint64_t lane = 0; lane < 4; ++lane) sums[lane] += sums[lane + 4];
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

}  // namespace

Resampler::Resampler(uint32_t from, uint32_t to) {
  for (const uint32_t rate : {from, to}) {
    if (rate == 0 || rate > kMaxSampleRate) Fail("a sampling rate of {} Hz is out of range", rate);
  }
  const uint32_t common = Gcd(to, from);
  up_ = to / common, down_ = from / common;
  cutoff_ = std::min(1.0, static_cast<double>(up_) / static_cast<double>(down_));
  half_ = static_cast<uint64_t>(ceil(kCrossings / cutoff_));
  taps_ = 2 * half_ + 1;
  tables_.resize(up_);
  kept_.assign(half_, 0.0f);
}

const std::vector<float>& Resampler::TableOf(uint64_t phase) {
  std::vector<float>& table = tables_[phase];
  for (uint64_t k = table.size(); k < taps_; ++k) {
    const double distance =
        static_cast<double>(phase) / static_cast<double>(up_) + static_cast<double>(half_) - static_cast<double>(k);
    table.push_back(static_cast<float>(cutoff_ * LowPass(distance * cutoff_)));
  }
  return table;
}

void Resampler::Make(uint64_t most, std::vector<float>* made) {
  // With silence before the first input, the inputs of a sample begin at its own position.
  for (; made_ < most; ++made_) {
    const uint64_t place = made_ * down_ / up_, phase = made_ * down_ % up_;
    if (place + taps_ > first_ + kept_.size()) break;
    made->push_back(Product(TableOf(phase).data(), kept_.data() + (place - first_), taps_));
  }
  const uint64_t place = std::min(made_ * down_ / up_, first_ + kept_.size());
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<ptrdiff_t>(place - first_));
  first_ = place;
}

void Resampler::Add(const std::vector<float>& samples, std::vector<float>* made) {
  kept_.insert(kept_.end(), samples.begin(), samples.end());
  given_ += samples.size();
  Make(UINT64_MAX, made);
}

void Resampler::End(std::vector<float>* made) {
  kept_.insert(kept_.end(), taps_, 0.0f);
  Make((given_ * up_ + down_ - 1) / down_, made);
}

Sound Resample(const Sound& sound, uint32_t rate) {
  if (rate == sound.rate) return sound;
  Sound result = {rate, {}, sound.notes};
  Resampler resampler(sound.rate, rate);
  resampler.Add(sound.samples, &result.samples);
  resampler.End(&result.samples);
  return result;
}

}  // namespace fovea::tools
