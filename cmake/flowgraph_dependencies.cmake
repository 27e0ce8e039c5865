# What the library needs, found as installed packages so that Conan, vcpkg and a system package all serve.
find_package(Eigen3 REQUIRED CONFIG)
# Checked by hand: Eigen's own version file refuses 5.x to whoever asks for 3.4.
if(Eigen3_VERSION VERSION_LESS 3.4)
  message(FATAL_ERROR "flowgraph needs Eigen 3.4 or later; found ${Eigen3_VERSION} in ${Eigen3_DIR}")
endif()
find_package(fmt 9 REQUIRED CONFIG)
find_package(Threads REQUIRED)
# Optional: <flowgraph/arrays/dlpack.hpp> needs its header, and nothing else does.
find_package(dlpack QUIET CONFIG)
