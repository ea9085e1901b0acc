// A published model directory: config.json chooses the architecture's file.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/base/suggestion.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/arch/architecture.h"
#include "tools/convert/arch/choose_architecture.h"
#include "tools/convert/arch/image_processor.h"
#include "tools/convert/arch/missing_head.h"
#include "tools/convert/published/adapter.h"
#include "tools/convert/published/config_file.h"
#include "tools/convert/published/custom_code.h"
#include "tools/convert/published/ignored_tensors.h"
#include "tools/convert/published/kinds.h"
#include "tools/convert/published/no_effect.h"
#include "tools/convert/published/plain_encoder.h"
#include "tools/convert/published/quantized.h"
#include "tools/convert/published/text_part.h"
#include "tools/convert/published/timm.h"
#include "tools/convert/published/weight_files.h"
#include "tools/convert/published/wrapper_prefix.h"
#include "tools/convert/variant.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

struct TaskName {
  const char* name;          // on the command line and in metadata
  const char* class_ending;  // end of the class in `architectures` that implies the task; null: none does
  Task task;
};
// The first that fits, as some endings are ends of another.
constexpr TaskName kTasks[] = {
    {"causal-lm", "LMHeadModel", Task::kCausalLm},
    {"seq2seq-lm", "MTModel", Task::kSequenceToSequence},
    {"seq2seq-lm", "EncoderDecoderModel", Task::kSequenceToSequence},
    {"encoder", "EncoderModel", Task::kEncoder},
    {"embedding", "Model", Task::kEmbedding},
    {"sequence-classification", "ForSequenceClassification", Task::kSequenceClassification},
    {"token-classification", "ForTokenClassification", Task::kTokenClassification},
    {"question-answering", "ForQuestionAnswering", Task::kQuestionAnswering},
    {"multiple-choice", "ForMultipleChoice", Task::kMultipleChoice},
    {"next-sentence-prediction", "ForNextSentencePrediction", Task::kNextSentence},
    {"image-classification", "ForImageClassification", Task::kImageClassification},
    {"image-classification", "ForImageClassificationWithTeacher", Task::kImageClassification},
    {"audio-classification", "ForAudioClassification", Task::kAudioClassification},
    {"token-classification", "ForAudioFrameClassification", Task::kTokenClassification},
    {"speaker-verification", "ForXVector", Task::kXVector},
    {"ctc", "ForCTC", Task::kCtc},
    {"semantic-segmentation", "ForSemanticSegmentation", Task::kSemanticSegmentation},
    {"embedding", "ModelWithProjection", Task::kEmbedding},
    {"embedding", "QuestionEncoder", Task::kEmbedding},
    {"embedding", "ContextEncoder", Task::kEmbedding},
    {"text", nullptr, Task::kText},
    {"image", nullptr, Task::kImage},
    {"masked-lm", "ForMaskedLM", Task::kMaskedLm},
    {"masked-lm", "ForPreTraining", Task::kMaskedLm},
    {"causal-lm", "ModelWithLMHead", Task::kCausalLm},
    {"causal-lm", "ForCausalLM", Task::kCausalLm},
    {"seq2seq-lm", "ForConditionalGeneration", Task::kSequenceToSequence},
};

// Empty: the class has another head.
std::optional<Task> ChooseTask(const Config& config, const std::string& wanted) {
  const Json& classes = config.Get("architectures");
  const std::string name =
      classes.is_array() && !classes.empty() && classes[0].is_string() ? classes[0].get<std::string>() : "Model";
  for (const TaskName& task : kTasks) {
    const bool named = task.class_ending != nullptr && EndsWith(name, task.class_ending);
    if (wanted.empty() ? named : wanted == task.name) return task.task;
  }
  if (!wanted.empty()) {
    std::vector<std::string> names;
    for (const TaskName& task : kTasks) names.emplace_back(task.name);
    Fail("task {} is unknown{}; fovea convert --help lists the tasks", wanted, Suggestion(wanted, names));
  }
  if (IsOwnEmbedder(name)) return Task::kEmbedding;
  return std::nullopt;
}

void RefuseOtherWeights(const Config& config) {
  RefuseQuantization(config);
  if (!config.Get("pruned_heads").empty()) Fail("config.json: pruned_heads is not supported");
}

}  // namespace

void WarnOfUnknown(const Config& config, const std::string& part, Description& description) {
  const std::string place = part.empty() ? "" : part + ": ";
  std::string harmless;
  for (const std::string& key : config.Unknown()) {
    if (HasNoEffect(key, config.Get(key))) {
      harmless += (harmless.empty() ? "" : ", ") + key;
    } else {
      description.warnings.push_back(fmt::format("config.json: {}{} is unknown and was ignored", place, key));
    }
  }
  if (!harmless.empty()) description.findings.push_back({Topic::kNoEffect, "config.json: " + place + harmless});
}

namespace {

bool TakesImages(const Description& description) {
  const auto takes = [](const Program& program) {
    return !program.inputs.empty() && program.inputs[0].name == "pixel_values";
  };
  return std::any_of(description.programs.begin(), description.programs.end(), takes);
}

}  // namespace

