//===- Emit.h - from a module to a bundle ---------------------------------===//

#ifndef PCC_PASSES_7_EMIT_EMIT_H
#define PCC_PASSES_7_EMIT_EMIT_H

#include "mlir/IR/BuiltinOps.h"
#include "runtime/base/Status.h"

#include <string>

namespace pcc::emit {

struct BundleOptions {
  /// The directory to make. A bundle that is there is replaced.
  std::string bundle;
  /// Copy what ranks read of the weights into the bundle.
  bool packWeights = false;
  /// Files for the planned step, a picture and a trace; empty: none. They hold
  /// nothing but what follows from the module.
  std::string scheduleSvg = {}, trace = {};
};

/// Compiles the kernels of a module that phase 7-emit has passed, writes the
/// program of every position, links one executable per position and makes the
/// bundle, which appears whole or not at all. Equal modules give equal bytes,
/// whatever the folder. What the module records is used: `rank.cpus` (default
/// x86-64-v3, x86-64-v4), `rank.random_weights`, `graph.root`.
///
/// Exit codes of errors: 2 for an unknown instruction set, 3 for weight files
/// that cannot be read, 4 for ops that the device cannot run, 6 where a rank
/// holds more than `rank.memory_limit`, 7 where the bundle cannot be written.
/// Must not run within a pass.
runtime::Status writeBundle(mlir::ModuleOp module,
                            const BundleOptions &options);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_EMIT_H
