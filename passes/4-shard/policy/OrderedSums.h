//===- OrderedSums.h - sums over the batch in an order of their own -------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H
#define PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H

#include "passes/4-shard/graph/Seeds.h"

namespace pcc::shard {

/// For --reproducible: gives sums over the batch an order that follows from the
/// positions of samples alone. B samples in m microbatches are m times 2^k
/// blocks of q samples, q odd. Each block is summed by itself, blocks in a
/// binary tree, and microbatches one after another, where they accumulate:
///
///   %g = graph.einsum "bm,bn->mn"      x [B, m], y [B, n]
///
///   %p = graph.einsum "abm,abn->amn"   x [m·2^k, q, m] …: a product per block
///   %t = graph.reduce sum over [1]     of [m·2^(k-1), 2, m, n], and so on
///   %g = graph.reduce sum over [0]     of [m, m, n]
///
/// Ranks that divide the batch have whole branches of the tree, and collectives
/// add their members in the same one. So far for products and sums; other ops
/// that sum over the batch are not divided along it (`mayDivideSum`). Products
/// of a matrix with rows of samples become products per sample, so that a
/// library's choice does not depend on how many samples there are.
///
/// Fails after an error if `mesh` divides the batch in other parts than
/// branches.
mlir::LogicalResult orderSums(mlir::func::FuncOp function, const Seeds &seeds,
                              const dist::Mesh &mesh);

/// Whether ordered sums over the batch keep their order where an axis divides
/// op's sum over it, or passes its partial sums on; null counts as an op that
/// has none.
bool mayDivideSum(mlir::Operation *op);
bool mayPassSum(mlir::Operation *op);

/// Removes the marks of ordered sums, once their shardings are known.
void eraseSumOrderMarks(mlir::func::FuncOp function);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H
