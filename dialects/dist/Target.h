//===- Target.h - what the ranks of a module run on -----------------------===//

#ifndef PCC_DIALECTS_DIST_TARGET_H
#define PCC_DIALECTS_DIST_TARGET_H

#include "mlir/IR/BuiltinOps.h"

namespace pcc::dist {

/// On the module: "cuda"; "cpu" where it is missing. Says what computing and
/// communicating cost without --cluster, and what 7-emit makes code for.
inline constexpr llvm::StringLiteral targetName = "dist.target";

inline llvm::StringRef targetOf(mlir::ModuleOp module) {
  auto target = module->getAttrOfType<mlir::StringAttr>(targetName);
  return target ? target.getValue() : llvm::StringRef("cpu");
}

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_TARGET_H
