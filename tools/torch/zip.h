// The directory of a zip file whose entries are stored as they are, as torch.save writes it.
#ifndef FOVEA_TOOLS_TORCH_ZIP_H_
#define FOVEA_TOOLS_TORCH_ZIP_H_

#include <stdint.h>

#include <map>
#include <string>

namespace fovea::tools {

struct ZipEntry {
  const uint8_t* data = nullptr;  // null: compressed
  uint64_t bytes = 0;
};
using ZipEntries = std::map<std::string, ZipEntry>;

bool IsZip(const uint8_t* data, uint64_t size);

// Entries by name, as pointers into `data`; zip64 is read as well. Every offset and size is checked; checksums are not,
// as they would read the whole file. `where` begins messages.
ZipEntries ParseZip(const uint8_t* data, uint64_t size, const std::string& where);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TORCH_ZIP_H_
