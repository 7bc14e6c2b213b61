//===- DriverStub.cpp - a driver that has no GPU --------------------------===//
//
// cuDNN generates code with NVIDIA's compiler only if it finds a driver. This
// library is like the stub of a toolkit: every call fails.
//
//===----------------------------------------------------------------------===//

/// CUDA_ERROR_STUB_LIBRARY
static constexpr int isStub = 34;

#define PCC_REFUSE(function)                                                   \
  extern "C" int function() { return isStub; }

PCC_REFUSE(cuCtxGetCurrent)
PCC_REFUSE(cuCtxGetLimit)
PCC_REFUSE(cuCtxPopCurrent)
PCC_REFUSE(cuCtxPushCurrent)
PCC_REFUSE(cuDeviceGet)
PCC_REFUSE(cuDeviceGetCount)
PCC_REFUSE(cuDriverGetVersion)
PCC_REFUSE(cuGetErrorName)
PCC_REFUSE(cuGetErrorString)
PCC_REFUSE(cuKernelGetAttribute)
PCC_REFUSE(cuKernelSetAttribute)
PCC_REFUSE(cuLaunchCooperativeKernel)
PCC_REFUSE(cuLaunchKernel)
PCC_REFUSE(cuLaunchKernelEx)
PCC_REFUSE(cuLibraryGetKernel)
PCC_REFUSE(cuLibraryLoadData)
PCC_REFUSE(cuLibraryLoadFromFile)
PCC_REFUSE(cuLibraryUnload)
PCC_REFUSE(cuLinkAddData)
PCC_REFUSE(cuLinkComplete)
PCC_REFUSE(cuLinkCreate)
PCC_REFUSE(cuLinkDestroy)
PCC_REFUSE(cuOccupancyMaxPotentialClusterSize)
PCC_REFUSE(cuStreamGetCtx)
