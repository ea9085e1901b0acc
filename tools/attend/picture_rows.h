// Maps rows of a value to cells of an image: follows the pixels through the tables of `arrange` operations.
#ifndef FOVEA_TOOLS_ATTEND_PICTURE_ROWS_H_
#define FOVEA_TOOLS_ATTEND_PICTURE_ROWS_H_

#include <stdint.h>

#include <map>
#include <optional>
#include <vector>

#include "tools/attend/record.h"
#include "tools/media/picture_inputs.h"

namespace fovea::tools {

class PictureRows {
 public:
  // The cell of each row of one image in a grid; -1: none (a class token, padding).
  struct Layout {
    CellGrid grid;
    std::vector<int32_t> cells;
    bool operator==(const Layout& other) const { return grid == other.grid && cells == other.cells; }
  };

  PictureRows(const Model& model, uint32_t program, const PictureInput& input);

  // Index of a value's layout, or -1.
  int LayoutOf(uint32_t value) const;
  const Layout& layout(int number) const { return layouts_[static_cast<size_t>(number)]; }
  // The finest grid among the values that attention reads, or an empty one.
  CellGrid grid() const { return layouts_.empty() ? CellGrid{} : layouts_[0].grid; }

 private:
  // Pixels [left, right) x [top, bottom); empty if right is 0.
  struct Box {
    uint32_t left = 0, top = 0, right = 0, bottom = 0;
  };
  using Boxes = std::vector<Box>;

  std::optional<uint64_t> RowsOfPicture(uint32_t space) const;
  Boxes Arranged(const Boxes& from, uint32_t step, uint32_t output) const;
  std::optional<Layout> Cells(const Boxes& boxes) const;

  const Model& model_;
  uint32_t program_;
  std::vector<Layout> layouts_;
  std::map<uint32_t, int> layout_of_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_PICTURE_ROWS_H_
