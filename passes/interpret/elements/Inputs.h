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

/// Fills `inputs` with a tensor for each argument of `model`. An entry
/// NAME=FILE.npy of `files` names the file from which the input NAME is read.
/// All other inputs get random values from a fixed seed (RandomValues.h).
/// Integers that are indices into a dim are drawn from the range of that dim.
///
/// Returns an error in three cases:
///  - A file cannot be read or does not fit its input.
///  - The model has no input with a name in `files`.
///  - An input without a file has an element type that .npy files cannot hold.
Status makeInputs(mlir::func::FuncOp model, llvm::ArrayRef<std::string> files,
                  Inputs &inputs);

/// Returns the name of the model input whose value is passed as argument number
/// `argument` of `function`. `function` is the model or the function of a
/// stage. The argument must have the attribute `graph.name`.
llvm::StringRef inputName(mlir::func::FuncOp function, unsigned argument);

/// Returns the size of the dim into which elements of `value` are indices, for
/// gathers or scatters. For example, token ids that select rows of a table
/// [32000, 768] give 32000. Returns nullopt if no element is used as an index.
/// Details:
///  - If there are several such dims, returns the smallest size.
///  - Uses behind ops that copy elements, such as reshapes and casts, count,
///    too.
///  - For the index tuples of a gather_nd, only the first index of each tuple
///    is considered.
std::optional<int64_t> tableSize(mlir::Value value);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_INPUTS_H
