# Finds the pcc from which the module is built. The first of these that exists is used:
#
#   PCC_BUILD             a build folder that the user gives
#   build/release         which is brought up to date
#   an installed pcc      of the same version (CMAKE_PREFIX_PATH)
#   build/module          a new build of only the parts that the module needs; takes long once
set(PCC_BUILD "" CACHE PATH "the build of pcc that the module is made of")
file(STRINGS ${root}/CMakeLists.txt version REGEX "^project\\(pcc VERSION")
string(REGEX MATCH "[0-9]+[.][0-9]+[.][0-9]+" version "${version}")

# Clear the result of an earlier call, which may have found another pcc.
unset(pcc_DIR CACHE)
set(build ${root}/build/release)
if(PCC_BUILD)
  set(build ${PCC_BUILD})
  if(NOT EXISTS ${build}/build.ninja)
    message(FATAL_ERROR "PCC_BUILD is no build of pcc: ${build}/build.ninja is missing")
  endif()
elseif(NOT EXISTS ${build}/build.ninja)
  find_package(pcc ${version} EXACT CONFIG QUIET)
  if(pcc_NOT_FOUND_MESSAGE)
    message(FATAL_ERROR "${pcc_NOT_FOUND_MESSAGE}")
  endif()
  set(build ${root}/build/module)
endif()

if(NOT pcc_FOUND)
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
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} --target pcc PccRankFiles COMMAND_ERROR_IS_FATAL ANY)
  set(pcc_DIR ${build} CACHE PATH "" FORCE)
  find_package(pcc ${version} EXACT CONFIG REQUIRED)
endif()
message(STATUS "the module is made of ${pcc_DIR}")
