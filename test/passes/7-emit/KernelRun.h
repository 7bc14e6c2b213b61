//===- KernelRun.h - compiled kernels beside the meaning of their ops -----===//

#ifndef PCC_TEST_PASSES_7_EMIT_KERNELRUN_H
#define PCC_TEST_PASSES_7_EMIT_KERNELRUN_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace pcc::emit {

/// Distribution of the random operands of a kernel.
struct Inputs {
  double low = -3, high = 3;
  int64_t least = -5, most = 5;
  unsigned seed = 1;
  std::vector<int64_t> scalars = {};
};

/// Parses a module with one rank.kernel, compiles it for two CPUs and an
/// emulated GPU, and compares every result with the reference evaluator.
/// Returns the first difference, or "" if there is none. Elements may differ by
/// `tolerance` times max(1, their magnitude), and narrow floats by their
/// precision in addition.
std::string difference(llvm::StringRef module, const Inputs &inputs = {},
                       double tolerance = 1e-6);

/// Parses a module with one function of graph ops, lowers the ops for which its
/// target has no library, forms kernels, and compares the results with those
/// from before. Operands and parameters are random. Ops outside of kernels are
/// evaluated by the reference evaluator.
std::string functionDifference(llvm::StringRef module,
                               const Inputs &inputs = {},
                               double tolerance = 1e-5);

/// Returns the i64 elements of the only result of a kernel without operands.
std::vector<int64_t> results(llvm::StringRef module, const Inputs &inputs);

} // namespace pcc::emit

#endif // PCC_TEST_PASSES_7_EMIT_KERNELRUN_H
