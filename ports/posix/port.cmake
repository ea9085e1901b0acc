find_package(Threads REQUIRED)
target_link_libraries(${port} PUBLIC Threads::Threads)
target_compile_definitions(${port} PRIVATE _POSIX_C_SOURCE=200809L)
set_target_properties(${port} PROPERTIES C_STANDARD 11)  # atomics
