//===- SliceBlocks.h - gradient of a value that is read in slices ---------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_SLICEBLOCKS_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_SLICEBLOCKS_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// A slice of a value, and the gradient of its result.
struct SliceBlock {
  SliceOp slice;
  mlir::Value gradient;
};

/// Returns the gradient that `blocks`, slices of one value, give the value, as
/// one concat. For the query, key and value of attention, which are slices of
/// one product, this is the concat of their gradients. The parts of the value
/// that no slice reads get zeros. Returns null unless there are two slices or
/// more, which take ranges of one dim that do not overlap.
mlir::Value concatOf(llvm::SmallVector<SliceBlock> blocks, GradientBuilder &b);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_SLICEBLOCKS_H
