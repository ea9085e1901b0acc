#include "tools/convert/arch/processor_file.h"

#include <filesystem>
#include <map>

#include "tools/base/utf8_path.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

std::string TypeOf(const ProcessorFile& processor, const std::vector<std::string>& keys, const std::string& model_type,
                   const std::map<std::string, const char*>& usual) {
  for (const std::string& key : keys) {
    const std::string type = processor.config().Text(key, "");
    if (!type.empty()) return type;
  }
  const auto found = usual.find(model_type);
  return found == usual.end() ? "" : found->second;
}

}  // namespace

std::optional<ProcessorFile> FindProcessor(const std::string& directory, const std::string& part) {
  const std::string whole = (Utf8Path(directory) / "processor_config.json").string();
  const std::string alone = (Utf8Path(directory) / "preprocessor_config.json").string();
  if (fs::exists(Utf8Path(whole))) {
    const Json json = ReadJson(whole);
    const JsonView view = JsonView(json, whole)[part.c_str()];
    if (!view.IsNull()) return ProcessorFile{view.Object(), view.name()};
  }
  if (!fs::exists(Utf8Path(alone))) return std::nullopt;
  return ProcessorFile{JsonView(ReadJson(alone), alone).Object(), alone};
}

std::string SoundProcessorType(const ProcessorFile& processor, const std::string& model_type) {
  const char* const samples = "Wav2Vec2FeatureExtractor";
  return TypeOf(processor, {"feature_extractor_type"}, model_type,
                {{"audio-spectrogram-transformer", "ASTFeatureExtractor"},
                 {"data2vec-audio", samples},
                 {"hubert", samples},
                 {"moonshine", samples},
                 {"speech_to_text", "Speech2TextFeatureExtractor"},
                 {"unispeech", samples},
                 {"unispeech-sat", samples},
                 {"wav2vec2", samples},
                 {"wav2vec2-bert", "SeamlessM4TFeatureExtractor"},
                 {"wavlm", samples},
                 {"whisper", "WhisperFeatureExtractor"}});
}

std::string ImageProcessorType(const ProcessorFile& processor, const std::string& model_type) {
  return TypeOf(processor, {"image_processor_type", "feature_extractor_type"}, model_type,
                {{"beit", "BeitImageProcessor"},
                 {"clip", "CLIPImageProcessor"},
                 {"clip_vision_model", "CLIPImageProcessor"},
                 {"data2vec-vision", "BeitImageProcessor"},
                 {"deit", "DeiTImageProcessor"},
                 {"dinov2", "BitImageProcessor"},
                 {"dinov2_with_registers", "BitImageProcessor"},
                 {"dinov3_vit", "DINOv3ViTImageProcessorFast"},
                 {"layoutlmv3", "LayoutLMv3ImageProcessor"},
                 {"sam", "SamImageProcessor"},
                 {"sam_vision_model", "SamImageProcessor"},
                 {"segformer", "SegformerImageProcessor"},
                 {"siglip", "SiglipImageProcessor"},
                 {"siglip_vision_model", "SiglipImageProcessor"},
                 {"swin", "ViTImageProcessor"},
                 {"swinv2", "ViTImageProcessor"},
                 {"vit", "ViTImageProcessor"}});
}

}  // namespace fovea::tools
