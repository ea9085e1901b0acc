// Runs a program of a blob as plainly as possible. Codes and keys are listed in op_list.inc and attribute_list.inc.
#include "tests/convert/reference_run.h"

#include <string.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace fovea::test {
namespace {

using Rows = std::vector<double>;

double Activate(uint32_t kind, double x) {
  switch (kind) {
    case 0:
      return x;
    case 1:
      return x > 0 ? x : 0;
    case 2:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case 3:
      return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    case 4:
      return x / (1 + std::exp(-x));
    case 5:
      return std::tanh(x);
    case 6:
      return 1 / (1 + std::exp(-x));
    case 9:
      return x / (1 + std::exp(-1.702 * x));
    case 10:
      return std::log(std::max(x, 0x1p-126));
    default:
      throw std::runtime_error("no such activation");
  }
}

class Run {
 public:
  Run(const ReadBlob& blob, const std::map<std::string, Rows>& inputs, uint32_t rows)
      : blob_(blob), program_(blob.programs.at(0)), values_(program_.values.size()) {
    for (const ReadSpace& space : blob.spaces) {
      rows_.push_back(RowsOf(space, rows));
    }
    for (size_t i = 0; i < program_.values.size(); ++i) {
      if (program_.values[i].role == 1) values_[i] = inputs.at(program_.values[i].name);
    }
  }

  ReferenceRun Go() {
    for (const ReadOperation& operation : program_.operations) values_[operation.output] = Compute(operation);
    for (size_t i = 0; i < values_.size(); ++i) result_.values[program_.values[i].name] = values_[i];
    return std::move(result_);
  }

 private:
  uint32_t RowsOf(const ReadSpace& space, uint32_t rows) const {
    switch (space.kind) {
      case 0:
        return space.parent == kAbsent ? 1 : rows;
      case 1:
        return rows_.at(space.source) + space.extra;
      case 2:
        return rows_.at(space.parent) * space.extra;
      case 4:
        return (rows_.at(space.source) + space.extra - 1) / space.extra;
      default:
        throw std::runtime_error("the reference does not know this kind of space");
    }
  }
  const Rows& In(const ReadOperation& op, size_t i) const { return values_.at(op.inputs.at(i)); }
  uint32_t Width(const ReadOperation& op, size_t i) const { return program_.values.at(op.inputs.at(i)).width; }
  uint32_t RowsIn(const ReadOperation& op, size_t i) const {
    return rows_.at(program_.values.at(op.inputs.at(i)).space);
  }
  const ReadTensor* Tensor(const ReadOperation& op, size_t i) const {
    return i < op.tensors.size() && op.tensors[i] != kAbsent ? &blob_.tensors.at(op.tensors[i]) : nullptr;
  }
  static uint32_t U32(const ReadOperation& op, uint32_t key, uint32_t absent) {
    const auto found = op.attributes.find(key);
    return found == op.attributes.end() ? absent : found->second;
  }
  static double F32(const ReadOperation& op, uint32_t key, double absent) {
    const auto found = op.attributes.find(key);
    if (found == op.attributes.end()) return absent;
    float value;
    memcpy(&value, &found->second, 4);
    return value;
  }

