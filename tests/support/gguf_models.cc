#include "tests/support/gguf_models.h"

#include <math.h>
#include <string.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <sstream>

#include "tools/base/half.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/text/readers.h"
#include "tools/gguf/gguf.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::test {
namespace {

using tools::Json;

struct Renaming {
  const char *library, *gguf;
};

// The first that fits, within names.
std::vector<Renaming> RenamingsOf(const std::string& architecture) {
  if (architecture == "bert") {
    return {{"embeddings.word_embeddings", "token_embd"},
            {"embeddings.position_embeddings", "position_embd"},
            {"embeddings.token_type_embeddings", "token_types"},
            {"embeddings.LayerNorm", "token_embd_norm"},
            {"encoder.layer.", "blk."},
            {"attention.self.query", "attn_q"},
            {"attention.self.key", "attn_k"},
            {"attention.self.value", "attn_v"},
            {"attention.output.dense", "attn_output"},
            {"attention.output.LayerNorm", "attn_output_norm"},
            {"intermediate.dense", "ffn_up"},
            {"output.dense", "ffn_down"},
            {"output.LayerNorm", "layer_output_norm"}};
  }
  if (architecture == "nomic-bert") {
    return {{"embeddings.word_embeddings", "token_embd"},
            {"embeddings.token_type_embeddings", "token_types"},
            {"emb_ln", "token_embd_norm"},
            {"encoder.layers.", "blk."},
            {"attn.Wqkv", "attn_qkv"},
            {"attn.out_proj", "attn_output"},
            {"norm1", "attn_output_norm"},
            {"mlp.fc11", "ffn_up"},
            {"mlp.fc12", "ffn_gate"},
            {"mlp.fc2", "ffn_down"},
            {"norm2", "layer_output_norm"}};
  }
  const bool around = architecture == "gemma2" || architecture == "gemma3";
  return {{"model.embed_tokens", "token_embd"},
          {"model.norm", "output_norm"},
          {"lm_head", "output"},
          {"model.layers.", "blk."},
          {"input_layernorm", "attn_norm"},
          {"self_attn.q_proj", "attn_q"},
          {"self_attn.k_proj", "attn_k"},
          {"self_attn.v_proj", "attn_v"},
          {"self_attn.o_proj", "attn_output"},
          {"self_attn.q_norm", "attn_q_norm"},
          {"self_attn.k_norm", "attn_k_norm"},
          {"pre_feedforward_layernorm", "ffn_norm"},
          {"post_feedforward_layernorm", "post_ffw_norm"},
          {"post_attention_layernorm", around ? "post_attention_norm" : "ffn_norm"},
          {"mlp.gate_proj", "ffn_gate"},
          {"mlp.up_proj", "ffn_up"},
          {"mlp.down_proj", "ffn_down"}};
}

std::string Replaced(std::string name, const std::string& from, const std::string& to) {
  const size_t at = name.find(from);
  return at == std::string::npos ? name : name.replace(at, from.size(), to);
}

std::string GgufName(const std::string& architecture, std::string name) {
  for (const Renaming& r : RenamingsOf(architecture)) name = Replaced(name, r.library, r.gguf);
  return name;
}

uint32_t HeadsOf(const Json& config, const std::string& gguf_name) {
  if (gguf_name.find(".attn_q.") != std::string::npos) return config["num_attention_heads"];
  if (gguf_name.find(".attn_k.") != std::string::npos) return config["num_key_value_heads"];
  return 0;
}

// Row i of the first half of a head, then row i of the second half; or back.
std::vector<float> Paired(const std::vector<float>& values, size_t rows, size_t heads, bool back) {
  const size_t width = values.size() / rows, size = rows / heads;
  std::vector<float> result(values.size());
  for (size_t head = 0; head < heads; ++head) {
    for (size_t i = 0; i < size; ++i) {
      const size_t apart = head * size + i, paired = head * size + (i < size / 2 ? 2 * i : 2 * (i - size / 2) + 1);
      const size_t from = back ? paired : apart, to = back ? apart : paired;
      std::copy_n(values.begin() + static_cast<ptrdiff_t>(from * width), width,
                  result.begin() + static_cast<ptrdiff_t>(to * width));
    }
  }
  return result;
}

bool IsGemmaNorm(const std::string& architecture, const std::string& name) {
  return architecture.rfind("gemma", 0) == 0 && name.find("norm.weight") != std::string::npos;
}

void AddRotary(const Json& config, const std::string& arch, uint32_t size, GgufWriter* writer) {
  writer->Real(arch + "rope.freq_base", config.value("rope_theta", 10000.0f));
  writer->Number(arch + "rope.dimension_count", size);
  const Json scaling = config.value("rope_scaling", Json());
  if (scaling.is_null()) return;
  const std::string type = scaling["rope_type"];
  if (type != "llama3") {
    writer->Text(arch + "rope.scaling.type", type);
    writer->Real(arch + "rope.scaling.factor", scaling["factor"]);
    if (type == "yarn") {
      writer->Number(arch + "rope.scaling.original_context_length", scaling["original_max_position_embeddings"]);
    }
    return;
  }
  const double original = scaling["original_max_position_embeddings"], low = scaling["low_freq_factor"],
               high = scaling["high_freq_factor"], factor = scaling["factor"], theta = config["rope_theta"];
  std::vector<float> factors;
  for (uint32_t i = 0; i < size; i += 2) {
    const double wave = 2 * M_PI * pow(theta, static_cast<double>(i) / size);
    const double smooth = (original / wave - low) / (high - low);
    const double between = 1 / ((1 - smooth) / factor + smooth);
    factors.push_back(static_cast<float>(wave < original / high ? 1 : wave > original / low ? factor : between));
  }
  writer->Add({"rope_freqs.weight", {factors.size()}, 0, GgufBytes(0, factors, 0)});
}

void AddNumbers(const Json& config, const std::string& architecture, GgufWriter* writer) {
  const std::string arch = architecture + ".";
  writer->Text("general.architecture", architecture);
  const auto number = [&](const char* key, const char* name) { writer->Number(arch + key, config[name]); };
  if (architecture == "nomic-bert") {
    number("block_count", "n_layer");
    number("embedding_length", "n_embd");
    number("context_length", "n_positions");
    number("attention.head_count", "n_head");
    number("feed_forward_length", "n_inner");
    writer->Real(arch + "attention.layer_norm_epsilon", config["layer_norm_epsilon"]);
    writer->Real(arch + "rope.freq_base", config["rotary_emb_base"]);
    writer->Flag(arch + "attention.causal", false);
    return;
  }
  number("block_count", "num_hidden_layers");
  number("embedding_length", "hidden_size");
  number("context_length", "max_position_embeddings");
  number("feed_forward_length", "intermediate_size");
  number("attention.head_count", "num_attention_heads");
  writer->Number(arch + "vocab_size", config["vocab_size"]);
  if (config.contains("pad_token_id")) writer->Number("tokenizer.ggml.padding_token_id", config["pad_token_id"]);
  if (architecture == "bert") {
    writer->Real(arch + "attention.layer_norm_epsilon", config["layer_norm_eps"]);
    writer->Flag(arch + "attention.causal", false);
    return;
  }
  number("attention.head_count_kv", "num_key_value_heads");
  number("attention.key_length", "head_dim");
  number("attention.value_length", "head_dim");
  writer->Real(arch + "attention.layer_norm_rms_epsilon", config["rms_norm_eps"]);
  writer->Number("tokenizer.ggml.bos_token_id", config["bos_token_id"]);
  writer->Number("tokenizer.ggml.eos_token_id", config["eos_token_id"]);
  AddRotary(config, arch, config["head_dim"], writer);
  if (config.value("sliding_window", Json()).is_number()) number("attention.sliding_window", "sliding_window");
  for (const char* cap : {"attn_logit_softcapping", "final_logit_softcapping"}) {
    if (config.value(cap, Json()).is_number()) writer->Real(arch + cap, config[cap]);
  }
  if (architecture == "gemma2" || architecture == "gemma3") {
    writer->Real(arch + "attention.scale", 1 / sqrtf(config["query_pre_attn_scalar"]));
  }
  if (architecture == "gemma3") {  // this golden's layers are not every sixth
    std::string list = Raw<uint32_t>(7) + Raw<uint64_t>(config["layer_types"].size());
    for (const Json& type : config["layer_types"]) list += type == "sliding_attention" ? '\1' : '\0';
    writer->Set(arch + "attention.sliding_window_pattern", 9, list);
  }
}

}  // namespace

