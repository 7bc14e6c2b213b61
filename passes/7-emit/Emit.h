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
  /// Paths of an SVG drawing and of a list of Chrome trace events. Both show
  /// one simulated step of the bundle. If a path is empty, its file is not
  /// written.
  std::string scheduleSvg = {}, trace = {};
  /// Content of the file explain.json of the bundle: a JSON object that tells
  /// why the collectives of the plan are there. If empty, the bundle has no
  /// such file.
  std::string explanation = {};
  /// If not null, writeBundle() stores a summary of the bundle here, as
  /// runtime::summaryText() returns it.
  std::string *summary = nullptr;
};

/// Compiles `module`, the result of all passes of `7-emit`, to a bundle: a
/// directory with one executable per rank. On an error, an older bundle stays
/// unchanged. Must not run within a pass, since it loads dialects. Exit codes:
///
///   1   a kernel does not compile, or the installation is incomplete
///   2   unknown instruction set or GPU architecture
///   3   unreadable weight file, or a module that lacks a needed attribute
///   4   an op that the device cannot run
///   6   a rank needs more memory than the module attribute `rank.memory_limit`
///   7   the bundle cannot be written
///   13  a shared library is not installed, or the linker runs out of memory
Status writeBundle(mlir::ModuleOp module, const BundleOptions &options);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_EMIT_H
