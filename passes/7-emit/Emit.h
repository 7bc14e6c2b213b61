//===- Emit.h - compilation of a module to a bundle on disk ---------------===//

#ifndef PCC_PASSES_7_EMIT_EMIT_H
#define PCC_PASSES_7_EMIT_EMIT_H

#include "mlir/IR/BuiltinOps.h"
#include "status/Status.h"

#include <string>

namespace pcc::emit {

/// Options of writeBundle().
struct BundleOptions {
  /// Path of the bundle, the directory that pcc writes. Replaces a bundle that
  /// exists at this path.
  std::string bundle;
  /// True to copy the weights that ranks read into the bundle. False to let
  /// ranks read the weight files of the model where they are.
  bool packWeights = false;
  /// Paths of two files that show when each action of the step is planned to
  /// run: an SVG drawing and a trace. A file with an empty path is not written.
  /// The content of the files depends on the module only.
  std::string scheduleSvg = {}, trace = {};
};

/// Writes the bundle of `module`, on which the passes of phase 7-emit have run.
/// Writes the program of every position (virtual pipeline rank), compiles the
/// kernels, and links one executable per position. The bundle appears complete
/// or not at all. Equal modules give equal bytes, whatever the path of the
/// bundle is.
///
/// Settings are attributes of the module: `rank.cpus` (see instructionSetsOf),
/// `rank.gpu_arch`, `rank.random_weights`, `rank.memory_limit`, `graph.root`.
///
/// Returns an error with one of these exit codes:
///
///   1   a kernel does not compile, or the installation is incomplete
///   2   unknown instruction set or GPU architecture
///   3   unreadable weight file, or a module that lacks a fact
///   4   an op that the device cannot run
///   6   a rank needs more memory than `rank.memory_limit`
///   7   the bundle cannot be written
///   13  a shared library of rank executables is not installed
///
/// Loads dialects, so it must not run within a pass.
Status writeBundle(mlir::ModuleOp module, const BundleOptions &options);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_EMIT_H
