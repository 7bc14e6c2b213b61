//===- ShardingRule.h - factor maps: which dims of an op split together ---===//

#ifndef PCC_DIALECTS_GRAPH_SHARDINGRULE_H
#define PCC_DIALECTS_GRAPH_SHARDINGRULE_H

#include "sharding/ReductionKind.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace pcc::graph {

/// Kind of a factor, which says how ranks can split it. A factor is a loop
/// index of an op: matmul [m,k] x [k,n] has the factors m, n and k. If a Sum,
/// Max, Min or Prod factor is split, each rank computes a partial result.
enum class FactorKind : uint8_t {
  Sum = static_cast<uint8_t>(dist::ReductionKind::Sum),
  Max = static_cast<uint8_t>(dist::ReductionKind::Max),
  Min = static_cast<uint8_t>(dist::ReductionKind::Min),
  Prod = static_cast<uint8_t>(dist::ReductionKind::Prod),
  Parallel, ///< The op runs on each part unchanged.
  /// Kind of a factor (loop index) that ranks can split if they exchange
  /// intermediate results while the op runs. For example, the ranks of a split
  /// softmax exchange row maxima and row sums.
  Inner,
  Whole, ///< The factor must not be split.
};

/// Returns whether `kind`, the kind of a loop index, is a reduction: Sum, Max,
/// Min or Prod. If ranks split such a loop index, each rank computes a partial
/// result.
inline bool isReduction(FactorKind kind) { return kind <= FactorKind::Prod; }

/// Returns the reduction by which ranks combine their partial results, if they
/// split a loop index of kind `kind`. `kind` must be Sum, Max, Min or Prod.
inline dist::ReductionKind reductionOf(FactorKind kind) {
  return static_cast<dist::ReductionKind>(kind);
}

/// The sharding rule of an op, similar to Shardy. The rule lists the factors
/// (loop indices of the op) of each dim of each operand and result, major to
/// minor:
///
///   op                     factors                operands        results
///   matmul [m,k] x [k,n]   m, n Parallel; k Sum   {{m},{k}}       {{m},{n}}
///                                                 {{k},{n}}
///   reshape [6,4] -> [24]  a=6, b=4 Parallel      {{a},{b}}       {{a,b}}
///
/// The size of a dim is the product of the sizes of its factors. A dim of size
/// 1 that broadcasts has no factor. Ranks can split a Parallel factor without
/// communication. If ranks split a Sum, Max, Min or Prod factor, such as k,
/// each rank computes a partial result. Factors of these kinds occur in
/// operands only.
struct ShardingRule {
  /// A factor (loop index of the op). The id of a factor is its index in the
  /// list `factors`.
  struct RuleFactor {
    int64_t size;
    FactorKind kind = FactorKind::Parallel;
    /// True if each rank must know at which index its part of this loop index
    /// begins. For example, an iota of 8 elements begins with 4 on rank 1 of 2.
    bool needsOffset = false;
    /// True if the part of each rank must be one contiguous range of this loop
    /// index. For example, rank 0 may compute 0, 1, 2, 3, but not 0, 1, 4, 5.
    bool mustBeContiguous = false;
  };
  /// The factors (loop indices of the op) that form one dim of a tensor, major
  /// to minor. Each number is an index in the list `factors`.
  using DimFactors = llvm::SmallVector<int, 2>;
  /// The factors (loop indices of the op) of each dim of a tensor. The lhs
  /// [m,k] of a matmul has {{m},{k}}.
  using TensorFactors = llvm::SmallVector<DimFactors, 4>;

  llvm::SmallVector<RuleFactor, 8> factors;
  llvm::SmallVector<TensorFactors, 4> operands;
  llvm::SmallVector<TensorFactors, 2> results;
  /// Indices of the operands that may be partial sums. In a partial sum, each
  /// rank has one summand of a tensor. If one operand of the list is a partial
  /// sum, the results are partial sums, too. Examples:
  ///
  ///   op         list    reason
  ///   transpose  {0}     transpose(a + b) = transpose(a) + transpose(b)
  ///   mul        {0, 1}  (a + b) · y = a · y + b · y
  ///                      x · (a + b) = x · a + x · b
  ///
  /// `partialTogether` says whether two operands of the list may be partial
  /// sums at once.
  llvm::SmallVector<int, 4> partialThrough;
  /// Says how many operands of the op may be partial sums at once. In a partial
  /// sum, each rank has one summand of a tensor. `partialThrough` lists the
  /// operands that may be partial sums. For example, `add` and `mul` list both
  /// of their operands, x and y:
  ///
  ///   value  example  permitted combinations
  ///   true   add      x and y are partial sums, or no operand is
  ///   false  mul      x is a partial sum, or y is, or no operand is
  bool partialTogether = false;

