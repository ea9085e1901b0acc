// The spellings of keys in published configurations. Every family has former and later names for some keys, and values
// that later versions of the original library write elsewhere; architectures read one of them.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_CONFIG_SPELLINGS_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_CONFIG_SPELLINGS_H_

#include "tools/base/json.h"
#include "tools/convert/findings.h"

namespace fovea::tools {

// Rewrites an object of config.json, and the objects for parts of the model in it, in the form that architectures read.
// Where two spellings of a key disagree, the one that the original library reads last is used; a finding reports it.
void UseOneSpelling(Json& config, Findings& findings);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_CONFIG_SPELLINGS_H_
