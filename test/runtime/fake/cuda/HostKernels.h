//===- HostKernels.h - the kernels of a GPU, as the host runs them --------===//

#ifndef PCC_TEST_RUNTIME_FAKE_CUDA_HOSTKERNELS_H
#define PCC_TEST_RUNTIME_FAKE_CUDA_HOSTKERNELS_H

#include "runtime/program/Program.h"
#include "runtime/program/ProgramImage.h"
#include "test/runtime/fake/cuda/FakeGpu.h"

namespace pcc::fake {

/// A kernel with what its launches have in common.
struct HostKernel {
  std::string name;
  runtime::KernelFunction function = nullptr;
  const program::KernelT *launch = nullptr; ///< one of them
  std::vector<size_t> bytes;                ///< of its buffers
  /// Of a kernel that goes over many tensors: those of a part.
  struct Tensor {
    size_t element; ///< bytes
    bool isResult;
  };
  std::vector<Tensor> tensors;
  /// Of a kernel that makes random weights, and is launched by no instruction:
  /// bytes of an element; else 0.
  size_t randomElement = 0;
};

/// The kernels of the program whose code was loaded. The file that the code
/// lies in has the host's as well, where it was compiled with --cpu.
class HostKernelModule {
public:
  /// Null, with the reason in `error`, if there are none.
  /// `capability` is the GPU's, 90 for 9.0.
  static std::unique_ptr<HostKernelModule>
  load(const void *code, int capability, std::string &error);

  const HostKernel *find(const std::string &name) const;

private:
  runtime::OpenedProgram opened;
  std::vector<HostKernel> twins;
};

} // namespace pcc::fake

#endif // PCC_TEST_RUNTIME_FAKE_CUDA_HOSTKERNELS_H
