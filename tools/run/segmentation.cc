// Classes of an image's pixels.
#include "tools/run/segmentation.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/image/png.h"
#include "tools/prediction/task.h"

namespace fovea::tools {
namespace {

// The two cells whose scores a pixel is interpolated from, and the weight of the second one.
struct Place {
  uint32_t first = 0, second = 0;
  float share = 0;
};

// Without aligned corners: the centre of a pixel keeps its place.
std::vector<Place> Places(uint32_t cells, uint32_t pixels) {
  std::vector<Place> places(pixels);
  const float scale = static_cast<float>(cells) / static_cast<float>(pixels);
  for (uint32_t i = 0; i < pixels; ++i) {
    const float at = std::max(scale * (static_cast<float>(i) + 0.5f) - 0.5f, 0.0f);
    Place& place = places[i];
    place.first = std::min(static_cast<uint32_t>(at), cells - 1);
    place.second = std::min(place.first + 1, cells - 1);
    place.share = at - static_cast<float>(place.first);
  }
  return places;
}

// Rows and columns of cells, from metadata layout.logits.
Extent CellsOf(const Model& model, uint32_t program) {
  const char* layout = model.ProgramMetadata(program, "layout.logits");
  std::istringstream words(layout == nullptr ? "" : layout);
  std::string order;
  Extent cells;
  if (!(words >> order >> cells.height >> cells.width) || order != "channels_first" || cells.height == 0 ||
      cells.width == 0) {
    Fail("{}: program '{}' has no metadata layout.logits with rows and columns; convert the model again", model.name(),
         model.Program(program).name);
  }
  return cells;
}

}  // namespace

bool SegmentsPictures(const Model& model) { return HasTask(model, "semantic-segmentation"); }

std::vector<uint16_t> PixelClasses(const Model& model, const Session& session, size_t which, Extent size) {
  const Matrix scores = ReadLogits(model, session);
  const Extent cells = CellsOf(model, session.request().program);
  const uint64_t count = uint64_t{cells.height} * cells.width, before = which * count;
  if (before + count > scores.rows || scores.width == 0 || scores.width > 1u << 16) {
    Fail("{}: logits are [{}, {}], which does not fit {} x {} cells", model.name(), scores.rows, scores.width,
         cells.height, cells.width);
  }
  const uint32_t classes = scores.width;
  const std::vector<Place> down = Places(cells.height, size.height), across = Places(cells.width, size.width);
  std::vector<uint16_t> best(uint64_t{size.height} * size.width);
  std::vector<float> row(size_t{cells.width} * classes);
  std::vector<uint16_t> winners(cells.width);
  uint16_t* to = best.data();
  for (const Place& y : down) {
    const float* upper = scores.values.data() + (before + uint64_t{y.first} * cells.width) * classes;
    const float* lower = scores.values.data() + (before + uint64_t{y.second} * cells.width) * classes;
    for (size_t i = 0; i < row.size(); ++i) row[i] = (1 - y.share) * upper[i] + y.share * lower[i];
    for (uint32_t x = 0; x < cells.width; ++x) {
      const float* cell = &row[size_t{x} * classes];
      winners[x] = static_cast<uint16_t>(std::max_element(cell, cell + classes) - cell);
    }
    for (const Place& x : across) {
      uint16_t winner = winners[x.first];
      // Scores are linear between two cells: a class that wins at both wins between them.
      if (winner != winners[x.second]) {
        const float *left = &row[size_t{x.first} * classes], *right = &row[size_t{x.second} * classes];
        float highest = 0;
        for (uint32_t c = 0; c < classes; ++c) {
          const float score = (1 - x.share) * left[c] + x.share * right[c];
          if (c != 0 && !(score > highest)) continue;
          highest = score;
          winner = static_cast<uint16_t>(c);
        }
      }
      *to++ = winner;
    }
  }
  return best;
}

OrderedJson SharesOf(const Model& model, const std::vector<uint16_t>& classes, uint32_t top) {
  std::map<uint16_t, uint64_t> pixels;
  for (const uint16_t one : classes) ++pixels[one];
  std::vector<std::pair<uint16_t, uint64_t>> sorted(pixels.begin(), pixels.end());
  const auto more = [](const auto& a, const auto& b) { return a.second > b.second; };
  std::stable_sort(sorted.begin(), sorted.end(), more);
  OrderedJson shares = OrderedJson::array();
  for (const auto& [index, count] : sorted) {
    if (shares.size() == top) break;
    shares.push_back({{"class", index},
                      {"label", ClassName(model, index)},
                      {"pixels", count},
                      {"share", static_cast<double>(count) / static_cast<double>(classes.size())}});
  }
  return shares;
}

void AddSegments(const Model& model, const PictureRun& run, uint32_t top, const std::string& mask,
                 std::vector<OrderedJson>& entries) {
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::vector<uint16_t> classes = PixelClasses(model, run.session, i, run.sizes[i]);
    entries[i]["segments"] = SharesOf(model, classes, top);
    if (mask.empty()) continue;
    const std::string png = IndexedPngOf(classes, run.sizes[i].height, run.sizes[i].width);
    WriteFile(mask, png.data(), png.size());
    entries[i]["mask"] = mask;
  }
}

}  // namespace fovea::tools