  Rows Compute(const ReadOperation& op) {
    const uint32_t width = program_.values.at(op.output).width;
    const uint32_t rows = rows_.at(program_.values.at(op.output).space);
    Rows out(size_t{rows} * width);
    switch (op.code) {
      case 1:  // embed
        for (size_t r = 0; r < rows; ++r) {
          for (size_t t = 0; t < op.inputs.size(); ++t) {
            const ReadTensor& table = *Tensor(op, t);
            const auto id = static_cast<size_t>(In(op, t)[r]);
            for (size_t c = 0; c < width; ++c) out[r * width + c] += F32(op, 6, 1) * table.values.at(id * width + c);
          }
        }
        return out;
      case 2:  // position
        for (size_t i = 0; i < out.size(); ++i) {
          out[i] = In(op, 0)[i] + Tensor(op, 0)->values.at(i + size_t{U32(op, 10, 0)} * width);
        }
        return out;
      case 3: {  // linear
        const size_t from = Width(op, 0);
        for (size_t r = 0; r < rows; ++r) {
          for (size_t c = 0; c < width; ++c) {
            double sum = Tensor(op, 1) == nullptr ? 0 : Tensor(op, 1)->values[c];
            for (size_t i = 0; i < from; ++i) sum += In(op, 0)[r * from + i] * Tensor(op, 0)->values[c * from + i];
            out[r * width + c] = Activate(U32(op, 1, 0), sum);
          }
        }
        return out;
      }
      case 4: {  // norm
        const size_t part = width / U32(op, 4, 1);
        for (size_t at = 0; at < out.size(); at += part) Norm(op, In(op, 0).data() + at, part, out.data() + at);
        return out;
      }
      case 5:  // add
        for (size_t i = 0; i < out.size(); ++i) out[i] = In(op, 0)[i] + In(op, 1)[i];
        return out;
      case 22:  // concat
        for (size_t r = 0, at = 0; r < rows; ++r) {
          for (size_t i = 0; i < op.inputs.size(); ++i) {
            for (size_t c = 0; c < Width(op, i); ++c) out[at++] = In(op, i)[r * Width(op, i) + c];
          }
        }
        return out;
      case 6:  // activate
        for (size_t i = 0; i < out.size(); ++i) {
          out[i] = Activate(U32(op, 1, 0), std::max(In(op, 0)[i], F32(op, 105, -INFINITY)));
        }
        return out;
      case 7:  // gate
        for (size_t i = 0; i < out.size(); ++i) out[i] = Activate(U32(op, 1, 0), In(op, 0)[i]) * In(op, 1)[i];
        return out;
      case 8:
        Attend(op, out);
        return out;
      case 9: {  // rotate
        if (U32(op, 11, 0) != 0) throw std::runtime_error("the reference rotates halves only");
        const ReadTensor *table = Tensor(op, 0), *frequencies = Tensor(op, 1);
        const size_t heads = U32(op, 4, 1), head = width / heads;
        const size_t half = table != nullptr ? table->width / 2 : frequencies->width;
        out = In(op, 0);
        for (size_t at = 0; at < out.size(); at += head) {
          const size_t position = U32(op, 10, 0) + at / width;
          for (size_t i = 0; i < half; ++i) {
            const float angle = table != nullptr ? 0 : static_cast<float>(position) * frequencies->values.at(i);
            const double c = table != nullptr ? table->values.at(position * 2 * half + i) : std::cos(double{angle});
            const double s =
                table != nullptr ? table->values.at((position * 2 + 1) * half + i) : std::sin(double{angle});
            const double a = out[at + i], b = out[at + half + i];
            out[at + i] = a * c - b * s;
            out[at + half + i] = b * c + a * s;
          }
        }
        return out;
      }
      case 10:  // pool
        for (size_t c = 0; c < width; ++c) {
          const size_t count = RowsIn(op, 0);
          double sum = 0, most = -INFINITY, rising = 0;
          for (size_t r = 0; r < count; ++r) {
            sum += In(op, 0)[r * width + c];
            most = std::max(most, In(op, 0)[r * width + c]);
            rising += In(op, 0)[r * width + c] * static_cast<double>(r + 1);
          }
          const double n = static_cast<double>(count);
          const double pooled[] = {In(op, 0)[c], In(op, 0)[(count - 1) * width + c], sum / n, most, sum / std::sqrt(n),
                                   sum,          rising / (n * (n + 1) / 2)};
          if (U32(op, 2, 0) >= std::size(pooled)) throw std::runtime_error("the reference does not pool so");
          out[c] = pooled[U32(op, 2, 0)];
        }
        return out;
      case 11:  // normalize
        for (size_t r = 0; r < rows; ++r) {
          double sum = 0;
          for (size_t c = 0; c < width; ++c) sum += In(op, 0)[r * width + c] * In(op, 0)[r * width + c];
          const double epsilon = F32(op, 3, 0);
          const double norm =
              U32(op, 13, 0) == 1 ? std::sqrt(std::max(sum, epsilon)) : std::max(std::sqrt(sum), epsilon);
          for (size_t c = 0; c < width; ++c) out[r * width + c] = In(op, 0)[r * width + c] / norm;
        }
        return out;
      case 14: {  // prepend
        const std::vector<float>& front = Tensor(op, 0)->values;
        std::copy(front.begin(), front.end(), out.begin());
        std::copy(In(op, 0).begin(), In(op, 0).end(), out.begin() + static_cast<ptrdiff_t>(front.size()));
        return out;
      }
      case 19: {  // unfold
        const auto from = static_cast<int64_t>(Width(op, 0)), count = static_cast<int64_t>(RowsIn(op, 0));
        if (rows != count) throw std::runtime_error("the reference unfolds every row");
        for (size_t i = 0; i < out.size(); ++i) {
          const auto row = static_cast<int64_t>(i / width), column = static_cast<int64_t>(i % width);
          const int64_t source = row + column / from - int64_t{U32(op, 40, 0)};
          if (source >= 0 && source < count) out[i] = In(op, 0)[static_cast<size_t>(source * from + column % from)];
        }
        return out;
      }
      case 34:
        Transform(op, out);
        return out;
      case 37: {  // convolve
        const ReadTensor &weights = *Tensor(op, 0), *bias = Tensor(op, 1);
        const auto before = static_cast<int64_t>(weights.rows) - 1 - int64_t{U32(op, 41, 0)};
        for (size_t i = 0; i < out.size(); ++i) {
          if (bias != nullptr) out[i] = bias->values[i % width];
          for (size_t tap = 0; tap < weights.rows; ++tap) {
            const int64_t row = static_cast<int64_t>(i / width + tap) - before;
            if (row < 0 || row >= static_cast<int64_t>(rows)) continue;
            out[i] += weights.values[tap * width + i % width] * In(op, 0)[static_cast<size_t>(row) * width + i % width];
          }
        }
        return out;
      }
      default:
        throw std::runtime_error("the reference does not know this operation");
    }
  }

