/* inputs.h - placeholder inputs, for programs that measure or check a model: one text of a given number of rows. */
#ifndef FOVEA_PORTS_INPUTS_H_
#define FOVEA_PORTS_INPUTS_H_

#include "fovea/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of `space` for one text of `rows` rows in a program: `rows` in a space that has inputs, or the most that the
 * model has positions for; 1 in a space around it. 0: the space needs no limit, because it is derived or the program
 * does not read it. A session needs this as its limit. */
uint32_t fovea_inputs_rows(const fovea_model* model, uint32_t program, uint32_t space, uint32_t rows);

/* Binds such a text and writes the inputs: ids, and numbers between -1 and 1 from a fixed sequence; marks (ids
 * without a limit) on the first row of each segment; zeros for types other than f32, such as outputs that another
 * program's cast made. *bound: the rows of all spaces together, as `fovea bench` counts them. */
fovea_status fovea_inputs_write(fovea_session* session, const fovea_model* model, uint32_t program, uint32_t rows,
                                uint64_t* bound, fovea_error* error);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_PORTS_INPUTS_H_ */