Description DescribeTransformer(const std::string& directory, const Reading& reading) {
  Findings findings;
  bool text_part = false;
  const Config config = ReadConfigFile(directory, findings, reading.family.empty() ? &text_part : nullptr);
  Reading chosen = reading;
  if (text_part && reading.task == "image") Fail("config.json: the part for pictures of this model is not supported");
  if (text_part && reading.task == "text") chosen.task = "";
  // A model is described several times: as each family it may be, with each beginning of its names dropped, for each
  // image size. Its files are read once.
  std::optional<Weights> stored;
  Findings stored_findings;
  const auto add = [&](Weights& weights, Findings& found) {
    if (!stored) {
      Weights read;
      AddWeightFiles(directory, "", read, stored_findings);
      ReadQuantized(config, directory, read, stored_findings);
      if (text_part) KeepTextPart(read, stored_findings);
      for (const std::string& pattern : reading.ignored) read.Ignore(pattern);
      stored = std::move(read);
    }
    weights = *stored;
    found.insert(found.end(), stored_findings.begin(), stored_findings.end());
  };
  Description description = DescribeUnwrapped(config, directory, add, chosen);
  if (reading.adapter.empty() && HasAdapter(directory)) {
    description.warnings.push_back(fmt::format(
        "adapter_config.json: an adapter is beside the base and was not merged; --adapter {} merges it", directory));
  }
  description.findings.insert(description.findings.begin(), findings.begin(), findings.end());
  return description;
}

Description DescribeModel(const Config& config, const std::string& directory, const AddWeights& add_weights,
                          const Reading& reading) {
  const std::string own_type = config.Text("model_type");
  const std::string model_type = reading.family.empty() ? own_type : reading.family;
  const Architecture* architecture = FindArchitecture(model_type);
  if (architecture == nullptr && !reading.family.empty()) {
    Fail("family {} is unknown; these are known: {}", model_type, KnownArchitectures());
  }
  RefuseOtherWeights(config);

  const auto describe = [&](const Architecture& as, Task task, const std::string& image_size) {
    Description description;
    description.directory = directory;
    add_weights(description.weights, description.findings);
    if (own_type != as.model_type) DropOwnPrefix(own_type, description.weights);
    description.SetMetadata("architecture", as.model_type);
    const Json& padding = config.Get("pad_token_id");
    if (!padding.is_null() && padding != -1) {
      description.SetMetadata("pad_token_id", std::to_string(config.Number("pad_token_id")));
    }
    IgnoreUnusedTensors(as.model_type, description.weights, description.findings);
    const Checkpoint checkpoint = {directory, config.As(as.model_type), task, image_size};
    as.describe(checkpoint, description);
    ReportOwnEmbedder(config, reading, description);
    WarnOfUnknown(checkpoint.config, "", description);
    return description;
  };
  const std::string first_size = reading.image_sizes.empty() ? "" : reading.image_sizes[0];
  if (architecture == nullptr) {
    const std::optional<Task> known = reading.backbone ? Task::kBackbone : ChooseTask(config, reading.task);
    FailUnknown(own_type, known ? "" : " with --task embedding",
                [&](const Architecture& as) { return describe(as, known.value_or(Task::kEmbedding), first_size); });
  }
  const std::optional<Task> chosen = reading.backbone ? Task::kBackbone : ChooseTask(config, reading.task);
  const bool has_code = reading.family.empty() && !config.Get("auto_map").is_null();
  const auto whole = [&] {
    if (!chosen) FailMissingHead(config, [&](Task other) { return describe(*architecture, other, first_size); });
    return describe(*architecture, *chosen, first_size);
  };
  Description description = has_code ? DescribeWithoutCode(config, model_type, whole) : whole();
  const Task task = *chosen;
  const std::vector<std::string>& image_sizes = reading.image_sizes;
  if (!TakesImages(description)) {
    if (!image_sizes.empty()) Fail("{} does not read images; leave out --image-size", model_type);
    return description;
  }
  for (size_t i = 1; i < image_sizes.size(); ++i) {
    if (std::count(image_sizes.begin(), image_sizes.end(), image_sizes[i]) > 1) {
      Fail("image size {} is given twice", image_sizes[i]);
    }
    AddVariant(describe(*architecture, task, image_sizes[i]), image_sizes[i], description);
  }
  // Where texts are written about pictures, they are prepared for the model that reads them.
  const bool single = config.Get("encoder").is_null();
  DescribeImageProcessor(directory, single ? model_type : Config(config, "encoder").Text("model_type", ""),
                         description);
  return description;
}

Description DescribeDirectory(const std::string& directory, const Reading& reading) {
  RefuseOtherKinds(directory);
  if (fs::exists(Utf8Path(directory) / "modules.json") && reading.task.empty() && reading.image_sizes.empty())
    return DescribeSentenceTransformer(directory, reading);
  if (!fs::exists(Utf8Path(directory) / "config.json")) FailWithoutConfig(directory);
  if (IsTimm(directory)) return DescribeTimm(directory, reading);
  if (std::optional<Description> embedder = DescribeEmbedder(directory, reading)) return std::move(*embedder);
  return DescribeTransformer(directory, reading);
}

}  // namespace fovea::tools
