# flowgraph::compiled: engine, kernels and files compiled once, in an archive beside the headers. On x86-64 they are compiled
# for three instruction sets, and the program takes what its processor has (compiled/choose.cpp).
#
# Templates of Eigen, of the standard library and of flowgraph are the same symbols in all three, and a linker keeps one
# of each: an old processor would run instructions that it lacks. So each set becomes one object in which all symbols
# are local (docs/adr/0008-compiled-kernels.md). Sanitizers keep tables of their own in objects, which do not survive
# that: with them, and where the tools or the processor are others, the kernels are compiled once, as everything else is.
set(flowgraph_sanitized FALSE)
if("${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}}" MATCHES "-fsanitize")
  set(flowgraph_sanitized TRUE)
endif()
set(flowgraph_variants FALSE)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SYSTEM_NAME STREQUAL Linux AND CMAKE_SIZEOF_VOID_P EQUAL 8
   AND CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang)$" AND CMAKE_OBJCOPY AND CMAKE_LINKER
   AND NOT flowgraph_sanitized)
  set(flowgraph_variants TRUE)
endif()
option(FLOWGRAPH_VARIANTS "Compile the kernels of flowgraph::compiled for x86-64, -v3 and -v4, chosen when a program starts"
       ${flowgraph_variants})

# A program that is compiled to be debugged computes as quickly as any other: it is not this that is debugged.
# FLOWGRAPH_IMPLEMENTATION_OPTIONS says otherwise: -O0 is compiled in a third of the time.
set(flowgraph_optimised "")
set(flowgraph_files_optimised "")  # what runs a step is worth more of the compiler's time
if(DEFINED FLOWGRAPH_IMPLEMENTATION_OPTIONS)
  set(flowgraph_optimised ${FLOWGRAPH_IMPLEMENTATION_OPTIONS})
elseif(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND NOT flowgraph_sanitized)
  set(flowgraph_optimised -O3)
  set(flowgraph_files_optimised -O2)
endif()

# Objects of compiled/kernels.cpp with one function, flowgraph::detail::kernels_NAME.
function(flowgraph_kernels name)
  add_library(flowgraph_kernels_${name} OBJECT "${PROJECT_SOURCE_DIR}/compiled/kernels.cpp")
  set_target_properties(flowgraph_kernels_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF)
  target_link_libraries(flowgraph_kernels_${name} PRIVATE flowgraph)
  target_compile_definitions(flowgraph_kernels_${name} PRIVATE FLOWGRAPH_VARIANT=kernels_${name})
  target_compile_options(flowgraph_kernels_${name} PRIVATE ${ARGN} ${flowgraph_optimised})
endfunction()

# Files of all kinds, each an object of its own: what a program does not call, it does not link.
set(flowgraph_files csv explain fit graph html lines prefetch read_arrays read_image save_numpy save_png trace watch)
if(nlohmann_json_FOUND)
  list(APPEND flowgraph_files checkpoint safetensors)
endif()
if(protozero_FOUND)
  list(APPEND flowgraph_files export_onnx import_onnx summary)
endif()
if(flowgraph_has_network)
  list(APPEND flowgraph_files cluster network)
endif()
list(TRANSFORM flowgraph_files REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/compiled/\\1.cpp")
set_source_files_properties(${flowgraph_files} PROPERTIES COMPILE_OPTIONS "${flowgraph_files_optimised}")

add_library(flowgraph_compiled STATIC "${PROJECT_SOURCE_DIR}/compiled/choose.cpp"
                                      "${PROJECT_SOURCE_DIR}/compiled/engine.cpp"
                                      "${PROJECT_SOURCE_DIR}/compiled/print.cpp" ${flowgraph_files})
add_library(flowgraph::compiled ALIAS flowgraph_compiled)
set_target_properties(flowgraph_compiled PROPERTIES EXPORT_NAME compiled OUTPUT_NAME flowgraph POSITION_INDEPENDENT_CODE ON)
# A user's file needs none of the libraries that read and write files, but the program does: it gets those that it calls.
target_link_libraries(flowgraph_compiled PUBLIC flowgraph PRIVATE flowgraph_checkpoint flowgraph_data flowgraph_summary
                                                                  flowgraph_onnx flowgraph_distributed)
target_link_options(flowgraph_compiled INTERFACE $<$<PLATFORM_ID:Linux>:LINKER:--as-needed>)
target_compile_definitions(flowgraph_compiled PUBLIC FLOWGRAPH_COMPILED PRIVATE FLOWGRAPH_VARIANTS=$<BOOL:${FLOWGRAPH_VARIANTS}>)
target_compile_options(flowgraph_compiled PRIVATE ${flowgraph_optimised})
if(FLOWGRAPH_VARIANTS)
  foreach(level "" -v3 -v4)
    string(REPLACE - _ name "x86_64${level}")
    # Unique symbols, as g++ marks what is static in a template, can't be made local.
    flowgraph_kernels(${name} -march=x86-64${level} -fno-lto $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
    set(object "${CMAKE_CURRENT_BINARY_DIR}/flowgraph_kernels_${name}${CMAKE_CXX_OUTPUT_EXTENSION}")
    # What stays visible: the function that gives the kernels, and the data by which an exception that a kernel throws is
    # recognised in the program; it has no code in it.
    add_custom_command(
      OUTPUT "${object}"
      COMMAND "${CMAKE_LINKER}" -r --force-group-allocation -o "${object}.all" "$<TARGET_OBJECTS:flowgraph_kernels_${name}>"
      COMMAND "${CMAKE_OBJCOPY}" --wildcard "--keep-global-symbol=_ZN9flowgraph6detail*kernels_${name}Ev"
              "--keep-global-symbol=_ZT[IS]*" "${object}.all" "${object}"
      COMMAND "${CMAKE_COMMAND}" -E rm "${object}.all"
      DEPENDS flowgraph_kernels_${name} "$<TARGET_OBJECTS:flowgraph_kernels_${name}>"
      COMMAND_EXPAND_LISTS VERBATIM
      COMMENT "Hiding the symbols of kernels for x86-64${level}")
    set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    target_sources(flowgraph_compiled PRIVATE "${object}")
  endforeach()
else()
  flowgraph_kernels(as_compiled)
  target_sources(flowgraph_compiled PRIVATE $<TARGET_OBJECTS:flowgraph_kernels_as_compiled>)
endif()
