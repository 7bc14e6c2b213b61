# Finds the pcc that the module is made of: PCC_BUILD if it is given, else build/release if it is there, brought up to date;
# else an installed pcc of this version (CMAKE_PREFIX_PATH); else build/module, a build of what the module needs and
# no more, which takes a while once.
set(PCC_BUILD "" CACHE PATH "the build of pcc that the module is made of")
file(STRINGS ${root}/CMakeLists.txt version REGEX "^project\\(pcc VERSION")
string(REGEX MATCH "[0-9]+[.][0-9]+[.][0-9]+" version "${version}")

# An earlier call may have found another one.
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
  # A compiler cache takes them as a part of the question, and pip's build sets them to nothing.
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
