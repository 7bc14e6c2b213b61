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

/// Executes the function @main of the unpartitioned model `module` once, and
/// returns its outputs in order. `numerics` tells whether results stay f64 or
/// are rounded to their element types. `onResult` gets each op result, and may
/// be null. `parameters` has the weights that earlier training steps have
/// written. @main reads these values, and the initial values of all other
/// weights. After a successful execution, the map also contains the values that
/// @main has written. If `parameters` is null, these values are dropped.
/// `rounding` adds random rounding errors to sums. If `rounding` is null, there
/// are no such errors.
StatusOr<std::vector<TensorPointer>>
runUnpartitioned(mlir::ModuleOp module, const Inputs &inputs,
                 graph::Numerics numerics, OnResult onResult,
                 WrittenParameters *parameters = nullptr,
                 RandomRounding *rounding = nullptr);

/// Returns the error that pcc reports after the execution of a module has
/// failed with `error`. `what` is a text that names the module, such as "the
/// partitioned model". There are two cases:
///
///  - `error` has the code BadInput: an input of the user has a wrong value,
///    such as an index out of range. The function returns `error` itself.
///  - `error` has any other code. The function returns an error with the code
///    Defect (a defect of pcc). Its message contains `what` and the message of
///    `error`.
Status cannotRun(llvm::StringRef what, const Status &error);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_UNPARTITIONEDRUN_H
