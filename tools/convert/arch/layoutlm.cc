// LayoutLM: BERT that also adds embeddings of the box of each token on its page.
#include "tools/convert/arch/bert_family.h"

namespace fovea::tools {

// The original: transformers/models/layoutlm/modeling_layoutlm.py: LayoutLMModel.
void DescribeLayoutlm(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  BertLike family = BertFromConfig(config);
  family.prefix = "layoutlm";
  // The original reads the sides as one tensor and computes height and width from it; ids are not subtracted here.
  family.added = {{"left", "x_position_embeddings.weight"},   {"top", "y_position_embeddings.weight"},
                  {"right", "x_position_embeddings.weight"},  {"bottom", "y_position_embeddings.weight"},
                  {"height", "h_position_embeddings.weight"}, {"width", "w_position_embeddings.weight"}};
  config.Ignore({"max_2d_position_embeddings"});  // follows from the tensors
  DescribeBertLike(family, checkpoint, description);
}

}  // namespace fovea::tools
