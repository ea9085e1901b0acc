// fovea pack, and fovea convert --pack: sections of the blob, and that results stay the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "fovea/model.h"
#include "tests/support/paths.h"
#include "tests/support/second_reader.h"
#include "tests/tools/tiny_bert.h"
#include "tools/base/mapped_file.h"

namespace fovea::test {
namespace {

using nlohmann::json;

constexpr uint32_t kPackedKind = 12;

std::string CopyOf(const std::string& path, const std::string& name) {
  const std::string bytes = tools::ReadFile(path), copy = Temporary(name);
  tools::WriteFile(copy, bytes.data(), bytes.size());
  return copy;
}

std::vector<uint8_t> BytesOf(const std::string& path) {
  const std::string bytes = tools::ReadFile(path);
  return {bytes.begin(), bytes.end()};
}

std::vector<json> PackedOf(const std::string& path) {
  std::vector<json> packed;
  const json blob = FoveaJson({"inspect", path, "--json"});
  for (const json& section : blob["sections"]) {
    if (section["kind"] == kPackedKind) packed.push_back(section);
  }
  return packed;
}

bool UsesPacked(const std::string& path) { return FoveaJson({"inspect", path, "--json"})["uses_packed"]; }

bool LibraryPacks() { return fovea_pack_get_target(0) != nullptr; }

TEST(Pack, ForThisMachineInPlace) {
  if (!LibraryPacks()) GTEST_SKIP() << "this library packs nothing";
  const std::string plain = TinyBlob("sequence"), blob = CopyOf(plain, "packed.fovea");
  const json told = FoveaJson({"pack", blob, "--json"});
  EXPECT_EQ(told["bytes"], tools::ReadFile(blob).size());
  EXPECT_EQ(told["packed"].size(), 1u);
  EXPECT_EQ(Fovea({"verify", blob}).status, 0);
  EXPECT_TRUE(UsesPacked(blob));
  EXPECT_FALSE(UsesPacked(plain));
  EXPECT_EQ(Fovea({"run", blob, "--text", "a b", "--json"}).out, Fovea({"run", plain, "--text", "a b", "--json"}).out);
  // Packed again: the same file, without the first packed section.
  const std::string once = tools::ReadFile(blob);
  EXPECT_NE(Fovea({"pack", blob}).out.find("packed"), std::string::npos);
  EXPECT_TRUE(tools::ReadFile(blob) == once);
  // All other sections are as they were.
  const ReadBlob before = SecondReader(BytesOf(plain)), after = SecondReader(BytesOf(blob));
  ASSERT_EQ(after.sections.size(), before.sections.size() + 1);
  EXPECT_EQ(after.sections.back().kind, kPackedKind);
  for (size_t i = 0; i < before.sections.size(); ++i) {
    EXPECT_EQ(after.sections[i].kind, before.sections[i].kind);
    EXPECT_EQ(after.sections[i].size, before.sections[i].size);
  }
}

// With --pack the blob is made in memory, otherwise in the file.
TEST(Pack, WhatALinkLeadsToIsReplacedAsConvertDoes) {
  const std::string folder = Temporary("links");
  std::filesystem::create_directories(folder + "/real");
  const auto link = [&](const std::string& to, const std::string& name) {
    std::filesystem::create_symlink(to, folder + "/" + name);
    return folder + "/" + name;
  };
  const std::string blob = CopyOf(TinyBlob("sequence"), "links/real/packed.fovea");
  const std::string packed = link(link("real/packed.fovea", "one"), "two");
  std::vector<std::vector<std::string>> commands = {{"pack", packed}};
  if (!LibraryPacks()) commands.clear();
  for (const bool pack : {false, true}) {
    const std::string name = pack ? "converted_packed" : "converted";  // nothing yet
    commands.push_back({"convert", InData("hf/bert"), "-o", link("real/" + name, name), "--compare", "none"});
    if (pack) commands.back().insert(commands.back().end(), {"--pack", "host"});
  }
  for (const std::vector<std::string>& command : commands) {
    const std::string& path = command[0] == "pack" ? command[1] : command[3];
    const CommandResult result = Fovea(command);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_TRUE(std::filesystem::is_symlink(path)) << path;
    EXPECT_EQ(Fovea({"verify", path}).status, 0) << path;
  }
  EXPECT_EQ(UsesPacked(blob), LibraryPacks());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder + "/real"), {}), 3);
  // An existing file of that name may belong to a user or another process.
  for (const std::vector<std::string>& command : commands) {
    const std::string& path = command[0] == "pack" ? command[1] : command[3];
    const std::string beside = std::filesystem::canonical(path).string() + ".part";
    tools::WriteFile(beside, "own", 3);
    const CommandResult result = Fovea(command);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(tools::ReadFile(beside), "own");
    std::filesystem::remove(beside);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder + "/real"), {}), 3);
}

