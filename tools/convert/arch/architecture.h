// From a published model directory to a description: one file per architecture, chosen by `model_type`, listed in
// architecture_list.inc.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_ARCHITECTURE_H_
#define FOVEA_TOOLS_CONVERT_ARCH_ARCHITECTURE_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/convert/arch/config.h"
#include "tools/convert/description.h"

namespace fovea::tools {

enum class Task {
  kEmbedding,  // hidden states, and the pooler's output where there is one
  kEncoder,    // the same of the encoder, whatever else the model has
  kBackbone,   // hidden states only, no output yet: another file goes on from the last value
  kSequenceClassification,
  kTokenClassification,
  kImageClassification,
  kSemanticSegmentation,
  kText,   // embeddings of texts alone, where a model has them of images, too
  kImage,  // and the other way round
  kMaskedLm,
  kCausalLm,            // what each token says about the next one, for all tokens in one pass; and generation
  kSequenceToSequence,  // the same of a decoder that sees what an encoder makes
  kAudioClassification,
  kCtc,  // what each frame of sound says, or nothing (connectionist temporal classification)
};

struct Checkpoint {
  std::string directory;  // empty: there is none
  Config config;
  Task task;
  std::string image_size = "";  // "HxW" in place of the configured one
};

// Adds spaces, programs and metadata; description.weights already has the stored tensors.
// choose_architecture.cc declares the function of each line of the list.
using DescribeArchitecture = void (*)(const Checkpoint& checkpoint, Description& description);

// How a model is read, if not as its directory says.
struct Reading {
  // "embedding", "encoder", "sequence-classification", "token-classification", "masked-lm", "image-classification",
  // "semantic-segmentation", "audio-classification", "ctc", "text", "image", "causal-lm", "seq2seq-lm".
  std::string task = "";
  // Of images, "HxW"; several: a program for each, the first with the plain name, others with their size after it.
  std::vector<std::string> image_sizes = {};
  // The model_type whose file describes it: code of the model's own, or of a type that is not known, is taken to
  // compute the same.
  std::string family = "";
  bool backbone = false;  // hidden states only, see Task
};

// A directory with config.json, or of sentence-transformers with modules.json.
Description DescribeDirectory(const std::string& directory, const Reading& reading);

// Warns of the keys that nobody read in the configuration of a part of the model.
void WarnOfUnknown(const Config& config, const std::string& part, Description& description);

// The parts of DescribeDirectory.
Description DescribeTransformer(const std::string& directory, const Reading& reading);
Description DescribeSentenceTransformer(const std::string& directory, const std::string& family);
// The same of any configuration and weights; `directory` is empty where they lie in none.
using AddWeights = std::function<void(Weights& weights)>;
Description DescribeModel(const Config& config, const std::string& directory, const AddWeights& add_weights,
                          const Reading& reading);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_ARCHITECTURE_H_
