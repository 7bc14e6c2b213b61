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
//     another hash is recorded, and there is no
//     --external-data-root                            exit code 3
//     /models/w.bin resolves to a file in /tmp/ir,
//     or in the directory --external-data-root        permitted
//     otherwise                                       exit code 3
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_DRIVER_DUMPWEIGHTS_H
#define PCC_PASSES_DRIVER_DUMPWEIGHTS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "runtime/base/claim/FileClaims.h"
#include "status/Status.h"

namespace pcc {

/// Stores the size and a hash of each weight file in an attribute of `module`.
/// A weight file is a file with the elements of weights. `module` refers to
/// weight files by their names. If a weight file does not exist, the function
/// skips the file. Returns an error if a weight file exists and cannot be read.
Status recordWeightFiles(mlir::ModuleOp module);

/// Checks the weight files that `module` names. `module` comes from the .mlir
/// file `options.model`, which could name any file of the user. Returns exit
/// code 3 if pcc must not read a file, or if `graph.model` contains a
/// directory. Returns exit code 7 if the system denies access to a file.
Status checkWeightFiles(mlir::ModuleOp module, const CompileOptions &options);

/// Adds the weight files that `module` names to `claims`, as files that must
/// stay.
void addWeightFiles(mlir::ModuleOp module, runtime::FileClaims &claims);

/// Checks that the files of all weights of `module` exist, in its folder of
/// weights. Emits an error at the module if this folder does not exist, else at
/// the first parameter whose file does not or lies elsewhere.
mlir::LogicalResult checkWeightsExist(mlir::ModuleOp module);

/// Checks that no weight of `module` lies beyond the end of its file. Emits an
/// error at the parameter, and fails, if one does. Skips files that do not
/// exist.
mlir::LogicalResult checkWeightRanges(mlir::ModuleOp module);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DUMPWEIGHTS_H
