// Audio files of any length: parts at another rate with bounded memory, other kinds of files, long inputs of pipes.
#include "tools/sound/sound_reader.h"

#include <gtest/gtest.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/support/wav_file.h"
#include "tools/base/fail.h"
#include "tools/base/input_file.h"
#include "tools/sound/sndfile.h"

namespace fovea::tools {
namespace {

using test::WavFile;

std::vector<float> Tone(size_t samples) {
  std::vector<float> tone(samples);
  for (size_t i = 0; i < samples; ++i) {
    const auto x = static_cast<double>(i);
    tone[i] = static_cast<float>(0.3 * sin(0.05 * x) + 0.2 * sin(1e-7 * x * x));
  }
  return tone;
}

class SoundReaderTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(directory_ / name, std::ios::binary) << bytes;
    return (directory_ / name).string();
  }

  const std::filesystem::path directory_ =
      std::filesystem::path(testing::TempDir()) / ("sound-reader-" + std::to_string(getpid()));
};

// Blocks of any size give the samples of the whole sound.
TEST(Resampler, InBlocks) {
  for (const auto& [from, to] : {std::pair(48000u, 16000u), {44100u, 16000u}, {8000u, 16000u}, {16000u, 1000u}}) {
    const Sound sound = {from, Tone(20000)};
    const std::vector<float> expected = Resample(sound, to).samples;
    EXPECT_EQ(expected.size(), (uint64_t{20000} * to + from - 1) / from);
    for (const size_t block : {1u, 7u, 333u, 19999u}) {
      Resampler resampler(from, to);
      std::vector<float> found;
      for (size_t at = 0; at < sound.samples.size(); at += block) {
        const size_t end = std::min(at + block, sound.samples.size());
        resampler.Add(
            {sound.samples.begin() + static_cast<ptrdiff_t>(at), sound.samples.begin() + static_cast<ptrdiff_t>(end)},
            &found);
      }
      resampler.End(&found);
      ASSERT_EQ(found, expected) << from << " to " << to << " in blocks of " << block;
    }
  }
}

// Longer than what is kept in memory: parts in order, of places before, of the end and beyond it.
TEST_F(SoundReaderTest, PartsOfALongFile) {
  const size_t samples = 11'000'000;
  const std::string path = Write("long.wav", WavFile(Tone(samples), 16000));
  const Sound whole = ReadSoundFile(path);
  ASSERT_EQ(whole.samples.size(), samples);
  SoundReader reader(path, 16000);
  EXPECT_NEAR(reader.ExpectedSeconds(), samples / 16000.0, 1e-9);
  const auto expect = [&](uint64_t begin, uint64_t length) {
    const std::vector<float> found = reader.Part(begin, length).samples;
    const uint64_t first = std::min<uint64_t>(begin, samples), end = std::min<uint64_t>(begin + length, samples);
    ASSERT_EQ(found.size(), end - first) << begin;
    EXPECT_TRUE(std::equal(found.begin(), found.end(), whole.samples.begin() + static_cast<ptrdiff_t>(first))) << begin;
  };
  for (uint64_t begin = 0; begin < samples; begin += 480000) expect(begin, 500000);
  expect(100, 1000);  // decoded again
  EXPECT_EQ(reader.CountUpTo(5000), 5000u);
  EXPECT_EQ(reader.Count(), samples);
  expect(0, 10);
  expect(samples - 5, 10);
  expect(samples + 5, 10);
  EXPECT_EQ(reader.CountUpTo(samples + 1), samples);

  // The end is counted before any part is asked for.
  SoundReader counted(path, 8000);
  EXPECT_EQ(counted.Count(), samples / 2);
  EXPECT_EQ(counted.Part(3000, 40).samples, SoundReader(path, 8000).Part(3000, 40).samples);
}

