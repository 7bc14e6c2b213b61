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
/// `files`, such as "ids=/tmp/a.npy", names a model input and the file with its
/// elements. Any other input gets random elements, equal in every call: floats
/// in [-1, 1), valid indices if ops use the input as indices, and 0 or 1 for
/// other integers. Returns an error in three cases:
///  - A file cannot be read, or its shape or element type does not fit the
///    input.
///  - A name in `files` is not a model input.
///  - .npy files cannot hold the element type of an input without a file.
Status makeInputs(mlir::func::FuncOp model, llvm::ArrayRef<std::string> files,
                  Inputs &inputs);

/// Returns the name of the model input that `function` receives as argument
/// number `argument`. The argument must have the attribute `graph.name`.
llvm::StringRef inputName(mlir::func::FuncOp function, unsigned argument);

/// Returns a number n. The elements of `value` are valid indices if each of
/// them is in [0, n). Example: `value` contains token ids. A gather uses the
/// token ids to select rows of a table with 32000 rows. The result is 32000.
///
/// Several ops can use `value` as indices. Example: one op selects rows of a
/// table with 32000 rows, and another op selects rows of a table with 2 rows.
/// The result is the smallest number, 2. An op may also use a cast or a reshape
/// of `value`. Returns nullopt if no op uses `value` as indices.
std::optional<int64_t> tableSize(mlir::Value value);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_INPUTS_H
