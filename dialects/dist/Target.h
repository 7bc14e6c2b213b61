//===- Target.h - target device of a module: cpu or cuda ------------------===//

#ifndef PCC_DIALECTS_DIST_TARGET_H
#define PCC_DIALECTS_DIST_TARGET_H

#include "mlir/IR/BuiltinOps.h"

namespace pcc::dist {

/// StringAttr on the module: the device that ranks drive, "cuda" or, where it
/// is absent, "cpu". It selects the default cluster profile, which prices
/// compute and communication without --cluster, and the code that `7-emit`
/// generates.
inline constexpr llvm::StringLiteral targetName = "dist.target";

/// Returns the target of `module`: "cpu" unless `dist.target` says otherwise.
inline llvm::StringRef targetOf(mlir::ModuleOp module) {
  auto target = module->getAttrOfType<mlir::StringAttr>(targetName);
  return target ? target.getValue() : llvm::StringRef("cpu");
}

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_TARGET_H
