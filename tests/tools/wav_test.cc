// Sound files: every format that is read, what is refused, and other rates.
#include "tools/sound/wav.h"

#include <gtest/gtest.h>
#include <math.h>
#include <string.h>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

using Bytes = std::vector<uint8_t>;

void Put(Bytes& bytes, uint64_t number, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(number >> (8 * i)));
}
void Put(Bytes& bytes, const char* text) { bytes.insert(bytes.end(), text, text + strlen(text)); }

struct Header {
  uint32_t kind = 1, channels = 1, bits = 16, rate = 16000;
  bool extensible = false;
};

Bytes File(const Header& header, const Bytes& samples, bool odd_chunk = false) {
  Bytes file;
  Put(file, "RIFF");
  Put(file, 0, 4);
  Put(file, "WAVE");
  if (odd_chunk) {
    Put(file, "LIST");
    Put(file, 3, 4);
    Put(file, "abc");
    Put(file, 0, 1);
  }
  Put(file, "fmt ");
  Put(file, header.extensible ? 40 : 16, 4);
  Put(file, header.extensible ? 0xfffe : header.kind, 2);
  Put(file, header.channels, 2);
  Put(file, header.rate, 4);
  Put(file, uint64_t{header.rate} * header.channels * header.bits / 8, 4);
  Put(file, header.channels * header.bits / 8, 2);
  Put(file, header.bits, 2);
  if (header.extensible) {
    Put(file, 22, 2);
    Put(file, header.bits, 2);
    Put(file, 4, 4);
    Put(file, header.kind, 2);
    for (int i = 0; i < 14; ++i) Put(file, 0, 1);
  }
  Put(file, "data");
  Put(file, samples.size(), 4);
  file.insert(file.end(), samples.begin(), samples.end());
  return file;
}

Sound Parse(const Bytes& file) {
  const Bytes exact(file);  // so that sanitizers see a byte too many
  return ParseWav(exact.data(), exact.size());
}

std::string Refusal(const Bytes& file) {
  try {
    Parse(file);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(Wav, WholeNumbersOfAllSizes) {
  for (const uint32_t bits : {8u, 16u, 24u, 32u}) {
    for (const bool extensible : {false, true}) {
      const double full = pow(2.0, bits - 1.0);
      Bytes samples;
      const double values[] = {0, 0.5, -0.5, -1, 1 - 1 / full, -1 / full};
      for (const double value : values) {
        const auto number = static_cast<int64_t>(value * full) + (bits == 8 ? 128 : 0);
        Put(samples, static_cast<uint64_t>(number), static_cast<int>(bits / 8));
      }
      Header header;
      header.bits = bits;
      header.extensible = extensible;
      const Sound sound = Parse(File(header, samples, extensible));
      ASSERT_EQ(sound.samples.size(), 6u);
      EXPECT_EQ(sound.rate, 16000u);
      for (size_t i = 0; i < 6; ++i) EXPECT_EQ(sound.samples[i], static_cast<float>(values[i])) << bits;
    }
  }
}

TEST(Wav, FloatsAndChannels) {
  for (const uint32_t bits : {32u, 64u}) {
    Bytes samples;
    for (const double value : {0.25, 0.75, -1.5, 0.5}) {
      uint64_t word = 0;
      const auto narrow = static_cast<float>(value);
      if (bits == 32) memcpy(&word, &narrow, 4);
      if (bits == 64) memcpy(&word, &value, 8);
      Put(samples, word, static_cast<int>(bits / 8));
    }
    EXPECT_EQ(Parse(File({3, 1, bits}, samples)).samples, (std::vector<float>{0.25f, 0.75f, -1.5f, 0.5f}));
    EXPECT_EQ(Parse(File({3, 2, bits, 44100}, samples)).samples, (std::vector<float>{0.5f, -0.5f}));
  }
  const Sound none = Parse(File({}, {}));
  EXPECT_TRUE(none.samples.empty());
  EXPECT_EQ(none.seconds(), 0);
}

TEST(Wav, WhatIsRefused) {
  const Bytes four = {1, 2, 3, 4};
  EXPECT_NE(Refusal({}).find("no RIFF WAVE"), std::string::npos);
  EXPECT_NE(Refusal(File({7, 1, 8}, four)).find("format 7 with 8 bits"), std::string::npos);
  EXPECT_NE(Refusal(File({1, 1, 12}, four)).find("12 bits"), std::string::npos);
  EXPECT_NE(Refusal(File({3, 1, 16}, four)).find("16 bits"), std::string::npos);
  EXPECT_NE(Refusal(File({1, 0, 16}, four)).find("0 channels"), std::string::npos);
  EXPECT_NE(Refusal(File({1, 1, 16, 0}, four)).find("0 samples in a second"), std::string::npos);
  EXPECT_NE(Refusal(File({3, 1, 32}, {0, 0, 0xc0, 0x7f})).find("no number"), std::string::npos);
  // Every length that it may be cut to.
  const Bytes whole = File({1, 2, 24, 16000, true}, Bytes(12, 7), true);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(Refusal(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size))), "") << size;
  }
  EXPECT_EQ(Refusal(whole), "");
  // A size that nobody knew when it was written.
  Bytes endless = whole;
  for (size_t i = whole.size() - 16; i < whole.size() - 12; ++i) endless[i] = 0xff;
  EXPECT_EQ(Parse(endless).samples, Parse(whole).samples);
}

// A tone stays what it is at another rate, away from the ends; one that the other rate cannot hold goes.
TEST(Wav, Resampled) {
  const auto tone = [](uint32_t rate, double hertz) {
    Sound sound;
    sound.rate = rate;
    for (uint32_t i = 0; i < rate / 5; ++i) {
      sound.samples.push_back(static_cast<float>(0.7 * sin(2 * M_PI * hertz * i / rate + 0.3)));
    }
    return sound;
  };
  for (const uint32_t from : {8000u, 11025u, 22050u, 44100u, 48000u}) {
    const Sound found = Resample(tone(from, 1000), 16000), expected = tone(16000, 1000);
    EXPECT_EQ(found.rate, 16000u);
    ASSERT_NEAR(static_cast<double>(found.samples.size()), static_cast<double>(expected.samples.size()), 1);
    for (size_t i = 200; i + 200 < found.samples.size(); ++i) {
      ASSERT_NEAR(found.samples[i], expected.samples[i], 1e-4) << from << " " << i;
    }
  }
  const Sound gone = Resample(tone(48000, 11000), 16000);
  for (size_t i = 200; i + 200 < gone.samples.size(); ++i) ASSERT_NEAR(gone.samples[i], 0, 1e-4);
  EXPECT_TRUE(Resample({44100, {}}, 16000).samples.empty());
  EXPECT_EQ(Resample({44100, {1.0f}}, 16000).samples.size(), 1u);
}

}  // namespace
}  // namespace fovea::tools
