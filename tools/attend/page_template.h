// The page template, joined from tools/attend/page by the build. It contains "@RECORD@" once.
#ifndef FOVEA_TOOLS_ATTEND_PAGE_TEMPLATE_H_
#define FOVEA_TOOLS_ATTEND_PAGE_TEMPLATE_H_

namespace fovea::tools {

extern const char kAttentionPage[];
extern const unsigned long kAttentionPageSize;

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_PAGE_TEMPLATE_H_
