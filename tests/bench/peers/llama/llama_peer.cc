// llama.cpp as one of the programs that take turns.
//   llama_peer GGUF THREADS ROWS TEXT FLASH    runs of up to ROWS tokens, texts of up to TEXT; FLASH: 0 or 1
#include <llama.h>

#include "../serve.h"

namespace {

class Peer {
 public:
  Peer(const char* path, int threads, uint32_t rows, uint32_t text, bool flash) {
    model_ = llama_model_load_from_file(path, llama_model_default_params());
    if (model_ == nullptr) throw std::runtime_error(std::string("cannot load ") + path);
    llama_context_params options = llama_context_default_params();
    options.n_ctx = text;
    options.n_batch = options.n_ubatch = rows;
    options.n_threads = options.n_threads_batch = threads;
    options.flash_attn_type = flash ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
    context_ = llama_init_from_model(model_, options);
    if (context_ == nullptr) throw std::runtime_error("cannot make a context");
    width_ = static_cast<size_t>(llama_vocab_n_tokens(llama_model_get_vocab(model_)));
  }

  std::string Name() const { return "llama.cpp"; }
  void Reset() { llama_memory_clear(llama_get_memory(context_), false); }
  void Run(std::vector<int32_t> ids) {
    if (llama_decode(context_, llama_batch_get_one(ids.data(), static_cast<int32_t>(ids.size()))) != 0) {
      throw std::runtime_error("llama_decode failed");
    }
    llama_synchronize(context_);
  }
  peers::Rows Result() { return {llama_get_logits_ith(context_, -1), 1, width_}; }

 private:
  llama_model* model_ = nullptr;  // both end with the process
  llama_context* context_ = nullptr;
  size_t width_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return peers::Serve<Peer>("llama_peer", [&] {
    if (argc != 6) throw std::runtime_error("usage: llama_peer GGUF THREADS ROWS TEXT FLASH");
    const auto number = [&](int i) { return static_cast<uint32_t>(std::stoul(argv[i])); };
    llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
    ggml_backend_load_all();  // libraries for processors beside this program, where they are not linked into it
    llama_backend_init();
    return Peer(argv[1], static_cast<int>(number(2)), number(3), number(4), number(5) != 0);
  });
}
