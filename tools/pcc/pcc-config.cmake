include(CMakeFindDependencyMacro)
find_dependency(CLI11)
include(${CMAKE_CURRENT_LIST_DIR}/pcc-targets.cmake)
