// BERT.
#include "tools/convert/arch/bert_family.h"

namespace fovea::tools {

// The original: transformers/models/bert/modeling_bert.py: BertModel.
void DescribeBert(const Checkpoint& checkpoint, Description& description) {
  BertLike family = BertFromConfig(checkpoint.config);
  family.prefix = "bert";
  DescribeBertLike(family, checkpoint, description);
}

}  // namespace fovea::tools
