// Tables of windows over a grid of patches. The grid is padded at its right and lower border to whole windows; a shift
// moves it up and to the left, and what leaves it comes in again at the other border.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_IMAGE_WINDOWS_H_
#define FOVEA_TOOLS_CONVERT_ARCH_IMAGE_WINDOWS_H_

#include "tools/convert/constants.h"

namespace fovea::tools {

class ImageWindows {
 public:
  ImageWindows(Grid patches, uint32_t window, uint32_t shift);

  uint32_t count() const { return padded_.count() / size(); }  // windows
  uint32_t size() const { return window_ * window_; }          // positions of each

  // For arrange: the patches in the order of the windows, zeros where the grid is padded; and back.
  Constant IntoWindows() const;
  Constant OutOfWindows() const;
  // For attention with a bias of (2 window - 1)^2 offsets: the difference of two coordinates is the number of the
  // offset. Parts of a window that are together only because of the shift do not see each other. One row for each
  // window, or for all.
  Constant Coordinates() const;

 private:
  std::vector<int32_t> PatchesByWindow() const;

  Grid patches_, padded_;
  uint32_t window_, shift_;
};

// For attention along two axes: the row and the column of each cell.
Constant CellCoordinates(Grid grid);

// A row (y, x) for each of the (2 window - 1)^2 offsets of two positions, in the order of their numbers: the sign of
// y times log2(1 + 8 |y| / (of - 1)) / 3, where `of` is `trained_window` or, if that is 0, the window.
Constant LogarithmicOffsets(uint32_t window, uint32_t trained_window);

// For arrange: (0, 0), (1, 0), (0, 1) and (1, 1) of every second row and column, concatenated; zeros outside.
Constant MergeTable(Grid patches);
Grid Merged(Grid patches);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_IMAGE_WINDOWS_H_
