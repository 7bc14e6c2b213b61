//===- ScalarAttr.h - numbers as attributes of an element type ------------===//

#ifndef PCC_DIALECTS_GRAPH_SCALARATTR_H
#define PCC_DIALECTS_GRAPH_SCALARATTR_H

#include "dialects/graph/ShardingRule.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace pcc::graph {

/// `value` as a tensor without dims of `elementType`. Infinities become the
/// ends of the range of a type that has none.
mlir::DenseElementsAttr scalarAttr(mlir::Type elementType, double value);

/// What leaves a reduction unchanged: 0 for sums, 1 for products, the least and
/// greatest values for max and min.
double neutralOf(FactorKind kind);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_SCALARATTR_H