// --only: each packed weight once, refused by name where it does not fit.
TEST(Pack, AloneInTheBlob) {
  if (!LibraryPacks()) GTEST_SKIP() << "this library packs nothing";
  const std::string plain = TinyBlob("sequence"), both = Temporary("both.fovea"), alone = Temporary("alone.fovea");
  EXPECT_EQ(Fovea({"pack", plain, "-o", both}).status, 0);
  EXPECT_EQ(Fovea({"pack", plain, "-o", alone, "--only"}).status, 0);
  EXPECT_LT(tools::ReadFile(alone).size(), tools::ReadFile(both).size());
  EXPECT_EQ(Fovea({"verify", alone}).status, 0);
  EXPECT_TRUE(UsesPacked(alone));
  const CommandResult run = Fovea({"run", alone, "--text", "a b", "--json"});
  EXPECT_EQ(run.out, Fovea({"run", plain, "--text", "a b", "--json"}).out) << run.err;
  const json inspected = FoveaJson({"inspect", alone, "--json"});
  uint32_t left_out = 0;
  for (const json& tensor : inspected["tensors"]) left_out += tensor["only_packed"] == true ? 1 : 0;
  EXPECT_GT(left_out, 0u);
  const CommandResult in_place = Fovea({"run", alone, "--text", "a b", "--backend", "highway"});
  EXPECT_NE(in_place.status, 0);
  EXPECT_NE(in_place.err.find("read weights as they are in the blob"), std::string::npos) << in_place.err;
  // It cannot be packed for another machine.
  const CommandResult again = Fovea({"pack", alone, "--target", "aarch64-dotprod"});
  EXPECT_NE(again.status, 0);
  EXPECT_NE(again.err.find("use the blob that it was packed from"), std::string::npos) << again.err;
  // A phone's blob is valid here and refused by name, by any command that runs it.
  const std::string phone = Temporary("phone.fovea");
  const CommandResult converted = Fovea({"convert", InData("hf/bert"), "-o", phone, "--pack", "arm-neon", "--only"});
  EXPECT_EQ(converted.status, 0) << converted.err;
  EXPECT_EQ(Fovea({"verify", phone}).status, 0);
  const CommandResult here = Fovea({"run", phone, "--text", "a b"});
  EXPECT_NE(here.status, 0);
  EXPECT_NE(here.err.find("packed with --only for arm-neon"), std::string::npos) << here.err;
  const CommandResult alone_only = Fovea({"convert", InData("hf/bert"), "-o", phone, "--only"});
  EXPECT_NE(alone_only.err.find("give --pack TARGET as well"), std::string::npos) << alone_only.err;
}

