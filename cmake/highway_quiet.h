// Included before Highway's dispatch, which warns on stderr when the CPU lacks the compiler's baseline: nothing in
// fovea prints, and such a CPU would have stopped at an illegal instruction long before.
#include <stdio.h>
#define fprintf(...) ((void)0)