std::string GgufBytes(uint32_t type, const std::vector<float>& values, uint32_t seed) {
  std::string bytes;
  const auto half = [&](float value) { bytes += Raw(tools::ToHalf(value)); };
  if (type == 0) return {reinterpret_cast<const char*>(values.data()), 4 * values.size()};
  if (type == 1) {
    for (const float value : values) half(value);
  } else if (type == 30) {
    for (const float value : values) bytes += Raw(tools::ToBf16(value));
  } else if (type == 2 || type == 8) {
    for (size_t at = 0; at < values.size(); at += 32) {
      const float* block = &values[at];
      const float largest = *std::max_element(block, block + 32, [](float a, float b) { return fabsf(a) < fabsf(b); });
      const float scale = tools::FromHalf(tools::ToHalf(type == 2 ? largest / -8 : fabsf(largest) / 127));
      half(scale);
      const auto steps = [&](size_t i) { return scale == 0 ? 0 : static_cast<int>(lroundf(block[i] / scale)); };
      if (type == 8) {
        for (size_t i = 0; i < 32; ++i) bytes += static_cast<char>(std::clamp(steps(i), -127, 127));
      } else {
        for (size_t i = 0; i < 16; ++i) {
          bytes += static_cast<char>(std::clamp(steps(i) + 8, 0, 15) | std::clamp(steps(i + 16) + 8, 0, 15) << 4);
        }
      }
    }
  } else {
    std::mt19937 random(seed);
    for (size_t block = 0; block < values.size() / 256; ++block) {
      const size_t at = bytes.size();
      for (int i = 0; i < (type == 12 ? 144 : 210); ++i) bytes += static_cast<char>(random());
      const uint16_t scale = tools::ToHalf(1e-4f), offset = tools::ToHalf(5e-4f);
      memcpy(&bytes[at + (type == 12 ? 0 : 208)], &scale, 2);
      if (type == 12) memcpy(&bytes[at + 2], &offset, 2);
    }
  }
  return bytes;
}

