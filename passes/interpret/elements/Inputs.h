//===- Inputs.h - inputs of a model, from files or random -----------------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_INPUTS_H
#define PCC_PASSES_INTERPRET_ELEMENTS_INPUTS_H

#include "dialects/graph/reference/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "status/Status.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::interpret {

/// Global tensors of a model's inputs, by the input's name.
using Inputs = llvm::StringMap<graph::HostTensor>;

/// Fills `inputs` with a tensor for each argument of `model`. A text in
/// `files`, such as "ids=/tmp/a.npy", names a model input and its file. Any
/// other input gets random elements, equal in every call. Returns an error if a
/// file does not fit or cannot be read, or if a name is no model input.
Status makeInputs(mlir::func::FuncOp model, llvm::ArrayRef<std::string> files,
                  Inputs &inputs);

/// Returns the name of the model input that `function` receives as argument
/// number `argument`. The argument must have the attribute `graph.name`.
llvm::StringRef inputName(mlir::func::FuncOp function, unsigned argument);

/// Returns the smallest n for which ops use the elements of `value` as indices
/// in [0, n), also after a cast or a reshape. For token ids, n is the number of
/// rows of the embedding table. Returns nullopt if no op uses `value` as
/// indices.
std::optional<int64_t> tableSize(mlir::Value value);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_INPUTS_H
