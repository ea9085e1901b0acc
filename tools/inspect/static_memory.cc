// A C header with the static memory that a model and a session of it need.
#include "tools/inspect/static_memory.h"

#include <fmt/format.h>

#include <filesystem>

#include "fovea/version.h"

namespace fovea::tools {
namespace {

// "models/my-model.fovea" -> "my_model"
std::string Identifier(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  for (char& c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter) c = '_';
  }
  return name.empty() || (name[0] >= '0' && name[0] <= '9') ? "model_" + name : name;
}

std::string Upper(std::string name) {
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

}  // namespace

std::string StaticMemoryHeader(const Model& model, const Session& session) {
  const std::string name = Identifier(model.name()), upper = Upper(name);
  std::string text = fmt::format(
      "/* Memory for {0}: made by 'fovea inspect --header', fovea {1}, pointers of {2} bits.\n"
      " * Workers {3}, tiles of {4} rows. Most rows bound at a time:\n",
      name, fovea_version(), 8 * sizeof(void*), session.request().workers, session.Info().tile_rows);
  for (const fovea_limit& limit : session.request().limits) {
    text += fmt::format(" *   space {} ({}): {} rows", limit.space, model.Space(limit.space).name, limit.rows);
    text += limit.segment_rows == 0 ? "\n" : fmt::format(", {} in a segment\n", limit.segment_rows);
  }
  text += fmt::format(
      " * Include it in one source file; the blob itself must stand on a multiple of 64 bytes. */\n"
      "#ifndef {0}_MEMORY_H_\n#define {0}_MEMORY_H_\n\n#include <stdint.h>\n\n"
      "#ifndef FOVEA_ALIGN64\n"
      "#if defined(__GNUC__)\n#define FOVEA_ALIGN64 __attribute__((aligned(64)))\n"
      "#elif defined(_MSC_VER)\n#define FOVEA_ALIGN64 __declspec(align(64))\n"
      "#else\n#define FOVEA_ALIGN64 _Alignas(64)\n#endif\n#endif\n\n",
      upper);
  const fovea_session_memory& sizes = session.sizes();
  const std::pair<const char*, uint64_t> blocks[] = {{"model", model.memory_bytes()},
                                                     {"fixed", sizes.fixed_size},
                                                     {"state", sizes.state_size},
                                                     {"scratch", sizes.scratch_size}};
  for (const auto& [block, size] : blocks) {
    text += fmt::format("#define {}_{}_BYTES {}u\n", upper, Upper(block), size);
  }
  text += "\n";
  for (const auto& [block, size] : blocks) {
    if (size != 0)
      text += fmt::format("static FOVEA_ALIGN64 uint8_t {0}_{1}[{2}_{3}_BYTES];\n", name, block, upper, Upper(block));
  }
  for (const auto& [block, size] : blocks) {
    if (size == 0) text += fmt::format("static uint8_t* const {0}_{1} = 0; /* needs no memory */\n", name, block);
  }
  return text + fmt::format("\n#endif /* {}_MEMORY_H_ */\n", upper);
}

}  // namespace fovea::tools
