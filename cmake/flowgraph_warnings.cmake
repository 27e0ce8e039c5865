# The warnings that the library's own translation units are held to. Never part of the exported targets: a user's
# warnings are the user's choice.
add_library(flowgraph_warnings INTERFACE)
target_compile_options(
  flowgraph_warnings
  INTERFACE $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion>
            $<$<CXX_COMPILER_ID:MSVC>:/W4>)
if(FLOWGRAPH_WERROR)
  target_compile_options(flowgraph_warnings INTERFACE $<IF:$<CXX_COMPILER_ID:MSVC>,/WX,-Werror>)
endif()
