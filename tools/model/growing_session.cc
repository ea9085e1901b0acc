#include "tools/model/growing_session.h"

#include <algorithm>

namespace fovea::tools {
namespace {

// Grows `have` to at least `need` in every space. Returns whether it changed.
bool Grow(const std::vector<fovea_limit>& need, std::vector<fovea_limit>& have) {
  bool more = false;
  for (const fovea_limit& limit : need) {
    const auto same = [&](const fovea_limit& other) { return other.space == limit.space; };
    const auto found = std::find_if(have.begin(), have.end(), same);
    if (found == have.end()) {
      have.push_back(limit);
      more = true;
      continue;
    }
    more = more || limit.rows > found->rows || limit.segment_rows > found->segment_rows;
    found->rows = std::max(found->rows, limit.rows);
    found->segment_rows = std::max(found->segment_rows, limit.segment_rows);
  }
  return more;
}

}  // namespace

Session& GrowingSession::For(const Batch& batch, bool* is_new) {
  const std::vector<fovea_limit> need = ExactLimits(model_, batch);
  if (session_ == nullptr) request_.limits.clear();
  const bool grows = Grow(need, request_.limits);
  if (is_new != nullptr) *is_new = session_ == nullptr || grows;
  if (session_ == nullptr || grows) {
    session_ = nullptr;  // before the larger one is allocated
    session_ = std::make_unique<Session>(model_, request_);
  }
  Bind(batch, session_.get());
  return *session_;
}

}  // namespace fovea::tools
