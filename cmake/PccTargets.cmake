# Functions that create the targets of pcc. The global property PCC_FOREIGN_FILES lists files of others that packages contain or
# whose code is linked into theirs; tools/package/notices.py finds the licence of each.
#
# There are two kinds of code: plain C++ (the runtime, passes/plan), which includes no
# MLIR, and compiler code, which links the shared libMLIR and libLLVM, so that a tool links in seconds.

set(PCC_LLVM_ROOT /usr/lib/llvm-22 CACHE PATH "LLVM and MLIR 22 installation")
find_package(MLIR 22.1 REQUIRED CONFIG PATHS ${PCC_LLVM_ROOT}/lib/cmake/mlir NO_DEFAULT_PATH)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
find_package(Threads REQUIRED)

add_compile_options(-Wall -Wextra -Wno-unused-parameter -fno-semantic-interposition -ffunction-sections -fdata-sections)
if(PCC_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
  add_library(PccSanitizerOptions OBJECT ${CMAKE_SOURCE_DIR}/cmake/SanitizerOptions.cpp)
  link_libraries($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:$<TARGET_OBJECTS:PccSanitizerOptions>>)
endif()
if(PCC_BUILD_FUZZERS)
  # All code that a fuzzer links is instrumented to count the code that the fuzzer reaches.
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

# Includes are paths from the root: "passes/plan/stage/StageCut.h". Generated headers have the same paths below the build
# folder.
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
if(NOT CMAKE_BUILD_TYPE STREQUAL Release)
  include_directories(${CMAKE_SOURCE_DIR}/cmake/abi) # Builds with assertions; see the header in it.
endif()
set(LLVM_TABLEGEN_FLAGS -I${CMAKE_SOURCE_DIR} -I${MLIR_INCLUDE_DIRS})

# pcc_library(NAME source... [DEPENDS lib...]): plain C++ without MLIR or LLVM.
function(pcc_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS})
endfunction()

# Compiles without exceptions and RTTI, as LLVM does. A precompiled header can only be used by code with the same options.
function(pcc_compile_as_mlir name)
  target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_compile_options(${name} PRIVATE -fno-exceptions -fno-rtti)
  target_compile_definitions(${name} PUBLIC ${LLVM_DEFINITIONS_LIST})
endfunction()

# pcc_precompiled(NAME header...): headers that are parsed once for many libraries; see pcc_mlir_library.
function(pcc_precompiled name)
  add_library(${name} STATIC ${CMAKE_SOURCE_DIR}/cmake/Precompiled.cpp)
  pcc_compile_as_mlir(${name})
  # Leaves the time out of the precompiled header, so that ccache recognizes it.
  target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

# There are two sets of precompiled headers: those of MLIR, which take half of the 12 seconds that a file needs, for all
# compiler code; and those of the graph dialect, half of the rest, for all code that depends on it. Other headers of pcc are in
# neither set, so that a change to one of them only rebuilds the files that include it.
set(mlir_headers
  <mlir/Dialect/Func/IR/FuncOps.h> <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/PatternMatch.h> <mlir/Pass/Pass.h>
  <llvm/ADT/MapVector.h> <llvm/ADT/STLExtras.h> <llvm/ADT/StringExtras.h> <algorithm> <functional> <map> <set> <string> <vector>)
pcc_precompiled(PccMlirHeaders ${mlir_headers})
pcc_precompiled(PccGraphHeaders ${mlir_headers} ${CMAKE_SOURCE_DIR}/dialects/graph/GraphDialect.h)
add_dependencies(PccGraphHeaders PccGraphTableGen)

# LLVM and MLIR. The linked executable or library decides in which form: as the shared libraries, or, if its property
# PCC_LINKS_STATICALLY is set, as all archives, of which the linker takes what is needed.
file(GLOB llvm_archives ${PCC_LLVM_ROOT}/lib/libMLIR*.a ${PCC_LLVM_ROOT}/lib/libLLVM*.a)
set_property(GLOBAL APPEND PROPERTY PCC_FOREIGN_FILES ${PCC_LLVM_ROOT}/lib/libLLVMCore.a ${PCC_LLVM_ROOT}/lib/libMLIRIR.a)
add_library(PccLlvm INTERFACE)
target_link_libraries(PccLlvm INTERFACE "$<IF:$<BOOL:$<TARGET_PROPERTY:PCC_LINKS_STATICALLY>>,${llvm_archives},MLIR;LLVM>")

