/* inputs.h - inputs that mean nothing, for programs that measure or check a model: one text of so many rows. */
#ifndef FOVEA_PORTS_INPUTS_H_
#define FOVEA_PORTS_INPUTS_H_

#include "fovea/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of `space` for one text of `rows` rows in a program: that many in a space that has inputs, or as many as the
 * model has positions for; 1 in one around it. 0: there is nothing to say of this space, it follows from others or the
 * program does not read it. A session needs this as its limit. */
uint32_t fovea_inputs_rows(const fovea_model* model, uint32_t program, uint32_t space, uint32_t rows);

/* Binds such a text and writes the inputs: ids and numbers between -1 and 1 of a fixed sequence, marks (ids without a
 * limit) on the first row of each segment; zeros where numbers are of another type than f32, as those that another
 * program stores. *bound: the rows of all spaces together, as `fovea bench` counts them. */
fovea_status fovea_inputs_write(fovea_session* session, const fovea_model* model, uint32_t program, uint32_t rows,
                                uint64_t* bound, fovea_error* error);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_PORTS_INPUTS_H_ */
