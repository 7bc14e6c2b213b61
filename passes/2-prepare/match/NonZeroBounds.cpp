//===- NonZeroBounds.cpp - bounds on non-zeros along a dim ----------------===//

#include "passes/2-prepare/match/NonZeroBounds.h"
#include "dialects/graph/ops/EinsumEquation.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Largest number of ops that the function `count` looks at in a chain of ops.
/// `count` computes an upper bound on the number of non-zero elements of a
/// tensor. The chain begins at the op that defines the tensor. It continues
/// with an op that defines an operand of this op, and so on.
static constexpr int mostSteps = 16;

namespace {
/// Question that the function `count` answers about the tensor `value`. A line
/// of a tensor along a dim is a set of elements that have the same indices in
/// all other dims. For example, each column of a matrix is a line along dim 0.
/// The question is: how many non-zero elements can a line of `value` along
/// dim `dim` contain at most?
struct Query {
  Value value;
  int64_t dim;
  /// Largest number of ops that the function `count` may look at in a chain.
  /// The chain begins at the op that defines `value`. It continues with an op
  /// that defines an operand of this op, and so on. If `steps` is 1, then
  /// `count` looks only at the op that defines `value`.
  int steps = mostSteps;

  /// Returns the size of dim `dim` of `value`. A line of `value` along this dim
  /// has this number of elements. For example, a line of a matrix along dim 0
  /// is a column. Therefore the size is an upper bound on the number of
  /// non-zero elements in the line.
  int64_t size() const { return shapeOf(value)[dim]; }
  /// Returns a query for dim `otherDim` of the tensor `other`. `other` must be
  /// an operand of the op that defines `value`. A query for a dim of a tensor
  /// asks: how many non-zero elements can a line of the tensor along the dim
  /// contain at most? For example, a line of a matrix along dim 0 is a column.
  /// The function `count` answers the query. To answer it, `count` can create
  /// queries for the operands of the op that defines the tensor. In each new
  /// query, the member `steps` is smaller by 1. If `steps` is 0, then `count`
  /// creates no new query.
  Query of(Value other, int64_t otherDim) const {
    return {other, otherDim, steps - 1};
  }
  /// Returns a query for the dim of `operand` that becomes dim `dim` of
  /// `value`. The op that defines `value` broadcasts `operand` to the shape of
  /// `value`. The dims match from the end, as in NumPy. Example for dim 1 of
  /// `value` of the shape [2, 8, 5]:
  ///
  ///   shape of `operand`   result
  ///   [8, 5]               query for dim 0 of `operand`
  ///   [5]                  nullopt, because no dim becomes dim 1 of `value`
  ///   [1, 5]               nullopt, because dim 0 of `operand` has the size 1
  std::optional<Query> ofBroadcast(Value operand) const {
    const int64_t own = dim + static_cast<int64_t>(shapeOf(operand).size()) -
                        static_cast<int64_t>(shapeOf(value).size());
    if (own < 0 || shapeOf(operand)[own] != size())
      return {};
    return of(operand, own);
  }
};

/// Type of a function that handles one kind of op. For example, countSum
/// handles the op add. The function returns an upper bound on the number of
/// non-zero elements in a line of the op's result. The second parameter
/// contains the number of a dim, and the line is along this dim. For example, a
/// line of a matrix along dim 0 is a column.
using Bound = int64_t (*)(Operation *, const Query &);
} // namespace

static int64_t count(const Query &query);

/// Returns an upper bound on the number of non-zero elements in a line of a
/// tensor. The tensor is `operand`, broadcast to the shape of `query.value`.
/// The line is along dim `query.dim`. For example, a line of a matrix along dim
/// 0 is a column. If the broadcast repeats one element along the line, the
/// bound is the size of the dim. Otherwise, the function computes the bound
/// from `operand`. In this example, the shape of `query.value` is [8, 5], and
/// `query.dim` is 0:
///
///   shape of `operand`   bound
///   [8, 5] or [8, 1]     bound of `operand` along dim 0
///   [1, 5] or [5]        8, because a column repeats one element 8 times
static int64_t countBroadcast(Value operand, const Query &query) {
  auto own = query.ofBroadcast(operand);
  return own ? count(*own) : query.size();
}

