/* What samples say, and the text that they are given. */
#ifndef FOVEA_PORTS_BAREMETAL_SAMPLE_H_
#define FOVEA_PORTS_BAREMETAL_SAMPLE_H_

#include <fovea/status.h>
#include <stddef.h>
#include <stdint.h>

extern const unsigned char model_blob[], model_blob_end[];

/* "name number" and the end of the line. */
void sample_number(const char* name, uint64_t number);
/* Says what went wrong; 1. */
int sample_failed(const char* what, const fovea_error* error);
/* The ticks of both parts and the bytes that only a run shows. */
void sample_report(uint64_t init_ticks, uint64_t run_ticks);

#endif
