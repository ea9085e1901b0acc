// fovea as one of the programs that take turns.
//   fovea_peer BLOB THREADS ROWS         an encoder, for texts of up to ROWS tokens
//   fovea_peer BLOB THREADS ROWS TEXT    a decoder: runs of up to ROWS tokens, texts of up to TEXT
#include "fovea/version.h"
#include "tests/bench/peers/serve.h"
#include "tools/generate/decoder_session.h"
#include "tools/measure/synthetic_batch.h"
#include "tools/model/batch.h"
#include "tools/model/library_error.h"

namespace fovea::tools {
namespace {

class Peer {
 public:
  Peer(const std::string& path, uint32_t workers, uint32_t rows, uint32_t text)
      : model_(path, {}), session_(model_, Request(workers, rows, text)), program_(session_.request().program) {
    inputs_ = InputsOf(model_, program_);
    output_ = OutputsOf(model_, program_).at(0);
    space_ = model_.Value(program_, inputs_.at(0)).space;
  }

  std::string Name() const { return fmt::format("fovea {} ({})", fovea_version(), fovea_simd_target()); }
  void Reset() { Check(fovea_session_reset(session_.get(), nullptr), "session"); }
  void Run(const std::vector<int32_t>& ids) {
    session_.SetSegments(space_, {static_cast<uint32_t>(ids.size())});
    for (const uint32_t input : inputs_) {  // types of tokens are 0
      const bool types = std::string(model_.Value(program_, input).name) == "token_type_ids";
      session_.SetInput(input, types ? std::vector<int32_t>(ids.size(), 0) : ids);
    }
    session_.Run();
  }
  peers::Rows Result() const {
    fovea_view view = {};
    fovea_error error = {};
    Check(fovea_session_get_output(session_.get(), output_, &view, &error), error, model_.name());
    return {static_cast<const float*>(view.data), view.rows, view.width};
  }

 private:
  SessionRequest Request(uint32_t workers, uint32_t rows, uint32_t text) const {
    if (text != 0) {
      GenerationRequest generation;
      generation.workers = workers;
      generation.context = text;
      return ContinueRequest(model_, {rows}, generation);
    }
    SessionRequest request;
    request.workers = workers;
    request.limits = ExactLimits(model_, SyntheticBatch(model_, 0, {rows}));
    return request;
  }

  Model model_;
  Session session_;
  uint32_t program_, space_ = 0, output_ = 0;
  std::vector<uint32_t> inputs_;
};

}  // namespace
}  // namespace fovea::tools

int main(int argc, char** argv) {
  using fovea::tools::Peer;
  return peers::Serve<Peer>("fovea_peer", [&] {
    if (argc != 4 && argc != 5) throw std::runtime_error("usage: fovea_peer BLOB THREADS ROWS [TEXT]");
    const auto number = [&](int i) { return i < argc ? static_cast<uint32_t>(std::stoul(argv[i])) : 0; };
    return Peer(argv[1], number(2), number(3), number(4));
  });
}
