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

/// Executes @main of the unpartitioned model once and returns its outputs.
/// `parameters`, if not null, contains values that replace the initial values
/// of weights. A successful run stores the weights that it writes in the same
/// map. `rounding`, if not null, adds random errors to sums. `onResult` gets
/// each op result and may be null.
StatusOr<std::vector<TensorPointer>>
runUnpartitioned(mlir::ModuleOp module, const Inputs &inputs,
                 graph::Numerics numerics, OnResult onResult,
                 WrittenParameters *parameters = nullptr,
                 RandomRounding *rounding = nullptr);

/// Returns the error that pcc reports after the run of a module has failed with
/// `error`. An error about a file of the user (BadInput, CannotRead,
/// InputOutput) is returned as it is. Any other error becomes a defect of pcc.
/// `what` names the module, such as "the partitioned model".
Status cannotRun(llvm::StringRef what, const Status &error);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_UNPARTITIONEDRUN_H
