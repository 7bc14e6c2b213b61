//===- Window.h - output sizes and divisors of convolutions and pools -----===//

#ifndef PCC_DIALECTS_GRAPH_OPS_WINDOW_H
#define PCC_DIALECTS_GRAPH_OPS_WINDOW_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// Returns the output size of a convolution or pool along one spatial dim, or 0
/// if no window fits. `low` and `high` are the padding on each side, in
/// elements.
///
///   floor((input + low + high − (window−1)·dilation − 1) / stride) + 1
int64_t windowOutput(int64_t input, int64_t window, int64_t stride, int64_t low,
                     int64_t high, int64_t dilation);

/// Emits an error at `loc` and fails if no window fits along a spatial dim of
/// `input`, a tensor [batch, channels, spatial dims]. A dim without elements
/// needs no window. The lists have one number per spatial dim, except `pads`,
/// which has the elements before each dim, then those after each dim.
mlir::LogicalResult checkWindowFits(std::optional<mlir::Location> loc,
                                    mlir::RankedTensorType input,
                                    llvm::ArrayRef<int64_t> window,
                                    llvm::ArrayRef<int64_t> dilations,
                                    llvm::ArrayRef<int64_t> pads);

/// Returns whether all of `values`, such as strides, are at least 1.
bool allPositive(llvm::ArrayRef<int64_t> values);

/// Returns `values` as text for error messages, such as "[1, 2]".
std::string listText(llvm::ArrayRef<int64_t> values);

/// Returns how many window elements an average pool counts along spatial dim
/// `dim` for the result index `output`. Window elements in the padding count
/// only in mode AverageWithPadding. The product of the counts of all spatial
/// dims is the divisor of the average.
int64_t countedTaps(PoolOp op, size_t dim, int64_t output);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_WINDOW_H
