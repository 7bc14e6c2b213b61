//===- ScalarAttr.h - scalar constants and neutral elements ---------------===//

#ifndef PCC_DIALECTS_GRAPH_SCALARATTR_H
#define PCC_DIALECTS_GRAPH_SCALARATTR_H

#include "dialects/graph/ShardingRule.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace pcc::graph {

/// Returns `value` as a rank-0 tensor of `elementType`, a float or integer
/// type. An infinity becomes the largest or smallest value of a type that has
/// no infinities.
mlir::DenseElementsAttr scalarAttr(mlir::Type elementType, double value);

/// Returns the neutral element of a reduction: 0 for sums, 1 for products,
/// -infinity for Max and +infinity for Min. Other kinds give 0.
double neutralOf(FactorKind kind);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_SCALARATTR_H
