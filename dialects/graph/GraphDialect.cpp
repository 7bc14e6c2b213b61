//===- GraphDialect.cpp - graph dialect: attributes and shapes ------------===//

#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::graph;

#include "dialects/graph/GraphDialect.cpp.inc"
#include "dialects/graph/GraphEnums.cpp.inc"
#include "dialects/graph/GraphInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/graph/GraphAttributes.cpp.inc"

static const DeclaredAttribute declared[] = {
#include "dialects/graph/GraphVerifyAttributes.cpp.inc"
};

PCC_VERIFY_ATTRIBUTES(GraphDialect)

void GraphDialect::initialize() {
  attributes.declare(getContext(), declared);
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/GraphOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/graph/GraphAttributes.cpp.inc"
      >();
}

/// Creates a constant op with the elements of `value`, a result of constant
/// folding. Returns null if `value` is not an ElementsAttr.
Operation *GraphDialect::materializeConstant(OpBuilder &builder,
                                             Attribute value, Type type,
                                             Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  return elements ? ConstantOp::create(builder, loc, type, elements) : nullptr;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Returns the type of a weight of type `type` after `transform`, which is a
/// permutation, slice, reshape or cast. Returns null if `transform` cannot be
/// applied to `type`.
static RankedTensorType applyTransform(RankedTensorType type,
                                       Attribute transform) {
  return TypeSwitch<Attribute, RankedTensorType>(transform)
      .Case([&](PermuteAttr permute) -> RankedTensorType {
        if (!isPermutationVector(permute.getPerm()) ||
            static_cast<int64_t>(permute.getPerm().size()) != type.getRank())
          return {};
        return type.clone(applyPermutation(type.getShape(), permute.getPerm()));
      })
      .Case([&](WeightSliceAttr slice) -> RankedTensorType {
        if (slice.getDim() < 0 || slice.getDim() >= type.getRank())
          return {};
        SmallVector<int64_t> shape(type.getShape());
        shape[slice.getDim()] = slice.getSize();
        return type.clone(shape);
      })
      .Case([&](ReinterpretAttr reshape) -> RankedTensorType {
        if (ShapedType::getNumElements(reshape.getShape()) !=
            type.getNumElements())
          return {};
        return type.clone(reshape.getShape());
      })
      .Case([&](ConvertAttr convert) {
        return RankedTensorType::get(type.getShape(), convert.getElementType());
      })
      .Default([](Attribute) { return RankedTensorType(); });
}

RankedTensorType WeightAttr::getTransformedType() const {
  RankedTensorType type = getStored();
  for (Attribute transform : getTransforms()) {
    type = applyTransform(type, transform);
    if (!type)
      return {};
  }
  return type;
}

WeightAttr WeightAttr::withTransform(Attribute transform) const {
  SmallVector<Attribute> all(getTransforms());
  all.push_back(transform);
  return WeightAttr::get(getContext(), getFile(), getOffset(), getLength(),
                         getStored(), all);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<int64_t>>
pcc::graph::broadcastShapes(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  SmallVector<int64_t> shape(std::max(lhs.size(), rhs.size()), 1);
  // NumPy broadcasting matches dims from the right. If one shape has fewer
  // dims, its missing dims count as size 1.
  for (auto operand : {lhs, rhs})
    for (size_t i = 0; i < operand.size(); ++i) {
      int64_t &dim = shape[shape.size() - 1 - i];
      int64_t size = operand[operand.size() - 1 - i];
      if (dim != 1 && size != 1 && dim != size)
        return failure();
      dim = dim == 1 ? size : dim;
    }
  return shape;
}

double pcc::graph::elementWiseFlops(Operation *op) {
  double most = 0;
  for (Value result : op->getResults())
    most = std::max(most,
                    static_cast<double>(tensorType(result).getNumElements()));
  return most;
}

/// Returns the first NameLoc in `location`; null if there is none.
static NameLoc findName(Location location) {
  NameLoc found;
  location->walk([&](Location part) {
    found = dyn_cast<NameLoc>(part);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

StringRef pcc::graph::nodeName(Location location) {
  NameLoc name = findName(location);
  return name ? name.getName().getValue() : StringRef();
}

std::string pcc::graph::placeText(Location location) {
  NameLoc name = findName(location);
  if (!name)
    return "";
  // Ops of the training step lie in the model's function, nodes nowhere.
  const bool isOwn = !isa<UnknownLoc>(name.getChildLoc());
  if (isOwn && name.getName() == "optimizer")
    return "in the optimizer step";
  if (isOwn && name.getName() == "loss")
    return "in the loss";
  return ("at node '" + name.getName().getValue() + "'").str();
}

std::string pcc::graph::sourceLine(Location location) {
  std::string line;
  location->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    // Line 0 stands for a whole file, such as the model.
    if (!file || file.getLine() == 0)
      return WalkResult::advance();
    line = (file.getFilename().getValue() + ":" + Twine(file.getLine())).str();
    return WalkResult::interrupt();
  });
  return line;
}
