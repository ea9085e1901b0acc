// Sound files: every format that is read, what is refused, and other rates.
#include "tools/sound/wav.h"

#include <gtest/gtest.h>
#include <math.h>
#include <string.h>

#include "tools/base/fail.h"
#include "tools/sound/resample.h"

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
  uint32_t frame = 0;  // bytes; 0: as many as the bits take
  uint32_t valid = 0;  // bits that count, where it is extensible; 0: all
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
  Put(file, header.frame != 0 ? header.frame : header.channels * header.bits / 8, 2);
  Put(file, header.bits, 2);
  if (header.extensible) {
    Put(file, 22, 2);
    Put(file, header.valid != 0 ? header.valid : header.bits, 2);
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

// ITU-T G.711: values of its tables, and that both halves mirror.
TEST(Wav, TelephoneCodes) {
  const Sound mu = Parse(File({7, 1, 8}, {0x00, 0x80, 0xff, 0x7f, 0x0f, 0xbe}));
  const std::vector<int> mu_expected = {-32124, 32124, 0, 0, -16764, 2108};
  const Sound a = Parse(File({6, 1, 8}, {0x2a, 0xaa, 0xd5, 0x55, 0x00, 0x9f}));
  const std::vector<int> a_expected = {-32256, 32256, 8, -8, -5504, 3392};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(mu.samples[i], static_cast<float>(mu_expected[i]) / 32768) << i;
    EXPECT_EQ(a.samples[i], static_cast<float>(a_expected[i]) / 32768) << i;
  }
  for (const uint32_t kind : {6u, 7u}) {
    Bytes all;
    for (uint32_t code = 0; code < 256; ++code) Put(all, code, 1);
    const std::vector<float> samples = Parse(File({kind, 1, 8}, all)).samples;
    for (size_t code = 0; code < 128; ++code) EXPECT_EQ(samples[code], -samples[code + 128]) << kind << " " << code;
  }
}

// Fewer bits than their bytes hold: in the upper ones, or where all samples show it in the lower ones.
TEST(Wav, BitsInLargerContainers) {
  const std::vector<double> values = {0, 0.5, -0.5, -1, 0.25, -1.0 / 8388608};
  Bytes upper, lower, mixed;
  for (const double value : values) {
    const auto number = static_cast<int32_t>(value * 8388608);
    Put(upper, static_cast<uint32_t>(number) << 8, 4);
    Put(lower, static_cast<uint32_t>(number), 4);
    Put(mixed, static_cast<uint32_t>(number) << 8 | 0x5a, 4);
  }
  const std::vector<float> expected(values.begin(), values.end());
  const Header plain = {1, 1, 24, 16000, false, 4}, extensible = {1, 1, 32, 16000, true, 4, 24};
  for (const Header& header : {plain, extensible}) {
    EXPECT_EQ(Parse(File(header, upper)).samples, expected);
    EXPECT_TRUE(Parse(File(header, upper)).notes.empty());
    const Sound found = Parse(File(header, lower));
    EXPECT_EQ(found.samples, expected);
    ASSERT_EQ(found.notes.size(), 1u);
    EXPECT_NE(found.notes[0].find("lower bits"), std::string::npos);
  }
  // Only an extensible format states where the bits are.
  EXPECT_NE(Refusal(File(plain, mixed)).find("24 bits in 4 bytes"), std::string::npos);
  EXPECT_NEAR(Parse(File(extensible, mixed)).samples[1], 0.5, 1e-6);
  Bytes twelve;
  for (const int value : {0, 1024, -1024}) Put(twelve, static_cast<uint32_t>(value * 16), 2);
  EXPECT_EQ(Parse(File({1, 1, 12, 16000, false, 2}, twelve)).samples, (std::vector<float>{0, 0.5f, -0.5f}));
  const Sound stereo = Parse(File({1, 2, 24, 16000, false, 8}, upper));
  EXPECT_EQ(stereo.samples, (std::vector<float>{0.25f, -0.75f, 0.125f - 1.0f / 16777216}));
}

void PutAt(Bytes& bytes, size_t at, uint64_t number, int count) {
  for (int i = 0; i < count; ++i) bytes[at + static_cast<size_t>(i)] = static_cast<uint8_t>(number >> (8 * i));
}

const std::vector<float> kFour = {0.5f, -0.5f, 0.25f, -0.25f};
Bytes FourSamples() {
  Bytes samples;
  for (const int value : {16384, -16384, 8192, -8192}) Put(samples, static_cast<uint64_t>(value), 2);
  return samples;
}
constexpr size_t kDataSize = 40;  // where it is in a plain file