GgufWriter GgufOfDirectory(const std::string& directory, const std::string& architecture, uint32_t type) {
  const Json config = tools::ReadJson(directory + "/config.json");
  const tools::SafetensorsReader reader(directory + "/model.safetensors");
  GgufWriter writer;
  AddNumbers(config, architecture, &writer);
  const size_t together = type == 12 || type == 14 ? 256 : type == 2 || type == 8 ? 32 : 1;
  uint32_t seed = 0;
  for (const auto& [name, tensor] : reader.tensors()) {
    if (name.find("pooler") != std::string::npos || name.find("position_ids") != std::string::npos) continue;
    const std::string stored = GgufName(architecture, name);
    std::vector<float> values = tools::ToFloats(tensor);
    const uint32_t heads = architecture == "llama" ? HeadsOf(config, stored) : 0;
    if (heads != 0) values = Paired(values, tensor.shape[0], heads, false);
    if (IsGemmaNorm(architecture, name)) {
      for (float& value : values) value += 1;
    }
    const bool fits = tensor.shape.size() == 2 && tensor.shape[1] % together == 0 && stored.rfind("blk.", 0) == 0;
    const uint32_t its = fits ? type : 0;
    writer.Add({stored, tensor.shape, its, GgufBytes(its, values, ++seed)});
  }
  return writer;
}

void WriteDirectoryOf(const std::string& gguf_bytes, const std::string& architecture, const std::string& like,
                      const std::string& directory) {
  std::filesystem::create_directories(directory);
  for (const char* file : {"config.json", "generation_config.json"}) {
    if (!std::filesystem::exists(like + "/" + file)) continue;
    const std::string text = tools::ReadFile(like + "/" + file);
    tools::WriteFile(directory + "/" + file, text.data(), text.size());
  }
  const Json config = tools::ReadJson(like + "/config.json");
  const tools::GgufContent content =
      tools::ParseGguf(reinterpret_cast<const uint8_t*>(gguf_bytes.data()), gguf_bytes.size(), "file");
  const tools::SafetensorsReader reader(like + "/model.safetensors");
  tools::SafetensorsWriter writer;
  for (const auto& [name, tensor] : reader.tensors()) {
    const auto found = content.tensors.find(GgufName(architecture, name));
    if (found == content.tensors.end()) continue;
    std::vector<float> values = ToFloats(found->second);
    const uint32_t heads = architecture == "llama" ? HeadsOf(config, found->first) : 0;
    if (heads != 0) values = Paired(values, tensor.shape[0], heads, true);
    writer.AddFloats(name, tensor.shape, values.data());
  }
  writer.Write(directory + "/model.safetensors");
}

