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

/// Fills `inputs` with a tensor for each argument of `model`. Each text in
/// `files` has the name of a model input and the path of the file with its
/// elements. For example, the text "ids=/tmp/a.npy" says that the file
/// /tmp/a.npy has the elements of the model input "ids".
///
/// A model input without a file gets random elements. The seed is a constant,
/// so that every call generates the same elements:
///
///  - Floats are uniform in [-1, 1).
///  - Integers that ops use as indices are valid indices. For example, token
///    ids that select rows of a table [32000, 768] are in [0, 32000).
///  - All other integers are 0 or 1.
///
/// Returns an error in three cases:
///
///  - A file cannot be read, or has a tensor with a shape or an element type
///    that does not fit the model input.
///  - A text in `files` has a name that no model input has.
///  - A model input without a file has an element type that .npy files cannot
///    hold.
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
