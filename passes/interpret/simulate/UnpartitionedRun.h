//===- UnpartitionedRun.h - the unpartitioned model on one device ---------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_UNPARTITIONEDRUN_H
#define PCC_PASSES_INTERPRET_SIMULATE_UNPARTITIONEDRUN_H

#include "passes/interpret/elements/Inputs.h"
#include "passes/interpret/simulate/FunctionRun.h"

#include <map>

namespace pcc::interpret {

/// Parameters that a step has written, whole.
using WrittenParameters = std::map<std::string, TensorPointer>;

/// Executes @main of a module that is not partitioned. Returns its outputs in
/// order, or fails with an error. A step of training takes `parameters`, where
/// they are not as the model has them, and writes them.
llvm::FailureOr<std::vector<TensorPointer>>
runUnpartitioned(mlir::ModuleOp module, const Inputs &inputs,
                 graph::Numerics numerics, OnResult onResult,
                 std::string &error, WrittenParameters *parameters = nullptr);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_UNPARTITIONEDRUN_H
