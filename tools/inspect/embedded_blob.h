// Writes a blob as source or object code, so that a program contains it with the alignment that the library needs.
#ifndef FOVEA_TOOLS_INSPECT_EMBEDDED_BLOB_H_
#define FOVEA_TOOLS_INSPECT_EMBEDDED_BLOB_H_

#include <stdint.h>

#include <string>
#include <vector>

namespace fovea::tools {

// A kind of ELF object: the fields of its header that name the machine.
struct ElfMachine {
  uint16_t number = 0;  // e_machine
  bool wide = true;     // addresses of 64 bits
  uint32_t flags = 0;   // e_flags
};

// Names of machines, in the order of the help.
std::vector<std::string> ElfMachineNames();
ElfMachine ElfMachineOf(const std::string& name);
// The machine that this program is compiled for.
std::string HostMachine();
// The machine of an object, library or program in ELF.
ElfMachine ElfMachineLike(const std::string& path);

struct EmbeddedBlob {
  const uint8_t* data;
  uint64_t size;
  std::string path;     // where the blob is, for .incbin and comments
  std::string symbol;   // a C name
  std::string section;  // empty: constants
};

// How every file below begins, except objects.
inline constexpr const char kEmbeddedComment[] = "/* The blob ";

// "models/my-model.fovea" -> "my_model"
std::string Identifier(const std::string& path);
bool IsIdentifier(const std::string& name);

// A header with the bytes in a static array, to be included in one file.
std::string EmbeddedHeader(const EmbeddedBlob& blob);
// A C file with the bytes.
std::string EmbeddedSource(const EmbeddedBlob& blob);
// A file for the C preprocessor and assembler that includes the blob's file.
std::string EmbeddedAssembly(const EmbeddedBlob& blob);
// An ELF object of any machine.
std::string EmbeddedObject(const EmbeddedBlob& blob, const ElfMachine& machine);
// A header that declares what the last three define.
std::string EmbeddedDeclaration(const EmbeddedBlob& blob);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_INSPECT_EMBEDDED_BLOB_H_
