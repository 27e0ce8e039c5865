# Configures, builds and runs project/ against flowgraph, in a directory of its own.
#   cmake -DMODE=find_package|add_subdirectory|fetch_content -DWORK=... -DSOURCE=... -DBUILD=... -DCOMPILER=... -DLAUNCHER=...
#         -DGENERATOR=... -DPREFIX_PATH=... -DCOMPILED=ON|OFF -DFLAGS=... -P run.cmake
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${WORK}")
if(MODE STREQUAL "find_package")
  run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
  list(PREPEND PREFIX_PATH "${WORK}/prefix")
  set(SOURCE "")
elseif(MODE STREQUAL "fetch_content")
  # As a release is fetched, but from this machine.
  file(MAKE_DIRECTORY "${WORK}")
  set(archive "${WORK}/flowgraph.tar.gz")
  execute_process(COMMAND "${CMAKE_COMMAND}" -E tar czf "${archive}" CMakeLists.txt LICENSE cmake compiled include
                  WORKING_DIRECTORY "${SOURCE}" COMMAND_ERROR_IS_FATAL ANY)
  set(SOURCE "")
  set(COMPILED OFF)
endif()
# By file, because a list does not survive a command line.
file(WRITE "${WORK}/cache.cmake" "set(CMAKE_BUILD_TYPE Debug CACHE STRING \"\")
set(CMAKE_CXX_COMPILER [[${COMPILER}]] CACHE STRING \"\")
set(CMAKE_CXX_COMPILER_LAUNCHER [[${LAUNCHER}]] CACHE STRING \"\")
set(CMAKE_PREFIX_PATH [[${PREFIX_PATH}]] CACHE STRING \"\")
set(FLOWGRAPH_SOURCE_DIRECTORY [[${SOURCE}]] CACHE STRING \"\")
set(FLOWGRAPH_ARCHIVE [[${archive}]] CACHE STRING \"\")
set(FLOWGRAPH_BUILD_COMPILED ${COMPILED} CACHE BOOL \"\")
set(FLOWGRAPH_VARIANTS OFF CACHE BOOL \"\")
set(CMAKE_CXX_FLAGS_DEBUG [[${FLAGS}]] CACHE STRING \"\")
set(CMAKE_CXX_EXTENSIONS OFF CACHE BOOL \"\")
")
run("${CMAKE_COMMAND}" -C "${WORK}/cache.cmake" -S "${CMAKE_CURRENT_LIST_DIR}/project" -B "${WORK}/build" -G
    "${GENERATOR}")
run("${CMAKE_COMMAND}" --build "${WORK}/build")
run("${WORK}/build/consumer")
if(COMPILED)
  run("${WORK}/build/consumer_compiled")
endif()
