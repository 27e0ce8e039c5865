# What <flowgraph/summary.hpp> needs beside the library, where it is found: protozero, and libpng for images. Included by
# the project and, installed, by flowgraphConfig.cmake.
find_package(protozero 1.7 QUIET)
find_package(PNG QUIET)
function(flowgraph_link_summary target)
  if(protozero_FOUND)
    target_link_libraries(${target} INTERFACE "$<BUILD_INTERFACE:protozero::protozero>")
  endif()
  if(PNG_FOUND)
    target_link_libraries(${target} INTERFACE "$<BUILD_INTERFACE:PNG::PNG>")
    target_compile_definitions(${target} INTERFACE "$<BUILD_INTERFACE:FLOWGRAPH_PNG=1>")
  endif()
endfunction()
