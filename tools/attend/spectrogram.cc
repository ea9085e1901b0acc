// Spectrogram of a sound, for display.
#include "tools/attend/spectrogram.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace fovea::tools {
namespace {

constexpr size_t kMostColumns = 600;
constexpr uint32_t kBands = 48;
constexpr size_t kWindow = 400;
constexpr int kProbes = 3;     // frequencies that are measured for a band
constexpr double kRange = 80;  // decibels
constexpr double kPi = 3.14159265358979323846;

// Slaney's and O'Shaughnessy's formulas differ below 1 kHz; this is the latter.
double MelOf(double hertz) { return 2595 * log10(1 + hertz / 700); }
double HertzOf(double mel) { return 700 * (pow(10, mel / 2595) - 1); }

}  // namespace

void AddSpectrogram(const Sound& sound, RecordSound* shown) {
  const size_t count = sound.samples.size();
  if (count < kWindow || sound.rate == 0) return;
  const size_t columns = std::min(kMostColumns, count / (kWindow / 4));
  const double top = MelOf(sound.rate / 2.0);
  // Windowed cosines and sines of each probed frequency.
  std::vector<float> waves(size_t{kBands} * kProbes * 2 * kWindow);
  for (size_t probe = 0; probe < size_t{kBands} * kProbes; ++probe) {
    const double hertz = HertzOf(top * (static_cast<double>(probe) + 0.5) / (kBands * kProbes));
    for (size_t i = 0; i < kWindow; ++i) {
      const double at = static_cast<double>(i), hann = 0.5 - 0.5 * cos(2 * kPi * (at + 0.5) / kWindow);
      const double phase = 2 * kPi * hertz * at / sound.rate;
      waves[2 * probe * kWindow + i] = static_cast<float>(hann * cos(phase));
      waves[(2 * probe + 1) * kWindow + i] = static_cast<float>(hann * sin(phase));
    }
  }
  std::vector<double> levels;
  for (size_t column = 0; column < columns; ++column) {
    const size_t begin = columns == 1 ? 0 : column * (count - kWindow) / (columns - 1);
    const float* samples = sound.samples.data() + begin;
    for (uint32_t band = 0; band < kBands; ++band) {
      double power = 0;
      for (size_t wave = size_t{2} * kProbes * band; wave < size_t{2} * kProbes * (band + 1); ++wave) {
        float sum = 0;
        for (size_t i = 0; i < kWindow; ++i) sum += samples[i] * waves[wave * kWindow + i];
        power += double{sum} * sum;
      }
      levels.push_back(power);
    }
  }
  const double loudest = *std::max_element(levels.begin(), levels.end());
  if (!(loudest > 0) || !std::isfinite(loudest)) return;
  shown->bands = kBands;
  for (const double power : levels) {
    const double decibels = 10 * log10(std::max(power / loudest, 1e-12));
    shown->spectrogram += static_cast<char>(static_cast<uint8_t>(255 * std::clamp(1 + decibels / kRange, 0.0, 1.0)));
  }
}

}  // namespace fovea::tools
