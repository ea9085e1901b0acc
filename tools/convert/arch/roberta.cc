// RoBERTa, XLM-RoBERTa and CamemBERT: BERT with a single token type, positions that begin after the padding id and
// other heads.
#include "tools/convert/arch/bert_family.h"

namespace fovea::tools {

// The original: transformers/models/roberta/modeling_roberta.py: RobertaModel;
// transformers/models/xlm_roberta/modeling_xlm_roberta.py: XLMRobertaModel;
// transformers/models/camembert/modeling_camembert.py: CamembertModel.
void DescribeRoberta(const Checkpoint& checkpoint, Description& description) {
  DescribeBertLike(RobertaFromConfig(checkpoint.config), checkpoint, description);
}

}  // namespace fovea::tools
