// Convolutions in two dimensions, over grids whose cells are rows: each cell with its neighbours beside it and a linear
// layer, or each column by itself. Neighbours outside of the grid are zeros.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_GRID_CONVOLUTION_H_
#define FOVEA_TOOLS_CONVERT_ARCH_GRID_CONVOLUTION_H_

#include "tools/convert/constants.h"

namespace fovea::tools {

// Square filters, as far from one to the next in both directions, and as many zeros around the grid.
struct Filter {
  uint32_t size = 1;
  uint32_t stride = 1;
  uint32_t padding = 0;
};

// The cells that a convolution makes of a grid; none where it is smaller than the filter.
Grid Convolved(Grid grid, const Filter& filter);
// For arrange and convolve: row by row, the cells that each filter covers.
Constant FilterTable(Grid grid, const Filter& filter);
// Stored filters [out, in, size, size] as the linear layer has them whose input is such cells beside each other: the
// numbers of a cell together.
Constant FiltersByCell(const Constant& stored, const Filter& filter);

// For arrange: the rows of a grid of `from` cells over the same area that each cell of `to` lies between, and how much
// of each it takes: bilinear, borders repeated.
struct Blend {
  Constant rows, weights;
};
Blend Bilinear(Grid from, Grid to);
// What arrange makes of these rows.
Constant Blended(const Constant& of, const Blend& blend);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_GRID_CONVOLUTION_H_
