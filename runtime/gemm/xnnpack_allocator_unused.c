/* XNNPACK's default allocator, which would bring in malloc. The runtime always passes its own. */
#include <xnnpack.h>

extern const struct xnn_allocator xnn_default_allocator;
const struct xnn_allocator xnn_default_allocator = {0};
