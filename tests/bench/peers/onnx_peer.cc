// ONNX Runtime as one of the programs that take turns, for processors that Node is not run on.
//   onnx_peer LIBRARY MODEL ROWS    texts of up to ROWS tokens; one thread
#include <dlfcn.h>

#include "serve.h"

namespace {

// Its interface is a table of functions to which later versions only append. These are the positions of the functions
// called here (onnxruntime_c_api.h, OrtApi); the enumerations have the numbers of that file.
enum Function {
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSession = 7,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetSessionGraphOptimizationLevel = 23,
  kSetIntraOpNumThreads = 24,
  kSetInterOpNumThreads = 25,
  kCreateTensorWithDataAsOrtValue = 49,
  kCreateCpuMemoryInfo = 69,
};
enum { kVersion = 13, kFloat = 1, kInt32 = 6, kErrors = 3, kAllOptimizations = 99, kDeviceAllocator = 0, kDefault = 0 };
constexpr int64_t kWidthOfModels = 384;
using Handle = void*;
struct Base {
  void* const* (*get_api)(uint32_t version);
  const char* (*version)();
};

class Peer {
 public:
  Peer(const char* library, const char* model, size_t rows) : ids_(rows), result_(rows * kWidthOfModels) {
    void* opened = dlopen(library, RTLD_NOW);
    if (opened == nullptr) throw std::runtime_error(dlerror());
    base_ = reinterpret_cast<const Base* (*)()>(dlsym(opened, "OrtGetApiBase"))();
    api_ = base_->get_api(kVersion);
    Handle environment = nullptr, options = nullptr;
    Call<int, const char*, Handle*>(kCreateEnv, kErrors, "peer", &environment);
    Call<Handle*>(kCreateSessionOptions, &options);
    Call<Handle, int>(kSetSessionGraphOptimizationLevel, options, kAllOptimizations);
    Call<Handle, int>(kSetIntraOpNumThreads, options, 1);
    Call<Handle, int>(kSetInterOpNumThreads, options, 1);
    Call<Handle, const char*, Handle, Handle*>(kCreateSession, environment, model, options, &session_);
    Call<int, int, Handle*>(kCreateCpuMemoryInfo, kDeviceAllocator, kDefault, &memory_);
  }

  std::string Name() const { return std::string("ONNX Runtime ") + base_->version(); }
  void Reset() {}
  void Run(const std::vector<int32_t>& ids) {
    if (ids.size() > ids_.size()) throw std::runtime_error("more tokens than ROWS");
    if (ids.size() != rows_) {
      rows_ = ids.size();
      input_ = Tensor(ids_.data(), {1, static_cast<int64_t>(rows_)}, kInt32);
      output_ = Tensor(result_.data(), {1, static_cast<int64_t>(rows_), kWidthOfModels}, kFloat);
    }
    std::copy(ids.begin(), ids.end(), ids_.begin());
    const char* const input = "input_ids";
    const char* const output = "last_hidden_state";
    Call<Handle, Handle, const char* const*, const Handle*, size_t, const char* const*, size_t, Handle*>(
        kRun, session_, nullptr, &input, &input_, 1, &output, 1, &output_);
  }
  peers::Rows Result() const { return {result_.data(), rows_, kWidthOfModels}; }

 private:
  template <class... Arguments>
  void Call(Function function, Arguments... arguments) const {
    const Handle status = reinterpret_cast<Handle (*)(Arguments...)>(api_[function])(arguments...);
    if (status == nullptr) return;
    throw std::runtime_error(reinterpret_cast<const char* (*)(Handle)>(api_[kGetErrorMessage])(status));
  }
  template <class T>
  Handle Tensor(T* data, const std::vector<int64_t>& shape, int type) const {
    size_t bytes = sizeof(T);
    for (const int64_t size : shape) bytes *= static_cast<size_t>(size);
    Handle value = nullptr;
    Call<Handle, void*, size_t, const int64_t*, size_t, int, Handle*>(kCreateTensorWithDataAsOrtValue, memory_, data,
                                                                      bytes, shape.data(), shape.size(), type, &value);
    return value;
  }

  const Base* base_ = nullptr;
  void* const* api_ = nullptr;
  Handle session_ = nullptr, memory_ = nullptr, input_ = nullptr, output_ = nullptr;  // all end with the process
  size_t rows_ = 0;
  std::vector<int32_t> ids_;
  std::vector<float> result_;
};

}  // namespace

int main(int argc, char** argv) {
  return peers::Serve<Peer>("onnx_peer", [&] {
    if (argc != 4) throw std::runtime_error("usage: onnx_peer LIBRARY MODEL ROWS");
    return Peer(argv[1], argv[2], std::stoul(argv[3]));
  });
}
