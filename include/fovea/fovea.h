/* fovea/fovea.h - everything. */
#ifndef FOVEA_FOVEA_H_
#define FOVEA_FOVEA_H_

#include "fovea/attention.h"
#include "fovea/cache.h"
#include "fovea/generate.h"
#include "fovea/memory.h"
#include "fovea/model.h"
#include "fovea/result.h"
#include "fovea/runner.h"
#include "fovea/session.h"
#include "fovea/status.h"
#include "fovea/stop.h"
#include "fovea/tap.h"
#include "fovea/text.h"
#include "fovea/types.h"
#include "fovea/version.h"

#endif /* FOVEA_FOVEA_H_ */
