/* Memory, files, clock and text of Windows. Names of files are UTF-8, regardless of the code page of the process. */
#include <malloc.h>
#include <stdlib.h>
#include <windows.h>

#include "ports/port.h"

void* fovea_port_memory(void* context, uint64_t size, uint32_t block) {
  (void)context, (void)block;
  if (size > SIZE_MAX / 2) return NULL;
  return _aligned_malloc(size == 0 ? 64 : (size_t)size, 64);
}

void fovea_port_free(void* memory) { _aligned_free(memory); }

/* ---- Files ---- */

/* Static texts, as POSIX systems name these errors: the system's own texts are in the user's language. */
static const char* text_of(DWORD error) {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
    case ERROR_INVALID_DRIVE:
      return "No such file or directory";
    case ERROR_ACCESS_DENIED:
      return "Permission denied";
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
      return "in use by another program, which lets no other one read it";
    case ERROR_FILENAME_EXCED_RANGE:
      return "File name too long";
    case ERROR_NO_UNICODE_TRANSLATION:
      return "the name is not UTF-8";
    case ERROR_TOO_MANY_OPEN_FILES:
      return "Too many open files";
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT:
      return "Cannot allocate memory";
    default:
      return "Windows cannot open it";
  }
}

static const char* last_error(void) { return text_of(GetLastError()); }

static const char* map(HANDLE handle, fovea_port_file* file) {
  LARGE_INTEGER size;
  HANDLE mapping;
  if (GetFileType(handle) != FILE_TYPE_DISK) return "not a file";
  if (!GetFileSizeEx(handle, &size)) return last_error();
  if ((uint64_t)size.QuadPart > SIZE_MAX) return "File too large";
  if (size.QuadPart == 0) return NULL;
  mapping = CreateFileMappingW(handle, NULL, PAGE_READONLY, 0, 0, NULL);
  if (mapping == NULL) return last_error();
  file->data = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
  CloseHandle(mapping); /* The view keeps it. */
  if (file->data == NULL) return last_error();
  file->size = (uint64_t)size.QuadPart;
  return NULL;
}

static const char* open_wide(const wchar_t* name, fovea_port_file* file) {
  const DWORD attributes = GetFileAttributesW(name);
  const char* failure;
  HANDLE handle;
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) return "not a file";
  /* Others may write it, or replace it by another file of that name, as on POSIX systems. */
  handle = CreateFileW(name, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                       FILE_ATTRIBUTE_NORMAL, NULL);
  if (handle == INVALID_HANDLE_VALUE) return last_error();
  failure = map(handle, file);
  CloseHandle(handle);
  return failure;
}

const char* fovea_port_open(const char* name, fovea_port_file* file) {
  const int units = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name, -1, NULL, 0);
  const char* failure;
  wchar_t* wide;
  file->data = NULL;
  file->size = 0;
  if (units <= 0) return last_error();
  wide = malloc((size_t)units * sizeof(*wide));
  if (wide == NULL) return text_of(ERROR_OUTOFMEMORY);
  MultiByteToWideChar(CP_UTF8, 0, name, -1, wide, units);
  failure = open_wide(wide, file);
  free(wide);
  return failure;
}

void fovea_port_close(fovea_port_file* file) {
  if (file->data != NULL) UnmapViewOfFile(file->data);
  file->data = NULL;
  file->size = 0;
}

/* ---- Clock ---- */

uint64_t fovea_port_ticks(void) {
  LARGE_INTEGER ticks;
  QueryPerformanceCounter(&ticks);
  return (uint64_t)ticks.QuadPart;
}

uint64_t fovea_port_ticks_per_second(void) {
  LARGE_INTEGER frequency;
  QueryPerformanceFrequency(&frequency);
  return (uint64_t)frequency.QuadPart;
}

/* ---- Text ---- */

/* Bytes of the longest start of `text` that ends at the end of a character. */
static uint64_t whole_characters(const char* text, uint64_t size) {
  uint64_t end = size;
  while (end > 0 && size - end < 4 && ((unsigned char)text[end - 1] & 0xc0) == 0x80) --end;
  return end > 1 && (unsigned char)text[end - 1] >= 0xc0 ? end - 1 : size;
}

static void show(HANDLE console, const char* text, uint64_t size) {
  wchar_t units[256]; /* At most as many as bytes. */
  while (size > 0) {
    const uint64_t part = size <= 256 ? size : whole_characters(text, 256);
    const int count = MultiByteToWideChar(CP_UTF8, 0, text, (int)part, units, 256);
    DWORD written;
    if (count <= 0 || !WriteConsoleW(console, units, (DWORD)count, &written, NULL)) return;
    text += part;
    size -= part;
  }
}

void fovea_port_write(const char* text, uint64_t size) {
  const HANDLE output = GetStdHandle(STD_OUTPUT_HANDLE);
  DWORD mode;
  if (GetConsoleMode(output, &mode)) {
    show(output, text, size);
    return;
  }
  while (size > 0) {
    DWORD written;
    const DWORD part = size < 0x40000000 ? (DWORD)size : 0x40000000;
    if (!WriteFile(output, text, part, &written, NULL) || written == 0) return;
    text += written;
    size -= written;
  }
}
