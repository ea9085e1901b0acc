set_target_properties(${port} PROPERTIES C_STANDARD 99)
target_compile_definitions(${port} PRIVATE _WIN32_WINNT=0x0601 WIN32_LEAN_AND_MEAN)  # Windows 7
# A DLL exports the functions of port.h, all that it has.
set_target_properties(${port} PROPERTIES WINDOWS_EXPORT_ALL_SYMBOLS ON)
