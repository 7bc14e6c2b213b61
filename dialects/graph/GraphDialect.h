//===- GraphDialect.h - one logical model ---------------------------------===//

#ifndef PCC_DIALECTS_GRAPH_GRAPHDIALECT_H
#define PCC_DIALECTS_GRAPH_GRAPHDIALECT_H

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

class GradientBuilder;

/// One operation per element of the largest result: the cost of an element-wise
/// op.
double elementWiseFlops(mlir::Operation *op);

/// On an einsum of gates and what experts make of tokens, summed over experts:
/// of how many experts a token's gates can differ from 0 at most. What the
/// other experts make of it need not be known.
inline constexpr llvm::StringLiteral chosenName = "graph.chosen";

/// The type of a value that every graph op has.
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// NumPy's broadcast of two shapes; fails where dims differ and neither is 1.
llvm::FailureOr<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs);

/// The name of the node that a location stands for; empty if it names none.
llvm::StringRef nodeName(mlir::Location location);

/// The innermost file position of a location, as FILE:LINE; empty if it has
/// none.
std::string sourceLine(mlir::Location location);

/// The properties of an op that is being built or parsed: those that are set,
/// those that are still in the dictionary, and defaults.
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
