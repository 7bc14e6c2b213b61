//===- Inputs.h - what a model is run on ----------------------------------===//

#ifndef PCC_PASSES_INTERPRET_INPUTS_H
#define PCC_PASSES_INTERPRET_INPUTS_H

#include "dialects/graph/meaning/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::interpret {

/// The inputs of a model by name: those in `files` (NAME=FILE.npy) are read,
/// the others seeded, indices within the tables that they pick from.
llvm::FailureOr<llvm::StringMap<graph::HostTensor>>
makeInputs(mlir::func::FuncOp model, llvm::ArrayRef<std::string> files,
           std::string &error);

/// The smallest table that elements of `value` index, reached through ops that
/// hand elements on; nothing if there is none.
std::optional<int64_t> tableSize(mlir::Value value);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_INPUTS_H
