//===- Inputs.h - inputs of a model, from files or random -----------------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_INPUTS_H
#define PCC_PASSES_INTERPRET_ELEMENTS_INPUTS_H

#include "dialects/graph/reference/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/base/Status.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::interpret {

/// The global tensors of a model's inputs, by input name.
using Inputs = llvm::StringMap<graph::HostTensor>;

/// Fills `inputs` with a tensor for each argument of `model`. An input in
/// `files` (NAME=FILE.npy) is read from its file. Any other input gets random
/// values from a fixed seed (RandomValues.h); integers that index a dim are
/// drawn within its size.
///
/// Returns an error if a file cannot be read or does not fit its input, or if
/// `files` has a name that is no input. Random values also need an element type
/// that files can hold.
runtime::Status makeInputs(mlir::func::FuncOp model,
                           llvm::ArrayRef<std::string> files, Inputs &inputs);

/// Returns the name of the model input that argument number `argument` of
/// `function` holds. `function` is the model or the function of a stage; the
/// argument must have the attribute `graph.name`.
llvm::StringRef inputName(mlir::func::FuncOp function, unsigned argument);

/// Returns the size of the smallest dim into which elements of `value` are used
/// as indices, by gathers or scatters. Uses are also followed through ops that
/// copy elements, such as reshapes and casts. In the index tuples of a
/// gather_nd, only the first index is considered. Returns nullopt if no element
/// is an index.
std::optional<int64_t> tableSize(mlir::Value value);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_INPUTS_H
