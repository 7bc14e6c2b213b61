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

/// Executes the function @main of the unpartitioned model `module` once.
/// Returns the outputs of the function in order. The parameters are:
///
///  - `inputs` holds the tensors of the model's inputs, by name.
///  - `numerics` is the precision to which results are rounded: f64 or the
///    element types of the model.
///  - `onResult` is called with each result of each op. It may be null.
///  - `parameters` is a map with the new values of weights that earlier
///    training steps have written. If @main reads a weight that is in the map,
///    the read returns the value in the map. If @main reads any other weight,
///    the read returns the initial value of the weight, such as the value in
///    the files of the model. After a successful execution, the map also
///    contains the values that @main has written. `parameters` may be null. In
///    this case, each read returns the initial value, and the written values
///    are dropped.
///  - `rounding` multiplies the results of ops that compute sums, such as
///    matrix products, by 1 plus a small random error. `rounding` may be null,
///    and then there are no such errors.
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
