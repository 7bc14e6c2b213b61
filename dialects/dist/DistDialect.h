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

/// Attribute that stores the kind of a `dist.collective` op, such as AllGather.
/// The attribute is an i32 attribute. Its value is the number of an enumerator
/// of CollectiveKind. The attribute must not store the enumerator Broadcast,
/// because only compiled programs contain broadcasts.
class CollectiveKindAttr : public mlir::IntegerAttr {
public:
  using ValueType = CollectiveKind;
  using mlir::IntegerAttr::IntegerAttr;
  static bool classof(mlir::Attribute attribute);
  static CollectiveKindAttr get(mlir::MLIRContext *context,
                                CollectiveKind kind);
  /// Returns the kind of the collective, such as AllGather. This function hides
  /// IntegerAttr::getValue(), which returns the number of the enumerator as an
  /// APInt.
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

/// Returns the mesh of one pipeline stage of `module`: its mesh without the
/// axis pp, which dumps add. Returns a mesh without axes if `module` has no
/// mesh.
Mesh meshOf(mlir::ModuleOp module);

/// Returns `sharding` as dumps show it: in the spelling of --shard, with the
/// sizes that axes split and `mesh` behind it.
ShardingAttr spelledOn(ShardingAttr sharding, MeshAttr mesh);

/// Returns the sharding that an attribute stores for `value`: `dist.shardings`
/// of an op for its result, or `dist.sharding` of a function argument. Returns
/// null if the attribute is absent, as for op results before the pass
/// `decide-shardings`.
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
