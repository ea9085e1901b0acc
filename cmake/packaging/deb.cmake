# `cpack` makes a package for Debian and its relatives (DEB), and an archive of what is installed (TXZ).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fovea)
set(CPACK_PACKAGE_VENDOR fovea)
set(CPACK_PACKAGE_CONTACT "fovea <fovea@localhost>" CACHE STRING "Maintainer of packages, as in NAME <ADDRESS>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "attention models in memory that the caller owns")
set(CPACK_PACKAGE_DESCRIPTION "A C library that runs attention models (Transformers and their relatives) where memory
is scarce, with its headers, CMake and pkg-config files, and the command fovea, which converts
published models and runs them.")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)  # also: ldconfig runs after installation
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
include(CPack)
