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
/// `parameters`, which may be null, passes updated parameters from one training
/// step to the next. A parameter with an entry in `parameters` is read from
/// there, any other parameter from the model. After a successful step,
/// `parameters` contains all parameters that the step has written.
StatusOr<std::vector<TensorPointer>>
runUnpartitioned(mlir::ModuleOp module, const Inputs &inputs,
                 graph::Numerics numerics, OnResult onResult,
                 WrittenParameters *parameters = nullptr);

/// Returns the error of a verification in which the module that `what` names
/// cannot be executed, for the reason `error`. A wrong value of an input, such
/// as an index out of range, is a mistake of the user, and everything else a
/// defect.
Status cannotRun(llvm::StringRef what, const Status &error);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_UNPARTITIONEDRUN_H
