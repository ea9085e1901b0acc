// How many instructions a linear layer of 384 x 384 takes per call, in thousands, by a counter that QEMU's plugin keeps
// in a file (plugin.c):   count_products MODEL TEXT COUNTER   (MODEL and TEXT are not used: instructions.py names them)
// One line for each type of weights and number of rows.
#include <fcntl.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "hwy/base.h"
#include "runtime/gemm/gemm.h"
#include "runtime/kernels/kernels.h"

namespace fovea {
namespace {

constexpr uint32_t kWidth = 384;
constexpr size_t kRows[] = {1, 2, 6, 16, 128}, kMostRows = 128;

struct Type {
  const char* name;
  DType type;
};
constexpr Type kTypes[] = {{"f32", DType::kF32}, {"f16", DType::kF16}, {"int8", DType::kI8}, {"int4", DType::kI4}};

using Bytes = std::unique_ptr<uint8_t, void (*)(uint8_t*)>;
Bytes Zeros(uint64_t size) {
  auto* bytes = static_cast<uint8_t*>(::operator new (static_cast<size_t>(size) + 64, std::align_val_t{64}));
  std::memset(bytes, 0, static_cast<size_t>(size) + 64);
  return {bytes, [](uint8_t* p) { ::operator delete (p, std::align_val_t{64}); }};
}

bool Count(const Type& type, const volatile uint64_t* executed) {
  const GemmShape shape = {type.type, kWidth, kWidth};
  const GemmBackend* preferred = XnnpackGemm();
  const GemmBackend& gemm = preferred != nullptr && preferred->supports(shape) ? *preferred : HighwayGemm();
  const Bytes rows = Zeros(kWidth * RowBytes(type.type, kWidth)), scales = Zeros(kWidth * kWidth),
              x = Zeros(kMostRows * kWidth * 4 + kGemmSlack);
  const Bytes params = Zeros((kMostRows + kGemmExtraParams) * sizeof(QuantParams)),
              y = Zeros(kMostRows * kWidth * 4 + kGemmSlack);
  const Bytes packed = Zeros(gemm.packed_bytes(shape)), storage = Zeros(gemm.operator_bytes(shape));
  for (size_t i = 0; i < kWidth * kWidth / sizeof(uint16_t); ++i) {  // ones in bf16, and in f32
    reinterpret_cast<uint16_t*>(scales.get())[i] = type.type == DType::kI4 || i % 2 == 1 ? 0x3f80 : 0;
  }
  for (size_t i = 0; i < kMostRows * kWidth; ++i) reinterpret_cast<float*>(x.get())[i] = static_cast<float>(i % 7);
  const GemmWeights weights = {shape, rows.get(), scales.get(), reinterpret_cast<const float*>(y.get())};
  Reporter reporter(nullptr);
  if (!gemm.pack(weights, packed.get(), reporter).ok()) return false;
  if (!gemm.make_operator(shape, GetKernels(), storage.get(), reporter).ok()) return false;
  for (const size_t count : kRows) {
    const GemmInput input = {count, reinterpret_cast<const float*>(x.get()), reinterpret_cast<const int8_t*>(x.get()),
                             reinterpret_cast<QuantParams*>(params.get())};
    const GemmOutput output = {reinterpret_cast<float*>(y.get()), 0, kWidth, Activation::kNone};
    uint64_t from = 0;
    for (int turn = 0; turn < 2; ++turn) {  // The first also finds out what the processor has.
      from = *executed;
      if (!gemm.run(storage.get(), weights, packed.get(), input, output).ok()) return false;
    }
    std::printf("%s-rows-%u %llu\n", type.name, static_cast<unsigned>(count),
                static_cast<unsigned long long>((*executed - from + 500) / 1000));
  }
  return true;
}

int Main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: count_products MODEL TEXT COUNTER\n"), 2;
  const int file = open(argv[3], O_RDONLY);
  const void* shared = file < 0 ? MAP_FAILED : mmap(nullptr, sizeof(uint64_t), PROT_READ, MAP_SHARED, file, 0);
  if (shared == MAP_FAILED) return std::perror(argv[3]), 1;
  const auto* executed = static_cast<const volatile uint64_t*>(shared);
  if (*executed == 0) return std::fprintf(stderr, "%s: the counter stays 0: run in QEMU with plugin.so\n", argv[3]), 1;
  for (const Type& type : kTypes) {
    if (!Count(type, executed)) return std::fprintf(stderr, "the product of %s weights failed\n", type.name), 1;
  }
  return 0;
}

}  // namespace
}  // namespace fovea

int main(int argc, char** argv) { return fovea::Main(argc, argv); }
