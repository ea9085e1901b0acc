// A published model directory: config.json chooses the architecture's file.
#include <algorithm>
#include <filesystem>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/convert/arch/architecture.h"
#include "tools/convert/arch/image_processor.h"
#include "tools/convert/variant.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

struct Entry {
  const char* model_type;
  DescribeArchitecture describe;
};
constexpr Entry kArchitectures[] = {
#define FOVEA_ARCHITECTURE(model_type, Name) {model_type, Describe##Name},
#include "tools/convert/arch/architecture_list.inc"
#undef FOVEA_ARCHITECTURE
};

struct TaskName {
  const char* name;          // on the command line and in metadata
  const char* class_ending;  // of the class in `architectures`, if that says it
  Task task;
};
// The first that fits: some endings end with others.
constexpr TaskName kTasks[] = {
    {"causal-lm", "LMHeadModel", Task::kCausalLm},
    {"seq2seq-lm", "MTModel", Task::kSequenceToSequence},
    {"seq2seq-lm", "EncoderDecoderModel", Task::kSequenceToSequence},
    {"encoder", "EncoderModel", Task::kEncoder},
    {"embedding", "Model", Task::kEmbedding},
    {"sequence-classification", "ForSequenceClassification", Task::kSequenceClassification},
    {"token-classification", "ForTokenClassification", Task::kTokenClassification},
    {"image-classification", "ForImageClassification", Task::kImageClassification},
    {"image-classification", "ForImageClassificationWithTeacher", Task::kImageClassification},
    {"audio-classification", "ForAudioClassification", Task::kAudioClassification},
    {"token-classification", "ForAudioFrameClassification", Task::kTokenClassification},
    {"ctc", "ForCTC", Task::kCtc},
    {"semantic-segmentation", "ForSemanticSegmentation", Task::kSemanticSegmentation},
    {"embedding", "ModelWithProjection", Task::kEmbedding},
    {"text", nullptr, Task::kText},
    {"image", nullptr, Task::kImage},
    {"masked-lm", "ForMaskedLM", Task::kMaskedLm},
    {"masked-lm", "ForPreTraining", Task::kMaskedLm},
    {"causal-lm", "ModelWithLMHead", Task::kCausalLm},
    {"causal-lm", "ForCausalLM", Task::kCausalLm},
    {"seq2seq-lm", "ForConditionalGeneration", Task::kSequenceToSequence},
};

Task ChooseTask(const Config& config, const std::string& wanted) {
  const Json& classes = config.Get("architectures");
  const std::string name =
      classes.is_array() && !classes.empty() && classes[0].is_string() ? classes[0].get<std::string>() : "Model";
  for (const TaskName& task : kTasks) {
    const bool named = task.class_ending != nullptr && EndsWith(name, task.class_ending);
    if (wanted.empty() ? named : wanted == task.name) return task.task;
  }
  if (!wanted.empty()) Fail("there is no task {}", wanted);
  if (config.Flag("is_encoder_decoder", false)) {
    Fail("config.json: {} has a decoder, which is not supported; --task encoder converts the encoder alone", name);
  }
  Fail("config.json: head {} is not supported; --task embedding converts the encoder without it", name);
}

std::string WeightsFile(const std::string& directory) {
  for (const char* name : {"model.safetensors", "model.safetensors.index.json"}) {
    if (fs::exists(fs::path(directory) / name)) return fs::path(directory) / name;
  }
  if (fs::exists(fs::path(directory) / "pytorch_model.bin")) {
    Fail("{}: has pytorch_model.bin only; save it as model.safetensors first", directory);
  }
  Fail("{}: has no model.safetensors", directory);
}

}  // namespace

void WarnOfUnknown(const Config& config, const std::string& part, Description& description) {
  for (const std::string& key : config.Unknown()) {
    description.warnings.push_back(fmt::format("config.json: {}{}{} is not known and was left out of account", part,
                                               part.empty() ? "" : ": ", key));
  }
}

namespace {

bool TakesImages(const Description& description) {
  const auto takes = [](const Program& program) {
    return !program.inputs.empty() && program.inputs[0].name == "pixel_values";
  };
  return std::any_of(description.programs.begin(), description.programs.end(), takes);
}

}  // namespace

Description DescribeTransformer(const std::string& directory, const std::string& task, bool backbone,
                                const std::vector<std::string>& image_sizes) {
  const Config config((fs::path(directory) / "config.json").string());
  return DescribeModel(
      config, directory, [&](Weights& weights) { weights.AddFile(WeightsFile(directory)); }, task, backbone,
      image_sizes);
}

Description DescribeModel(const Config& config, const std::string& directory, const AddWeights& add_weights,
                          const std::string& task, bool backbone, const std::vector<std::string>& image_sizes) {
  const std::string model_type = config.Text("model_type");
  const auto found = std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                                  [&](const Entry& entry) { return model_type == entry.model_type; });
  if (found == std::end(kArchitectures)) {
    std::string known;
    for (const Entry& entry : kArchitectures) known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.model_type);
    Fail("config.json: model_type {} is not supported; these are: {}", model_type, known);
  }
  // Nomic BERT was published with code of its own, which its architecture describes.
  if (!config.Get("auto_map").is_null() && model_type != "nomic_bert") Fail("config.json: auto_map is not supported");
  // Architectures find weights in blocks of MXFP4 under other names, or do not find them.
  const Json& quantization = config.Get("quantization_config");
  const bool blocks = quantization.is_object() && quantization.value("quant_method", Json()) == "mxfp4";
  if (!quantization.is_null() && !blocks) Fail("config.json: quantization_config is not supported");
  if (!config.Get("pruned_heads").empty()) Fail("config.json: pruned_heads is not supported");

  Description empty;
  empty.directory = directory;
  add_weights(empty.weights);
  empty.SetMetadata("architecture", model_type);
  const Json& padding = config.Get("pad_token_id");
  if (!padding.is_null() && padding != -1) {
    empty.SetMetadata("pad_token_id", std::to_string(config.Number("pad_token_id")));
  }
  const Task chosen = backbone ? Task::kBackbone : ChooseTask(config, task);
  const auto describe = [&](const std::string& image_size) {
    Description description = empty;
    const Checkpoint checkpoint = {directory, config, chosen, image_size};
    found->describe(checkpoint, description);
    WarnOfUnknown(checkpoint.config, "", description);
    return description;
  };
  Description description = describe(image_sizes.empty() ? "" : image_sizes[0]);
  if (!TakesImages(description)) {
    if (!image_sizes.empty()) Fail("{} takes no images that could have a size", model_type);
    return description;
  }
  for (size_t i = 1; i < image_sizes.size(); ++i) {
    if (std::count(image_sizes.begin(), image_sizes.end(), image_sizes[i]) > 1) {
      Fail("image size {} is given twice", image_sizes[i]);
    }
    AddVariant(describe(image_sizes[i]), image_sizes[i], description);
  }
  DescribeImageProcessor(directory, description);
  return description;
}

Description DescribeDirectory(const std::string& directory, const std::string& task,
                              const std::vector<std::string>& image_sizes) {
  if (fs::exists(fs::path(directory) / "modules.json") && task.empty() && image_sizes.empty())
    return DescribeSentenceTransformer(directory);
  if (!fs::exists(fs::path(directory) / "config.json")) Fail("{}: has no config.json", directory);
  return DescribeTransformer(directory, task, false, image_sizes);
}

}  // namespace fovea::tools
