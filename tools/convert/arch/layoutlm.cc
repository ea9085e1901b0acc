// LayoutLM: BERT that also adds embeddings of the box that each token has on its page.
#include "tools/convert/arch/post_norm_encoder.h"

namespace fovea::tools {

void DescribeLayoutlm(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  PostNormEncoder encoder = BertFromConfig(config);
  encoder.prefix = "layoutlm";
  // The published code takes the sides as one tensor and finds height and width itself; ids are not subtracted here.
  encoder.added = {{"left", "x_position_embeddings.weight"},   {"top", "y_position_embeddings.weight"},
                   {"right", "x_position_embeddings.weight"},  {"bottom", "y_position_embeddings.weight"},
                   {"height", "h_position_embeddings.weight"}, {"width", "w_position_embeddings.weight"}};
  config.Get("max_2d_position_embeddings");  // follows from the tensors
  DescribePostNormEncoder(encoder, checkpoint, description);
}

}  // namespace fovea::tools
