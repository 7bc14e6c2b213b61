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

/// Stores the size and a hash of each weight file in an attribute of `module`.
/// A weight file is a file with the elements of weights. `module` refers to
/// weight files by their names. If a weight file does not exist, the function
/// skips the file. Returns an error if a weight file exists and cannot be read.
Status recordWeightFiles(mlir::ModuleOp module);

/// Checks each weight file that `module` refers to. A weight file is a file
/// with the elements of weights. pcc has read `module` from the .mlir file
/// `options.model`. A .mlir file from a stranger may refer to any file of the
/// user. Therefore pcc accepts a weight file only in three cases:
///  - The weight file does not exist.
///  - The weight file has the size and the hash that `module` records.
///  - The weight file meets the conditions of onnx::ExternalData::check(). For
///    example, the weight file must be a regular file. The weight file must
///    also lie in a permitted directory or in a subdirectory of a permitted
///    directory. The permitted directories are the directory of the .mlir file
///    and the directory that the user gives by --external-data-root.
///
/// For any other weight file, returns an error with the path of the weight
/// file. The exit code is 7 if the system denies access to the weight file,
/// otherwise 3.
///
/// Also checks the attribute `graph.model` of `module`, the name of the ONNX
/// file that pcc has imported. Returns exit code 3 if this name contains a
/// directory, as in "../m.onnx".
Status checkWeightFiles(mlir::ModuleOp module, const CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DUMPWEIGHTS_H
