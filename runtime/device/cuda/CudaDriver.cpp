//===- CudaDriver.cpp - functions of the CUDA driver, opened at run time --===//

#include "runtime/device/cuda/CudaDriver.h"
#include "runtime/base/SharedLibrary.h"
#include "runtime/base/WatchedCalls.h"

#include <algorithm>

namespace pcc::runtime {

static constexpr const char *soname = "libcuda.so.1";

/// Expands to a string with the name that a function has in the driver library.
/// For example, PCC_SYMBOL(cuInit) expands to "cuInit".
///
/// Some names in the code are macros of cuda.h. For example, the macro
/// cuMemAlloc expands to cuMemAlloc_v2, which is the name of a function in the
/// driver library. PCC_SYMBOL(cuMemAlloc) therefore expands to "cuMemAlloc_v2".
///
/// The operator # converts the argument of a macro to a string, but it does not
/// expand the argument first. PCC_SYMBOL therefore passes its argument to a
/// second macro, PCC_TEXT. The preprocessor expands the argument cuMemAlloc
/// before it expands PCC_TEXT. PCC_TEXT then converts cuMemAlloc_v2 to a
/// string.
#define PCC_SYMBOL(function) PCC_TEXT(function)
#define PCC_TEXT(symbol) #symbol

/// Sets the pointers in `driver` to the functions of the shared library
/// `library`.
static void fillTable(SharedLibrary &library, CudaDriver &driver) {
#define PCC_FIND(function) library.find(PCC_SYMBOL(function), driver.function);
  PCC_CUDA_DRIVER_FUNCTIONS(PCC_FIND)
#undef PCC_FIND
}

/// Replaces each function pointer in `driver` by a pointer to a wrapper. The
/// wrapper increments a counter of begun calls, calls the function of the CUDA
/// driver, and then increments a counter of ended calls. Another thread
/// compares the two counters. If they differ for too long, a call of the driver
/// hangs.
static void watchTable(CudaDriver &driver) {
#define PCC_WATCH(function) watchCalls<&CudaDriver::function>(driver);
  PCC_CUDA_DRIVER_FUNCTIONS(PCC_WATCH)
#undef PCC_WATCH
}

/// Returns a CUDA version as text: "13.0" for 13000.
static std::string versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

/// Initializes the driver by a call of cuInit. Returns an error if the driver
/// is too old, finds no GPU, or cannot be initialized. The function checks the
/// version of the driver before it calls cuInit. If the driver is too old, the
/// error message contains the version of the driver and the version that pcc
/// needs. The error of cuInit would contain neither version.
static Status start(const CudaDriver &driver) {
  int version = 0;
  if (driver.cuDriverGetVersion(&version) == CUDA_SUCCESS &&
      version < CUDA_VERSION / 1000 * 1000)
    return Status::error(NoDevice, "the driver is one of CUDA " +
                                       versionText(version) +
                                       ", pcc needs CUDA " +
                                       versionText(CUDA_VERSION / 1000 * 1000));
  const CUresult result = driver.cuInit(0);
  if (result == CUDA_ERROR_STUB_LIBRARY)
    return Status::error(NoDevice,
                         std::string(soname) +
                             " is the stub that programs are linked "
                             "with, not a driver",
                         {"leave its folder out of the library path"});
  if (result == CUDA_ERROR_NO_DEVICE)
    return Status::error(NoDevice, "the driver sees no GPU");
  if (result != CUDA_SUCCESS)
    return Status::error(NoDevice, driver.check(result, "cuInit").message());
  return Status::success();
}

Status openCudaDriver(CudaDriver &driver) {
  SharedLibrary library(soname, cudaFolders());
  if (!library.isOpen())
    return Status::error(NoDevice, library.error(),
                         {"the bundle runs on NVIDIA GPUs; compile the model "
                          "with --target cpu for others"});
  fillTable(library, driver);
  if (const char *absent = library.firstAbsent())
    return Status::error(NoDevice, std::string(soname) + " has no symbol " +
                                       absent + "; a driver of CUDA " +
                                       versionText(CUDA_VERSION) +
                                       " is needed");
  watchTable(driver);
  return start(driver);
}

/// Converts `result` to a Status. `call` is the name of the driver function
/// that returned `result`. A Status is either a success, or an error with an
/// exit code for the process. CUDA_SUCCESS becomes a success. An error of the
/// machine, such as too little free GPU memory, becomes an error with exit code
/// 13 (NoDevice). Any other error is a defect of pcc, and becomes an error with
/// exit code 1 (Defect).
///
/// The message of the error names the driver function and the error. An example
/// is "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
Status CudaDriver::check(CUresult result, const char *call) const {
  if (result == CUDA_SUCCESS)
    return Status::success();
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  static constexpr CUresult ofTheMachine[] = {
      CUDA_ERROR_OUT_OF_MEMORY,          CUDA_ERROR_NO_DEVICE,
      CUDA_ERROR_DEVICE_UNAVAILABLE,     CUDA_ERROR_SYSTEM_NOT_READY,
      CUDA_ERROR_ECC_UNCORRECTABLE,      CUDA_ERROR_NO_BINARY_FOR_GPU,
      CUDA_ERROR_UNSUPPORTED_PTX_VERSION};
  const bool isMachines =
      std::find(std::begin(ofTheMachine), std::end(ofTheMachine), result) !=
      std::end(ofTheMachine);
  return Status::error(
      isMachines ? NoDevice : Defect,
      std::string(call) + " failed: " + (name ? name : std::to_string(result)) +
          (text ? std::string(" (") + text + ")" : ""));
}

} // namespace pcc::runtime
