//===- GraphDialect.h - dialect of one device's logical model -------------===//
//
// The `graph` dialect: canonical tensor ops with ONNX and NumPy semantics on
// tensors of static shape. A model is a program for one logical device;
// shardings (the dist dialect) never change its meaning.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_GRAPH_GRAPHDIALECT_H
#define PCC_DIALECTS_GRAPH_GRAPHDIALECT_H

#include "dialects/attributes/VerifyAttributes.h"
#include "dialects/graph/OpClasses.h"
#include "dialects/graph/ShardingRule.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/graph/GraphDialect.h.inc"
#include "dialects/graph/GraphEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/graph/GraphAttributes.h.inc"

namespace pcc::graph {

#include "dialects/graph/GraphAttributeNames.h.inc"

class GradientBuilder;

/// Returns the number of floating-point operations of an element-wise op: the
/// number of elements of its largest result.
double elementWiseFlops(mlir::Operation *op);

/// Returns the type of an operand or result of a graph op, which is always a
/// ranked tensor.
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// Returns the shape to which two shapes broadcast in NumPy. Dims are matched
/// from the right. Fails if two matched sizes differ and neither is 1.
llvm::FailureOr<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs);

/// Returns the name of the ONNX node from which the op at `location` was
/// imported. Returns an empty string if `location` contains no NameLoc.
llvm::StringRef nodeName(mlir::Location location);

/// Returns the place of the op at `location` for a message, such as "at node
/// 'Gemm_1'". An op that `--train` adds to the model is "in the optimizer step"
/// or "in the loss". Returns an empty string if `location` contains no NameLoc.
std::string placeText(mlir::Location location);

/// Returns the file and line of the first FileLineColLoc in `location`, such as
/// "model.py:12". The FileLineColLoc may be nested, for example in a FusedLoc.
/// Returns an empty string if `location` contains no FileLineColLoc.
std::string sourceLine(mlir::Location location);

/// Returns the properties of an op of type `Op`, for its type inference. A
/// property comes from `attributes`, else from `properties`, else from the
/// defaults of `Op`. Both arguments may be null.
template <typename Op>
auto completeProperties(mlir::MLIRContext *context,
                        mlir::DictionaryAttr attributes,
                        mlir::OpaqueProperties properties) {
  using Properties = typename Op::template InferredProperties<Op>;
  Properties all = properties ? *properties.as<Properties *>() : Properties();
  if constexpr (!std::is_same_v<Properties, mlir::EmptyProperties>) {
    for (mlir::NamedAttribute attr :
         attributes ? attributes.getValue()
                    : llvm::ArrayRef<mlir::NamedAttribute>())
      Op::setInherentAttr(all, attr.getName(), attr.getValue());
    Op::populateDefaultProperties(
        mlir::OperationName(Op::getOperationName(), context), all);
  }
  return all;
}

} // namespace pcc::graph

#include "dialects/graph/GraphInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/graph/GraphOps.h.inc"

#endif // PCC_DIALECTS_GRAPH_GRAPHDIALECT_H
