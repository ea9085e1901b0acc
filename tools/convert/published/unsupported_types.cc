#include "tools/convert/published/unsupported_types.h"

namespace fovea::tools {
namespace {

struct Unsupported {
  const char* model_types;  // separated by spaces
  const char* why;
};

constexpr Unsupported kUnsupported[] = {
    // Sequence models without attention, or with layers of another kind beside it.
    {"mamba mamba2 falcon_mamba", "a state space model, no attention"},
    {"rwkv rwkv5 rwkv6 rwkv7", "a recurrent network with time mixing, no attention"},
    {"xlstm", "a recurrent network, no attention"},
    {"hyena", "long convolutions, no attention"},
    {"falcon_h1 bamba jamba zamba zamba2 nemotron_h", "state space layers (Mamba) beside attention"},
    {"recurrent_gemma", "gated linear recurrences beside attention"},
    {"qwen3_next qwen3_5 qwen3_5_text qwen3_5_moe kimi_linear",
     "gated delta networks (linear attention) beside attention"},
    {"lfm2_moe", "experts that are chosen by sigmoids with a bias"},
    // Attention with another mechanism.
    {"deepseek_v2 deepseek_v3 deepseek_v32 minicpm3 kimi_k2 glm4_moe_lite",
     "multi-head latent attention (MLA): keys and values are made of a narrow row"},
    {"diffllama", "differences of two attentions"},
    {"nystromformer", "attention that is approximated by landmarks (Nystrom)"},
    {"yoso", "attention that is approximated by hashes with Bernoulli sampling"},
    {"performer", "attention that is approximated by random features"},
    {"convbert", "dynamic convolutions over spans beside attention"},
    {"fnet", "Fourier transforms in place of attention"},
    {"xlnet", "two streams of attention with relative positions of Transformer-XL"},
    {"transfo-xl", "relative positions and memories of Transformer-XL"},
    {"xlm flaubert", "layers of XLM, which are not described"},
    {"ctrl", "layers of CTRL, which are not described"},
    {"nezha", "relative positions that are added to keys and values"},
    {"prophetnet xlm-prophetnet", "several predicting streams of attention"},
    {"lilt", "a second stream of layers over boxes, whose scores are added"},
    {"layoutlmv2", "a picture of the page and relative positions of boxes by a convolutional network"},
    {"markuplm", "embeddings of paths in a document tree (XPath)"},
    {"tapas", "positions in cells, rows and columns of a table"},
    {"canine", "characters that are hashed and downsampled"},
    {"perceiver", "a latent array that attends to its inputs"},
    {"funnel-transformer", "the type is called funnel"},
    {"mra", "attention of several resolutions"},
    {"qdqbert ibert", "integer arithmetic of the original library"},
    // Experts and other parts.
    {"gemma3n gemma3n_text", "alternating updates (AltUp), embeddings for each layer and low-rank residuals (LAuReL)"},
    {"gemma4 gemma4_text", "embeddings for each layer and keys and values that layers share"},
    {"t5gemma t5gemma2", "an encoder-decoder of Gemma, which is not described"},
    {"llama4", "experts that are weighted by sigmoids; its dense text model is llama4_text"},
    {"glm4_moe dots1 ernie4_5_moe hunyuan_v1_moe bailing_moe", "experts that are chosen by scores with a bias"},
    {"phimoe", "experts that are chosen by sparse mixing (SparseMixer)"},
    {"jetmoe", "attention whose heads are experts"},
    {"dbrx", "experts that are stored in one matrix with another order"},
    {"switch_transformers nllb-moe", "experts with a capacity"},
    {"bitnet", "ternary weights, and norms within attention and feed-forward"},
    {"apertus", "the activation xIELU"},
    {"nemotron", "layer norms whose weights are stored with 1 subtracted"},
    {"persimmon fuyu", "layers of Persimmon, which are not described"},
    {"baichuan chatglm qwen xverse aquila", "published with code, which is not described"},
    {"internlm2 exaone", "published with code, which is not described; convert a GGUF file of it"},
    // Texts with pictures or sound.
    {"blip blip-2 instructblip", "cross-attention of texts to pictures"},
    {"git", "texts and pictures in one sequence"},
    {"vilt visual_bert lxmert flava bridgetower", "texts and pictures in one sequence"},
    {"florence2", "an encoder-decoder over the tokens of a picture (DaViT)"},
    {"moondream1", "published with code, which is not described"},
    {"paligemma", "attention in both directions over the prompt"},
    {"mllama", "cross-attention of texts to pictures"},
    {"colpali colqwen2", "an index of pages by the tokens of their pictures"},
    {"siglip2", "pictures of any shape as sequences of patches (NaFlex)"},
    {"clap", "a tower of sound (HTSAT) beside one of texts"},
    // Pictures.
    {"convnext convnextv2 resnet regnet mobilenet_v1 mobilenet_v2 efficientnet bit",
     "a convolutional network, no attention"},
    {"mobilevit mobilevitv2 efficientformer levit cvt pvt pvt_v2 poolformer focalnet hiera mgp-str",
     "convolutions between stages of attention, which are not described"},
    {"vit_mae vit_msn ijepa", "an encoder of a part of the patches, drawn at random"},
    {"videomae timesformer vivit vjepa2", "patches over several pictures (video)"},
    {"detr conditional_detr deformable_detr table-transformer rt_detr rt_detr_v2 d_fine yolos owlvit owlv2 "
     "grounding-dino omdet-turbo",
     "detection of objects: queries for boxes"},
    {"mask2former maskformer oneformer", "segmentation by queries for masks"},
    {"dpt depth_anything zoedepth depth_pro glpn", "depth by a head that fuses several resolutions"},
    {"sam2 sam2_video sam3", "an encoder with several resolutions and a memory of video"},
    {"donut-swin", "an encoder of pages whose decoder is another type"},
    // Sound and series.
    {"speecht5 vits kokoro bark csm dia", "speech synthesis"},
    {"musicgen musicgen_melody", "music of several codebooks at once"},
    {"encodec dac mimi", "a codec of sound, no attention model"},
    {"parakeet_ctc parakeet wav2vec2-conformer", "a Conformer with relative positions"},
    {"moonshine_streaming", "a streaming encoder with a sliding window, which is not described"},
    {"patchtst patchtsmixer timesfm informer autoformer time_series_transformer", "forecasts of series, not texts"},
};

}  // namespace

std::string WhyUnsupported(const std::string& model_type) {
  if (model_type.empty() || model_type.find(' ') != std::string::npos) return "";
  for (const Unsupported& entry : kUnsupported) {
    if ((" " + std::string(entry.model_types) + " ").find(" " + model_type + " ") != std::string::npos)
      return entry.why;
  }
  return "";
}

}  // namespace fovea::tools
