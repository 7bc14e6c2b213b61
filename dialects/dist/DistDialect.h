//===- DistDialect.h - dialect of meshes, shardings and collectives -------===//
//
// The `dist` dialect: attributes for a mesh and for shardings, `dist.reshard`
// and the collectives that replace it. The algebra of shardings is plain C++
// (Sharding.h); this header binds it to MLIR.
//
//===----------------------------------------------------------------------===//

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

/// Hashes by which MLIR uniques MeshAttr and ShardingAttr.
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

/// MeshAttr on the module: the mesh that all shardings refer to.
inline constexpr llvm::StringLiteral meshName = "dist.mesh";
/// ArrayAttr on ops after `4-shard`: one ShardingAttr per result.
inline constexpr llvm::StringLiteral shardingsName = "dist.shardings";
/// ShardingAttr on arguments and results of functions: the sharding of the
/// value after `4-shard`. Before, also on parameters: the sharding that the
/// model's annotations request; absent if they request none.
inline constexpr llvm::StringLiteral shardingName = "dist.sharding";

/// ShardingAttr on every graph op after `4-shard`: the axes that split each
/// factor of the op's sharding rule. Its dims are the factors of the rule; its
/// partials are the partial sums that pass through the op.
inline constexpr llvm::StringLiteral splitName = "dist.split";
/// DenseI64ArrayAttr on ops with `dist.split`, one entry per partial of that:
/// the operand from which the partial sum comes, or -1 if all operands are
/// partial together. Absent if no partial sum passes.
inline constexpr llvm::StringLiteral throughName = "dist.through";
/// DenseI64ArrayAttr on ops with `dist.split`: indices of the windows of the
/// op's sharding rule through which it reads (halo exchange). Absent if none.
inline constexpr llvm::StringLiteral windowsName = "dist.windows";

/// StringAttr on the module: text of the cluster file that prices the plan.
inline constexpr llvm::StringLiteral clusterName = "dist.cluster";

/// Returns the text in `dist.cluster`; empty if the module has none.
llvm::StringRef clusterOf(mlir::ModuleOp module);

/// Returns the mesh of the module; a mesh without axes if it has none.
Mesh meshOf(mlir::ModuleOp module);

/// Returns the sharding that `4-shard` gave to `value`, read from the op or
/// from the function argument that defines it. Null if it has none.
ShardingAttr shardingOf(mlir::Value value);

/// Records `sharding` on the op or function argument that defines `value`. If
/// the op has no shardings yet, its other results are recorded as whole.
void setSharding(mlir::Value value, const Sharding &sharding);

/// Copies a shape from MLIR's form into that of the sharding algebra.
inline Shape shapeOf(llvm::ArrayRef<int64_t> shape) {
  return Shape(shape.begin(), shape.end());
}

/// Returns `type` with the shape that one rank holds under `sharding`, padding
/// included. `type` has the global shape.
mlir::RankedTensorType localType(mlir::RankedTensorType type,
                                 const Sharding &sharding);

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_DISTDIALECT_H