/// Returns an upper bound on the number of non-zero elements in a line of the
/// result of `op`. The line is along dim `query.dim`. For example, a line of a
/// matrix along dim 0 is a column. An element of the result is 0 if the element
/// of any operand at the same position is 0. An example is mul(x, y). If each
/// column of x has at most 2 non-zero elements, and each column of y has at
/// most 5, then each column of the result has at most 2. The function returns
/// the smallest one of the operands' bounds.
static int64_t countProduct(Operation *op, const Query &query) {
  int64_t least = query.size();
  for (Value operand : op->getOperands())
    least = std::min(least, countBroadcast(operand, query));
  return least;
}

/// Returns an upper bound on the number of non-zero elements in a line of the
/// result of `op`. The line is along dim `query.dim`. For example, a line of a
/// matrix along dim 0 is a column. An element of the result is 0 if the
/// elements of all operands at the same position are 0. An example is
/// add(x, y). If each column of x has at most 2 non-zero elements, and each
/// column of y has at most 5, then each column of the result has at most
/// 2 + 5 = 7. The function returns the sum of the operands' bounds.
static int64_t countSum(Operation *op, const Query &query) {
  int64_t sum = 0;
  for (Value operand : op->getOperands())
    sum += countBroadcast(operand, query);
  return sum;
}

/// Returns an upper bound on the number of non-zero elements in a line of the
/// result of `op`. The line is along dim `query.dim`. For example, a line of a
/// matrix along dim 0 is a column. If an element of the first operand is 0, the
/// element of the result at the same position is 0. An example is the quotient
/// x / y. If each column of x has at most 2 non-zero elements, then each column
/// of x / y has at most 2. The function returns the bound of the first operand.
static int64_t countFirst(Operation *op, const Query &query) {
  return countBroadcast(op->getOperand(0), query);
}

/// Returns an upper bound on the number of non-zero elements in a line of
/// select(c, a, b). The line is along dim `query.dim`. For example, a line of a
/// matrix along dim 0 is a column. There are two cases:
///
///   operand b              bound
///   constant zeros         smaller one of the bounds of a and c
///   any other tensor       bound of a + bound of b
///
/// In the first case, an element of the result can differ from 0 only if the
/// element of c is true and the element of a differs from 0. For example, each
/// column of c has at most 1 true element, and each column of a has at most 4
/// non-zero elements. Then the bound is 1.
static int64_t countSelect(Operation *op, const Query &query) {
  auto select = cast<SelectOp>(op);
  const int64_t onTrue = countBroadcast(select.getOnTrue(), query),
                onFalse = countBroadcast(select.getOnFalse(), query);
  if (isUniform(select.getOnFalse(), 0))
    return std::min(onTrue, countBroadcast(select.getCondition(), query));
  return onTrue + onFalse;
}

/// Returns whether the function can prove that all elements of `value` along
/// dim `dim` are different. It returns true only in these two cases:
///
///  - `value` is an iota, and its numbers increase along `dim`. For dim 1, an
///    example is [[0, 1, 2], [0, 1, 2]].
///  - `value` is an integer constant without equal elements, and all other dims
///    have size 1. For dim 1, an example is [[5, 9, 7]].
static bool areDistinct(Value value, int64_t dim) {
  if (auto iota = definedBy<IotaOp>(value))
    return static_cast<int64_t>(iota.getDim()) == dim;
  auto constant = definedBy<ConstantOp>(value);
  auto numbers = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue())
                          : DenseIntElementsAttr();
  if (!numbers || numbers.getNumElements() != shapeOf(value)[dim])
    return false;
  llvm::DenseSet<APInt> seen;
  return llvm::all_of(numbers.getValues<APInt>(), [&](const APInt &number) {
    return seen.insert(number).second;
  });
}

/// Returns an upper bound on the number of true elements in a line of the
/// result of the comparison `op`. The line is along dim `query.dim`. For
/// example, a line of a matrix along dim 0 is a column. The bound is 1 if `op`
/// is equal(x, y) or equal(y, x), x repeats one element along the line, and the
/// elements of y along the line are provably different, as for x of the shape
/// [5, 1] and y = [0, 1, 2, 3]. Otherwise, the bound is the size of dim
/// `query.dim`.
static int64_t countEqual(Operation *op, const Query &query) {
  auto compare = cast<CompareOp>(op);
  if (compare.getPredicate() != Predicate::Equal)
    return query.size();
  for (int one : {0, 1}) {
    auto several = query.ofBroadcast(op->getOperand(1 - one));
    if (several && areDistinct(several->value, several->dim) &&
        !query.ofBroadcast(op->getOperand(one)))
      return 1;
  }
  return query.size();
}

