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

/// Records in the module the size and a hash of each existing weight file.
/// Returns an error if a file cannot be read.
Status recordWeightFiles(mlir::ModuleOp module);

/// Checks that pcc may read each weight file that the .mlir file
/// `options.model` names. Accepts a weight file in three cases:
///  - it does not exist;
///  - it has the size and hash that the .mlir file records;
///  - it lies in the directory of the .mlir file or in --external-data-root.
///
/// For any other weight file, returns exit code 3 with its path. Returns exit
/// code 3, too, if the name of the original model contains a directory.
Status checkWeightFiles(mlir::ModuleOp module, const CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DUMPWEIGHTS_H
