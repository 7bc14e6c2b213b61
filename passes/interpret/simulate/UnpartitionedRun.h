//===- UnpartitionedRun.h - execution of the unpartitioned model ----------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_UNPARTITIONEDRUN_H
#define PCC_PASSES_INTERPRET_SIMULATE_UNPARTITIONEDRUN_H

#include "passes/interpret/elements/Inputs.h"
#include "passes/interpret/simulate/FunctionRun.h"

#include <map>

namespace pcc::interpret {

/// Values of the parameters that training steps have written, by the
/// parameter's symbol name.
using WrittenParameters = std::map<std::string, TensorPointer>;

/// Executes the function @main of an unpartitioned module and returns its
/// outputs in order. `onResult`, which may be null, is called with each result
/// of each op.
///
/// `parameters`, which may be null, holds the parameters that earlier training
/// steps have written. All other parameters are read from the model. A
/// successful step adds the parameters that it writes. The errors of
/// `rounding`, which may be null, are added to the results of ops.
StatusOr<std::vector<TensorPointer>>
runUnpartitioned(mlir::ModuleOp module, const Inputs &inputs,
                 graph::Numerics numerics, OnResult onResult,
                 WrittenParameters *parameters = nullptr,
                 RandomRounding *rounding = nullptr);

/// Returns the error for a module that cannot be executed because of `error`;
/// `what` names the module. A wrong input value, such as an index out of range,
/// is a mistake of the user. Any other error is a defect of pcc.
Status cannotRun(llvm::StringRef what, const Status &error);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_UNPARTITIONEDRUN_H