/// Returns an upper bound on the number of non-zero elements in a line of the
/// result of the one_hot `op`. The line is along dim `query.dim`. For example,
/// a line of a matrix along dim 0 is a column. A one_hot replaces each index by
/// a vector. In this vector, at most one element has the on value, and all
/// others have the off value. For example, the on value is 1, and the off
/// value is 0. Then the index 2 becomes the vector [0, 0, 1, 0]. There are two
/// cases:
///
///   case                                             bound
///   the line is such a vector, the off value is 0    1
///   all other cases                                  size of dim `query.dim`
static int64_t countOneHot(Operation *op, const Query &query) {
  auto hot = cast<OneHotOp>(op);
  return static_cast<int64_t>(hot.getDim()) == query.dim &&
                 isUniform(hot.getOff(), 0)
             ? 1
             : query.size();
}

/// Returns an upper bound on the number of non-zero elements in a line of the
/// result of `op` along dim `query.dim`. For example, a line of a matrix along
/// dim 0 is a column. `op` is scatter_elements(data, indices, updates). If
/// `query.dim` is the attribute `dim` of `op`, the bound is the bound of `data`
/// plus the size of this dim of `updates`. For example, each column of `data`
/// has at most 1 non-zero element, and `op` writes 2 updates into each column.
/// The bound is then 1 + 2. For other dims, the bound is the size of dim
/// `query.dim`.
static int64_t countScattered(Operation *op, const Query &query) {
  auto scatter = cast<ScatterElementsOp>(op);
  if (static_cast<int64_t>(scatter.getDim()) != query.dim)
    return query.size();
  return count(query.of(scatter.getData(), query.dim)) +
         shapeOf(scatter.getUpdates())[query.dim];
}

/// Returns an upper bound on the number of non-zero elements in a line of the
/// result of the reshape `op` along dim `query.dim`. For example, a line of a
/// matrix along dim 0 is a column. If a dim of the input has the same size and
/// the same stride (the product of the sizes of all later dims), both lines
/// have the same elements, and the bound is that of the input. Otherwise, the
/// bound is the size of the dim. For a reshape from [2, 3, 8] to [6, 8], dim 1
/// of the result has the bound of dim 2 of the input. The bound for dim 0 is 6.
static int64_t countReshaped(Operation *op, const Query &query) {
  auto behind = [](ArrayRef<int64_t> shape, int64_t dim) {
    return ShapedType::getNumElements(shape.drop_front(dim));
  };
  Value input = op->getOperand(0);
  for (auto [dim, size] : llvm::enumerate(shapeOf(input)))
    if (size == query.size() &&
        behind(shapeOf(input), static_cast<int64_t>(dim)) ==
            behind(shapeOf(query.value), query.dim))
      return count(query.of(input, static_cast<int64_t>(dim)));
  return query.size();
}

/// Returns an upper bound on the number of non-zero elements in a line of the
/// result of the transpose `op`. The line is along dim `query.dim` of the
/// result. For example, a line of a matrix along dim 0 is a column. A transpose
/// copies each line of its input to a line of the result. For example, the
/// transpose of a matrix copies each row to a column. Dim i of the result is
/// dim perm[i] of the input, where perm is an attribute of the transpose. The
/// function therefore returns the bound of the input along dim
/// perm[`query.dim`].
static int64_t countTransposed(Operation *op, const Query &query) {
  auto transpose = cast<TransposeOp>(op);
  return count(query.of(transpose.getInput(), transpose.getPerm()[query.dim]));
}

/// Returns an upper bound on the number of non-zero elements in a line of the
/// result of the reduction `op` along dim `query.dim` of the result. A line of
/// a matrix along dim 0 is a column:
///
///   sum over other dims            n · (bound of the input along this dim)
///   sum over this dim              1, because the dim then has size 1
///   other reduction, such as max   size of this dim
///
/// n is the number of elements in each sum: 3 if [8, 3] is summed over dim 1.
static int64_t countReduced(Operation *op, const Query &query) {
  auto reduce = cast<ReduceOp>(op);
  ArrayRef<int64_t> shape = shapeOf(reduce.getInput());
  int64_t dim = query.dim, added = 1;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    if (llvm::is_contained(reduce.getDims(), i)) {
      added *= shape[i];
      dim += !reduce.getKeep() && i <= dim;
    }
  const bool sums = reduce.getKind() == ReduceKind::Sum;
  return sums && !llvm::is_contained(reduce.getDims(), dim)
             ? added * count(query.of(reduce.getInput(), dim))
             : query.size();
}