  // Magnitudes of frames from the first sample on, by the definition.
  void Transform(const ReadOperation& op, Rows& out) const {
    const Rows& x = In(op, 0);
    const size_t bins = program_.values.at(op.output).width, hop = U32(op, 100, 0), length = Tensor(op, 1)->width;
    const size_t size = Tensor(op, 0)->width;
    for (const uint32_t key : {40u, 101u, 102u, 103u, 104u}) {
      if (U32(op, key, 0) != 0) throw std::runtime_error("the reference knows plain magnitudes only");
    }
    for (size_t i = 0; i < out.size(); ++i) {
      double re = 0, im = 0;
      for (size_t k = 0; k < length; ++k) {
        const size_t at = i / bins * hop + k;
        const double sample = at < x.size() ? x[at] * Tensor(op, 1)->values[k] : 0;
        const double angle = 2 * M_PI * static_cast<double>(i % bins * k % size) / static_cast<double>(size);
        re += sample * std::cos(angle);
        im += sample * std::sin(angle);
      }
      out[i] = std::hypot(re, im);
    }
  }

  void Norm(const ReadOperation& op, const double* x, size_t width, double* y) const {
    const bool rms = U32(op, 2, 0) == 1;
    double mean = 0, variance = 0;
    for (size_t c = 0; c < width && !rms; ++c) mean += x[c] / static_cast<double>(width);
    for (size_t c = 0; c < width; ++c) variance += (x[c] - mean) * (x[c] - mean) / static_cast<double>(width);
    for (size_t c = 0; c < width; ++c) {
      y[c] = (x[c] - mean) / std::sqrt(variance + F32(op, 3, 0)) * (Tensor(op, 0)->values.at(c) + F32(op, 12, 0));
      if (Tensor(op, 1) != nullptr) y[c] += Tensor(op, 1)->values.at(c);
    }
  }

