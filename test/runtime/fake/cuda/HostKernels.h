//===- HostKernels.h - the kernels of a GPU, as the host runs them --------===//

#ifndef PCC_TEST_RUNTIME_FAKE_CUDA_HOSTKERNELS_H
#define PCC_TEST_RUNTIME_FAKE_CUDA_HOSTKERNELS_H

#include "runtime/program/Program.h"
#include "runtime/program/ProgramImage.h"
#include "test/runtime/fake/cuda/FakeGpu.h"

namespace pcc::fake {

/// A kernel, with properties that all its launches share.
struct HostKernel {
  std::string name;
  runtime::KernelFunction function = nullptr;
  const program::KernelT *launch = nullptr; ///< one of them
  std::vector<size_t> bytes;                ///< of its buffers
  /// For a kernel over many tensors: the tensors of a part.
  struct Tensor {
    size_t element; ///< bytes
    bool isResult;
  };
  std::vector<Tensor> tensors;
  /// For a kernel that generates random weights, which no instruction launches:
  /// bytes of an element; else 0.
  size_t randomElement = 0;
};

/// The kernels of the program whose code was loaded. If it was compiled with
/// --cpu, the file with the code contains the host's code as well.
class HostKernelModule {
public:
  /// Finds the kernels. Returns null, with the reason in `error`, if there are
  /// none. `capability` is that of the GPU, 90 for 9.0.
  static std::unique_ptr<HostKernelModule>
  load(const void *code, int capability, std::string &error);

  const HostKernel *find(const std::string &name) const;

private:
  runtime::OpenedProgram opened;
  std::vector<HostKernel> twins;
};

} // namespace pcc::fake

#endif // PCC_TEST_RUNTIME_FAKE_CUDA_HOSTKERNELS_H
