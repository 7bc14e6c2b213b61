//===- Inputs.h - what a model is run on ----------------------------------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_INPUTS_H
#define PCC_PASSES_INTERPRET_ELEMENTS_INPUTS_H

#include "dialects/graph/reference/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/base/Status.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::interpret {

/// Whole inputs by name.
using Inputs = llvm::StringMap<graph::HostTensor>;

/// The inputs of a model: those in `files` (NAME=FILE.npy) are read, the others
/// seeded, indices within the tables that they pick from.
runtime::Status makeInputs(mlir::func::FuncOp model,
                           llvm::ArrayRef<std::string> files, Inputs &inputs);

/// The name of the input that an argument of the model or of a stage is.
llvm::StringRef inputName(mlir::func::FuncOp function, unsigned argument);

/// The smallest table that elements of `value` index, reached through ops that
/// hand elements on; nothing if there is none.
std::optional<int64_t> tableSize(mlir::Value value);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_INPUTS_H
