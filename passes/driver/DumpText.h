//===- DumpText.h - text of a dump, for its readers -----------------------===//

#ifndef PCC_PASSES_DRIVER_DUMPTEXT_H
#define PCC_PASSES_DRIVER_DUMPTEXT_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace pcc {

/// Returns the text of `module` with all locations, in the form of dumps:
///
///  - Shardings have the spelling of --shard, and aliases that name their axes.
///  - The mesh has the axis pp.
///  - The location of an op is the name of its ONNX node. Longer locations,
///    with the decisions of the search or lines of a program, are aliases whose
///    definitions follow the module.
///
/// The parser of MLIR reads the text as an equal module, except that the mesh
/// has the axis pp.
std::string dumpText(mlir::ModuleOp module);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DUMPTEXT_H
