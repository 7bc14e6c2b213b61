//===- DumpText.h - text of a dump, for its readers -----------------------===//

#ifndef PCC_PASSES_DRIVER_DUMPTEXT_H
#define PCC_PASSES_DRIVER_DUMPTEXT_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace pcc {

/// Returns the text of `module` with all locations, in the form of dumps:
///
/// - Shardings have the spelling of --shard, and aliases that name their axes.
/// - The mesh also has the pipeline axis pp, which the mesh of `module` lacks.
/// - The location of an op is the name of its ONNX node. A longer location,
///   with decisions of the search or a line of the user's Python program, is an
///   alias. The definitions of the aliases follow the module.
///
/// If MLIR parses the text, the result is equal to `module`, except that its
/// mesh has the axis pp.
std::string dumpText(mlir::ModuleOp module);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DUMPTEXT_H
