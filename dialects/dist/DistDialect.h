//===- DistDialect.h - dialect of meshes, shardings and collectives -------===//
//
// The `dist` dialect: attributes for a mesh and for shardings, `dist.reshard`
// and the collectives that replace it. The algebra of shardings is plain C++
// (sharding/Sharding.h); this header binds it to MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_DIST_DISTDIALECT_H
#define PCC_DIALECTS_DIST_DISTDIALECT_H

#include "dialects/attributes/VerifyAttributes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "sharding/CollectiveKind.h"
#include "sharding/Sharding.h"

namespace pcc::dist {

/// Hashes by which MLIR uniques MeshAttr and ShardingAttr.
llvm::hash_code hash_value(const Mesh &mesh);
llvm::hash_code hash_value(const Sharding &sharding);

/// The kind of a `dist.collective` as an attribute: an i32 with the value of
/// the enumerator. Broadcast is no kind of this op.
class CollectiveKindAttr : public mlir::IntegerAttr {
public:
  using ValueType = CollectiveKind;
  using mlir::IntegerAttr::IntegerAttr;
  static bool classof(mlir::Attribute attribute);
  static CollectiveKindAttr get(mlir::MLIRContext *context,
                                CollectiveKind kind);
  // The attribute classes that MLIR generates for enums do the same.
  // NOLINTNEXTLINE(bugprone-derived-method-shadowing-base-method)
  CollectiveKind getValue() const;
};

} // namespace pcc::dist

#include "dialects/dist/DistDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/dist/DistAttributes.h.inc"
#define GET_OP_CLASSES
#include "dialects/dist/DistOps.h.inc"

namespace pcc::dist {

#include "dialects/dist/DistAttributeNames.h.inc"

/// Returns the text in `dist.cluster`; empty if the module has none.
llvm::StringRef clusterOf(mlir::ModuleOp module);

/// Returns the device that the ranks of `module` drive: "cpu" unless
/// `dist.target` says otherwise.
llvm::StringRef targetOf(mlir::ModuleOp module);

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
