// fovea as one of the programs that take turns, with one thread and of the library alone: cross builds need no tools.
//   fovea_plain_peer BLOB ROWS    texts of up to ROWS tokens; a decoder's with the tokens after them
#include <fovea/fovea.hpp>

#include "ports/port.h"
#include "tests/bench/peers/serve.h"

namespace {

void Check(const fovea::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.text());
}
template <class T>
T Take(fovea::Result<T> result) {
  Check(result.status());
  return *std::move(result);
}

class Peer {
 public:
  Peer(const char* path, uint64_t rows) {
    fovea_port_file blob = {};
    if (const char* fault = fovea_port_open(path, &blob)) throw std::runtime_error(std::string(path) + ": " + fault);
    model_ = Take(fovea::Model::make({blob.data, blob.size}));
    fovea_session_options options = FOVEA_SESSION_OPTIONS_INIT;
    options.rows = rows;
    const auto decode = model_.find_program("decode");
    if (decode) options.program = *decode;
    const char* scores = model_.find_metadata("generate.scores");
    output_ = decode && scores != nullptr ? scores : "last_hidden_state";
    session_ = Take(fovea::Session::make(model_, options));
    const uint32_t input = Take(model_.find_value(options.program, "input_ids"));
    space_ = Take(model_.value(options.program, input)).space;
    has_types_ = static_cast<bool>(model_.find_value(options.program, "token_type_ids"));
  }

  static std::string Name() { return std::string("fovea ") + fovea_version() + " (" + fovea_simd_target() + ")"; }
  void Reset() { Check(session_.reset()); }
  void Run(const std::vector<int32_t>& ids) {
    const uint32_t length = static_cast<uint32_t>(ids.size());
    Check(session_.set_segments(space_, {&length, 1}));
    const auto input = Take(session_.input<int32_t>("input_ids"));
    std::copy(ids.begin(), ids.end(), input.row(0).data());
    if (has_types_) {
      const auto types = Take(session_.input<int32_t>("token_type_ids"));
      std::fill_n(types.row(0).data(), length, 0);
    }
    Check(session_.run());
  }
  peers::Rows Result() const {
    const auto view = Take(session_.output<float>(output_));
    return {view.row(0).data(), view.rows(), view.width()};
  }

 private:
  fovea::Model model_;
  fovea::Session session_;
  const char* output_ = nullptr;
  uint32_t space_ = 0;
  bool has_types_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  return peers::Serve<Peer>("fovea_plain_peer", [&] {
    if (argc != 3) throw std::runtime_error("usage: fovea_plain_peer BLOB ROWS");
    return Peer(argv[1], std::stoul(argv[2]));
  });
}
