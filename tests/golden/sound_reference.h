// Sound made up, and features of it written down plainly in double precision.
#ifndef FOVEA_TESTS_GOLDEN_SOUND_REFERENCE_H_
#define FOVEA_TESTS_GOLDEN_SOUND_REFERENCE_H_

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace fovea::test {

using Rows = std::vector<std::vector<double>>;
inline constexpr double kPi = 3.14159265358979323846;

// Something like speech: bursts of noise and of a voice with overtones, between near silence.
inline std::vector<float> Clip(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 1);
  std::vector<float> clip;
  for (size_t i = 0; i < count; ++i) {
    const double t = static_cast<double>(i) / 16000, loud = std::max(0.0, std::sin(2 * kPi * 3 * t));
    double voice = 0;
    for (int k = 1; k < 20; ++k) voice += std::sin(2 * kPi * (130 + 10 * t) * k * t) / k;
    clip.push_back(static_cast<float>(0.1 * loud * voice + (0.02 * (1 - loud) + 0.0005) * noise(random)));
  }
  return clip;
}

// Powers of the transform of `size` numbers.
inline std::vector<double> Powers(const std::vector<double>& frame, size_t size) {
  std::vector<double> powers, cosines, sines;
  for (size_t i = 0; i < size; ++i) {
    cosines.push_back(std::cos(2 * kPi * static_cast<double>(i) / static_cast<double>(size)));
    sines.push_back(std::sin(2 * kPi * static_cast<double>(i) / static_cast<double>(size)));
  }
  for (size_t k = 0; k <= size / 2; ++k) {
    double re = 0, im = 0;
    for (size_t i = 0; i < frame.size(); ++i) {
      re += frame[i] * cosines[i * k % size];
      im += frame[i] * sines[i * k % size];
    }
    powers.push_back(re * re + im * im);
  }
  return powers;
}

inline double Slaney(double mel) { return mel < 15 ? mel / 0.015 : 1000 * std::pow(6.4, (mel - 15) / 27); }

// Decimal logarithms as in WhisperFeatureExtractor: 16 kHz, frames of 400 every `hop`, `filters` filters up to 8 kHz.
inline Rows WhisperLogs(std::vector<float> clip, size_t samples, size_t hop, size_t filters) {
  clip.resize(samples);
  std::vector<double> padded(clip.begin(), clip.end());
  for (size_t i = 1; i <= 200; ++i) padded.insert(padded.begin(), clip[i]);
  for (size_t i = 1; i <= 200; ++i) padded.push_back(clip[samples - 1 - i]);
  Rows rows;
  const double top = 15 + 27 * std::log(8.0) / std::log(6.4);
  for (size_t t = 0; t < samples / hop; ++t) {
    std::vector<double> frame;
    for (size_t i = 0; i < 400; ++i) {
      frame.push_back(padded[t * hop + i] * (0.5 - 0.5 * std::cos(2 * kPi * static_cast<double>(i) / 400)));
    }
    const std::vector<double> powers = Powers(frame, 400);
    rows.emplace_back();
    for (size_t i = 0; i < filters; ++i) {
      const auto m = static_cast<double>(i), gaps = static_cast<double>(filters + 1);
      const double left = Slaney(top * m / gaps), middle = Slaney(top * (m + 1) / gaps),
                   right = Slaney(top * (m + 2) / gaps);
      double sum = 0;
      for (size_t k = 0; k < powers.size(); ++k) {
        const double f = 40.0 * static_cast<double>(k);
        const double side = f <= middle ? (f - left) / (middle - left) : (right - f) / (right - middle);
        sum += std::max(0.0, side) * 2 / (right - left) * powers[k];
      }
      rows.back().push_back(std::log10(std::max(sum, 1e-10)));
    }
  }
  return rows;
}

// Logarithms to features: no number is more than 8 below the largest.
inline Rows WhisperFeatures(Rows logs) {
  double largest = -1e9;
  for (const std::vector<double>& row : logs) largest = std::max(largest, *std::max_element(row.begin(), row.end()));
  for (std::vector<double>& row : logs) {
    for (double& x : row) x = (std::max(x, largest - 8) + 4) / 4;
  }
  return logs;
}

// Features of a clip by itself.
inline Rows Whisper(const std::vector<float>& clip, size_t samples, size_t hop, size_t filters) {
  return WhisperFeatures(WhisperLogs(clip, samples, hop, filters));
}

// Features of a window of a sound, cut from the features of the whole sound and a window of silence after it.
inline Rows WhisperWindow(const std::vector<float>& sound, size_t begin, size_t window, size_t hop, size_t filters) {
  const size_t samples = (sound.size() + hop - 1) / hop * hop + window;
  const Rows all = WhisperFeatures(WhisperLogs(sound, samples, hop, filters));
  const auto first = all.begin() + static_cast<ptrdiff_t>(begin / hop);
  return {first, first + static_cast<ptrdiff_t>(window / hop)};
}

// Kaldi's filter banks, of whole frames of samples times `scale`.
inline Rows KaldiFilterBank(const std::vector<float>& clip, double scale, bool povey, int filters) {
  const auto mel = [](double hertz) { return 1127 * std::log(1 + hertz / 700); };
  const double low = mel(20), high = mel(8000);
  Rows rows;
  for (size_t at = 0; at + 400 <= clip.size(); at += 160) {
    std::vector<double> frame;
    double mean = 0;
    for (size_t i = 0; i < 400; ++i) frame.push_back(clip[at + i] * scale);
    for (const double x : frame) mean += x / 400;
    for (double& x : frame) x -= mean;
    const std::vector<double> flat = frame;
    for (size_t i = 0; i < 400; ++i) {
      const double hann = 0.5 - 0.5 * std::cos(2 * kPi * static_cast<double>(i) / 399);
      frame[i] = (flat[i] - 0.97 * flat[i == 0 ? 0 : i - 1]) * (povey ? std::pow(std::max(hann, 0.0), 0.85) : hann);
    }
    const std::vector<double> powers = Powers(frame, 512);
    rows.emplace_back();
    for (int m = 0; m < filters; ++m) {
      const double step = (high - low) / (filters + 1), middle = low + step * (m + 1);
      double sum = 0;
      for (size_t k = 0; k < powers.size(); ++k) {
        sum += std::max(0.0, 1 - std::fabs(mel(31.25 * static_cast<double>(k)) - middle) / step) * powers[k];
      }
      rows.back().push_back(std::log(std::max(sum, 1.192092955078125e-07)));
    }
  }
  return rows;
}

// As ASTFeatureExtractor: the given numbers of frames and filters, zeros after the last frames, then all normalized.
inline Rows Ast(const std::vector<float>& clip, size_t frames, size_t filters, bool normed) {
  Rows rows = KaldiFilterBank(clip, 1, false, static_cast<int>(filters));
  rows.resize(frames, std::vector<double>(filters));
  for (auto& row : rows) {
    for (double& x : row) x = normed ? (x + 4.2677393) / (4.5689974 * 2) : x;
  }
  return rows;
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_GOLDEN_SOUND_REFERENCE_H_