// Writers to pipes do not know the sizes, and interrupted recorders have not written them.
TEST(Wav, SizesThatAreNotKnown) {
  const Bytes whole = File({}, FourSamples());
  for (const uint32_t size : {0xffffffffu, 0x7ffff000u, 0x7fffffffu, 0x80000000u, 0xfffffff0u}) {
    Bytes endless = whole;
    PutAt(endless, kDataSize, size, 4);
    const Sound found = Parse(endless);
    EXPECT_EQ(found.samples, kFour) << size;
    EXPECT_TRUE(found.notes.empty()) << size;
  }
  Bytes unfinished = whole;
  PutAt(unfinished, kDataSize, 0, 4);
  const Sound found = Parse(unfinished);
  EXPECT_EQ(found.samples, kFour);
  ASSERT_EQ(found.notes.size(), 1u);
  EXPECT_NE(found.notes[0].find("as after an interrupted recording"), std::string::npos);
  // A file without samples is valid.
  Bytes none = File({}, {});
  EXPECT_TRUE(Parse(none).samples.empty());
  Put(none, "LIST");
  Put(none, 4, 4);
  Put(none, "INFO");
  EXPECT_TRUE(Parse(none).samples.empty());
  EXPECT_TRUE(Parse(none).notes.empty());
}

TEST(Wav, FilesThatEndEarly) {
  const Bytes whole = File({1, 2, 16, 4}, FourSamples());  // two samples, half a second
  for (size_t missing = 1; missing <= 8; ++missing) {
    const Sound found = Parse(Bytes(whole.begin(), whole.end() - static_cast<ptrdiff_t>(missing)));
    EXPECT_EQ(found.samples.size(), (8 - missing) / 4) << missing;
    ASSERT_EQ(found.notes.size(), 1u);
    EXPECT_NE(found.notes[0].find(missing <= 4 ? "0.25 of 0.50 s" : "0.00 of 0.50 s"), std::string::npos)
        << found.notes[0];
  }
  Bytes half = FourSamples();
  half.push_back(1);
  const Sound found = Parse(File({}, half));
  EXPECT_EQ(found.samples, kFour);
  ASSERT_EQ(found.notes.size(), 1u);
  EXPECT_NE(found.notes[0].find("last 1 bytes"), std::string::npos);
}

Bytes Large(const char* kind, uint64_t size, bool table = false) {
  Bytes file;
  Put(file, kind);
  Put(file, 0xffffffff, 4);
  Put(file, "WAVEds64");
  Put(file, table ? 40 : 28, 4);
  Put(file, 0, 8);
  Put(file, size, 8);
  Put(file, 4, 8);
  Put(file, table ? 1 : 0, 4);
  if (table) Put(file, "JUNK"), Put(file, 6, 8);
  const Bytes plain = File({}, FourSamples());
  file.insert(file.end(), plain.begin() + 12, plain.begin() + kDataSize - 4);
  if (table) {
    Put(file, "JUNK");
    Put(file, 0xffffffff, 4);
    Put(file, "sixsix");
  }
  Put(file, "data");
  Put(file, 0xffffffff, 4);
  file.insert(file.end(), plain.begin() + kDataSize + 4, plain.end());
  return file;
}

TEST(Wav, SizesOf64Bits) {
  for (const char* kind : {"RF64", "BW64"}) {
    for (const bool table : {false, true}) {
      Bytes file = Large(kind, 8, table);
      EXPECT_EQ(Parse(file).samples, kFour) << kind << table;
      Put(file, "LIST");
      Put(file, 4, 4);
      Put(file, "INFO");
      EXPECT_EQ(Parse(file).samples, kFour) << "what comes after them is none of them";
      EXPECT_TRUE(Parse(file).notes.empty());
    }
    const Sound early = Parse(Large(kind, uint64_t{1} << 40));
    EXPECT_EQ(early.samples, kFour);
    EXPECT_EQ(early.notes.size(), 1u);
  }
  Bytes broken = Large("RF64", 8);
  PutAt(broken, 16, 8, 4);
  EXPECT_NE(Refusal(broken), "");
}

