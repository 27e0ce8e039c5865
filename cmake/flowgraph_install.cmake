# Install and export: after this, find_package(flowgraph) gives flowgraph::flowgraph, flowgraph::checkpoint, flowgraph::data,
# flowgraph::summary, flowgraph::onnx, flowgraph::distributed and flowgraph::define; flowgraph::compiled, too, where it is built.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/flowgraph")
set(any_processor ARCH_INDEPENDENT)
if(FLOWGRAPH_BUILD_COMPILED)
  set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/flowgraph")
  set(any_processor "")
  install(TARGETS flowgraph_compiled EXPORT flowgraph_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
configure_package_config_file(cmake/flowgraphConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/flowgraphConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/flowgraphConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion ${any_processor})

install(DIRECTORY include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cppm")
install(TARGETS flowgraph flowgraph_checkpoint flowgraph_data flowgraph_summary flowgraph_onnx
                flowgraph_distributed flowgraph_define
        EXPORT flowgraph_targets)
install(EXPORT flowgraph_targets NAMESPACE flowgraph:: FILE flowgraphTargets.cmake DESTINATION "${package_dir}")
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/flowgraphConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/flowgraphConfigVersion.cmake" cmake/flowgraph_kernels.cmake
              cmake/flowgraph_checkpoint.cmake cmake/flowgraph_data.cmake cmake/flowgraph_summary.cmake cmake/flowgraph_onnx.cmake
              cmake/flowgraph_distributed.cmake cmake/flowgraph_implementation.cmake cmake/Findprotozero.cmake
        DESTINATION "${package_dir}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/flowgraph")
include(flowgraph_pkg_config)
