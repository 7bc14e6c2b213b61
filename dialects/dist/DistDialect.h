//===- DistDialect.h - how tensors lie on a mesh --------------------------===//

#ifndef PCC_DIALECTS_DIST_DISTDIALECT_H
#define PCC_DIALECTS_DIST_DISTDIALECT_H

#include "dialects/dist/Sharding.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace pcc::dist {

/// Hashes for attribute uniquing.
llvm::hash_code hash_value(const Mesh &mesh);
llvm::hash_code hash_value(const Sharding &sharding);

} // namespace pcc::dist

#include "dialects/dist/DistDialect.h.inc"
#include "dialects/dist/DistEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/dist/DistAttributes.h.inc"
#define GET_OP_CLASSES
#include "dialects/dist/DistOps.h.inc"

namespace pcc::dist {

/// Names of discardable attributes.
inline constexpr llvm::StringLiteral meshName =
    "dist.mesh"; ///< on the module: MeshAttr
inline constexpr llvm::StringLiteral shardingsName =
    "dist.shardings"; ///< on ops: one ShardingAttr per result
/// On arguments and results of functions; before `4-shard`, and on parameters,
/// only where the model's annotations ask for one.
inline constexpr llvm::StringLiteral shardingName = "dist.sharding";

/// On every graph op after `4-shard`: ShardingAttr over the op's factors.
inline constexpr llvm::StringLiteral splitName = "dist.split";
/// Beside it where partial sums pass: per partial axis the operand that they
/// come from, -1 for all that go together.
inline constexpr llvm::StringLiteral throughName = "dist.through";
/// Beside it: which of the windows of the op's rule it reads through.
inline constexpr llvm::StringLiteral windowsName = "dist.windows";

/// On a module: the text of the cluster file that it is planned for.
inline constexpr llvm::StringLiteral clusterName = "dist.cluster";

/// That text; empty if there is none.
llvm::StringRef clusterOf(mlir::ModuleOp module);

/// The module's mesh; without axes if it has none.
Mesh meshOf(mlir::ModuleOp module);

/// The sharding that a value was given in `4-shard`: its op's, or its function
/// argument's. Null before that.
ShardingAttr shardingOf(mlir::Value value);
void setSharding(mlir::Value value, const Sharding &sharding);

/// A builtin shape as the algebra wants it.
inline Shape shapeOf(llvm::ArrayRef<int64_t> shape) {
  return Shape(shape.begin(), shape.end());
}

/// `type` with the local shape of `sharding`.
mlir::RankedTensorType localType(mlir::RankedTensorType type,
                                 const Sharding &sharding);

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_DISTDIALECT_H
