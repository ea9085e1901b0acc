// From a published model directory or a model description to a blob, and what storing its weights so cost.
#ifndef FOVEA_TOOLS_CONVERT_CONVERT_H_
#define FOVEA_TOOLS_CONVERT_CONVERT_H_

#include <stdint.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/dtype.h"
#include "tools/convert/laid_pattern.h"
#include "tools/convert/quantize.h"
#include "tools/convert/samples.h"

namespace fovea::tools {

struct Description;  // description.h

// How the blob is run against one with f32 weights, keys and products and no pattern laid over it, unless it is that
// itself: on a few texts, or on many of all lengths.
enum class Comparison { kNone, kQuick, kFull };

struct ConvertOptions {
  std::string input;            // a model directory, or a description (a .json file)
  std::string source;           // of a description: where its files lie, if not beside it
  std::string output;           // the blob's file; empty: none is written
  DType weights = DType::kF32;  // of linear layers and embeddings: f32, f16, int8 or int4
  // Each of these has the type that keeps this cosine with the fewest bytes instead (mixed_precision.h).
  std::optional<double> keep;
  DType keys = DType::kF32;       // of keys and values: f32, f16, bf16 or int8
  DType products = DType::kF32;   // of attention: f32, bf16 or int8
  LaidPattern pattern;            // over attention that was trained without it
  std::vector<std::string> pack;  // add weights packed for these targets (tools/common/packed.h)
  std::string task;               // of a model directory, as the next two: see Reading
  std::vector<std::string> image_sizes;
  std::string family;
  Comparison compare = Comparison::kQuick;
  bool calibrate = true;  // integer weights
  SampleSources samples;  // to compare and calibrate on
};

struct TensorReport {
  std::string name;
  DType type;
  uint32_t rows, width;
  uint64_t bytes;  // rows and scales
  bool fell_back;  // not of the type that was asked for, which cannot hold it (StorableType)
  QuantizationError error;
};

// A weight rounded with regard to the rows of samples.
struct CalibrationReport {
  std::string weight;
  double bias_change = 0;  // the largest of an element; 0 where there is no bias to change
};

// What types were found for weights.
struct MixedWeight {
  std::string name;
  DType type;
  double int4_loss, int8_loss;  // of cosine, where this weight alone is of that type
};
struct MixPoint {
  uint64_t bytes;  // of all tensors
  double cosine;   // the least mean of an output's rows
};
struct MixReport {
  double keep = 0;
  std::vector<MixedWeight> weights;
  std::vector<MixPoint> curve;  // mixes that were tried, by bytes
};

// An output of the stored model against the same model with f32 weights, over all samples.
struct OutputReport {
  std::string program;
  std::string name;
  double lowest_cosine = 1;  // of a row
  double mean_cosine = 1;    // of all rows
  // The same with each channel (a number of every row) divided by its root mean square over all rows of the f32 model:
  // a channel that is far larger than the rest decides a plain cosine alone and hides what the rest lost.
  double lowest_scaled_cosine = 1;
  double mean_scaled_cosine = 1;
  double max_abs_difference = 0;
  double max_abs = 0;  // of the f32 model
};

// A model with a pattern laid over it against the same one without, over a text of random ids.
struct LengthReport {
  uint32_t rows;
  double before_seconds, after_seconds;  // medians of runs in turns
  OutputReport output;                   // the first one
};

struct ConvertReport {
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<TensorReport> tensors;
  std::vector<CalibrationReport> calibrated;
  std::optional<MixReport> mix;
  std::vector<OutputReport> outputs;     // empty if not compared
  std::vector<uint32_t> sample_lengths;  // rows of the samples compared on
  uint32_t workers = 1;                  // of the runs
  std::vector<LengthReport> lengths;     // if a pattern was laid over it, and it was compared
  uint64_t weight_bytes = 0;             // of all tensors
  uint64_t f32_bytes = 0;                // that they would take as f32
  uint64_t text_bytes = 0;
  uint64_t packed_bytes = 0;
  uint64_t blob_bytes = 0;
  std::vector<std::string> unused;  // stored tensors that the blob does not need
  std::vector<std::string> warnings;
  // Why a model of texts takes token ids only though nothing is wrong with its files: there are none for the tokenizer.
  std::string without_text;
};

// Called as work goes on: what is done ("quantize", "compare", ..), on what, and how far it is.
using Progress = std::function<void(const std::string& stage, const std::string& name, size_t done, size_t total)>;

// Fails with one line that says where and what.
ConvertReport Convert(const ConvertOptions& options, const Progress& progress = {});

// The parts of Convert: the description that an input stands for, and its blob.
Description Describe(const ConvertOptions& options);
std::vector<uint8_t> BuildBlob(const ConvertOptions& options, ConvertReport& report);  // of what they describe
std::vector<uint8_t> BuildBlob(const Description& description, const ConvertOptions& options, ConvertReport& report,
                               const Progress& progress = {});

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_CONVERT_H_