TEST(Wav, ChunksAroundSamples) {
  // A writer that leaves out the byte that makes a size even.
  Bytes odd = File({}, FourSamples(), true);
  odd.erase(odd.begin() + 23);
  EXPECT_EQ(Parse(odd).samples, kFour);
  // Several pieces, a broken chunk after the samples.
  Bytes twice = File({}, FourSamples());
  Put(twice, "data");
  Put(twice, 4, 4);
  Put(twice, 0x40004000, 4);
  Sound found = Parse(twice);
  EXPECT_EQ(found.samples, (std::vector<float>{0.5f, -0.5f, 0.25f, -0.25f, 0.5f, 0.5f}));
  ASSERT_EQ(found.notes.size(), 1u);
  EXPECT_NE(found.notes[0].find("2 data chunks"), std::string::npos);
  Bytes rest = File({}, FourSamples());
  Put(rest, "LIST");
  Put(rest, 1000, 4);
  EXPECT_EQ(Parse(rest).samples, kFour);
  ASSERT_EQ(Parse(rest).notes.size(), 1u);
  EXPECT_NE(Parse(rest).notes[0].find("last 8 bytes are not a chunk"), std::string::npos);
}

TEST(Wav, OtherKindsOfFilesAreNamed) {
  const auto refusal = [](const char* begin) {
    Bytes file;
    Put(file, begin);
    while (file.size() < 64) file.push_back(0);
    return Refusal(file);
  };
  const std::pair<const char*, const char*> kinds[] = {{"RIFX....WAVE", "RIFX"}, {"RIFF....AVI ", "not of WAVE"},
                                                       {"fLaC", "FLAC"},         {"OggS", "Ogg"},
                                                       {"FORM....AIFF", "AIFF"}, {".snd", "AU"},
                                                       {"ID3", "MP3"},           {"\xff\xfb\x90", "MP3"},
                                                       {"....ftypM4A ", "M4A"},  {"riff", "Wave64"},
                                                       {"caff", "CAF"},          {"\x1a\x45\xdf\xa3", "WebM"}};
  for (const auto& [begin, name] : kinds) {
    EXPECT_NE(refusal(begin).find(name), std::string::npos) << begin << ": " << refusal(begin);
    EXPECT_NE(refusal(begin).find("not a RIFF WAVE"), std::string::npos) << begin;
  }
}

TEST(Wav, WhatIsRefused) {
  const Bytes four = {1, 2, 3, 4};
  EXPECT_NE(Refusal({}).find("empty"), std::string::npos);
  EXPECT_NE(Refusal(four).find("not a RIFF WAVE"), std::string::npos);
  EXPECT_NE(Refusal(File({2, 1, 4, 16000, false, 1}, four)).find("Microsoft's ADPCM"), std::string::npos);
  EXPECT_NE(Refusal(File({0x11, 1, 4, 16000, false, 1}, four)).find("IMA ADPCM"), std::string::npos);
  EXPECT_NE(Refusal(File({99, 1, 8}, four)).find("format 99"), std::string::npos);
  EXPECT_NE(Refusal(File({7, 1, 16}, four)).find("16 bits"), std::string::npos);
  EXPECT_NE(Refusal(File({1, 1, 64}, four)).find("64 bits"), std::string::npos);
  EXPECT_NE(Refusal(File({1, 2, 16, 16000, false, 3}, four)).find("do not match"), std::string::npos);
  EXPECT_NE(Refusal(File({1, 2, 16, 16000, false, 2}, four)).find("do not match"), std::string::npos);
  EXPECT_NE(Refusal(File({3, 1, 32, 16000, false, 8}, four)).find("8 bytes"), std::string::npos);
  EXPECT_NE(Refusal(File({1, 1, 16, 16000, true, 2, 24}, four)).find("24 valid bits exceed samples of 16"),
            std::string::npos);
  EXPECT_NE(Refusal(File({1, 1, 12}, four)).find("12 bits"), std::string::npos);
  EXPECT_NE(Refusal(File({3, 1, 16}, four)).find("16 bits"), std::string::npos);
  EXPECT_NE(Refusal(File({1, 0, 16}, four)).find("0 channels"), std::string::npos);
  EXPECT_NE(Refusal(File({1, 1, 16, 0}, four)).find("a sampling rate of 0 Hz"), std::string::npos);
  EXPECT_NE(Refusal(File({3, 1, 32}, {0, 0, 0xc0, 0x7f})).find("not finite"), std::string::npos);
  // Every length that it may be cut to.
  const Bytes whole = File({1, 2, 24, 16000, true}, Bytes(12, 7), true);
  for (size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    if (size + 12 < whole.size()) {
      EXPECT_NE(Refusal(cut), "") << size;
    } else {  // cut within the samples: reads the complete ones
      EXPECT_FALSE(Parse(cut).notes.empty()) << size;
    }
  }
  EXPECT_EQ(Refusal(whole), "");
  EXPECT_TRUE(Parse(whole).notes.empty());
}

// A tone keeps its frequency at another rate, away from the ends; a tone that the other rate cannot hold is removed.
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
