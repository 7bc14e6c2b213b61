# Finds NVIDIA's assembler (program and library), its device library and its headers: in a CUDA toolkit or, if there is none, in
# the wheels that tools/dev/setup installs. No library of CUDA is linked.
file(GLOB wheels ${CMAKE_CURRENT_LIST_DIR}/../build/venv/lib/python3*/site-packages/nvidia/cu13
     ${CMAKE_CURRENT_LIST_DIR}/../build/venv/lib/python3*/site-packages/nvidia/nccl
     ${CMAKE_CURRENT_LIST_DIR}/../build/venv/lib/python3*/site-packages/nvidia/cudnn)
set(places $ENV{CUDA_HOME} /usr/local/cuda ${wheels})
find_program(PCC_PTXAS ptxas PATHS ${places} PATH_SUFFIXES bin NO_DEFAULT_PATH)
find_file(PCC_LIBDEVICE libdevice.10.bc PATHS ${places} PATH_SUFFIXES nvvm/libdevice NO_DEFAULT_PATH)
find_path(PCC_CUDA_INCLUDE cublasLt.h PATHS ${places} PATH_SUFFIXES include NO_DEFAULT_PATH)
find_path(PCC_NCCL_INCLUDE nccl.h PATHS ${places} PATH_SUFFIXES include)
find_path(PCC_CUDNN_INCLUDE cudnn_graph.h PATHS ${places} PATH_SUFFIXES include)
if(NOT PCC_PTXAS OR NOT PCC_LIBDEVICE OR NOT PCC_CUDA_INCLUDE OR NOT PCC_NCCL_INCLUDE
   OR NOT PCC_CUDNN_INCLUDE)
  message(FATAL_ERROR "ptxas, libdevice.10.bc, cublasLt.h, nccl.h or cudnn_graph.h is missing: install a CUDA toolkit, NCCL and cuDNN, or run tools/dev/setup")
endif()
# Folders in which the tests find libnvJitLink, cuDNN, and the libraries with which cuDNN generates code.
find_path(PCC_NVJITLINK_FOLDER libnvJitLink.so.13 PATHS ${places} PATH_SUFFIXES lib64 lib NO_DEFAULT_PATH)
find_path(PCC_CUDNN_FOLDER libcudnn.so.9 PATHS ${places} PATH_SUFFIXES lib64 lib)
find_path(PCC_NVRTC_FOLDER libnvrtc.so.13 PATHS ${places} PATH_SUFFIXES lib64 lib)