// --only: a table that is also the last layer's weight is stored once, and commands name it.
TEST(Pack, OnlyKeepsTiedEmbeddingsOnce) {
  if (!LibraryPacks()) GTEST_SKIP() << "this library packs nothing";
  const std::string plain = Temporary("tied.fovea"), both = Temporary("tied-both.fovea");
  const std::string once = Temporary("tied-once.fovea"), converted = Temporary("tied-converted.fovea");
  const std::vector<std::string> convert = {"convert", InData("hf/gpt2"),  "--weights",
                                            "int8",    "--no-calibration", "-o"};
  const auto converts = [&](const std::string& to, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = convert;
    arguments.push_back(to);
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = Fovea(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  converts(plain, {});
  const auto packs = [&](const std::string& to, const std::string& option) {
    return FoveaJson({"pack", plain, "-o", to, option, "--json"});
  };
  EXPECT_TRUE(FoveaJson({"pack", plain, "-o", both, "--json"})["kept"].empty());
  const json kept = packs(once, "--only")["kept"];
  ASSERT_EQ(kept.size(), 1u);
  const std::string name = kept[0]["name"];
  EXPECT_NE(Fovea({"pack", plain, "-o", once, "--only"}).out.find(" bytes of " + name), std::string::npos);
  EXPECT_NE(converts(converted, {"--pack", "host", "--only"}).find("'" + name + "' is stored once"), std::string::npos);
  EXPECT_TRUE(tools::ReadFile(converted) == tools::ReadFile(once));
  const auto section = [](const std::string& path) { return PackedOf(path)[0]["size"].get<uint64_t>(); };
  EXPECT_LE(section(once) + kept[0]["bytes"].get<uint64_t>(), section(both));
  const std::string inspected = Fovea({"inspect", once}).out;
  EXPECT_NE(inspected.find("multiplied from rows, not packed: " + name + "\n"), std::string::npos) << inspected;
  EXPECT_EQ(Fovea({"inspect", both}).out.find("multiplied from rows"), std::string::npos);
  for (const std::string& path : {once, converted}) EXPECT_EQ(Fovea({"verify", path}).status, 0);
  // The same tokens.
  const std::vector<std::string> generate = {"--ids", "5 3 8", "-n", "8", "--json"};
  const auto generated = [&](const std::string& path) {
    std::vector<std::string> arguments = {"generate", path};
    arguments.insert(arguments.end(), generate.begin(), generate.end());
    const CommandResult result = Fovea(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return json::parse(result.out)[0]["tokens"];
  };
  EXPECT_EQ(generated(once), generated(plain));
}

TEST(Pack, ForOtherMachines) {
  if (!LibraryPacks()) GTEST_SKIP() << "this library packs nothing";
  const std::string plain = TinyBlob("sequence"), blob = Temporary("phones.fovea"), untouched = tools::ReadFile(plain);
  const CommandResult result =
      Fovea({"pack", plain, "-o", blob, "--target", "aarch64-dotprod", "--target", "aarch64-i8mm"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("bytes for aarch64-dotprod"), std::string::npos) << result.out;
  EXPECT_TRUE(tools::ReadFile(plain) == untouched);
  const std::vector<json> packed = PackedOf(blob);
  ASSERT_EQ(packed.size(), 2u);
  EXPECT_EQ(packed[0]["targets"], json({"aarch64-dotprod"}));
  EXPECT_EQ(packed[1]["targets"], json({"aarch64-i8mm"}));
  EXPECT_NE(packed[0]["layout"], packed[1]["layout"]);
  EXPECT_NE(Fovea({"inspect", blob}).out.find("for aarch64-i8mm"), std::string::npos);
  EXPECT_EQ(Fovea({"run", blob, "--text", "a b", "--json"}).out, Fovea({"run", plain, "--text", "a b", "--json"}).out);
  // A target that is named twice, or also by this machine's name: once in the blob.
  EXPECT_EQ(Fovea({"pack", blob, "--target", "host", "--target", "host"}).status, 0);
  ASSERT_EQ(PackedOf(blob).size(), 1u);
  const std::vector<std::string> names = PackedOf(blob)[0]["targets"];
  for (const std::string& name : names) {
    EXPECT_EQ(Fovea({"pack", blob, "--target", name, "--target", "host"}).status, 0);
    EXPECT_EQ(PackedOf(blob).size(), 1u);
    EXPECT_TRUE(UsesPacked(blob));
  }
}

TEST(Pack, WrongUseIsRefused) {
  const std::string plain = TinyBlob("sequence");
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& part) {
    const CommandResult result = Fovea(arguments);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.err.rfind("fovea: ", 0), 0u) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  };
  // An unknown name is answered with a list of all names.
  for (const char* part : {"sparc", "host"}) {
    refused({"pack", plain, "--target", "sparc"}, part);
    refused({"convert", Temporary("nowhere"), "-o", Temporary("x.fovea"), "--pack", "sparc"}, part);
  }
  for (uint32_t i = 0; fovea_pack_get_target(i) != nullptr; ++i) {
    refused({"pack", plain, "--target", "sparc"}, fovea_pack_get_target(i));
  }
  refused({"pack"}, "BLOB");
  refused({"pack", Temporary("missing.fovea")}, "missing.fovea");
  std::string damaged = tools::ReadFile(plain);
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  const std::string path = Temporary("damaged_pack.fovea");
  tools::WriteFile(path, damaged.data(), damaged.size());
  refused({"pack", path}, "FOVEA_E_CHECKSUM");
  EXPECT_TRUE(tools::ReadFile(path) == damaged);
  if (!LibraryPacks()) {
    refused({"pack", plain}, "can be packed");
    return;
  }
  refused({"pack", plain, "-o", Temporary("no/such/folder.fovea")}, "folder.fovea");
}

}  // namespace
}  // namespace fovea::test
