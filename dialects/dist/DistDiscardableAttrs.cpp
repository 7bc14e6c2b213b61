//===- DistDiscardableAttrs.cpp - verification of dist attributes ---------===//

#include "dialects/dist/DistDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "sharding/ShardingText.h"
#include "status/Counted.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::dist;

/// Text of an error message, or nullopt if there is no error.
using Error = std::optional<std::string>;

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

template <typename Kind> static bool isOf(Attribute attribute) {
  return isa<Kind>(attribute);
}

static bool areShardings(Attribute attribute) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  return array && llvm::all_of(array, llvm::IsaPred<ShardingAttr>);
}

static bool isTarget(Attribute attribute) {
  auto text = dyn_cast<StringAttr>(attribute);
  return text && (text.getValue() == "cpu" || text.getValue() == "cuda");
}

static bool isTensorType(Attribute attribute) {
  auto type = dyn_cast<TypeAttr>(attribute);
  return type && isa<RankedTensorType>(type.getValue());
}

/// Returns an error unless `type` is a ranked tensor with `actual` dims, the
/// number of dims of the attribute. `what` names the attribute, such as
/// "sharding".
static Error checkRank(StringRef what, Type type, size_t actual) {
  auto tensor = dyn_cast_or_null<RankedTensorType>(type);
  if (!tensor)
    return std::string("needs a tensor");
  if (tensor.getRank() == static_cast<int64_t>(actual))
    return std::nullopt;
  return ("needs a " + what + " of " + pcc::counted(tensor.getRank(), "dim") +
          ", as the tensor has, got " + Twine(actual))
      .str();
}

/// Returns the type of the tensor to which the sharding attribute at `site`
/// applies, or null if there is none. For a `graph.set_parameter` op, the
/// tensor is operand 0. For a `graph.parameter` op, it is the parameter that
/// the op declares.
static Type shardedType(const AttributeSite &site) {
  if (site.place != AttributePlace::Op)
    return site.tensorType();
  if (site.op->getNumOperands() > 0)
    return site.op->getOperand(0).getType();
  auto type = site.op->getAttrOfType<TypeAttr>("type");
  return type ? type.getValue() : Type();
}

static Error checkSharding(const AttributeSite &site, Attribute attribute) {
  return checkRank("sharding", shardedType(site),
                   cast<ShardingAttr>(attribute).getSharding().rank());
}

static Error checkShardings(const AttributeSite &site, Attribute attribute) {
  auto shardings = cast<ArrayAttr>(attribute);
  if (Error error = countError(site.op->getNumResults(), "result of the op",
                               static_cast<int64_t>(shardings.size())))
    return error;
  for (auto [type, sharding] :
       llvm::zip_equal(site.op->getResultTypes(), shardings))
    if (Error error =
            checkRank("sharding", type,
                      cast<ShardingAttr>(sharding).getSharding().rank()))
      return error;
  return std::nullopt;
}

static Error checkThrough(const AttributeSite &site, Attribute attribute) {
  ArrayRef<int64_t> operands = cast<DenseI64ArrayAttr>(attribute).asArrayRef();
  auto split = site.op->getAttrOfType<ShardingAttr>(splitName);
  if (!split)
    return std::string("needs 'dist.split' beside it");
  if (Error error = countError(
          static_cast<int64_t>(split.getSharding().partials.size()),
          "partial of 'dist.split'", static_cast<int64_t>(operands.size())))
    return error;
  for (int64_t operand : operands)
    if (operand < -1 || operand >= int64_t(site.op->getNumOperands()))
      return ("needs -1 or the index of an operand (" +
              pcc::counted(site.op->getNumOperands(), "operand") + "), got " +
              Twine(operand))
          .str();
  return std::nullopt;
}

static Error checkWindows(const AttributeSite &site, Attribute attribute) {
  if (!site.op->hasAttr(splitName))
    return std::string("needs 'dist.split' beside it");
  for (int64_t window : cast<DenseI64ArrayAttr>(attribute).asArrayRef())
    if (window < 0)
      return "needs indices of windows, got " + std::to_string(window);
  return std::nullopt;
}

static Error checkGlobal(const AttributeSite &site, Attribute attribute) {
  auto type = cast<RankedTensorType>(cast<TypeAttr>(attribute).getValue());
  return checkRank("type", site.tensorType(), type.getRank());
}

static const AttributeKind meshKind{"a #dist.mesh", isOf<MeshAttr>};
static const AttributeKind targetKind{"\"cpu\" or \"cuda\"", isTarget};
static const AttributeKind shardingKind{"a #dist.sharding", isOf<ShardingAttr>,
                                        checkSharding};
static const AttributeKind shardingsKind{"an array of #dist.sharding",
                                         areShardings, checkShardings};
static const AttributeKind splitKind{"a #dist.sharding", isOf<ShardingAttr>};
static const AttributeKind throughKind{"an array<i64>", isOf<DenseI64ArrayAttr>,
                                       checkThrough};
static const AttributeKind windowsKind{"an array<i64>", isOf<DenseI64ArrayAttr>,
                                       checkWindows};
static const AttributeKind tensorTypeKind{"the type of a ranked tensor",
                                          isTensorType, checkGlobal};

static const DeclaredAttribute declared[] = {
#include "dialects/dist/DistVerifyAttributes.cpp.inc"
};

