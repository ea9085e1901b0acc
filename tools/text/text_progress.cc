#include "tools/text/text_progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/base/clock.h"
#include "tools/base/print.h"

namespace fovea::tools {
namespace {

constexpr size_t kBar = 20;  // characters

}  // namespace

std::string ProgressText(uint64_t texts, double share, double seconds) {
  const auto rate = static_cast<uint64_t>(static_cast<double>(texts) / std::max(seconds, 1e-9) + 0.5);
  const std::string counted = fmt::format("{} texts, {} texts/s", Grouped(texts), Grouped(rate));
  if (share <= 0) return counted;
  const double part = std::min(share, 1.0);
  const auto full = static_cast<size_t>(part * kBar);
  return fmt::format("[{}{}] {:>3.0f}%  {}, {} left", std::string(full, '#'), std::string(kBar - full, '.'), 100 * part,
                     counted, PositionText(seconds / part - seconds + 0.5));
}

TextProgress::TextProgress(std::ostream& err) : line_(err), begin_(NanosecondClock()) {}

double TextProgress::seconds() const { return static_cast<double>(NanosecondClock() - begin_) * 1e-9; }

void TextProgress::Begin(size_t texts, double share) {
  from_ = to_;
  to_ = share;
  window_ = texts;
  in_window_ = 0;
}

void TextProgress::Add(size_t texts) {
  texts_ += texts;
  in_window_ += texts;
  if (!line_.IsDue(false)) return;
  const double part = window_ == 0 ? 1 : static_cast<double>(in_window_) / static_cast<double>(window_);
  line_.Write(ProgressText(texts_, from_ + (to_ - from_) * part, seconds()));
}

}  // namespace fovea::tools
