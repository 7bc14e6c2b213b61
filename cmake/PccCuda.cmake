# NVIDIA's assembler, as a program and as a library, and its device library: those of a CUDA toolkit, else those of the wheels that tools/dev/setup installs.
# Nothing of CUDA is linked.
file(GLOB wheels ${CMAKE_CURRENT_LIST_DIR}/../build/venv/lib/python3*/site-packages/nvidia/cu13)
set(places $ENV{CUDA_HOME} /usr/local/cuda ${wheels})
find_program(PCC_PTXAS ptxas PATHS ${places} PATH_SUFFIXES bin NO_DEFAULT_PATH)
find_file(PCC_LIBDEVICE libdevice.10.bc PATHS ${places} PATH_SUFFIXES nvvm/libdevice NO_DEFAULT_PATH)
if(NOT PCC_PTXAS OR NOT PCC_LIBDEVICE)
  message(FATAL_ERROR "ptxas and libdevice.10.bc are missing: install a CUDA toolkit, or run tools/dev/setup")
endif()
# Where pcc's tests find libnvJitLink.
find_path(PCC_NVJITLINK_FOLDER libnvJitLink.so.13 PATHS ${places} PATH_SUFFIXES lib64 lib NO_DEFAULT_PATH)