void DistDialect::declareAttributes() {
  attributes.declare(getContext(), declared);
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

namespace {
/// Checks that the shardings in a module use only axes of the module's mesh.
/// Skips shardings that the user asked for (--shard or an annotation), because
/// phase `4-shard` checks their axes.
class AxisCheck {
public:
  explicit AxisCheck(Mesh mesh) : mesh(std::move(mesh)) {}

  LogicalResult check(Operation *op) {
    for (NamedAttribute entry : op->getDiscardableAttrs())
      if (entry.getName() != shardingName &&
          failed(check(op, entry.getName(), entry.getValue())))
        return failure();
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      if (isSharded(function) &&
          (failed(checkAll(op, function.getAllArgAttrs())) ||
           failed(checkAll(op, function.getAllResultAttrs()))))
        return failure();
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](ReshardOp moved) {
          // Up to 4-shard, the type is that of the whole tensor.
          const ArrayRef<int64_t> shape = moved.getShape().value_or(
              cast<RankedTensorType>(moved.getInput().getType()).getShape());
          return success(succeeded(check(op, "from", moved.getFrom())) &&
                         succeeded(check(op, "to", moved.getTo())) &&
                         succeeded(fits(op, moved.getFrom(), shape)) &&
                         succeeded(fits(op, moved.getTo(), shape)));
        })
        .Case([&](CollectiveOp moved) {
          return success(
              succeeded(check(op, "from", moved.getFrom())) &&
              succeeded(check(op, "to", moved.getTo())) &&
              succeeded(fits(op, moved.getFrom(), moved.getShape())) &&
              succeeded(fits(op, moved.getTo(), moved.getShape())));
        })
        .Case([&](GlobalIndexOp index) {
          return success(
              succeeded(check(op, "sharding", index.getSharding())) &&
              succeeded(fits(op, index.getSharding(),
                             {static_cast<int64_t>(index.getSize())})));
        })
        .Default([](Operation *) { return success(); });
  }

private:
  /// Returns whether phase `4-shard` has processed `function`: some op of the
  /// entry block has the attribute `dist.shardings`.
  static bool isSharded(FunctionOpInterface function) {
    return !function.isExternal() &&
           llvm::any_of(function.getFunctionBody().front(), [](Operation &op) {
             return op.hasAttr(shardingsName);
           });
  }

  /// Checks the shardings of all arguments of the function `op`, or the
  /// shardings of all results of `op`. For arguments, `dictionaries` has one
  /// dictionary of attributes per argument. It is null if no argument has
  /// attributes. For results, `dictionaries` has one dictionary per result. It
  /// is null if no result has attributes.
  LogicalResult checkAll(Operation *op, ArrayAttr dictionaries) {
    if (!dictionaries)
      return success();
    for (auto dictionary : dictionaries.getAsRange<DictionaryAttr>())
      for (NamedAttribute entry : dictionary)
        if (failed(check(op, entry.getName(), entry.getValue())))
          return failure();
    return success();
  }

  /// Emits an error and fails unless `sharding` is valid for a tensor of the
  /// global shape `shape`. For example, both must have the same number of dims.
  LogicalResult fits(Operation *op, ShardingAttr sharding,
                     ArrayRef<int64_t> shape) {
    if (sharding.getSharding().rank() != shape.size())
      return op->emitOpError("has a sharding of ")
             << pcc::counted(sharding.getSharding().rank(), "dim")
             << " for a shape of " << shape.size();
    Error error = findError(sharding.getSharding(), mesh, shapeOf(shape));
    return error ? op->emitOpError("has ")
                       << toBriefString(sharding.getSharding(), mesh)
                       << " for a tensor of shape [" << shape << "]: " << *error
                 : success();
  }

  LogicalResult check(Operation *op, StringRef name, Attribute attribute) {
    if (auto array = dyn_cast<ArrayAttr>(attribute)) {
      for (Attribute entry : array)
        if (isa<ShardingAttr>(entry) && failed(check(op, name, entry)))
          return failure();
      return success();
    }
    auto sharding = dyn_cast<ShardingAttr>(attribute);
    if (!sharding || !checked.insert(sharding).second)
      return success();
    Error error = findAxisError(sharding.getSharding(), mesh);
    return error ? op->emitOpError("attribute '") << name << "': " << *error
                 : success();
  }

  Mesh mesh;
  DenseSet<ShardingAttr> checked;
};
} // namespace

//===----------------------------------------------------------------------===//
// Hooks
//===----------------------------------------------------------------------===//

/// Verifies `attribute` of `op`. If `attribute` is the mesh of a module, also
/// checks that all shardings in this module use only axes of the mesh.
LogicalResult DistDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (failed(attributes.verify(op, attribute)))
    return failure();
  auto mesh = dyn_cast<MeshAttr>(attribute.getValue());
  if (!mesh)
    return success();
  AxisCheck axes(mesh.getMesh().ofStage());
  return success(!op->walk([&](Operation *inner) {
                      return WalkResult(axes.check(inner));
                    }).wasInterrupted());
}

LogicalResult DistDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned index,
                                                    NamedAttribute attribute) {
  return attributes.verify({op, AttributePlace::Argument, index}, attribute);
}

LogicalResult DistDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  return attributes.verify({op, AttributePlace::Result, index}, attribute);
}
