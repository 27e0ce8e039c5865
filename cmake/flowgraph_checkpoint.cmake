# What <flowgraph/checkpoint.hpp> needs beside the library, where it is found: nlohmann/json. Included by the project and,
# installed, by flowgraphConfig.cmake.
find_package(nlohmann_json 3.9 QUIET CONFIG)
function(flowgraph_link_checkpoint target)
  if(nlohmann_json_FOUND)
    target_link_libraries(${target} INTERFACE "$<BUILD_INTERFACE:nlohmann_json::nlohmann_json>")
  endif()
endfunction()
