#include "tools/inspect/embedded_blob.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <filesystem>

#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/base/utf8_path.h"
#include "tools/inspect/static_memory.h"

namespace fovea::tools {
namespace {

constexpr uint64_t kAlignmentOfBlobs = 64;

// Numbers of System V's generic ABI and of the processors' supplements. Objects without code link with any floating
// point ABI of RISC-V and Arm.
struct NamedMachine {
  const char* name;
  ElfMachine machine;
};
constexpr uint32_t kArmEabi5 = 0x05000000;
constexpr NamedMachine kMachines[] = {
    {"x86_64", {62, true, 0}},       {"i386", {3, false, 0}},         {"aarch64", {183, true, 0}},
    {"arm", {40, false, kArmEabi5}}, {"riscv64", {243, true, 0}},     {"riscv32", {243, false, 0}},
    {"xtensa", {94, false, 0x300}},  {"loongarch64", {258, true, 0}},
};

// ---- ELF

enum : uint32_t {
  kProgbits = 1,
  kSymtab = 2,
  kStrtab = 3,
  kAllocated = 2,
};

struct ElfSection {
  uint32_t name, type, flags;
  uint64_t offset, size;
  uint32_t link = 0, info = 0;
  uint64_t alignment = 1, entry = 0;
};

// Appends little-endian numbers; addresses have the machine's width.
class ElfWriter {
 public:
  explicit ElfWriter(const ElfMachine& machine) : machine_(machine) {}

  void U8(uint8_t value) { bytes.push_back(static_cast<char>(value)); }
  void U16(uint32_t value) { Number(value, 2); }
  void U32(uint64_t value) { Number(value, 4); }
  void Address(uint64_t value) { Number(value, machine_.wide ? 8 : 4); }
  void Align(uint64_t alignment) { bytes.resize((bytes.size() + alignment - 1) / alignment * alignment); }

  void Header(uint64_t sections_at, uint32_t sections, uint32_t names) {
    bytes +=
        "\x7f"
        "ELF";
    U8(machine_.wide ? 2 : 1);
    U8(1);  // little-endian
    U8(1);  // version
    bytes.resize(16);
    U16(1);  // relocatable
    U16(machine_.number);
    U32(1);
    Address(0);
    Address(0);
    Address(sections_at);
    U32(machine_.flags);
    U16(machine_.wide ? 64 : 52);
    U16(0), U16(0);
    U16(machine_.wide ? 64 : 40);
    U16(sections);
    U16(names);
  }

  void Section(const ElfSection& section) {
    U32(section.name), U32(section.type);
    Address(section.flags), Address(0), Address(section.offset), Address(section.size);
    U32(section.link), U32(section.info);
    Address(section.alignment), Address(section.entry);
  }

  // A global object in section 1, or the first symbol, all zeros.
  void Symbol(uint32_t name, uint64_t at, uint64_t size, bool first) {
    const uint8_t info = first ? 0 : 0x11;
    const uint32_t section = first ? 0 : 1;
    U32(name);
    if (machine_.wide) U8(info), U8(0), U16(section);
    Address(at), Address(size);
    if (!machine_.wide) U8(info), U8(0), U16(section);
  }

  std::string bytes;

 private:
  void Number(uint64_t value, int size) {
    for (int i = 0; i < size; ++i) U8(static_cast<uint8_t>(value >> (8 * i)));
  }

