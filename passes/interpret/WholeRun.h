//===- WholeRun.h - the unpartitioned model on one device -----------------===//

#ifndef PCC_PASSES_INTERPRET_WHOLERUN_H
#define PCC_PASSES_INTERPRET_WHOLERUN_H

#include "passes/interpret/FunctionRun.h"
#include "passes/interpret/Inputs.h"

namespace pcc::interpret {

/// Executes @main of a module after 1-import. Returns its outputs in order, or
/// fails with an error.
llvm::FailureOr<std::vector<TensorPointer>>
runWhole(mlir::ModuleOp module, const Inputs &inputs, graph::Numerics numerics,
         OnResult onResult, std::string &error);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_WHOLERUN_H
