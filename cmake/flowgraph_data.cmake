# The libraries that <flowgraph/data.hpp> reads packed and image files with, each used where it is found: what is missing
# is an error when such a file is read. Included by the project and, installed, by flowgraphConfig.cmake.
function(flowgraph_link_data target)
  foreach(library ZLIB PNG JPEG)
    find_package(${library} QUIET)
    if(${library}_FOUND)
      target_link_libraries(${target} INTERFACE "$<BUILD_INTERFACE:${library}::${library}>")
      target_compile_definitions(${target} INTERFACE "$<BUILD_INTERFACE:FLOWGRAPH_${library}=1>")
    endif()
  endforeach()
endfunction()
