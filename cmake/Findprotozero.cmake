# protozero is a directory of headers, and some packages of it bring no CMake file. Gives protozero::protozero.
find_path(protozero_INCLUDE_DIR protozero/version.hpp)
if(protozero_INCLUDE_DIR)
  file(STRINGS "${protozero_INCLUDE_DIR}/protozero/version.hpp" protozero_VERSION
       REGEX "define PROTOZERO_VERSION_STRING ")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" protozero_VERSION "${protozero_VERSION}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(protozero REQUIRED_VARS protozero_INCLUDE_DIR VERSION_VAR protozero_VERSION)
if(protozero_FOUND AND NOT TARGET protozero::protozero)
  add_library(protozero::protozero INTERFACE IMPORTED)
  target_include_directories(protozero::protozero INTERFACE "${protozero_INCLUDE_DIR}")
endif()
mark_as_advanced(protozero_INCLUDE_DIR)
