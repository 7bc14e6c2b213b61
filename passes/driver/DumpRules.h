//===- DumpRules.h - rules that the dumps of all phases obey --------------===//

#ifndef PCC_PASSES_DRIVER_DUMPRULES_H
#define PCC_PASSES_DRIVER_DUMPRULES_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Phase.h"

namespace pcc {

/// Checks rules of a module that has passed `passed`, or of a model if that is
/// Phase::None, which concern several dialects and several phases:
///  - the mesh has the time axis `mb` if and only if there are microbatches,
///    and the plan has at most 65,536 ranks;
///  - the products of stages, microbatches and ranks are small enough for
///    tables;
///  - every function has one block, and the function of the model is @main
///    before 6-schedule, the functions of stages have stages afterwards;
///  - every input and output of the model has a name;
///  - every value is a tensor of static shape with at most 2^50 elements.
/// The gates of the phases rely on these rules. Emits an error at the op if one
/// is broken.
mlir::LogicalResult checkDumpRules(mlir::ModuleOp module, Phase passed);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DUMPRULES_H
