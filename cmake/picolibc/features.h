/* Macros that the C++ headers of a compiler for Linux expect of the system's library, which picolibc replaces. */
#ifndef FOVEA_CMAKE_PICOLIBC_FEATURES_H_
#define FOVEA_CMAKE_PICOLIBC_FEATURES_H_

#include <sys/features.h>

#define __GLIBC_PREREQ(major, minor) 0

#endif /* FOVEA_CMAKE_PICOLIBC_FEATURES_H_ */
