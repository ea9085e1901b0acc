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
// Stored filters [out, in, size, size] as weights of a linear layer over the concatenated cells: the columns of a cell
// follow each other.
Constant FiltersByCell(const Constant& stored, const Filter& filter);

// For arrange: of two grids over the same area, the rows of `from` around each cell of `to` and their weights;
// bilinear, borders repeated.
struct Blend {
  Constant rows, weights;
};
Blend Bilinear(Grid from, Grid to);
// The result of arrange, computed here.
Constant Blended(const Constant& source, const Blend& blend);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_GRID_CONVOLUTION_H_
