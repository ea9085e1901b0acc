// Tables of windows over a grid of patches.
#include "tools/convert/arch/image_windows.h"

#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

uint32_t Whole(uint32_t size, uint32_t window) { return (size + window - 1) / window * window; }

}  // namespace

ImageWindows::ImageWindows(Grid patches, uint32_t window, uint32_t shift)
    : patches_(patches), window_(window), shift_(shift) {
  if (window == 0 || patches.count() == 0) Fail("windows of {} over {} patches", window, patches.count());
  padded_ = {Whole(patches.rows, window), Whole(patches.columns, window)};
}

std::vector<int32_t> ImageWindows::PatchesByWindow() const {
  const uint32_t across = padded_.columns / window_;
  std::vector<int32_t> table;
  for (uint32_t i = 0; i < padded_.count(); ++i) {
    const uint32_t of = i / size(), at = i % size();
    const uint32_t y = (of / across * window_ + at / window_ + shift_) % padded_.rows;
    const uint32_t x = (of % across * window_ + at % window_ + shift_) % padded_.columns;
    const bool inside = y < patches_.rows && x < patches_.columns;
    table.push_back(inside ? static_cast<int32_t>(y * patches_.columns + x) : -1);
  }
  return table;
}

Constant ImageWindows::IntoWindows() const { return Indices(padded_.count(), 1, PatchesByWindow()); }

Constant ImageWindows::OutOfWindows() const {
  const std::vector<int32_t> into = PatchesByWindow();
  std::vector<int32_t> out(patches_.count());
  for (size_t i = 0; i < into.size(); ++i) {
    if (into[i] >= 0) out[static_cast<size_t>(into[i])] = static_cast<int32_t>(i);
  }
  return Indices(patches_.count(), 1, out);
}

Constant ImageWindows::Coordinates() const {
  const uint32_t offsets = 2 * window_ - 1, apart = offsets * offsets + 2;  // more than both ends of the bias
  const auto part = [&](uint32_t place, uint32_t padded) -> uint32_t {
    return shift_ == 0 || place < padded - window_ ? 0 : place < padded - shift_ ? 1 : 2;
  };
  const uint32_t across = padded_.columns / window_, windows = shift_ == 0 ? 1 : count();
  std::vector<int32_t> table;
  for (uint32_t i = 0; i < windows * size(); ++i) {
    const uint32_t of = i / size(), y = i % size() / window_, x = i % size() % window_;
    const uint32_t parts =
        3 * part(of / across * window_ + y, padded_.rows) + part(of % across * window_ + x, padded_.columns);
    table.push_back(static_cast<int32_t>(y * offsets + x + parts * apart));
  }
  return Indices(windows, size(), table);
}

Constant CellCoordinates(Grid grid) {
  std::vector<int32_t> table;
  for (uint32_t i = 0; i < grid.count(); ++i) table.push_back(static_cast<int32_t>(i / grid.columns));
  for (uint32_t i = 0; i < grid.count(); ++i) table.push_back(static_cast<int32_t>(i % grid.columns));
  return Indices(2, grid.count(), table);
}

Constant LogarithmicOffsets(uint32_t window, uint32_t trained_window) {
  const int side = static_cast<int>(window);
  const double whole = trained_window != 0 ? trained_window - 1.0 : std::max(window, 2u) - 1.0;
  const auto measured = [&](int offset) {
    return static_cast<float>(copysign(log2(1 + 8 * fabs(offset / whole)) / 3, offset));
  };
  std::vector<float> rows;
  for (int y = 1 - side; y < side; ++y) {
    for (int x = 1 - side; x < side; ++x) rows.insert(rows.end(), {measured(y), measured(x)});
  }
  return Literal(static_cast<uint32_t>(rows.size() / 2), 2, rows);
}

Grid Merged(Grid patches) { return {(patches.rows + 1) / 2, (patches.columns + 1) / 2}; }

Constant MergeTable(Grid patches) {
  const Grid merged = Merged(patches);
  std::vector<int32_t> table;
  for (uint32_t i = 0; i < merged.count(); ++i) {
    for (uint32_t k = 0; k < 4; ++k) {
      const uint32_t y = i / merged.columns * 2 + k % 2, x = i % merged.columns * 2 + k / 2;
      const bool inside = y < patches.rows && x < patches.columns;
      table.push_back(inside ? static_cast<int32_t>(y * patches.columns + x) : -1);
    }
  }
  return Indices(merged.count(), 4, table);
}

}  // namespace fovea::tools
