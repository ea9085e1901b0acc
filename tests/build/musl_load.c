/* Loads a library as a program of musl's does. musl_load LIBRARY */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (library == NULL) return fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "musl_load LIBRARY"), 1;
  const char* (*version)(void) = (const char* (*)(void))dlsym(library, "fovea_version");
  if (version == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
  return printf("loaded fovea %s\n", version()) < 0;
}
