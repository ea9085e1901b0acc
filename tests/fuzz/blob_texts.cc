// Texts that a session keeps: changed between runs in every way, saved, restored from what is damaged.
#include <algorithm>

#include "tests/fuzz/blob_use.h"
#include "tests/fuzz/check.h"

namespace fovea::fuzz {
namespace {

std::vector<uint8_t> SavedText(const fovea_session* session, uint32_t text) {
  uint64_t size = 0;
  if (fovea_cache_saved_size(session, text, &size, nullptr) != FOVEA_OK) return {};
  const Guarded saved(size, Filling::kRandom, 1);
  Check(fovea_cache_save(session, text, saved.data(), size, nullptr) == FOVEA_OK, "a text cannot be saved");
  return std::vector<uint8_t>(saved.data(), saved.data() + size);
}

}  // namespace

void UsedSession::UseTexts(Random& random) {
  auto info = Sized<fovea_cache_info>();
  Check(fovea_cache_get_info(session_, &info) == FOVEA_OK, "a session gives no information about its texts");
  transcript_.Number(Where("texts", 0), info.texts);
  if (info.texts == 0) return;
  transcript_.Number(Where("unused rows", 0), info.unused_rows);
  const auto any = [&] { return random.Below(uint64_t{info.texts} + (random.OneIn(16) ? 2 : 0)); };
  fovea_error error = {};
  const auto note = [&](const char* what, fovea_status status) { transcript_.Status(Where(what, 0), status, error); };
  for (uint32_t calls = random.Below(6); calls-- > 0;) {
    const uint32_t text = any(), other = any();
    uint32_t rows = 0;
    std::vector<uint32_t> list(random.Below(uint64_t{info.texts} + 2));
    for (uint32_t& entry : list) entry = any();
    const auto count = static_cast<uint32_t>(list.size());
    switch (random.Below(5)) {
      case 0:
        note("rows of a text", fovea_cache_get_rows(session_, text, &rows, &error));
        note("rewind", fovea_cache_rewind(session_, text, random.Below(uint64_t{rows} + 2), &error));
        break;
      case 1:
        note("fork", fovea_cache_fork(session_, text, other, &error));
        break;
      case 2:
        note("reorder", fovea_cache_reorder(session_, list.data(), count, &error));
        break;
      case 3:
        note("select", fovea_cache_select(session_, random.OneIn(3) ? nullptr : list.data(), count, &error));
        break;
      default:
        RestoreTexts(text, other, random);
    }
  }
}

void UsedSession::RestoreTexts(uint32_t from, uint32_t to, Random& random) {
  const std::vector<uint8_t> good = SavedText(session_, from);
  transcript_.Bytes(Where("saved text", from), good.data(), good.size());
  if (good.empty()) return;
  std::vector<uint8_t> bad = good;
  if (random.OneIn(3)) bad.resize(random.Below(bad.size() + 1));
  if (!bad.empty()) bad[random.Below(std::min<size_t>(128, bad.size()))] ^= static_cast<uint8_t>(1 << random.Below(8));
  const std::vector<uint8_t> before = SavedText(session_, to);
  const Guarded damaged(bad.data(), bad.size(), 1);
  damaged.Seal();
  fovea_error error = {};
  fovea_status status = fovea_cache_restore(session_, to, damaged.data(), bad.size(), &error);
  transcript_.Status(Where("restore a damaged text", to), status, error);
  if (status != FOVEA_OK) Check(SavedText(session_, to) == before, "a text that was refused has changed the session");
  status = fovea_cache_restore(session_, to, good.data(), good.size(), &error);
  transcript_.Status(Where("restore a text", to), status, error);
  if (status == FOVEA_OK) Check(SavedText(session_, to) == good, "a restored text is another one");
}

}  // namespace fovea::fuzz
