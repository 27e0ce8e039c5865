# flowgraph_implementation(TARGET [COMPONENT...]): compiles the half of the library that no model changes once, as a file of
# TARGET, for all of its files; where TARGET is a library, for those of whoever links it as well. Each COMPONENT (checkpoint,
# data, summary, onnx, distributed) adds the code behind its headers. Engine and kernels are optimised whatever the build type is, because
# they are not what is debugged; FLOWGRAPH_IMPLEMENTATION_OPTIONS says otherwise.
function(flowgraph_implementation target)
  set(headers flowgraph.hpp flowgraph/look.hpp)
  foreach(component IN LISTS ARGN)
    if(NOT component MATCHES "^(checkpoint|data|summary|onnx|distributed)$")
      message(FATAL_ERROR "flowgraph_implementation: ${component} is none of checkpoint, data, summary, onnx, distributed")
    endif()
    list(APPEND headers flowgraph/${component}.hpp)
    if(component STREQUAL "checkpoint")
      list(APPEND headers flowgraph/fit.hpp)
    endif()
    target_link_libraries(${target} PUBLIC flowgraph::${component})
  endforeach()
  list(JOIN headers ">\n#include <" headers)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}_flowgraph.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "#define FLOWGRAPH_IMPLEMENTATION\n#include <${headers}>\n" @ONLY)

  set(options "")
  if(DEFINED FLOWGRAPH_IMPLEMENTATION_OPTIONS)
    set(options ${FLOWGRAPH_IMPLEMENTATION_OPTIONS})
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND NOT "${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
    set(options -O3)
  endif()
  set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "${options}" SKIP_PRECOMPILE_HEADERS ON
                                                     SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE "${source}")
  target_link_libraries(${target} PUBLIC flowgraph::flowgraph)
  target_compile_definitions(${target} PUBLIC FLOWGRAPH_COMPILED)
endfunction()
