//===- Emit.h - compilation of a module to a bundle on disk ---------------===//

#ifndef PCC_PASSES_7_EMIT_EMIT_H
#define PCC_PASSES_7_EMIT_EMIT_H

#include "mlir/IR/BuiltinOps.h"
#include "status/Status.h"

#include <string>

namespace pcc::emit {

/// Options of writeBundle(), which compiles a module to a bundle.
struct BundleOptions {
  /// Path of the bundle. writeBundle() replaces an older bundle at this path.
  std::string bundle;
  /// Whether to copy the weights into the bundle. If false, ranks read the
  /// model's weight files at their original paths.
  bool packWeights = false;
  /// Paths of two files with the planned times of one step: an SVG drawing and
  /// a list of trace events. A file with an empty path is not written.
  std::string scheduleSvg = {}, trace = {};
};

/// Compiles `module` to a bundle: compiles the kernels, and links one program
/// per position (virtual pipeline rank). The passes of phase 7-emit must have
/// run. An error leaves the path of the bundle as it was. Equal modules give
/// equal bytes.
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
///   13  a shared library is not installed, or the linker runs out of memory
///
/// The function loads dialects, so it must not run within a pass.
Status writeBundle(mlir::ModuleOp module, const BundleOptions &options);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_EMIT_H
