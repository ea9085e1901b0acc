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
  kEmbedding,  // hidden states, and the pooler's output if there is one
  kEncoder,    // the same for the encoder of a model that has a decoder as well
  kBackbone,   // hidden states only, no output yet: another file continues from the last value
  kSequenceClassification,
  kMultipleChoice,     // one score for each pair of a question and a choice
  kNextSentence,       // whether the second text of a pair follows the first
  kQuestionAnswering,  // scores of each token: the answer starts here, ends here
  kTokenClassification,
  kImageClassification,
  kSemanticSegmentation,
  kText,   // embeddings of texts alone, by a model that also has embeddings of images
  kImage,  // and the other way round
  kMaskedLm,
  kCausalLm,            // scores of the next token, for all tokens in one pass; and generation
  kSequenceToSequence,  // the same for a decoder with cross-attention to an encoder
  kAudioClassification,
  kXVector,  // embeddings of speakers
  kCtc,      // scores of characters or blank for each frame of audio (connectionist temporal classification)
};

struct Checkpoint {
  std::string directory;  // empty: the model is not in a directory
  Config config;
  Task task;
  std::string image_size = "";  // "HxW" in place of the configured size
};

// Adds spaces, programs and metadata; description.weights already has the stored tensors.
// choose_architecture.cc declares the function of each line of the list.
using DescribeArchitecture = void (*)(const Checkpoint& checkpoint, Description& description);

// Options for reading a model, in place of the settings of its directory.
struct Reading {
  // "embedding", "encoder", "sequence-classification", "token-classification", "question-answering",
  // "multiple-choice", "next-sentence-prediction", "masked-lm", "image-classification", "semantic-segmentation",
  // "audio-classification", "speaker-verification", "ctc", "text", "image", "causal-lm", "seq2seq-lm".
  std::string task = "";
  // "HxW"; several: a program for each size, the first with the plain name, further ones with their size after it.
  std::vector<std::string> image_sizes = {};
  // The model_type to read the model as: custom code (`auto_map`) and an unknown type are taken to compute the same.
  std::string family = "";
  bool backbone = false;                  // Task::kBackbone
  std::vector<std::string> ignored = {};  // patterns of tensors that are not used (Weights::Ignore)
  std::string adapter = "";               // directory of a LoRA adapter that is merged into the weights
  std::string pooling = "";               // "cls", "mean", "max", "last": ends in sentence_embedding
};

// A directory with config.json, or of sentence-transformers with modules.json.
Description DescribeDirectory(const std::string& directory, const Reading& reading);

// Warns of the unknown keys in the configuration of a part of the model.
void WarnOfUnknown(const Config& config, const std::string& part, Description& description);

// The parts of DescribeDirectory.
Description DescribeTransformer(const std::string& directory, const Reading& reading);
Description DescribeSentenceTransformer(const std::string& directory, const Reading& reading);
// The same for any configuration and weights; `directory` is empty if they are not in one.
using AddWeights = std::function<void(Weights& weights, Findings& findings)>;
Description DescribeModel(const Config& config, const std::string& directory, const AddWeights& add_weights,
                          const Reading& reading);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_ARCHITECTURE_H_
