#include "tools/vectors/nearest.h"

#include <algorithm>
#include <cmath>

#include "fovea/result.h"

namespace fovea::tools {
namespace {

bool IsBetter(const Neighbour& a, const Neighbour& b) {
  if (std::isnan(a.score) || std::isnan(b.score)) {
    return std::isnan(a.score) == std::isnan(b.score) ? a.text < b.text : std::isnan(b.score);
  }
  return a.score != b.score ? a.score > b.score : a.text < b.text;
}

}  // namespace

void BestTexts::Add(const Neighbour& text) {
  if (heap_.size() == top_) {
    if (top_ == 0 || !IsBetter(text, heap_.front())) return;
    std::pop_heap(heap_.begin(), heap_.end(), IsBetter);
    heap_.pop_back();
  }
  heap_.push_back(text);
  std::push_heap(heap_.begin(), heap_.end(), IsBetter);
}

std::vector<Neighbour> BestTexts::Sorted() const {
  std::vector<Neighbour> sorted = heap_;
  std::sort(sorted.begin(), sorted.end(), IsBetter);
  return sorted;
}

std::vector<Neighbour> Nearest(VectorIndex& index, const float* query, uint32_t rows, uint32_t measure, size_t top) {
  BestTexts best(top);
  for (uint64_t text = 0; text < index.texts(); ++text) {
    uint32_t count = 0;
    const float* vectors = index.Vectors(text, &count);
    best.Add({text, fovea_result_similarity(measure, query, rows, vectors, count, index.width())});
  }
  return best.Sorted();
}

}  // namespace fovea::tools