void AddBytePairs(const std::string& tokenizer_json, const std::string& pre, GgufWriter* writer) {
  const Json file = tools::ReadJson(tokenizer_json);
  std::vector<std::string> tokens, merges;
  std::vector<int32_t> types;
  const auto put = [&](size_t id, const std::string& text, int32_t type) {
    if (tokens.size() <= id) tokens.resize(id + 1), types.resize(id + 1, 5);
    tokens[id] = text, types[id] = type;
  };
  for (const auto& [piece, id] : file["model"]["vocab"].items()) put(id, piece, 1);
  for (const Json& added : file["added_tokens"]) put(added["id"], added["content"], added["special"] ? 3 : 4);
  for (const Json& merge : file["model"]["merges"]) {
    merges.push_back(merge.is_string() ? merge.get<std::string>()
                                       : merge[0].get<std::string>() + " " + merge[1].get<std::string>());
  }
  writer->Text("tokenizer.ggml.model", "gpt2");
  writer->Text("tokenizer.ggml.pre", pre);
  writer->Texts("tokenizer.ggml.tokens", tokens);
  writer->List("tokenizer.ggml.token_type", 5, types);
  writer->Texts("tokenizer.ggml.merges", merges);
}

void AddSentencePieces(const std::string& model_file, GgufWriter* writer) {
  const tools::TextModel model = tools::ReadSentencePiece(tools::ReadFile(model_file));
  std::vector<std::string> tokens;
  std::vector<float> scores;
  std::vector<int32_t> types;
  for (const tools::TextToken& token : model.tokens) {
    const auto is = [&](uint32_t flag) { return (token.flags & flag) != 0; };
    tokens.push_back(token.piece);
    scores.push_back(static_cast<float>(token.score));
    types.push_back(is(text::kTokenUnknown) ? 2 : is(text::kTokenControl) ? 3 : is(text::kTokenByte) ? 6 : 1);
  }
  for (const tools::AddedToken& added : model.added) {  // with real spaces for the marks
    types[added.id] = 4;
    for (size_t at; (at = tokens[added.id].find("\xe2\x96\x81")) != std::string::npos;) {
      tokens[added.id].replace(at, 3, " ");
    }
  }
  writer->Text("tokenizer.ggml.model", "llama");
  writer->Text("tokenizer.ggml.pre", "default");
  writer->Texts("tokenizer.ggml.tokens", tokens);
  writer->List("tokenizer.ggml.scores", 6, scores);
  writer->List("tokenizer.ggml.token_type", 5, types);
}

void AddWordPieces(const std::string& vocab_txt, GgufWriter* writer) {
  std::vector<std::string> tokens;
  std::vector<int32_t> types;
  for (const std::string& line : tools::LinesOf(tools::ReadFile(vocab_txt), vocab_txt)) {
    const bool control = line == "[PAD]" || line == "[UNK]" || line == "[CLS]" || line == "[SEP]" || line == "[MASK]";
    tokens.push_back(control ? line : line.rfind("##", 0) == 0 ? line.substr(2) : "\xe2\x96\x81" + line);
    types.push_back(control ? 3 : 1);
  }
  const auto id = [&](const char* text) {
    return static_cast<uint32_t>(std::find(tokens.begin(), tokens.end(), text) - tokens.begin());
  };
  writer->Text("tokenizer.ggml.model", "bert");
  writer->Text("tokenizer.ggml.pre", "default");
  writer->Texts("tokenizer.ggml.tokens", tokens);
  writer->List("tokenizer.ggml.token_type", 5, types);
  writer->Number("tokenizer.ggml.unknown_token_id", id("[UNK]"));
  writer->Number("tokenizer.ggml.seperator_token_id", id("[SEP]"));
  writer->Number("tokenizer.ggml.padding_token_id", id("[PAD]"));
  writer->Number("tokenizer.ggml.cls_token_id", id("[CLS]"));
  writer->Number("tokenizer.ggml.mask_token_id", id("[MASK]"));
}

}  // namespace fovea::test
