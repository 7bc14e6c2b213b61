//===- Emit.h - compilation of a module to a bundle on disk ---------------===//

#ifndef PCC_PASSES_7_EMIT_EMIT_H
#define PCC_PASSES_7_EMIT_EMIT_H

#include "mlir/IR/BuiltinOps.h"
#include "status/Status.h"

#include <string>

namespace pcc::emit {

/// Options of writeBundle(), which compiles a module to a bundle (the directory
/// that pcc writes).
struct BundleOptions {
  /// Path of the bundle (the directory that pcc writes). writeBundle() replaces
  /// a bundle that exists at this path.
  std::string bundle;
  /// True to copy the weights that ranks read into the bundle. False to let
  /// ranks read the weight files of the model at their original paths.
  bool packWeights = false;
  /// Paths of two files that show the planned times of one step: `scheduleSvg`
  /// as an SVG drawing, `trace` as a list of trace events. Both show every
  /// action (run of a stage function). An empty path means that the file is not
  /// written.
  std::string scheduleSvg = {}, trace = {};
};

/// Writes the bundle (output directory) of `module`. The passes of phase 7-emit
/// must have run on `module`. Compiles the kernels, and writes and links one
/// program per position (virtual pipeline rank). The bundle appears at its path
/// only when it is complete: an error leaves the path as it was. Equal modules
/// give equal bytes, whatever the path of the bundle is.
///
/// Settings are attributes of the module: `rank.cpus` (see instructionSetsOf),
/// `rank.gpu_arch`, `rank.random_weights`, `rank.memory_limit`, `graph.root`.
///
/// Returns an error with one of these exit codes:
///
///   1   a kernel does not compile, or the installation is incomplete
///   2   unknown instruction set or GPU architecture
///   3   unreadable weight file, or a module that lacks a needed attribute
///   4   an op that the device cannot run
///   6   a rank needs more memory than `rank.memory_limit`
///   7   the bundle cannot be written
///   13  a shared library of rank executables is not installed
///
/// Loads dialects, so it must not run within a pass.
Status writeBundle(mlir::ModuleOp module, const BundleOptions &options);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_EMIT_H
