# What <flowgraph/onnx.hpp> needs beside the library, where it is found: protozero. Included by the project and, installed,
# by flowgraphConfig.cmake.
find_package(protozero 1.7 QUIET)
function(flowgraph_link_onnx target)
  if(protozero_FOUND)
    target_link_libraries(${target} INTERFACE "$<BUILD_INTERFACE:protozero::protozero>")
  endif()
endfunction()
