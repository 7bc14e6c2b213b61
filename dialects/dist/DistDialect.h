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

/// Returns a hash of a mesh or of a sharding. MLIR uses these hashes to store
/// equal MeshAttr and ShardingAttr only once.
llvm::hash_code hash_value(const Mesh &mesh);
llvm::hash_code hash_value(const Sharding &sharding);

/// Attribute with the kind of a `dist.collective`, such as AllGather. It is an
/// i32 with the number of the enumerator. The kind Broadcast is invalid.
class CollectiveKindAttr : public mlir::IntegerAttr {
public:
  using ValueType = CollectiveKind;
  using mlir::IntegerAttr::IntegerAttr;
  static bool classof(mlir::Attribute attribute);
  static CollectiveKindAttr get(mlir::MLIRContext *context,
                                CollectiveKind kind);
  /// Returns the kind as an enumerator. IntegerAttr::getValue(), which this
  /// function hides, returns the kind as an APInt.
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

/// Returns the text of the cluster file, which is the value of the attribute
/// `dist.cluster` of `module`. A cluster file describes the machines: the
/// speeds of the devices, the network and the memory. Returns an empty string
/// if `module` has no attribute `dist.cluster`.
llvm::StringRef clusterOf(mlir::ModuleOp module);

/// Returns the kind of device for which `module` is compiled: the value of its
/// attribute `dist.target`, or "cpu" without that attribute.
llvm::StringRef targetOf(mlir::ModuleOp module);

/// Returns the mesh of `module`. Returns a mesh without axes if `module` has no
/// mesh.
Mesh meshOf(mlir::ModuleOp module);

/// Returns the sharding of `value` that an attribute of the IR stores. For an
/// op result, this attribute is `dist.shardings` of the op. For a function
/// argument, this attribute is `dist.sharding` of the argument. Returns null if
/// the attribute is absent. Also returns null if `value` is an argument of a
/// block that is not in a function's body. If the pass that decides all
/// shardings has not run yet, the attribute of a function argument is a
/// sharding that the model requests.
ShardingAttr shardingOf(mlir::Value value);

/// Stores `sharding` as the sharding of `value`, an op's result or a function
/// argument. If the op has no shardings yet, its other results become
/// replicated.
void setSharding(mlir::Value value, const Sharding &sharding);

/// Converts a tensor shape from an MLIR array to pcc::dist::Shape.
inline Shape shapeOf(llvm::ArrayRef<int64_t> shape) {
  return Shape(shape.begin(), shape.end());
}

/// Returns the type of one rank's shard of a tensor of type `type`. For
/// example, 8x4 split over 2 ranks along dim 0 becomes 4x4. If a split is
/// uneven, the shard includes padding.
mlir::RankedTensorType localType(mlir::RankedTensorType type,
                                 const Sharding &sharding);

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_DISTDIALECT_H
