// Writes a C header with static memory for a model and its sessions.
#include "tools/inspect/static_memory.h"

#include <fmt/format.h>
#include <string.h>

#include "fovea/text.h"
#include "fovea/version.h"
#include "tools/inspect/embedded_blob.h"
#include "tools/model/library_error.h"

namespace fovea::tools {
namespace {

std::string Upper(std::string name) {
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

// Macros for the session's options.
std::string OptionMacros(const std::string& prefix, const Session& session) {
  std::string text = fmt::format("#define {0}PROGRAM {1}u\n#define {0}TILE_ROWS {2}u\n", prefix,
                                 session.request().program, session.Info().tile_rows);
  std::string limits;
  for (const fovea_limit& limit : session.request().limits) {
    limits +=
        fmt::format("{}{{{}u, {}u, {}u}}", limits.empty() ? "" : ", ", limit.space, limit.rows, limit.segment_rows);
  }
  if (!limits.empty()) text += fmt::format("#define {}LIMITS {}\n", prefix, limits);
  std::string taps;
  for (const fovea_tap& tap : session.request().taps) {
    taps += fmt::format(
        "{}{{.struct_size = sizeof(fovea_tap), .step = {}u, .form = {}u, .rows = {}u, .stride = {}u, .reduce = {}u}}",
        taps.empty() ? "" : ", \\\n  ", tap.step, tap.form, tap.rows, tap.stride, tap.reduce);
  }
  return taps.empty() ? text : text + fmt::format("#define {}TAPS \\\n  {}\n", prefix, taps);
}

std::string Comment(const Model& model, const std::string& name, const std::vector<NamedSession>& sessions) {
  std::string text = fmt::format(
      "/* Memory for {}: made by 'fovea inspect --header', fovea {}, pointers of {} bits.\n"
      " * Exact for backend {}, which the model's options must name ({}_BACKEND). Smaller pointers need less.\n",
      name, fovea_version(), 8 * sizeof(void*), model.Info().backend, Upper(name));
  for (const auto& [session_name, session] : sessions) {
    text += fmt::format(" * {}: workers {}, tiles of {} rows. Maximum rows bound at a time:\n",
                        session_name.empty() ? "session" : session_name, session->request().workers,
                        session->Info().tile_rows);
    for (const fovea_limit& limit : session->request().limits) {
      text += fmt::format(" *   space {} ({}): {} rows", limit.space, model.Space(limit.space).name, limit.rows);
      text += limit.segment_rows == 0 ? "\n" : fmt::format(", {} in a segment\n", limit.segment_rows);
    }
    const uint32_t program = session->request().program;
    for (const fovea_tap& tap : session->request().taps) {
      text += fmt::format(" *   tap on step {} ({})\n", tap.step, model.Step(program, tap.step).name);
    }
  }
  return text + " * Include it in one source file; the blob must be aligned to 64 bytes. */\n";
}

uint32_t BackendOf(const Model& model) {
  return strcmp(model.Info().backend, "highway") == 0 ? FOVEA_BACKEND_HIGHWAY : FOVEA_BACKEND_XNNPACK;
}

uint64_t TextBytes(const Model& model, uint64_t longest_text) {
  uint64_t bytes = 0;
  fovea_error error = {};
  Check(fovea_text_scratch_size(model.get(), longest_text, &bytes, &error), error,
        fmt::format("{}: texts of {} bytes", model.name(), longest_text));
  return bytes;
}

}  // namespace

std::string StaticMemoryHeader(const Model& model, const std::vector<NamedSession>& sessions, uint64_t longest_text,
                               uint64_t generator_bytes) {
  const std::string name = Identifier(model.name()), upper = Upper(name);
  std::string text = Comment(model, name, sessions);
  text +=
      fmt::format("#ifndef {0}_MEMORY_H_\n#define {0}_MEMORY_H_\n\n#include <stdint.h>\n\n{1}\n", upper, kAlignMacro);
  text += fmt::format("#define {}_BACKEND {}u\n", upper, BackendOf(model));
  std::vector<std::pair<std::string, uint64_t>> blocks = {{"model", model.memory_bytes()}};
  for (const auto& [session_name, session] : sessions) {
    const std::string part = session_name.empty() ? "" : session_name + "_";
    const fovea_session_memory& sizes = session->sizes();
    blocks.emplace_back(part + "fixed", sizes.fixed_size);
    blocks.emplace_back(part + "state", sizes.state_size);
    blocks.emplace_back(part + "scratch", sizes.scratch_size);
    text += OptionMacros(upper + "_" + Upper(part), *session);
  }
  if (longest_text != 0) {
    blocks.emplace_back("text", TextBytes(model, longest_text));
    text += fmt::format("#define {}_LONGEST_TEXT {}u\n", upper, longest_text);
  }
  if (generator_bytes != 0) blocks.emplace_back("generator", generator_bytes);
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
