//===- ScalarAttr.h - scalar constants and neutral elements ---------------===//

#ifndef PCC_DIALECTS_GRAPH_SCALARATTR_H
#define PCC_DIALECTS_GRAPH_SCALARATTR_H

#include "dialects/graph/ShardingRule.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace pcc::graph {

/// Returns a rank-0 tensor constant of `elementType`, a float or integer type,
/// that holds `value`. An infinite `value` becomes the largest or smallest
/// number of `elementType` if that type has no infinities.
mlir::DenseElementsAttr scalarAttr(mlir::Type elementType, double value);

/// Returns the neutral element of the reduction `kind`: 0 for Sum, 1 for Prod,
/// -infinity for Max and +infinity for Min. Returns 0 for all other kinds.
double neutralOf(FactorKind kind);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_SCALARATTR_H
