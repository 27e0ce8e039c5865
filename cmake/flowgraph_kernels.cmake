# Whose kernels flowgraph may use beside its own. Included by the project and, installed, by flowgraphConfig.cmake: who
# uses the library decides where it is used. FLOWGRAPH_KERNELS is auto (oneDNN where it and OpenCL are found), eigen or
# onednn.
set(FLOWGRAPH_KERNELS auto CACHE STRING "Kernels beside flowgraph's own: auto, eigen (none) or onednn")
set_property(CACHE FLOWGRAPH_KERNELS PROPERTY STRINGS auto eigen onednn)
if(NOT FLOWGRAPH_KERNELS MATCHES "^(auto|eigen|onednn)$")
  message(FATAL_ERROR "FLOWGRAPH_KERNELS must be auto, eigen or onednn, not \"${FLOWGRAPH_KERNELS}\"")
endif()

set(FLOWGRAPH_ONEDNN FALSE)
if(FLOWGRAPH_KERNELS STREQUAL auto)
  # A oneDNN that was built for GPUs, too, as Debian's is, ends the configuration where OpenCL's headers are missing.
  find_package(OpenCL QUIET)
endif()
if(FLOWGRAPH_KERNELS STREQUAL onednn OR OpenCL_FOUND)
  # oneDNN's packages answer for their own major version alone.
  foreach(version 3 2.6)
    if(NOT dnnl_FOUND)
      find_package(dnnl ${version} CONFIG QUIET)
    endif()
  endforeach()
  # Threads of TBB's can't be kept to the number that a session was given.
  if(dnnl_FOUND AND NOT DNNL_CPU_THREADING_RUNTIME STREQUAL TBB)
    set(FLOWGRAPH_ONEDNN TRUE)
  elseif(FLOWGRAPH_KERNELS STREQUAL onednn)
    message(FATAL_ERROR "FLOWGRAPH_KERNELS is onednn, but find_package(dnnl) found no oneDNN 2.6 or later"
                        " that was built for OpenMP, for a thread pool or without threads")
  endif()
endif()