  const ElfMachine& machine_;
};

std::string Upper(std::string name) {
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

std::string Comment(const EmbeddedBlob& blob) {
  std::string name = Utf8Path(blob.path).filename().string();
  for (size_t end; (end = name.find("*/")) != std::string::npos;) name.erase(end, 1);
  return fmt::format("{}{}, made by 'fovea embed-blob'. */\n", kEmbeddedComment, Printable(name));
}

std::string SectionAttribute(const EmbeddedBlob& blob) {
  return blob.section.empty() ? "" : fmt::format(" __attribute__((section(\"{}\")))", blob.section);
}

// The bytes of an initializer, below 120 columns.
std::string Bytes(const EmbeddedBlob& blob) {
  std::string text;
  text.reserve(blob.size * 4 + blob.size / 8);
  constexpr uint64_t kPerLine = 28;
  for (uint64_t i = 0; i < blob.size; ++i) {
    if (i % kPerLine == 0) text += i == 0 ? "    " : "\n    ";
    const uint32_t byte = blob.data[i];
    if (byte >= 100) text += static_cast<char>('0' + byte / 100);
    if (byte >= 10) text += static_cast<char>('0' + byte / 10 % 10);
    text += static_cast<char>('0' + byte % 10);
    text += ',';
  }
  return text;
}

// The size is a macro, so that it is a constant in C.
std::string SizeMacro(const EmbeddedBlob& blob) {
  return fmt::format("#define {}_SIZE {}u\n", Upper(blob.symbol), blob.size);
}

}  // namespace

std::vector<std::string> ElfMachineNames() {
  std::vector<std::string> names;
  for (const NamedMachine& machine : kMachines) names.push_back(machine.name);
  return names;
}

ElfMachine ElfMachineOf(const std::string& name) {
  for (const NamedMachine& machine : kMachines) {
    if (name == machine.name) return machine.machine;
  }
  Fail("{}: no such machine; --like FILE takes it from an object of the program", name);
}

std::string HostMachine() {
#if defined(__aarch64__)
  return "aarch64";
#elif defined(__arm__)
  return "arm";
#elif defined(__riscv)
  return __riscv_xlen == 64 ? "riscv64" : "riscv32";
#elif defined(__i386__)
  return "i386";
#else
  return "x86_64";
#endif
}

ElfMachine ElfMachineLike(const std::string& path) {
  const MappedFile file(path);
  const uint8_t* bytes = file.data();
  if (file.size() < 52 || memcmp(bytes,
                                 "\x7f"
                                 "ELF",
                                 4) != 0) {
    Fail("{}: not an object, library or program in ELF; an archive's members are objects: ar x", path);
  }
  if (bytes[5] != 1) Fail("{}: big-endian; blobs are read on little-endian machines only", path);
  const auto number = [&](size_t at, int size) {
    uint32_t value = 0;
    for (int i = 0; i < size; ++i) value |= uint32_t{bytes[at + static_cast<size_t>(i)]} << (8 * i);
    return value;
  };
  const bool wide = bytes[4] == 2;
  return {static_cast<uint16_t>(number(18, 2)), wide, number(wide ? 48 : 36, 4)};
}

std::string Identifier(const std::string& path) {
  std::string name = Utf8Path(path).stem().string();
  for (char& c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter) c = '_';
  }
  return name.empty() || (name[0] >= '0' && name[0] <= '9') ? "model_" + name : name;
}

bool IsIdentifier(const std::string& name) {
  return !name.empty() && Identifier(name) == name && name.find('.') == std::string::npos;
}

std::string EmbeddedHeader(const EmbeddedBlob& blob) {
  const std::string guard = Upper(blob.symbol) + "_H_";
  return Comment(blob) +
         fmt::format(
             "/* Include it in one source file: every file that does contains the bytes. */\n"
             "#ifndef {0}\n#define {0}\n\n{1}{2}\nstatic const FOVEA_ALIGN64 unsigned char {3}[{4}]{5} = {{\n"
             "{6}\n}};\n\n#endif /* {0} */\n",
             guard, kAlignMacro, SizeMacro(blob), blob.symbol, blob.size, SectionAttribute(blob), Bytes(blob));
}

std::string EmbeddedDeclaration(const EmbeddedBlob& blob) {
  const std::string guard = Upper(blob.symbol) + "_H_";
  return Comment(blob) + fmt::format(
                             "#ifndef {0}\n#define {0}\n\n{1}\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n"
                             "extern const unsigned char {2}[{3}]; /* Alignment 64. */\n"
                             "#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {0} */\n",
                             guard, SizeMacro(blob), blob.symbol, blob.size);
}

std::string EmbeddedSource(const EmbeddedBlob& blob) {
  return Comment(blob) + fmt::format(
                             "{0}\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n"
                             "extern const unsigned char {1}[{2}];\n"
                             "const FOVEA_ALIGN64 unsigned char {1}[{2}]{3} = {{\n{4}\n}};\n"
                             "#ifdef __cplusplus\n}}\n#endif\n",
                             kAlignMacro, blob.symbol, blob.size, SectionAttribute(blob), Bytes(blob));
}

std::string EmbeddedAssembly(const EmbeddedBlob& blob) {
  std::string file;
  for (const char c : std::filesystem::absolute(Utf8Path(blob.path)).lexically_normal().string()) {
    if (c == '"' || c == '\\') file += '\\';
    file += c;
  }
  const std::string elf = blob.section.empty() ? ".rodata." + blob.symbol : blob.section;
  // A name that the C compiler sees may begin with an underscore in the object.
  return Comment(blob) + fmt::format(
                             "#define FOVEA_JOIN2(a, b) a##b\n#define FOVEA_JOIN(a, b) FOVEA_JOIN2(a, b)\n"
                             "#define FOVEA_BLOB FOVEA_JOIN(__USER_LABEL_PREFIX__, {0})\n"
                             "#if defined(__APPLE__)\n  .section {1}\n"
                             "#elif defined(_WIN32) || defined(__CYGWIN__)\n  .section {2},\"dr\"\n"
                             "#else\n  .section {3},\"a\",%progbits\n#endif\n"
                             "  .balign {4}\n  .globl FOVEA_BLOB\nFOVEA_BLOB:\n  .incbin \"{5}\"\n"
                             "#if defined(__ELF__)\n  .type FOVEA_BLOB, %object\n  .size FOVEA_BLOB, {6}\n"
                             "  .section .note.GNU-stack,\"\",%progbits\n#endif\n",
                             blob.symbol, blob.section.empty() ? "__TEXT,__const" : blob.section,
                             blob.section.empty() ? ".rdata" : blob.section, elf, kAlignmentOfBlobs, file, blob.size);
}

std::string EmbeddedObject(const EmbeddedBlob& blob, const ElfMachine& machine) {
  if (!machine.wide && blob.size > UINT32_MAX / 2) Fail("{}: too large for addresses of 32 bits", blob.path);
  ElfWriter writer(machine);
  const uint64_t header = machine.wide ? 64 : 52, symbol = machine.wide ? 24 : 16, words = machine.wide ? 8 : 4;
  const std::string section = blob.section.empty() ? ".rodata." + blob.symbol : blob.section;
  std::string names(1, '\0');
  const auto name = [&](const std::string& text) {
    const auto at = static_cast<uint32_t>(names.size());
    names += text + '\0';
    return at;
  };
  const uint32_t symbol_name = name(blob.symbol), section_name = name(section), stack_name = name(".note.GNU-stack"),
                 symbols_name = name(".symtab"), names_name = name(".strtab");
  const uint64_t data_at = (header + kAlignmentOfBlobs - 1) / kAlignmentOfBlobs * kAlignmentOfBlobs;
  const uint64_t symbols_at = (data_at + blob.size + words - 1) / words * words;
  const uint64_t names_at = symbols_at + 2 * symbol;
  const uint64_t sections_at = (names_at + names.size() + words - 1) / words * words;
  constexpr uint32_t kSections = 5, kNames = 4, kLocals = 1;

  writer.bytes.reserve(sections_at + (kSections + 1) * 64);
  writer.Header(sections_at, kSections, kNames);
  writer.Align(kAlignmentOfBlobs);
  writer.bytes.append(reinterpret_cast<const char*>(blob.data), blob.size);
  writer.Align(words);
  writer.Symbol(0, 0, 0, true);
  writer.Symbol(symbol_name, 0, blob.size, false);
  writer.bytes += names;
  writer.Align(words);
  writer.Section({0, 0, 0, 0, 0, 0, 0, 0, 0});
  writer.Section({section_name, kProgbits, kAllocated, data_at, blob.size, 0, 0, kAlignmentOfBlobs, 0});
  writer.Section({stack_name, kProgbits, 0, names_at, 0});  // empty: no executable stack
  writer.Section({symbols_name, kSymtab, 0, symbols_at, 2 * symbol, kNames, kLocals, words, symbol});
  writer.Section({names_name, kStrtab, 0, names_at, names.size()});
  return writer.bytes;
}

}  // namespace fovea::tools