/// Bounds the number of non-zero elements of an einsum along dim `query.dim`.
/// An example is the bound along i of the matrix product ij,jk->ik:
///
///   result[i, k] = sum over j of left[i, j] · right[j, k]
///
/// The dim j has the size 3. For each j, at most 2 elements left[i, j] differ
/// from 0. An element result[i, k] can differ from 0 only if left[i, j] differs
/// from 0 for some j. There are at most 3 · 2 = 6 such indices i, so the bound
/// is 6. If an einsum sums over several dims, the factor 3 is replaced by the
/// product of their sizes. If several operands have the dim i, the function
/// computes a bound from each of these operands and returns the smallest bound.
static int64_t countEinsum(Operation *op, const Query &query) {
  auto equation = EinsumEquation::parse(cast<EinsumOp>(op).getEquation());
  auto sizes = equation->sizes(op->getOperandTypes());
  const char letter = equation->result[query.dim];
  int64_t added = 1, least = query.size();
  for (auto [name, size] : *sizes)
    if (!equation->result.contains(name))
      added *= size;
  for (auto [operand, letters] :
       llvm::zip_equal(op->getOperands(), equation->operands))
    if (size_t dim = letters.find(letter); dim != StringRef::npos)
      least = std::min(least, added * count(query.of(operand, dim)));
  return least;
}

/// Returns an upper bound on the number of non-zero elements in a line of the
/// matmul `op` along dim `query.dim`. For example, a line of a matrix along dim
/// 0 is a column. The shapes are [m, k] · [k, n] = [m, n], after optional batch
/// dims:
///
///   line along m           k times the bound of the left operand along m
///   line along n           k times the bound of the right operand along n
///   line along batch dim   size of the batch dim
static int64_t countMatmul(Operation *op, const Query &query) {
  auto matmul = cast<MatmulOp>(op);
  const int64_t fromEnd =
      static_cast<int64_t>(shapeOf(query.value).size()) - query.dim;
  if (fromEnd > 2)
    return query.size();
  const bool isColumn = fromEnd == 1;
  Value operand = isColumn ? matmul.getRhs() : matmul.getLhs();
  const bool swapped =
      isColumn ? matmul.getTransposeRhs() : matmul.getTransposeLhs();
  const int64_t last = static_cast<int64_t>(shapeOf(operand).size()) - 1,
                own = isColumn != swapped ? last : last - 1;
  const int64_t added = shapeOf(operand)[2 * last - 1 - own];
  return added * count(query.of(operand, own));
}

/// Returns a table of functions. Each key is the name of an op, such as
/// `graph.add`. Each value is the function that computes the bound for this op,
/// such as countSum. The bound limits the number of non-zero elements in a line
/// of the op's result. A line of a matrix is, for example, a column.
static const llvm::StringMap<Bound> &bounds() {
  static const llvm::StringMap<Bound> table = {
      {MulOp::getOperationName(), countProduct},
      {AndOp::getOperationName(), countProduct},
      {AddOp::getOperationName(), countSum},
      {OrOp::getOperationName(), countSum},
      {DivOp::getOperationName(), countFirst},
      {CastOp::getOperationName(), countFirst},
      {BroadcastOp::getOperationName(), countFirst},
      {SelectOp::getOperationName(), countSelect},
      {CompareOp::getOperationName(), countEqual},
      {OneHotOp::getOperationName(), countOneHot},
      {ScatterElementsOp::getOperationName(), countScattered},
      {ReshapeOp::getOperationName(), countReshaped},
      {TransposeOp::getOperationName(), countTransposed},
      {ReduceOp::getOperationName(), countReduced},
      {EinsumOp::getOperationName(), countEinsum},
      {MatmulOp::getOperationName(), countMatmul}};
  return table;
}

/// Returns an upper bound on the number of non-zero elements in a line of the
/// tensor `query.value` along dim `query.dim`. For example, a line of a matrix
/// along dim 0 is a column. The table bounds() has a function for each
/// supported kind of op. The bound is the size of the dim if the table has no
/// entry for the op that defines the tensor, if the tensor is a function
/// argument, if the op has the attribute `graph.pinned` (the user fixes its
/// sharding), or if `query.steps` is 0.
static int64_t count(const Query &query) {
  if (isUniform(query.value, 0))
    return 0;
  Operation *op = query.value.getDefiningOp();
  if (!op || op->hasAttr(pinnedName) || query.steps == 0)
    return query.size();
  const Bound bound = bounds().lookup(op->getName().getStringRef());
  return bound ? std::min(query.size(), bound(op, query)) : query.size();
}

int64_t pcc::prepare::maxNonZeros(Value value, int64_t dim) {
  return count({value, dim});
}
