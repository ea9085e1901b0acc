#include "tools/prediction/result_reader.h"

#include <algorithm>

#include "tools/model/library_error.h"

namespace fovea::tools {

namespace {

fovea_status ReadInfo(const Model& model, uint32_t program, fovea_result_info* info, fovea_error* error) {
  *info = Sized<fovea_result_info>();
  return fovea_result_get_info(model.get(), program, nullptr, info, error);
}

}  // namespace

std::optional<fovea_result_info> FindResultInfo(const Model& model, uint32_t program) {
  fovea_result_info info;
  fovea_error error = {};
  const fovea_status status = ReadInfo(model, program, &info, &error);
  if (status == FOVEA_E_NAME) return std::nullopt;
  Check(status, error, model.name());
  if (info.kind == FOVEA_RESULT_ANSWERS) return std::nullopt;
  return info;
}

fovea_result_info ResultInfoOf(const Model& model, uint32_t program) {
  fovea_result_info info;
  fovea_error error = {};
  Check(ReadInfo(model, program, &info, &error), error, model.name());
  return info;
}

Matrix ReadResults(const Model& model, const Session& session, const fovea_result_info& info, uint32_t first,
                   uint32_t count) {
  Matrix rows{count, info.width, std::vector<float>(size_t{count} * info.width)};
  fovea_error error = {};
  Check(fovea_result_read(session.get(), &info, first, count, rows.values.data(), rows.values.size(), &error), error,
        model.name());
  return rows;
}

Matrix ReadAllResults(const Model& model, const Session& session, const fovea_result_info& info) {
  uint32_t count = 0;
  fovea_error error = {};
  Check(fovea_result_get_count(session.get(), &info, &count, &error), error, model.name());
  return ReadResults(model, session, info, 0, count);
}

std::vector<uint32_t> Best(const float* scores, uint32_t count, uint32_t top) {
  std::vector<uint32_t> order(std::min(count, top));
  order.resize(fovea_result_rank(scores, count, top, order.data()));
  return order;
}

}  // namespace fovea::tools