# pcc_mlir_library(NAME source... [DEPENDS lib...] [TABLEGEN target...]): compiler code.
function(pcc_mlir_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;TABLEGEN" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  pcc_compile_as_mlir(${name})
  if(PccGraphDialect IN_LIST ARG_DEPENDS OR name STREQUAL PccGraphDialect)
    target_precompile_headers(${name} REUSE_FROM PccGraphHeaders)
  else()
    target_precompile_headers(${name} REUSE_FROM PccMlirHeaders)
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PccLlvm)
  if(ARG_TABLEGEN)
    add_dependencies(${name} ${ARG_TABLEGEN})
  endif()
endfunction()

# pcc_attributes(NAME): generates the names and the table of the attributes that <NAME>DiscardableAttrs.td declares. The next
# add_public_tablegen_target depends on them.
function(pcc_attributes name)
  set(declared ${CMAKE_CURRENT_SOURCE_DIR}/${name}DiscardableAttrs.td)
  set(base ${CMAKE_SOURCE_DIR}/dialects/attributes/DiscardableAttrs.td)
  set(render ${CMAKE_SOURCE_DIR}/cmake/render_attributes.py)
  set(records ${CMAKE_CURRENT_BINARY_DIR}/${name}DiscardableAttrs.json)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/${name}AttributeNames.h.inc ${CMAKE_CURRENT_BINARY_DIR}/${name}VerifyAttributes.cpp.inc)
  add_custom_command(OUTPUT ${made}
    COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-tblgen --dump-json -I ${CMAKE_SOURCE_DIR} ${declared} -o ${records}
    COMMAND ${PCC_PYTHON} ${render} ${records} ${made}
    DEPENDS ${declared} ${base} ${render}
    COMMENT "Rendering the attributes of ${name}" VERBATIM)
  set(TABLEGEN_OUTPUT ${TABLEGEN_OUTPUT} ${made} PARENT_SCOPE)
endfunction()

# pcc_tool(NAME source... [DEPENDS lib...]): an executable of the compiler side.
function(pcc_tool name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  pcc_compile_as_mlir(${name})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS})
endfunction()

# pcc_gtest(NAME source... [SHARDS N] [DEPENDS lib...]): one GoogleTest executable with one ctest entry, or with N entries that
# divide its cases.
function(pcc_gtest name)
  cmake_parse_arguments(ARG "" "SHARDS" "DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gtest GTest::gtest_main Threads::Threads)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  if(NOT ARG_SHARDS)
    add_test(NAME ${name} COMMAND ${name})
    return()
  endif()
  foreach(shard RANGE 1 ${ARG_SHARDS})
    math(EXPR index "${shard} - 1")
    add_test(NAME ${name}.${shard} COMMAND ${name})
    set_tests_properties(${name}.${shard} PROPERTIES ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# pcc_mlir_gtest: pcc_gtest for compiler code. It is compiled like the libraries of compiler code, with -fPIC rather than -fPIE,
# because their precompiled headers are.
function(pcc_mlir_gtest name)
  pcc_gtest(${name} ${ARGN})
  pcc_compile_as_mlir(${name})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  target_precompile_headers(${name} REUSE_FROM PccGraphHeaders)
endfunction()

# pcc_fuzzer(NAME STEM [MUTATOR lib] [DEPENDS lib...]): the executable NAME-fuzzer of STEM-fuzzer.cpp, which libFuzzer drives,
# and NAME-seeds of STEM-seeds.cpp, which writes the initial corpus. Does nothing without PCC_BUILD_FUZZERS.
function(pcc_fuzzer name stem)
  cmake_parse_arguments(ARG "" "MUTATOR" "DEPENDS" ${ARGN})
  if(NOT PCC_BUILD_FUZZERS)
    return()
  endif()
  foreach(part fuzzer seeds)
    add_executable(${name}-${part} ${stem}-${part}.cpp)
    # Equal to the option of the libraries, some of which are compiler code.
    target_compile_options(${name}-${part} PRIVATE -fno-rtti)
    target_link_libraries(${name}-${part} PRIVATE ${ARG_DEPENDS})
  endforeach()
  target_link_libraries(${name}-fuzzer PRIVATE ${ARG_MUTATOR})
  target_link_options(${name}-fuzzer PRIVATE -fsanitize=fuzzer)
endfunction()
