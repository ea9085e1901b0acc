// Layers in plain double loops, row by row: what programs of several operations are compared with.
#ifndef FOVEA_TESTS_SESSION_PLAIN_H_
#define FOVEA_TESTS_SESSION_PLAIN_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace fovea::test::plain {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

inline Rows RowsOf(const std::vector<float>& values, size_t width) {
  Rows rows;
  for (size_t i = 0; i < values.size(); i += width) {
    rows.emplace_back(values.begin() + static_cast<ptrdiff_t>(i), values.begin() + static_cast<ptrdiff_t>(i + width));
  }
  return rows;
}

inline Rows Part(const Rows& rows, size_t begin, size_t end) {
  return Rows(rows.begin() + static_cast<ptrdiff_t>(begin), rows.begin() + static_cast<ptrdiff_t>(end));
}

inline double Dot(const Row& a, const Row& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

// x w^T; w has a row for each column of the result.
inline Row Linear(const Row& x, const Rows& w) {
  Row y;
  for (const Row& row : w) y.push_back(Dot(x, row));
  return y;
}
inline Rows Linear(const Rows& x, const Rows& w) {
  Rows y;
  for (const Row& row : x) y.push_back(Linear(row, w));
  return y;
}

template <typename F>
Row Each(Row x, F f) {
  for (double& v : x) v = f(v);
  return x;
}
template <typename F>
Row Both(Row x, const Row& y, F f) {
  for (size_t i = 0; i < x.size(); ++i) x[i] = f(x[i], y[i]);
  return x;
}
inline Row Add(const Row& x, const Row& y) {
  return Both(x, y, [](double a, double b) { return a + b; });
}
inline Row Beside(Row x, const Row& y) {
  x.insert(x.end(), y.begin(), y.end());
  return x;
}
inline double Relu(double x) { return x > 0 ? x : 0; }
inline double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// softmax(q k^T / sqrt(width) + bias) v for one query; no keys give zeros.
inline Row Attend(const Row& q, const Rows& k, const Rows& v, const Row& bias = {}, Row* weights = nullptr) {
  Row scores;
  for (size_t i = 0; i < k.size(); ++i) {
    scores.push_back(Dot(q, k[i]) / std::sqrt(static_cast<double>(q.size())) + (bias.empty() ? 0 : bias[i]));
  }
  double most = -INFINITY, sum = 0;
  for (const double score : scores) most = std::max(most, score);
  for (double& score : scores) sum += score = std::exp(score - most);
  Row y(v.empty() ? q.size() : v[0].size(), 0.0);
  for (size_t i = 0; i < k.size(); ++i) {
    for (size_t c = 0; c < y.size(); ++c) y[c] += scores[i] / sum * v[i][c];
  }
  if (weights != nullptr) *weights = Each(scores, [sum](double s) { return s / sum; });
  return y;
}

inline Row Mean(const Rows& rows, size_t width) {
  Row mean(width, 0.0);
  for (const Row& row : rows)
    mean = Add(mean, Each(row, [&](double v) { return v / static_cast<double>(rows.size()); }));
  return mean;
}

// The `most` best, in their order.
inline std::vector<size_t> Best(const Row& scores, size_t most) {
  std::vector<size_t> rows(scores.size());
  std::iota(rows.begin(), rows.end(), size_t{0});
  std::stable_sort(rows.begin(), rows.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  rows.resize(std::min(rows.size(), most));
  std::sort(rows.begin(), rows.end());
  return rows;
}
inline Rows Take(const Rows& rows, const std::vector<size_t>& which) {
  Rows taken;
  for (const size_t i : which) taken.push_back(rows[i]);
  return taken;
}

// |found - expected| <= tolerance * the largest |expected|, everywhere.
inline void ExpectRows(const std::vector<float>& found, const Rows& expected, double tolerance, const char* what = "") {
  Row flat;
  for (const Row& row : expected) flat = Beside(flat, row);
  ASSERT_EQ(found.size(), flat.size()) << what;
  double largest = 0;
  for (const double e : flat) largest = std::max(largest, std::fabs(e));
  for (size_t i = 0; i < flat.size(); ++i) {
    ASSERT_NEAR(found[i], flat[i], tolerance * largest) << what << " entry " << i;
  }
}

}  // namespace fovea::test::plain

#endif  // FOVEA_TESTS_SESSION_PLAIN_H_
