// Converts a published model directory or a model description to a blob, and reports the error of storing its weights.
#ifndef FOVEA_TOOLS_CONVERT_CONVERT_H_
#define FOVEA_TOOLS_CONVERT_CONVERT_H_

#include <stdint.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/dtype.h"
#include "tools/convert/findings.h"
#include "tools/convert/laid_pattern.h"
#include "tools/convert/quantize.h"
#include "tools/convert/samples.h"

namespace fovea {
enum class Products : uint32_t;  // runtime/blob/numbers.h
}

namespace fovea::tools {

struct Description;  // description.h

// Comparison of the blob with f32 weights, keys and products and without --window and the like (unless it is that
// itself): on a few texts, or on many texts of all lengths.
enum class Comparison { kNone, kQuick, kFull };

struct ConvertOptions {
  std::string input;            // a model directory, or a description (a .json file)
  std::string source;           // for a description: directory of its files, searched first
  std::string output;           // path of the blob; empty: none is written
  DType weights = DType::kF32;  // linear layers and embeddings: f32, f16, int8 or int4
  // Instead of `weights`: each weight has the shortest type that keeps this cosine (mixed_precision.h).
  std::optional<double> keep;
  DType keys = DType::kF32;          // KV cache: f32, f16, bf16 or int8
  std::optional<Products> products;  // in attention: f32, bf16, int8 or int16; none: see WEIGHTS.md
  LaidPattern pattern;               // sparse pattern for attention that was trained without it
  std::vector<std::string> pack;     // add weights packed for these targets (tools/model/packed_weights.h)
  bool only_packed = false;          // leave out weights that these targets need only packed
  std::string task;                  // for a model directory, like the next two: see Reading
  std::vector<std::string> image_sizes;
  std::string family;
  std::vector<std::string> ignored;  // patterns of tensors that are not used
  std::string adapter;               // directory of a LoRA adapter that is merged into the weights
  std::string pooling;  // "cls", "mean", "max" or "last": sentence embeddings of a directory without modules
  Comparison compare = Comparison::kQuick;
  bool calibrate = true;  // integer weights
  SampleSources samples;  // for comparison and calibration
};

struct TensorReport {
  std::string name;
  DType type;
  uint32_t rows, width;
  uint64_t bytes;  // rows and scales
  bool fell_back;  // the requested type cannot hold it (StorableType)
  QuantizationError error;
};

// A weight that was rounded for the rows of samples.
struct CalibrationReport {
  std::string weight;
  double bias_change = 0;  // largest change of an element; 0 without a bias to change
};

// The type chosen for a weight.
struct MixedWeight {
  std::string name;
  DType type;
  double int4_loss, int8_loss;  // loss of cosine if only this weight has that type
};
struct MixPoint {
  uint64_t bytes;  // total of all tensors
  double cosine;   // minimum over outputs of the mean over rows
};
struct MixReport {
  double keep = 0;
  std::vector<MixedWeight> weights;
  std::vector<MixPoint> curve;  // mixes tried, by bytes
};

// An output of the stored model compared with f32 weights, over all samples.
struct OutputReport {
  std::string program;
  std::string name;
  double lowest_cosine = 1;  // minimum over rows
  double mean_cosine = 1;    // mean over rows
  // Same with each channel (column) divided by its root mean square over all rows of the f32 model: otherwise a channel
  // that is far larger than the rest dominates the cosine and hides the loss of the rest.
  double lowest_scaled_cosine = 1;
  double mean_scaled_cosine = 1;
  std::optional<uint32_t> worst_sample =
      {};                          // whose row has lowest_scaled_cosine; nothing if rows are not of one sample
  uint32_t worst_channel = 0;      // column with the largest error
  double worst_channel_error = 0;  // RMS of its difference, divided by its RMS in the f32 model
  double max_abs_difference = 0;
  double max_abs = 0;  // in the f32 model
};

// A model with a sparse pattern compared with the same model without it, on a text of random ids.
struct LengthReport {
  uint32_t rows;
  double before_seconds, after_seconds;  // medians of alternating runs
  OutputReport output;                   // the first output
};

struct ConvertReport {
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<TensorReport> tensors;
  std::vector<CalibrationReport> calibrated;
  std::optional<MixReport> mix;
  std::vector<OutputReport> outputs;     // empty if not compared
  std::vector<uint32_t> sample_lengths;  // rows of the samples compared on
  uint32_t workers = 1;                  // workers of the runs
  std::vector<LengthReport> lengths;     // if a pattern was applied and compared
  uint64_t weight_bytes = 0;             // total of all tensors
  uint64_t f32_bytes = 0;                // total if stored as f32
  uint64_t text_bytes = 0;
  uint64_t packed_bytes = 0;
  uint64_t blob_bytes = 0;
  std::vector<std::string> unused;  // stored tensors that are not used
  std::vector<std::string> warnings;
  Findings findings;
  // Why a text model accepts only token ids although no file is invalid: there are no tokenizer files.
  std::string without_text;
};

// Called during the work with the stage ("quantize", "compare", ...), its subject, and the progress.
using Progress = std::function<void(const std::string& stage, const std::string& name, size_t done, size_t total)>;

// Fails with a one-line message that states the location and the fault.
ConvertReport Convert(const ConvertOptions& options, const Progress& progress = {});

// The steps of Convert: the description of an input, and its blob.
Description Describe(const ConvertOptions& options);
std::vector<uint8_t> BuildBlob(const ConvertOptions& options, ConvertReport& report);  // describes, then builds
std::vector<uint8_t> BuildBlob(const Description& description, const ConvertOptions& options, ConvertReport& report,
                               const Progress& progress = {});

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_CONVERT_H_
