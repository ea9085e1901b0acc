// How the outputs of a program are read: its kind of result, from metadata and the names of outputs.
#ifndef FOVEA_RUNTIME_RESULT_DESCRIBE_H_
#define FOVEA_RUNTIME_RESULT_DESCRIBE_H_

#include "fovea/result.h"
#include "runtime/model/model.h"

namespace fovea {

// `output`: an output to read as an embedding; null: by the model's task. Fills all fields but struct_size.
Status DescribeResult(const Model& model, uint32_t program, const char* output, Reporter& reporter,
                      fovea_result_info* info);

// The attention step that explains the rows of a space (metadata explain.<space>), as a tap.
Status FindExplainingTap(const Model& model, uint32_t program, uint32_t space, Reporter& reporter, fovea_tap* tap);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_RESULT_DESCRIBE_H_
