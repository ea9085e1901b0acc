// One session for batches of many sizes: its memory grows to the largest batch so far.
#ifndef FOVEA_TOOLS_MODEL_GROWING_SESSION_H_
#define FOVEA_TOOLS_MODEL_GROWING_SESSION_H_

#include <memory>

#include "tools/model/batch.h"

namespace fovea::tools {

class GrowingSession {
 public:
  // The limits of the request are replaced.
  GrowingSession(const Model& model, SessionRequest request) : model_(model), request_(std::move(request)) {}

  // The session with the batch bound to it, not run. `is_new`: it was made for this batch.
  Session& For(const Batch& batch, bool* is_new = nullptr);

 private:
  const Model& model_;
  SessionRequest request_;
  std::unique_ptr<Session> session_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MODEL_GROWING_SESSION_H_
