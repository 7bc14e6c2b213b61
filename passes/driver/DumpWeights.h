//===- DumpWeights.h - weight files that a .mlir file may refer to --------===//
//
// A dump names the directory of the model (graph.root) and files in it. A dump
// may come from a stranger, who could name any file of the user, and pcc would
// pack its bytes into the bundle. The rules of ONNX external data therefore
// hold for dumps, too, with one exception: the files that the dump was made
// from. The dump has a hash of each of them (pcc.weight_files), which only
// someone who has read the file can state.
//
//   graph.root = "/models", file "w.bin", read from /tmp/ir/4-shard.mlir
//     hash of /models/w.bin is the recorded one       permitted
//     /models/w.bin resolves to a file in /tmp/ir,
//     or in the directory --external-data-root        permitted
//     otherwise                                       exit code 3
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_DRIVER_DUMPWEIGHTS_H
#define PCC_PASSES_DRIVER_DUMPWEIGHTS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Records in the module the size and a hash of each weight file that its
/// parameters refer to and that exists. Returns an error if a file cannot be
/// read.
Status recordWeightFiles(mlir::ModuleOp module);

/// Checks that the .mlir file `options.model`, from which `module` was read,
/// may refer to the weight files and to the model that it names. Files that do
/// not exist are not checked; an error is reported when they are read. Returns
/// exit code 3, with the path, for a file that it may not refer to.
Status checkWeightFiles(mlir::ModuleOp module, const CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DUMPWEIGHTS_H
