//===- UnpartitionedRun.h - execution of the unpartitioned model ----------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_UNPARTITIONEDRUN_H
#define PCC_PASSES_INTERPRET_SIMULATE_UNPARTITIONEDRUN_H

#include "passes/interpret/elements/Inputs.h"
#include "passes/interpret/simulate/FunctionRun.h"

#include <map>

namespace pcc::interpret {

/// Global tensors of the parameters that training steps have written, by symbol
/// name.
using WrittenParameters = std::map<std::string, TensorPointer>;

/// Executes @main of an unpartitioned module, which must have that function.
/// Returns its outputs in order. `onResult`, which may be null, is called with
/// the result of every op. On failure `error` holds a message.
///
/// `parameters`, which may be null, carries state from one training step to the
/// next. A parameter in it is read from there rather than from the model. After
/// a successful step it also has all parameters that the step wrote.
llvm::FailureOr<std::vector<TensorPointer>>
runUnpartitioned(mlir::ModuleOp module, const Inputs &inputs,
                 graph::Numerics numerics, OnResult onResult,
                 std::string &error, WrittenParameters *parameters = nullptr);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_UNPARTITIONEDRUN_H