  void Attend(const ReadOperation& op, Rows& out) {
    const size_t heads = U32(op, 4, 1), queries = RowsIn(op, 0), keys = RowsIn(op, 1);
    const size_t kv_heads = U32(op, 5, static_cast<uint32_t>(heads)), group = heads / kv_heads;
    const size_t d_k = Width(op, 0) / heads, d_v = Width(op, 2) / kv_heads;
    const bool window = U32(op, 7, 0) == 1;
    // 64 bits even where size_t has 32: a row number is added to kAbsent, which means no end.
    const uint64_t left = window ? U32(op, 8, kAbsent) : keys, right = window ? U32(op, 9, kAbsent) : keys;
    const ReadTensor* bias = Tensor(op, 0);
    Rows& weights = result_.weights[op.name];
    for (size_t h = 0; h < heads; ++h) {
      for (size_t i = 0; i < queries; ++i) {
        Rows row(keys);
        double most = -INFINITY, sum = 0;
        for (size_t j = 0; j < keys; ++j) {
          double score = 0;
          for (size_t c = 0; c < d_k; ++c)
            score += In(op, 0)[(i * heads + h) * d_k + c] * In(op, 1)[(j * kv_heads + h / group) * d_k + c];
          if (Tensor(op, 7) != nullptr) score += Relative(op, h, i, j);
          row[j] = score * F32(op, 6, 1 / std::sqrt(static_cast<double>(d_k)));
          if (bias != nullptr) {
            const auto reach = static_cast<int64_t>(bias->width / 2);
            const int64_t distance = std::clamp(static_cast<int64_t>(j) - static_cast<int64_t>(i), -reach, reach);
            row[j] += bias->values.at(h * bias->width + static_cast<size_t>(distance + reach));
          }
          if (Tensor(op, 8) != nullptr) {
            row[j] += Tensor(op, 8)->values.at(h) * (static_cast<double>(j) - static_cast<double>(i));
          }
          if (j + left < i || j > i + right) row[j] = -INFINITY;
          most = std::max(most, row[j]);
        }
        for (double& weight : row) sum += weight = std::exp(weight - most);
        for (size_t j = 0; j < keys; ++j) {
          row[j] /= sum;
          for (size_t c = 0; c < d_v; ++c)
            out[(i * heads + h) * d_v + c] += row[j] * In(op, 2)[(j * kv_heads + h / group) * d_v + c];
        }
        weights.insert(weights.end(), row.begin(), row.end());
      }
    }
  }

  // Term that the distance of query i and key j adds to their product: the query times a row of one table plus the key
  // times a row of another, both for this head and the distance's bucket.
  double Relative(const ReadOperation& op, size_t h, size_t i, size_t j) const {
    const ReadTensor& buckets = *Tensor(op, 7);
    const auto reach = static_cast<int64_t>(buckets.width / 2);
    const int64_t distance = std::clamp(static_cast<int64_t>(j) - static_cast<int64_t>(i), -reach, reach);
    const auto bucket = static_cast<size_t>(buckets.values.at(static_cast<size_t>(distance + reach)));
    const size_t heads = U32(op, 4, 1), width = Width(op, 0), d_k = width / heads;
    double sum = 0;
    for (const bool of_query : {true, false}) {
      const ReadTensor* table = Tensor(op, of_query ? 5 : 6);
      if (table == nullptr) continue;
      const double* x = In(op, of_query ? 0 : 1).data() + (of_query ? i : j) * width + h * d_k;
      const float* row = &table->values.at((h * (table->rows / heads) + bucket) * d_k);
      for (size_t c = 0; c < d_k; ++c) sum += x[c] * row[c];
    }
    return sum;
  }

  const ReadBlob& blob_;
  const ReadProgram& program_;
  std::vector<uint32_t> rows_;
  std::vector<Rows> values_;
  ReferenceRun result_;
};

}  // namespace

ReferenceRun RunReference(const ReadBlob& blob, const std::map<std::string, std::vector<double>>& inputs,
                          uint32_t rows) {
  return Run(blob, inputs, rows).Go();
}

}  // namespace fovea::test
