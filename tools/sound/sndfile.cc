#include "tools/sound/sndfile.h"

#include "tools/base/fail.h"

#ifdef FOVEA_SNDFILE

#include <dlfcn.h>
#include <sndfile.h>
#include <string.h>

#include <algorithm>
#include <cmath>

#include "tools/sound/sample_format.h"

namespace fovea::tools {
namespace {

#ifdef __APPLE__
constexpr char kFile[] = "libsndfile.1.dylib", kInstall[] = "brew install libsndfile";
#else
constexpr char kFile[] = "libsndfile.so.1", kInstall[] = "package libsndfile1";
#endif

struct Library {
  decltype(&sf_open_virtual) open = nullptr;
  decltype(&sf_readf_float) read = nullptr;
  decltype(&sf_strerror) error = nullptr;
  decltype(&sf_close) close = nullptr;
  bool loaded = false;

  Library() {
    void* const library = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    loaded = Find(library, "sf_open_virtual", &open) && Find(library, "sf_readf_float", &read) &&
             Find(library, "sf_strerror", &error) && Find(library, "sf_close", &close);
  }

  template <typename Function>
  static bool Find(void* library, const char* name, Function* function) {
    void* const found = dlsym(library, name);
    memcpy(function, &found, sizeof(found));
    return found != nullptr;
  }
};

const Library& Loaded() {
  static const Library library;
  return library;
}

// The file as the library's functions see it.
struct Bytes {
  const uint8_t* data;
  sf_count_t size, at;
  const ForgetBytes& forget;
  sf_count_t forgotten;
};
Bytes* Of(void* user) { return static_cast<Bytes*>(user); }

sf_count_t Length(void* user) { return Of(user)->size; }
sf_count_t Tell(void* user) { return Of(user)->at; }
sf_count_t Write(const void*, sf_count_t, void*) { return 0; }
sf_count_t Seek(sf_count_t offset, int whence, void* user) {
  Bytes* const bytes = Of(user);
  const sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? bytes->at : bytes->size;
  if (offset < -from || offset > bytes->size - from) return -1;
  return bytes->at = from + offset;
}
sf_count_t ReadBytes(void* to, sf_count_t count, void* user) {
  constexpr sf_count_t kBlock = 1 << 22;
  Bytes* const bytes = Of(user);
  count = std::min(count, bytes->size - bytes->at);
  if (count <= 0) return 0;
  memcpy(to, bytes->data + bytes->at, static_cast<size_t>(count));
  bytes->at += count;
  if (bytes->at < bytes->forgotten) bytes->forgotten = bytes->at;
  if (bytes->forget && bytes->at - bytes->forgotten > kBlock) {
    bytes->forget(bytes->data + bytes->forgotten, static_cast<uint64_t>(bytes->at - bytes->forgotten));
    bytes->forgotten = bytes->at;
  }
  return count;
}

class SndfileSource : public SampleSource {
 public:
  SndfileSource(const uint8_t* data, uint64_t size, ForgetBytes forget)
      : forget_(std::move(forget)), bytes_({data, static_cast<sf_count_t>(size), 0, forget_, 0}) {
    SF_VIRTUAL_IO io = {Length, Seek, ReadBytes, Write, Tell};
    file_ = Loaded().open(&io, SFM_READ, &info_, &bytes_);
    if (file_ == nullptr) Fail("libsndfile: {}", Loaded().error(nullptr));
    if (info_.channels < 1 || info_.channels > 1024 || info_.samplerate < 1 ||
        static_cast<uint32_t>(info_.samplerate) > kMaxSampleRate) {
      Loaded().close(file_);
      Fail("{} channels of {} Hz are not supported", info_.channels, info_.samplerate);
    }
  }
  ~SndfileSource() override { Loaded().close(file_); }
  SndfileSource(const SndfileSource&) = delete;
  SndfileSource& operator=(const SndfileSource&) = delete;

  uint32_t rate() const override { return static_cast<uint32_t>(info_.samplerate); }
  uint64_t length() const override {
    return info_.frames > 0 && info_.frames < SF_COUNT_MAX ? static_cast<uint64_t>(info_.frames) : 0;
  }

  void Read(uint64_t count, std::vector<float>* samples) override {
    const auto channels = static_cast<uint64_t>(info_.channels);
    while (count > 0 && !ended_) {
      block_.resize(std::min<uint64_t>(count, 1 << 14) * channels);
      const auto wanted = static_cast<sf_count_t>(block_.size() / channels);
      const sf_count_t got = Loaded().read(file_, block_.data(), wanted);
      for (sf_count_t i = 0; i < got; ++i) {
        double sum = 0;
        for (uint64_t c = 0; c < channels; ++c) sum += block_[static_cast<uint64_t>(i) * channels + c];
        const auto sample = static_cast<float>(sum / static_cast<double>(channels));
        if (!std::isfinite(sample)) Fail("sample {} is not finite", read_ + static_cast<uint64_t>(i));
        samples->push_back(sample);
      }
      if (got > 0) read_ += static_cast<uint64_t>(got), count -= static_cast<uint64_t>(got);
      if (got < wanted) End();
    }
  }

 private:
  void End() {
    ended_ = true;
    if (read_ < length()) {
      const auto seconds = [&](uint64_t of) { return static_cast<double>(of) / info_.samplerate; };
      notes_.push_back(
          fmt::format("the file is truncated: {:.2f} of {:.2f} s are present", seconds(read_), seconds(length())));
    }
  }

  const ForgetBytes forget_;
  Bytes bytes_;
  SF_INFO info_ = {};
  SNDFILE* file_ = nullptr;
  std::vector<float> block_;
  uint64_t read_ = 0;
  bool ended_ = false;
};

}  // namespace

std::string WhyNoSndfile() { return Loaded().loaded ? "" : fmt::format("{} is not installed ({})", kFile, kInstall); }

std::unique_ptr<SampleSource> OpenBySndfile(const uint8_t* data, uint64_t size, const ForgetBytes& forget) {
  return std::make_unique<SndfileSource>(data, size, forget);
}

}  // namespace fovea::tools

#else

namespace fovea::tools {

std::string WhyNoSndfile() { return "this fovea was built without libsndfile"; }

std::unique_ptr<SampleSource> OpenBySndfile(const uint8_t*, uint64_t, const ForgetBytes&) { Fail(WhyNoSndfile()); }

}  // namespace fovea::tools

#endif