TEST_F(SoundReaderTest, FaultsNameTheFile) {
  const auto fault = [](const std::string& path) -> std::string {
    try {
      SoundReader(path, 16000).Count();
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "";
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_PRED2(has, fault(Write("none.wav", WavFile({}, 16000))), "none.wav: has no samples");
  EXPECT_PRED2(has, fault(Write("text.wav", "no sound at all, but long enough")), "text.wav: it is not a RIFF WAVE");
  std::vector<float> broken = Tone(100000);
  broken[70000] = HUGE_VALF;
  EXPECT_PRED2(has, fault(Write("broken.wav", WavFile(broken, 16000))), "broken.wav: sample 70000 is not finite");
  const std::string movie = fault(Write("movie.m4a", std::string("\0\0\0\x20"
                                                                 "ftypM4A ",
                                                                 12) +
                                                         std::string(40, 'x')));
  EXPECT_PRED2(has, movie, "it is MP4 or M4A, not a RIFF WAVE file; convert it: ffmpeg -i ");
}

// IMA ADPCM, which old recorders write: one silent block of 505 samples.
TEST_F(SoundReaderTest, RareSamplesOfWavFiles) {
  std::string file = "WAVEfmt ";
  const auto put = [&](uint32_t word, int bytes) {
    for (int i = 0; i < bytes; ++i) file += static_cast<char>(word >> 8 * i & 255);
  };
  put(20, 4), put(0x11, 2), put(1, 2), put(8000, 4), put(4055, 4), put(256, 2), put(4, 2), put(2, 2), put(505, 2);
  file += "fact", put(4, 4), put(505, 4);
  file += "data", put(256, 4), file += std::string(256, '\0');
  const uint32_t size = static_cast<uint32_t>(file.size());
  std::string head = "RIFF";
  for (int i = 0; i < 4; ++i) head += static_cast<char>(size >> 8 * i & 255);
  const std::string path = Write("ima.wav", head + file);
  if (!WhyNoSndfile().empty()) {
    EXPECT_THROW(SoundReader(path, 0).Count(), Failure);
    GTEST_SKIP() << WhyNoSndfile();
  }
  EXPECT_EQ(SoundReader(path, 0).Count(), 505u);
}

// AU, the simplest kind of file that libsndfile reads: 16 bits, big-endian, two channels.
TEST_F(SoundReaderTest, OtherKindsOfFiles) {
  std::string file = ".snd";
  const auto put = [&](uint32_t word) {
    for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(word >> shift & 255);
  };
  const uint32_t frames = 30000;
  for (const uint32_t word : {24u, frames * 4, 3u, 22050u, 2u}) put(word);
  for (uint32_t i = 0; i < frames; ++i) put((i % 1000) << 16 | 3000);
  const std::string path = Write("stereo.au", file);
  const std::string why = WhyNoSndfile();
  if (!why.empty()) {
    try {
      SoundReader(path, 0).Count();
      FAIL() << "read without a library";
    } catch (const Failure& failure) {
      EXPECT_NE(std::string(failure.what()).find(why + "; convert it: ffmpeg"), std::string::npos) << failure.what();
    }
    GTEST_SKIP() << why;
  }
  const Sound sound = ReadSoundFile(path);
  EXPECT_EQ(sound.rate, 22050u);
  ASSERT_EQ(sound.samples.size(), frames);
  for (uint32_t i = 0; i < frames; ++i) {
    ASSERT_NEAR(sound.samples[i], (static_cast<double>(i % 1000) + 3000) / 65536, 1e-7) << i;
  }
  EXPECT_EQ(SoundReader(path, 16000).Count(), Resample(sound, 16000).samples.size());
  // Broken files end in one line.
  for (const size_t size : {13u, 24u, 30u, 1000u}) {
    try {
      SoundReader reader(Write("cut.au", file.substr(0, size)), 16000);
      EXPECT_LE(reader.Count(), frames);
    } catch (const Failure& failure) {
      EXPECT_NE(std::string(failure.what()).find("cut.au: "), std::string::npos) << failure.what();
    }
  }
}

// More than 64 MiB of a pipe are kept in a temporary file, which has no name.
TEST_F(SoundReaderTest, LongPipes) {
  for (const size_t size : {size_t{1000}, (size_t{64} << 20) + 12345}) {
    std::string bytes(size, '\0');
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 2654435761u >> 24);
    std::istringstream pipe(bytes);
    std::streambuf* const before = std::cin.rdbuf(pipe.rdbuf());
    std::cin.clear();
    const InputFile file("-");
    std::cin.rdbuf(before);
    std::cin.clear();
    ASSERT_EQ(file.size(), size);
    EXPECT_EQ(memcmp(file.data(), bytes.data(), size), 0);
    file.Forget(file.data(), size);
    EXPECT_EQ(memcmp(file.data(), bytes.data(), size), 0);
  }
}

}  // namespace
}  // namespace fovea::tools
