# Finds the build of pcc from which the module and its package are made, and brings it up to date. The first of these is used:
#
#   PCC_BUILD             a build folder that the user gives
#   build/release         if it exists
#   build/module          a new build of only the parts that the package needs; takes long once
set(PCC_BUILD "" CACHE PATH "the build of pcc that the module is made of")
file(STRINGS ${root}/CMakeLists.txt version REGEX "^project\\(pcc VERSION")
string(REGEX MATCH "[0-9]+[.][0-9]+[.][0-9]+" version "${version}")

set(build ${root}/build/release)
if(PCC_BUILD)
  set(build ${PCC_BUILD})
  if(NOT EXISTS ${build}/build.ninja)
    message(FATAL_ERROR "PCC_BUILD is no build of pcc: ${build}/build.ninja is missing")
  endif()
elseif(NOT EXISTS ${build}/build.ninja)
  set(build ${root}/build/module)
endif()

# A compiler cache makes these variables part of its key, and pip's build sets them to the empty string.
foreach(name LC_ALL LC_MESSAGES)
  if("$ENV{${name}}" STREQUAL "")
    unset(ENV{${name}})
  endif()
endforeach()
if(NOT EXISTS ${build}/build.ninja)
  set(launchers)
  if(CCACHE)
    set(launchers -DCMAKE_C_COMPILER_LAUNCHER=${CCACHE} -DCMAKE_CXX_COMPILER_LAUNCHER=${CCACHE})
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} --preset release -B ${build} -DPCC_BUILD_TESTS=OFF ${launchers}
                  WORKING_DIRECTORY ${root} COMMAND_ERROR_IS_FATAL ANY)
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} --target PccPackage COMMAND_ERROR_IS_FATAL ANY)
set(pcc_DIR ${build} CACHE PATH "" FORCE)
find_package(pcc ${version} EXACT CONFIG REQUIRED)
message(STATUS "the module is made of ${build}")