  /// A windowed read (halo exchange; GSPMD, Xu et al. 2021). If ranks split a
  /// dim of result 0, a windowed read gives each rank the operand elements that
  /// the rank needs for its shard of result 0. Here are two examples for
  /// tensors with one dim. Rank 0 computes the result indices 0 to 7:
  ///
  ///   op                                   operand indices that rank 0 needs
  ///   slice x[3:19]                        3 to 10
  ///   filter of 3 elements, 1 of padding   -1 to 8
  ///
  /// The index -1 is outside the operand. It stands for an element of padding.
  struct Window {
    /// A range of result indices, `lo` to `hi` - 1, for which the op reads the
    /// operand at a constant step:
    ///
    ///   result[lo + i] reads operand[source + i · step]
    ///
    /// For example, x[3:19] has one stretch: lo 0, hi 16, source 3, step 1.
    struct Stretch {
      int64_t lo, hi, source, step = 1;
    };
    /// `operand` is the index of an operand. `dim` is the index of a dim, both
    /// of this operand and of result 0. Ranks can split the dim of result 0.
    /// Each rank then receives the range of the operand's dim that its shard of
    /// result 0 needs. For example, ranks split a convolution of the images
    /// [n,c,h,w] along h: `operand` is 0 and `dim` is 2.
    int operand, dim;
    llvm::SmallVector<Stretch, 2> stretches; ///< In ascending order.
    /// Size of the filter window of a convolution or pool along dim number
    /// `dim`. The size counts the elements between two filter elements, too:
    ///
    ///   filter elements  dilation  indices that the filter reads  `extent`
    ///   3                1         0, 1, 2                        3
    ///   3                2         0, 2, 4                        5
    ///
    /// `extent` is 0 for an op that has no filter and only copies elements,
    /// such as a slice.
    int64_t extent = 0;
    /// True if the op copies only a part of dim number `dim` of the operand to
    /// the result. For example, x has 100 elements, and the slice x[3:19]
    /// copies 16 of them.
    bool narrows = false;
    /// True if ranks can split dim number `dim` of result 0 without a windowed
    /// read. A windowed read is a communication: each rank receives the operand
    /// elements that it needs for its shard of result 0.
    ///
    /// For example, x has three blocks of 64 elements, and the slice y =
    /// x[64:128] is the second block. Two ranks can split each block into two
    /// halves. Each rank then already has the elements of x that it needs for
    /// its elements of y, and no rank receives an element:
    ///
    ///   rank  elements of x on the rank         elements of y on the rank
    ///   0     x[0:32], x[64:96], x[128:160]     x[64:96]
    ///   1     x[32:64], x[96:128], x[160:192]   x[96:128]
    bool optional = false;
  };
  llvm::SmallVector<Window, 0> windows;

  /// A tensor of intermediate results that ranks exchange if they split a
  /// factor (loop index) of kind Inner. Each rank computes the tensor for its
  /// part of the operand. A reduction or a gather then combines the tensors of
  /// all ranks:
  ///
  ///   op                     tensor of one rank       combined by
  ///   softmax [r,v] along v  the maximum of each row  Max
  ///                          the sum of each row      Sum
  ///   cumsum [n,c] along n   the sum of each column   gather
  struct InnerValue {
    /// The factors (loop indices of the op) of each dim of this tensor. For
    /// example, the row maxima of a softmax [r,v] along v have the shape [r,1]
    /// and the factors {{r},{}}. The dim of size 1 has no factor.
    TensorFactors dims;
    /// Collective by which the ranks combine their tensors of intermediate
    /// results. Each rank has computed one tensor from its part of the operand:
    ///
    ///   kind   collective            example of the tensors
    ///   Sum    all-reduce (sum)      row sums in a softmax
    ///   Max    all-reduce (maximum)  row maxima in a softmax
    ///   Min    all-reduce (minimum)  row minima in an arg-min
    ///   Prod   all-reduce (product)
    ///   Inner  all-gather            column sums in a cumsum along columns
    FactorKind kind;
    int64_t elementBytes;
    /// Number of elements per row that each rank sends in an all-gather of
    /// intermediate results. A row is a line of elements along the dim that
    /// ranks split. For example, each rank of a topk with k = 5 has a part of
    /// each row. The intermediate results of the rank are the 5 largest
    /// elements of its part. The rank sends these 5 elements to the other
    /// ranks, so `perPart` is 5.
    ///
    /// If `kind` is Sum, Max, Min or Prod, the ranks combine their intermediate
    /// results by an all-reduce, not by an all-gather. `perPart` is then
    /// unused.
    int64_t perPart = 1;
  };
  llvm::SmallVector<InnerValue, 0> innerValues;

  /// Adds a factor (loop index) of `size` to the rule and returns its id, which
  /// is its index in `factors`.
  int add(int64_t size, FactorKind kind = FactorKind::Parallel) {
    factors.push_back({size, kind});
    return static_cast<int>(factors.size()) - 1;
  }
};

/// Returns whether the factor (loop index of an op) with the id `factor`
/// belongs to some dim of `tensor`, an operand or result of the op.
inline bool occursIn(const ShardingRule::TensorFactors &tensor, int factor) {
  return llvm::any_of(tensor, [&](const ShardingRule::DimFactors &dim) {
    return llvm::is_contained(dim, factor);
  });
}

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_SHARDINGRULE_H
