// Files of torch.save: values of all types, strides and both forms; what is refused, and damaged files.
#include "tools/torch/torch_file.h"

#include <gtest/gtest.h>

#include "tests/convert/graph_support.h"
#include "tests/support/torch_writer.h"
#include "tools/base/half.h"

namespace fovea::tools {
namespace {

using namespace test::torch;

TorchEntries Parse(const std::string& file) {
  return ParseTorch(reinterpret_cast<const uint8_t*>(file.data()), file.size(), "x.bin");
}
std::string Refusal(const std::string& file) {
  return RefusalOf([&] { Parse(file); });
}
void ExpectRefusal(const std::string& file, const std::string& part) {
  const std::string said = Refusal(file);
  EXPECT_NE(said.find(part), std::string::npos) << said;
}

using Values = std::vector<float>;

TEST(TorchFile, ElementsOfAllTypes) {
  struct Case {
    const char* storage;
    std::string bytes;
    Values values;
  };
  const std::vector<Case> cases = {
      {"DoubleStorage", BytesOf<double>({1.5, -2}), {1.5, -2}},
      {"FloatStorage", BytesOf<float>({1.25, 3}), {1.25, 3}},
      {"HalfStorage", BytesOf<uint16_t>({0x3c00, 0xc000}), {1, -2}},
      {"BFloat16Storage", BytesOf<uint16_t>({0x3f80, 0xc000}), {1, -2}},
      {"LongStorage", BytesOf<int64_t>({-7, 1 << 20}), {-7, 1 << 20}},
      {"IntStorage", BytesOf<int32_t>({-7, 8}), {-7, 8}},
      {"ShortStorage", BytesOf<int16_t>({-300, 8}), {-300, 8}},
      {"CharStorage", BytesOf<int8_t>({-7, 8}), {-7, 8}},
      {"ByteStorage", BytesOf<uint8_t>({250, 8}), {250, 8}},
      {"BoolStorage", BytesOf<uint8_t>({1, 0}), {1, 0}},
  };
  Entries entries, storages;
  for (const Case& c : cases) {
    const std::string key = std::to_string(storages.size());
    entries.emplace_back(c.storage, Tensor(Storage(c.storage, key, 2), 0, {2}, {1}));
    storages.emplace_back(key, c.bytes);
  }
  for (const bool wide : {false, true}) {
    const std::string file = ZipForm(Dict(entries), storages, "little", 0, wide);
    const TorchEntries parsed = Parse(file);
    for (const Case& c : cases) EXPECT_EQ(ToFloats(parsed.tensors.at(c.storage)), c.values) << c.storage;
  }
  // A type that has no storage class.
  const std::string v3 =
      Call(Name("torch._utils", "_rebuild_tensor_v3"), {Storage("UntypedStorage", "0", 4), Int(1), Ints({3}), Ints({1}),
                                                        "\x89", Dict({}), Name("torch", "float8_e4m3fn")});
  const std::string file = ZipForm(Dict({{"w", v3}}), {{"0", "\x38\x40\xb8\x01"}});
  EXPECT_EQ(ToFloats(Parse(file).tensors.at("w")), (Values{2, -1, 0x1p-9f}));
  ExpectRefusal(
      ZipForm(Dict({{"w", Tensor(Storage("ComplexFloatStorage", "0", 1), 0, {1}, {1})}}), {{"0", "12345678"}}),
      "x.bin: tensor w: elements of type torch.ComplexFloatStorage are not supported");
}

TEST(TorchFile, StridesOffsetsAndSharedStorages) {
  const std::string storage = Storage("FloatStorage", "0", 6);
  const std::string parameter =
      Call(Name("torch._utils", "_rebuild_parameter"), {Tensor(storage, 1, {2}, {3}), "\x88", Dict({})});
  const Entries entries = {{"plain", Tensor(storage, 0, {2, 3}, {3, 1})},
                           {"transposed", Tensor(storage, 0, {3, 2}, {1, 3})},
                           {"part", parameter},
                           {"scalar", Tensor(storage, 5, {}, {})},
                           {"cube", Tensor(storage, 0, {2, 1, 2}, {1, 9, 4})},
                           {"none", Tensor(storage, 6, {0, 4}, {4, 1})}};
  const std::vector<float> values = {0, 1, 2, 3, 4, 5};
  std::string swapped = BytesOf(values);
  for (size_t i = 0; i < swapped.size(); i += 4) std::reverse(&swapped[i], &swapped[i] + 4);
  const std::string little = ZipForm(Dict(entries), {{"0", BytesOf(values)}}),
                    big = ZipForm(Dict(entries), {{"0", swapped}}, "big"),
                    legacy = LegacyForm(Dict(entries), {{"0", 6, BytesOf(values)}});
  for (const std::string& file : {little, big, legacy}) {
    const TorchTensors tensors = Parse(file).tensors;
    EXPECT_EQ(ToFloats(tensors.at("plain")), values);
    EXPECT_EQ(ToFloats(tensors.at("transposed")), (Values{0, 3, 1, 4, 2, 5}));
    EXPECT_EQ(ToFloats(tensors.at("part")), (Values{1, 4}));
    EXPECT_EQ(ToFloats(tensors.at("scalar")), (Values{5}));
    EXPECT_EQ(ToFloats(tensors.at("cube")), (Values{0, 4, 1, 5}));
    EXPECT_EQ(ToFloats(tensors.at("none")), Values());
    EXPECT_EQ(tensors.at("cube").shape, (std::vector<uint64_t>{2, 1, 2}));
  }
}

TEST(TorchFile, ViewsOfStoragesInTheLegacyForm) {
  const std::string view = Tuple({Word("storage"), Name("torch", "FloatStorage"), Word("7"), Word("cpu"), Int(4),
                                  Tuple({Word("8"), Int(2), Int(2)})}) +
                           "Q";
  const std::string file =
      LegacyForm(Dict({{"w", Tensor(view, 0, {2}, {1})}}), {{"7", 4, BytesOf<float>({1, 2, 3, 4})}});
  EXPECT_EQ(ToFloats(Parse(file).tensors.at("w")), (Values{3, 4}));
}

std::string One(const std::string& name = "w") {
  return Dict({{name, Tensor(Storage("FloatStorage", "0", 2), 0, {2}, {1})}});
}
const Entries kTwo = {{"0", BytesOf<float>({1, 2})}};

TEST(TorchFile, TheStateDictionaryIsFoundAndTheRestIsNamed) {
  const std::string args = Call(Name("argparse", "Namespace"), {});
  const TorchEntries in_state_dict =
      Parse(ZipForm(Dict({{"epoch", Int(3)}, {"state_dict", One()}, {"args", args}}), kTwo));
  EXPECT_EQ(in_state_dict.tensors.size(), 1u);
  EXPECT_EQ(in_state_dict.skipped, (std::vector<std::string>{"epoch (a number)", "args (argparse.Namespace)"}));
  EXPECT_EQ(Parse(ZipForm(Dict({{"model", Dict({{"state_dict", One()}})}, {"lr", Int(1)}}), kTwo)).tensors.count("w"),
            1u);
  EXPECT_EQ(Parse(ZipForm(Dict({{"generator", One("g")}}), kTwo)).tensors.count("g"), 1u);
  const TorchEntries flat = Parse(ZipForm(One().substr(0, One().size() - 1) + Word("step") + Int(1) + "u", kTwo));
  EXPECT_EQ(flat.tensors.size(), 1u);
  EXPECT_EQ(flat.skipped, (std::vector<std::string>{"step (a number)"}));
  ExpectRefusal(ZipForm(Dict({{"a", One()}, {"b", One()}}), kTwo), "has several dictionaries of tensors: a, b");
  ExpectRefusal(ZipForm(Dict({{"a", Int(1)}}), {}), "has no dictionary of tensors");
  ExpectRefusal(ZipForm(Tensor(Storage("FloatStorage", "0", 2), 0, {2}, {1}), kTwo), "is one tensor without a name");
}

TEST(TorchFile, NamesOfPythonAreRefused) {
  const std::string evil = Call(Name("os", "system"), {Word("true")});
  const std::string refused = "x.bin: refers to os.system, which weights do not need";
  ExpectRefusal(ZipForm(Dict({{"w", Tensor(Storage("FloatStorage", "0", 2), 0, {2}, {1})}, {"x", evil}}), kTwo),
                refused);
  ExpectRefusal(ZipForm(evil + "0" + One(), kTwo), refused);  // called and dropped
  ExpectRefusal(ZipForm(One() + evil + "b", kTwo), refused);  // as the state of an object
  ExpectRefusal(ZipForm(Word("os") + Word("system") + "\x93(" + Word("true") + "tR0" + One(), kTwo), refused);
  ExpectRefusal(ZipForm("(" + Word("true") + "ios\nsystem\n0" + One(), kTwo), refused);
  ExpectRefusal(LegacyForm(evil + "0" + One(), {{"0", 2, kTwo[0].second}}), refused);
  ExpectRefusal(ZipForm(Call(Name("__main__", "Net"), {}), {}), "is a whole object (__main__.Net)");
  // Beside the weights it is left out and reported.
  const TorchEntries beside = Parse(ZipForm(Dict({{"state_dict", One()}, {"hook", evil}}), kTwo));
  EXPECT_EQ(beside.skipped, (std::vector<std::string>{"hook (os.system)"}));
}

TEST(TorchFile, PlacesOutsideAreRefused) {
  const auto refused = [](int64_t first, const std::vector<int64_t>& size, const std::vector<int64_t>& strides,
                          const char* part) {
    ExpectRefusal(ZipForm(Dict({{"w", Tensor(Storage("FloatStorage", "0", 2), first, size, strides)}}), kTwo), part);
  };
  refused(1, {2}, {1}, "tensor w: [2] from element 1 is outside the 2 elements of its storage");
  refused(2, {}, {}, "outside");
  refused(0, {2, 2}, {INT64_MAX, INT64_MAX}, "outside");
  refused(INT64_MAX, {2}, {INT64_MAX}, "outside");
  refused(-1, {1}, {1}, "needs a storage, a first element");
  refused(0, {-1}, {1}, "whole numbers from 0 on");
  refused(0, {1}, {-1}, "whole numbers from 0 on");
  refused(0, {1, 2}, {1}, "2 dimensions and 1 strides");
  refused(0, {1 << 20, 1 << 20}, {0, 0}, "repeats the 2 elements of its storage");
  refused(0, {1 << 30, 1 << 30, 1 << 30}, {0, 0, 0}, "outside");  // more elements than can be counted
  refused(0, std::vector<int64_t>(17, 1), std::vector<int64_t>(17, 1), "more than 16 dimensions");
  ExpectRefusal(ZipForm(One(), {}), "has no entry archive/data/0");
  ExpectRefusal(ZipForm(One(), kTwo, "little", 8), "is compressed, torch.save stores entries as they are");
  ExpectRefusal(ZipForm(One(), kTwo, "middle"), "byteorder must be little or big");
  ExpectRefusal(Zip({{"archive/data.pkl", Pickled(One())}, {"archive/constants.pkl", ""}}), "is a TorchScript program");
  ExpectRefusal(Zip({{"a.txt", ""}}), "is a zip file without data.pkl");
  ExpectRefusal("GIF89a", "is not a file of torch.save");
  ExpectRefusal(std::string(257, '\0') + "ustar " + std::string(300, '\0'), "is a tar file");
  ExpectRefusal(Pickled(Int(3)), "is a pickle, but not one of torch.save");
  ExpectRefusal(LegacyForm(One(), {{"0", int64_t{1} << 61, ""}}), "storage 0 is outside the file");
}

TEST(TorchFile, WorkIsBounded) {
  // Deep nesting; a value that is in itself; many tensors in one storage; kept values with large numbers.
  std::string deep(100000, ']');
  for (int i = 1; i < 100000; ++i) deep += "a";
  ExpectRefusal(ZipForm(deep, {}), "has no dictionary of tensors");
  ExpectRefusal(ZipForm("]q\x01h\x01" + std::string("a"), {}), "has no dictionary of tensors");
  ExpectRefusal(ZipForm("Nr" + Little(UINT32_MAX), {}), "the number of a kept value is too large");
  ExpectRefusal(ZipForm(std::string(3 << 20, 'N'), {}), "has too many values");
  std::string doubled = "](NNNNe";  // a list that holds itself four times, again and again
  for (int i = 0; i < 40; ++i)
    doubled +=
        "q\x01](h\x01h\x01h\x01h\x01"
        "e";
  ExpectRefusal(ZipForm(doubled, {}), "has no dictionary of tensors");
  Entries many;
  for (int i = 0; i < 40; ++i)
    many.emplace_back(std::to_string(i), Tensor(Storage("ByteStorage", "0", 2), 0, {2}, {1}));
  ExpectRefusal(ZipForm(Dict(many), {{"0", "ab"}}), "its tensors have 80 elements in 2 bytes");
  ExpectRefusal(ZipForm(One(std::string(2000, 'x')), kTwo), "a name has 2000 bytes");
  for (const char* bad :
       {"a",     "u",    "t",        "R",        "0",  "h\x05", "\x93", "Q",   "b", "\x87", "X\xff\xff\xff\x7f",
        "cos\n", "P1\n", "\x80\x01", "\x80\x06", "(t", "NNR",   "N(Nu", "]Na", ""}) {
    EXPECT_NE(Refusal(ZipForm(bad, {})), "nothing was refused") << bad;
  }
}

// Each damaged file is read or refused, and what is read can be used.
void Try(const std::string& file) {
  try {
    const std::vector<char> exact(file.begin(), file.end());
    const TorchEntries entries = ParseTorch(reinterpret_cast<const uint8_t*>(exact.data()), exact.size(), "x.bin");
    for (const auto& [name, tensor] : entries.tensors) ToFloats(tensor);
  } catch (const Failure& failure) {
    EXPECT_EQ(std::string(failure.what()).find('\n'), std::string::npos);
  }
}

TEST(TorchFile, DamagedFilesAreReadOrRefused) {
  const Entries entries = {{"a", Tensor(Storage("FloatStorage", "0", 4), 0, {2, 2}, {1, 2})}, {"b", Int(1)}};
  const std::string bytes = BytesOf<float>({1, 2, 3, 4});
  for (const std::string& file :
       {ZipForm(Dict(entries), {{"0", bytes}}), ZipForm(Dict(entries), {{"0", bytes}}, "little", 0, true),
        LegacyForm(Dict(entries), {{"0", 4, bytes}})}) {
    ASSERT_EQ(ToFloats(Parse(file).tensors.at("a")), (Values{1, 3, 2, 4}));
    for (size_t length = 0; length < file.size(); ++length) {
      Try(file.substr(0, length));
      for (const int change : {1, 0x80, 0xff}) {
        std::string changed = file;
        changed[length] = static_cast<char>(changed[length] ^ change);
        Try(changed);
      }
    }
    for (size_t length = 0; length + 1 < file.size(); length += 3) {
      EXPECT_NE(Refusal(file.substr(0, length)), "nothing was refused") << length;
    }
  }
}

}  // namespace
}  // namespace fovea::tools
