// The refusal of a head that is not supported.
#include "tools/convert/arch/missing_head.h"

#include "tools/base/fail.h"
#include "tools/convert/resolve.h"

namespace fovea::tools {

void FailMissingHead(const Config& config, const std::function<Description(Task)>& describe) {
  const Json& classes = config.Get("architectures");
  const bool named = classes.is_array() && !classes.empty() && classes[0].is_string();
  const std::string name = named ? classes[0].get<std::string>() : "Model";
  const bool decodes = config.Flag("is_encoder_decoder", false);
  const std::string fault = decodes ? fmt::format("config.json: {} has a decoder, which is not supported", name)
                                    : fmt::format("config.json: head {} is not supported", name);
  const Task task = decodes ? Task::kEncoder : Task::kEmbedding;
  std::string why;
  try {
    const Description description = describe(task);
    Resolve(description);
    LeftOut(description);
  } catch (const Failure& failure) {
    why = failure.what();
  }
  if (!why.empty()) Fail("{}, and neither is its encoder alone: {}", fault, why);
  Fail("{}; --task {}", fault,
       decodes ? "encoder converts the encoder alone" : "embedding converts the encoder without it");
}

}  // namespace fovea::tools
