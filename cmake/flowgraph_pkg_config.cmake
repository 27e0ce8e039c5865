# Files for pkg-config, one for each target that is installed. They find the headers from where they lie themselves, so
# that an installation can be moved. What is optional is required where it was found when they were written.
set(pkg_config_dir "${CMAKE_INSTALL_DATADIR}/pkgconfig")
if(FLOWGRAPH_BUILD_COMPILED)
  set(pkg_config_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()
file(RELATIVE_PATH headers_from_there "/${pkg_config_dir}" "/${CMAKE_INSTALL_INCLUDEDIR}")

# flowgraph_pkg_config(NAME DESCRIPTION REQUIRES FLAGS [LIBRARIES])
function(flowgraph_pkg_config name description requires flags)
  file(CONFIGURE OUTPUT "pkgconfig/${name}.pc" CONTENT [[
includedir=${pcfiledir}/@headers_from_there@

Name: @name@
Description: @description@
Version: @PROJECT_VERSION@
Requires: @requires@
Cflags: -I${includedir} @flags@
Libs: @ARGN@
]] @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/pkgconfig/${name}.pc" DESTINATION "${pkg_config_dir}")
endfunction()

# Adds a library that pkg-config knows, where CMake found it, to the variables requires and flags.
macro(add_where_found name target definition)
  if(TARGET ${target})
    string(APPEND requires ", ${name}")
    string(APPEND flags " ${definition}")
  endif()
endmacro()

flowgraph_pkg_config(flowgraph-define "Models that are defined, checked and planned: <flowgraph/define.hpp>" "" "")
flowgraph_pkg_config(flowgraph "${PROJECT_DESCRIPTION}" "eigen3 >= 3.4, fmt >= 9" -pthread)
if(FLOWGRAPH_BUILD_COMPILED)
  set(requires flowgraph)
  set(flags -DFLOWGRAPH_COMPILED)
  set(libraries "-L\${pcfiledir}/.. -lflowgraph -Wl,--as-needed")
  add_where_found(zlib ZLIB::ZLIB "")
  add_where_found(libpng PNG::PNG "")
  add_where_found(libjpeg JPEG::JPEG "")
  add_where_found(openssl OpenSSL::SSL "")
  if(FLOWGRAPH_ONEDNN)
    string(APPEND libraries " -ldnnl -ldl")
  endif()
  flowgraph_pkg_config(flowgraph-compiled "flowgraph with engine and kernels that are compiled already" "${requires}"
                       "${flags}" "${libraries}")
endif()
if(nlohmann_json_FOUND)
  flowgraph_pkg_config(flowgraph-checkpoint "Files of tensors: <flowgraph/checkpoint.hpp>"
                       "flowgraph, nlohmann_json >= 3.9" "")
endif()

set(requires flowgraph)
set(flags "")
add_where_found(zlib ZLIB::ZLIB -DFLOWGRAPH_ZLIB=1)
add_where_found(libpng PNG::PNG -DFLOWGRAPH_PNG=1)
add_where_found(libjpeg JPEG::JPEG -DFLOWGRAPH_JPEG=1)
flowgraph_pkg_config(flowgraph-data "What reads files: <flowgraph/data.hpp>" "${requires}" "${flags}")

# protozero is headers alone and has no such file.
if(protozero_FOUND)
  set(requires flowgraph)
  set(flags "")
  add_where_found(libpng PNG::PNG -DFLOWGRAPH_PNG=1)
  flowgraph_pkg_config(flowgraph-summary "Event files for TensorBoard: <flowgraph/summary.hpp>" "${requires}" "${flags}")
  flowgraph_pkg_config(flowgraph-onnx "Models to and from ONNX files: <flowgraph/onnx.hpp>" flowgraph "")
endif()

# Asio is headers alone and has no such file either.
if(flowgraph_has_network)
  flowgraph_pkg_config(flowgraph-distributed "Many machines: <flowgraph/distributed.hpp>"
                       "flowgraph, nlohmann_json >= 3.9, openssl >= 3" -pthread)
endif()
