/* A check without a model, shared by the samples: attention of 6 rows over themselves and the 2 before each. */
#ifndef FOVEA_SAMPLE_H_
#define FOVEA_SAMPLE_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Writes 1, 1.5, 2, 3, 4, 5. Returns NULL, or the message of a failure, which is static. */
const char* fovea_sample(float outputs[6]);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_SAMPLE_H_ */
