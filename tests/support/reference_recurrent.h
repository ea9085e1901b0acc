// Recurrent cells in plain double loops, in the order of gates of a blob: r, z, n or i, f, g, o, or none.
#ifndef FOVEA_TESTS_SUPPORT_REFERENCE_RECURRENT_H_
#define FOVEA_TESTS_SUPPORT_REFERENCE_RECURRENT_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

namespace fovea::test {

struct ReferenceCell {
  bool lstm = false;
  bool reset_after = true;
  bool hard = false;
  size_t width = 0;
  std::vector<float> weight;  // [gates * width, width]
  std::vector<float> bias;    // [gates * width], or empty
  bool rnn = false;           // one gate, an LSTM's or GRU's sum through tanh or, with `relu`, relu
  bool relu = false;
  bool sees_cell = false;          // lstm: by
  std::vector<float> peepholes{};  // [3, width] of i, f and o

  size_t gates() const { return rnn ? 1 : lstm ? 4 : 3; }
  size_t state_width() const { return lstm ? 2 * width : width; }

  double Gate(double x) const { return hard ? std::clamp(0.2 * x + 0.5, 0.0, 1.0) : 1 / (1 + std::exp(-x)); }
  // Entry `i` of W h + b.
  double Product(size_t i, const std::vector<double>& h) const {
    double sum = bias.empty() ? 0 : bias[i];
    for (size_t k = 0; k < width; ++k) sum += weight[i * width + k] * h[k];
    return sum;
  }

  // `product(i, h)` is entry i of the product of the weights and the state h.
  using ProductOf = std::function<double(size_t, const std::vector<double>&)>;
  std::vector<double> Step(const float* x, const std::vector<double>& state, const ProductOf& product) const {
    const std::vector<double> h(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(width));
    std::vector<double> next(state.size());
    const auto sum = [&](size_t gate, size_t i) { return x[gate * width + i] + product(gate * width + i, h); };
    const auto seen = [&](size_t peephole, size_t i, double c) {
      return sees_cell ? peepholes[peephole * width + i] * c : 0;
    };
    if (lstm) {
      for (size_t i = 0; i < width; ++i) {
        const double old = state[width + i], in = Gate(sum(0, i) + seen(0, i, old));
        const double c = Gate(sum(1, i) + seen(1, i, old)) * old + in * std::tanh(sum(2, i));
        next[width + i] = c;
        next[i] = Gate(sum(3, i) + seen(2, i, c)) * std::tanh(c);
      }
      return next;
    }
    if (rnn) {
      for (size_t i = 0; i < width; ++i) next[i] = relu ? std::max(sum(0, i), 0.0) : std::tanh(sum(0, i));
      return next;
    }
    std::vector<double> reset(width);
    for (size_t i = 0; i < width; ++i) reset[i] = Gate(sum(0, i)) * h[i];
    for (size_t i = 0; i < width; ++i) {
      const size_t at = 2 * width + i;
      const double inner = reset_after ? Gate(sum(0, i)) * product(at, h) : product(at, reset);
      const double z = Gate(sum(1, i)), n = std::tanh(x[at] + inner);
      next[i] = (1 - z) * n + z * h[i];
    }
    return next;
  }
  std::vector<double> Step(const float* x, const std::vector<double>& state) const {
    return Step(x, state, [this](size_t i, const std::vector<double>& h) { return Product(i, h); });
  }
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_REFERENCE_RECURRENT_H_
