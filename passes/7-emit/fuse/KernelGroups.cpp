//===- KernelGroups.cpp - fusion of ops into kernels ----------------------===//

#include "passes/7-emit/fuse/KernelGroups.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <set>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Largest number of ops in a kernel. Larger kernels are slow to compile.
static constexpr size_t maxOps = 64;
/// Largest number of operands that all concatenations of one kernel have
/// together. For each element of a result, the kernel must find the operand
/// that holds the element. It needs one branch per operand.
static constexpr size_t maxParts = 64;
/// Largest number of reductions in a kernel. On a GPU, each reduction needs
/// shared memory in every thread block. The shared memory of a thread block is
/// large enough for 8 reductions of any kind.
static constexpr int64_t maxReductions = 8;

static ArrayRef<int64_t> shapeOf(Value value) {
  return graph::tensorType(value).getShape();
}

static int64_t sizeOf(ArrayRef<int64_t> shape) {
  return ShapedType::getNumElements(shape);
}

bool pcc::emit::isCopiedIntoKernels(Operation *op) {
  return readKindOf(op) == ReadKind::Source;
}

//===----------------------------------------------------------------------===//
// Producers of slices
//===----------------------------------------------------------------------===//

/// Returns `use` if it is a slice. If `use` is a reshape with one reader, and
/// this reader is a slice, returns the reader. Otherwise returns null.
static graph::SliceOp onlySlice(Operation *use) {
  if (isa<graph::ReshapeOp>(use) && use->hasOneUse())
    use = *use->getUsers().begin();
  return dyn_cast<graph::SliceOp>(use);
}

/// Returns whether only slices read the result of `op`. A reshape counts as a
/// slice if a slice is the only reader of the reshape. In addition, the slices
/// together must not have more elements than the result of `op`. Example: the
/// result has the shape [8, 30], and three slices have the shape [8, 10]. The
/// caller creates one clone of `op` per slice. Each clone computes only the
/// elements of its slice. All clones together then compute at most as many
/// elements as `op`.
static bool isReadInSlices(Operation *op) {
  int64_t numElements = 0;
  for (Operation *user : op->getUsers()) {
    graph::SliceOp slice = onlySlice(user);
    if (!slice)
      return false;
    numElements += graph::tensorType(slice.getResult()).getNumElements();
  }
  return numElements <= graph::tensorType(op->getResult(0)).getNumElements();
}

void pcc::emit::splitBeforeSlices(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    bool isCheap =
        isa<graph::ReshapeOp>(op) ||
        (readKindOf(&op) == ReadKind::ElementWise && !isExpensive(&op));
    if (!isCheap || op.use_empty() || op.hasOneUse() || !isReadInSlices(&op))
      continue;
    // Sort the users by their order in the block. The order of the list of uses
    // can change when the module is printed and parsed.
    SmallVector<Operation *> users(op.getUsers());
    llvm::sort(users, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    for (Operation *user : ArrayRef(users).drop_front())
      user->replaceUsesOfWith(op.getResult(0),
                              OpBuilder(&op).clone(op)->getResult(0));
  }
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
/// Shapes of the values that a kernel with reductions can compute. A row is a
/// set of elements that are reduced together, such as the elements of one sum.
/// Example: a kernel that reduces the last dim of a tensor [8, 16, 32] has 8 ·
/// 16 rows of 32 elements. The kernel can compute values of three shapes:
///
///   element   [8, 16, 32]   all elements of all rows
///   kept      [8, 16, 1]    one element per row; the reduced dim has size 1
///   flat      [8, 16]       one element per row; the reduced dim is removed
struct RowShapes {
  ArrayRef<int64_t> element;
  SmallVector<int64_t> kept, flat;

  explicit RowShapes(const RowSpace &rows)
      : element(rows.shape), kept(rows.shape), flat(rows.outerShape()) {
    for (int64_t dim : rows.innerDims)
      kept[dim] = 1;
  }

  bool isOne(ArrayRef<int64_t> shape) const {
    return shape == element || shape == ArrayRef(kept) ||
           shape == ArrayRef(flat);
  }
};
} // namespace

/// Returns whether a loop over the rows of a kernel can compute `user`, an op
/// that reads `value`. A row is a set of elements that are reduced together,
/// such as the elements of one sum. `rows` describes the rows of the kernel.
/// Each row of the result of `user` must depend only on the same row of
/// `value`.
///
/// Example: the kernel reduces the last dim of a tensor [8, 16]. Each of the 8
/// rows has 16 elements. The result is true for exp and for a sum over the last
/// dim. The result is false for a transpose.
static bool keepsRow(Operation *user, Value value, const RowSpace &rows) {
  RowShapes shapes(rows);
  ArrayRef<int64_t> from = shapeOf(value), to = shapeOf(user->getResult(0));
  if (auto own = rowSpaceOf(user))
    return value == user->getOperand(0) && own->shape == rows.shape &&
           own->innerDims == rows.innerDims;
  if (isa<graph::ReshapeOp>(user))
    return from != shapes.element && shapes.isOne(from) && shapes.isOne(to) &&
           to != shapes.element;
  if (readKindOf(user) != ReadKind::ElementWise &&
      !isa<graph::BroadcastOp>(user))
    return false;
  if (to == shapes.element)
    return from == shapes.element || from == ArrayRef(shapes.kept);
  return shapes.isOne(to) && from == to;
}

/// Returns whether one loop over rows can compute the reduction `op` and all
/// ops of `group` that depend on `op`. A row is a set of elements that are
/// reduced together, such as the elements of one sum. `rows` describes the rows
/// of `op`.
///
/// Each iteration of the loop computes one row of each op. In each op that
/// depends on `op`, a row of the result must therefore not depend on other rows
/// of the operand. Example: `op` computes the 8 sums of the 8 rows of a tensor
/// [8, 16]. The result is true if an op of the group divides each element of a
/// row by the sum of this row. The result is false if an op of the group adds
/// up the 8 sums.
static bool dependentsKeepRow(Operation *op, const KernelGroup &group,
                              const RowSpace &rows) {
  SmallVector<Value> work(op->getResults());
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (!group.ops.contains(user))
        continue;
      if (!keepsRow(user, value, rows))
        return false;
      if (seen.insert(user).second)
        llvm::append_range(work, user->getResults());
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Grouping
//===----------------------------------------------------------------------===//

namespace {
/// Greedy fusion of the ops of a block into groups. Each group will become one
/// kernel. Visits the ops from the last to the first. Three statements always
/// hold:
///
///   - When an op joins a group, all users of the op have been visited.
///   - One loop nest can compute all ops of a group.
///   - No kernel needs its own result as an input. Example: b reads a, and c
///     reads b. If a and c are in one group, b is in the same group.
class Grouping {
public:
  explicit Grouping(Block &block) : block(block) {}

  /// Divides the ops of the block into groups, and returns the groups. The
  /// groups are sorted by their last ops: the group whose last op comes first
  /// in the block is the first group. The ops of each group have the order that
  /// they have in the block.
  std::vector<KernelGroup> run() {
    for (Operation &op : llvm::reverse(block)) {
      turnOf.try_emplace(&op, turnOf.size());
      if (isa<graph::ReshapeOp>(op))
        place(&op, /*mayBegin=*/false);
      else if (isCopiedIntoKernels(&op))
        placeLeaf(&op);
      else if (readKindOf(&op) != ReadKind::None)
        place(&op, /*mayBegin=*/true);
    }
    std::vector<KernelGroup> result;
    for (KernelGroup &group : llvm::reverse(groups))
      result.push_back(std::move(group));
    for (KernelGroup &group : result) {
      auto ops = group.ops.takeVector();
      llvm::sort(ops, [](Operation *a, Operation *b) {
        return a->isBeforeInBlock(b);
      });
      group.ops.insert(ops.begin(), ops.end());
    }
    return result;
  }

private:
  /// Returns the index in `groups` of the group of `op`, or -1 if it has none.
  int groupOf(Operation *op) const {
    auto found = groupOfOp.find(op);
    return found == groupOfOp.end() ? -1 : found->second;
  }

  /// Adds `op` to the group with index `group`. If `op` is the first reduction
  /// of the group, the kernel will loop over the operand of `op`. In this case,
  /// sets the group's `shape` to the shape of the operand, and the group's
  /// `rows` to the reduced and kept dims of `op`.
  void add(Operation *op, int group) {
    groups[group].ops.insert(op);
    groupOfOp[op] = group;
    if (auto rows = rowSpaceOf(op); rows && !groups[group].rows) {
      groups[group].rows = rows;
      groups[group].shape = rows->shape;
    }
  }

  /// Starts a group that contains `op` only.
  void begin(Operation *op) {
    groups.emplace_back().shape =
        SmallVector<int64_t>(shapeOf(op->getResult(0)));
    add(op, groups.size() - 1);
    spans.push_back(turnOf.at(op));
  }

  /// Adds `op` to the group with index `group`. `op` is the op that is visited
  /// now. The span of the group (see `spans`) grows toward the beginning of the
  /// block until it contains `op`, and absorbs the spans in between. Example,
  /// with ops numbered from the end of the block: the spans are 0 to 1, 2 to 4,
  /// and 5. When op 6 joins a group in the second span, the spans become 0 to 1
  /// and 2 to 6.
  void join(Operation *op, int group) {
    add(op, group);
    spans.resize(spanOf(group) + 1);
  }

  /// Returns the index in `spans` of the span that contains the group with
  /// index `group`. A span is a range of successive ops of the block. All
  /// ops of a group lie in one span.
  size_t spanOf(int group) const {
    const size_t turn = turnOf.at(groups[group].ops.front());
    return llvm::upper_bound(spans, turn) - spans.begin() - 1;
  }

  /// Starts a group for `op` if an op without a group, such as a matmul, must
  /// read the result of `op` from memory. `op` is a constant, an iota, or a
  /// global index (see isCopiedIntoKernels). Kernels that read `op` compute its
  /// elements themselves. A constant never starts a group, because the compiled
  /// program contains its elements.
  void placeLeaf(Operation *op) {
    bool isNeeded = llvm::any_of(
        op->getUsers(), [&](Operation *user) { return groupOf(user) < 0; });
    if (isNeeded && !isa<graph::ConstantOp>(op))
      begin(op);
  }

  /// Adds `op` to the group of one of its users, if possible. A user of `op` is
  /// an op that reads the result of `op`. If no group can take `op`, the
  /// parameter `mayBegin` decides:
  ///
  ///   true    a new group begins, which contains only `op`
  ///   false   `op` belongs to no group
  ///
  /// The caller passes false for a reshape, because a reshape that belongs to
  /// no group costs no time. The caller passes true for other ops.
  void place(Operation *op, bool mayBegin) {
    // Try the group with the largest index first. The ops are visited from the
    // last to the first, so this group was started last, at the op that is
    // nearest to `op`. Do not try the groups in the order of the list of users
    // of `op`: this order can change when the module is printed and parsed.
    std::set<int, std::greater<int>> candidates;
    for (Operation *user : op->getUsers())
      if (int group = groupOf(user); group >= 0)
        candidates.insert(group);
    for (int group : candidates)
      if (canJoin(op, group))
        return join(op, group);
    if (mayBegin)
      begin(op);
  }

  /// Returns whether `op` can join the group with index `number`. One kernel
  /// computes all ops of a group. All of these conditions must hold:
  ///
  /// - The numbers of ops, of reductions and of concatenated operands stay
  ///   within their limits.
  /// - A reduction satisfies fitsRows(). Any other op satisfies
  ///   isWorthRepeating().
  /// - If an op outside of the group reads `op`, the kernel can store the
  ///   result of `op`, and no op of the group depends on such an outside op.
  bool canJoin(Operation *op, int number) {
    const KernelGroup &group = groups[number];
    auto rows = rowSpaceOf(op);
    if (group.ops.size() >= maxOps || (rows && isFullOfReductions(group)) ||
        (isa<graph::ConcatOp>(op) && isFullOfParts(op, group)))
      return false;
    if (rows ? !fitsRows(op, *rows, group) : !isWorthRepeating(op, group))
      return false;
    bool escapes = llvm::any_of(op->getUsers(), [&](Operation *user) {
      return groupOf(user) != number;
    });
    return !escapes || (canStore(op, rows, group) && !leadsBack(op, number));
  }

  /// Returns whether `group` already has `maxReductions` reductions.
  static bool isFullOfReductions(const KernelGroup &group) {
    return llvm::count_if(group.ops, [](Operation *op) {
             return rowSpaceOf(op).has_value();
           }) >= maxReductions;
  }

  /// Returns whether the concatenation `op` has too many operands to join
  /// `group`. All concatenations of a group can have at most `maxParts`
  /// operands together.
  static bool isFullOfParts(Operation *op, const KernelGroup &group) {
    size_t parts = op->getNumOperands();
    for (Operation *other : group.ops)
      if (isa<graph::ConcatOp>(other))
        parts += other->getNumOperands();
    return parts > maxParts;
  }

  /// Returns whether the reduction `op` can join `group`. `rows` describes the
  /// rows of `op`: sets of elements that are reduced together. All reductions
  /// of a group must reduce the same dims of the same shape. If `group` has no
  /// reduction, its shape must fit. Example: `op` reduces the last dim of [8,
  /// 32]. The shape must be [8, 32], [8, 1] or [8]. In addition, one loop over
  /// the rows must be able to compute the ops that depend on `op`. The loop can
  /// divide each element by the sum of its row, but cannot add up the sums of
  /// all rows.
  static bool fitsRows(Operation *op, const RowSpace &rows,
                       const KernelGroup &group) {
    if (group.rows) {
      if (group.rows->shape != rows.shape ||
          group.rows->innerDims != rows.innerDims)
        return false;
    } else if (!RowShapes(rows).isOne(group.shape)) {
      return false;
    }
    return dependentsKeepRow(op, group, rows);
  }

  /// Returns whether the kernel of `group` may compute `op`, which is no
  /// reduction. The loops over `group.shape` may compute an element of `op`
  /// several times. Returns true in three cases:
  /// - `op` is cheap: an addition is cheap, and exp is expensive.
  /// - There are no more iterations than elements of `op`, and at most one
  ///   reader of `op` in `group` moves elements, as a transpose does.
  /// - The last dim of `op` has size 1, and the innermost loop has at least 16
  ///   iterations. LLVM is expected to move the computation out of this loop.
  static bool isWorthRepeating(Operation *op, const KernelGroup &group) {
    ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
    bool isPerLine = !shape.empty() && shape.back() == 1 &&
                     !group.shape.empty() && group.shape.back() >= 16;
    if (!isExpensive(op) || isPerLine)
      return true;
    int64_t numReaders = llvm::count_if(op->getUsers(), [&](Operation *user) {
      return group.ops.contains(user) && readKindOf(user) == ReadKind::Layout;
    });
    return numReaders <= 1 && sizeOf(group.shape) <= sizeOf(shape);
  }

  /// Returns whether the kernel of `group` can store the result of `op` in
  /// memory, for ops outside of the kernel. `rows` describes the rows of `op`
  /// if `op` is a reduction. A row is a set of elements that are reduced
  /// together. The kernel can store a result of the shape over which its loops
  /// iterate. A kernel with reductions can also store one element per row.
  /// Example: a kernel that reduces the last dim of [8, 32] can store [8, 32],
  /// [8, 1] and [8]. The kernel cannot store the result of a reshape.
  static bool canStore(Operation *op, const std::optional<RowSpace> &rows,
                       const KernelGroup &group) {
    ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
    if (isa<graph::ReshapeOp>(op))
      return false;
    if (rows)
      return RowShapes(*rows).isOne(shape);
    if (!group.rows)
      return shape == ArrayRef(group.shape);
    return RowShapes(*group.rows).isOne(shape);
  }

  /// Returns whether an op outside of the group with index `number` depends on
  /// `op`, and an op of the group depends on the outside op:
  ///
  ///   op -> outside op -> op of the group
  ///
  /// In this case `op` cannot join the group. The group's kernel would have to
  /// run before the outside op, to compute `op`. The kernel would also have to
  /// run after the outside op, to read its result. If the outside op belongs to
  /// another group, all ops of the other group count as one op, since one
  /// kernel computes them.
  bool leadsBack(Operation *op, int number) const {
    SmallVector<Operation *> work;
    llvm::SmallPtrSet<Operation *, 32> seen;
    // The loop below looks for a path from `op` through an outside op to an op
    // of the group. One kernel computes all ops of a group, so a path that
    // reaches another group continues at the users of all ops of that group.
    // Only such a step can go toward the beginning of the block, and only
    // within a span (see `spans`). A path that goes beyond the end of the
    // group's span never returns. The loop therefore visits no op after this
    // span. `turn` is the number of the span's last op. Later ops have smaller
    // numbers.
    const size_t turn = spans[spanOf(number)];
    auto mayLeadBack = [&](Operation *at) { return turnOf.at(at) >= turn; };
    auto visitUsers = [&](Operation *from, int except) {
      for (Operation *user : from->getUsers())
        if (groupOf(user) != except && mayLeadBack(user) &&
            seen.insert(user).second)
          work.push_back(user);
    };
    visitUsers(op, number);
    while (!work.empty()) {
      Operation *at = work.pop_back_val();
      int group = groupOf(at);
      if (group == number)
        return true;
      if (group < 0) {
        visitUsers(at, -2);
        continue;
      }
      for (Operation *other : groups[group].ops) {
        seen.insert(other);
        visitUsers(other, group);
      }
    }
    return false;
  }

  Block &block;
  std::vector<KernelGroup> groups;
  llvm::DenseMap<Operation *, int> groupOfOp;
  /// Number of each visited op. The ops are visited and numbered from the last
  /// op of the block to the first op. Example: in a block of 3 ops, the last op
  /// has the number 0, and the first op has the number 2.
  llvm::DenseMap<Operation *, size_t> turnOf;
  /// List of spans. A span is a range of successive ops. Spans do not overlap,
  /// and all ops of a group lie in one span. The ops are numbered from the end
  /// of the block. `spans[i]` is the smallest number in span i, in ascending
  /// order. Example: when op 6 joins the group of 2 and 4, the group of 5 falls
  /// into the same span:
  ///
  ///   groups                    `spans`   ops of the spans
  ///   {0, 1}, {2, 4}, {5}       0, 2, 5   0 to 1, 2 to 4, 5
  ///   {0, 1}, {2, 4, 6}, {5}    0, 2      0 to 1, 2 to 6
  std::vector<size_t> spans;
};
} // namespace

std::vector<KernelGroup> pcc::emit::groupKernels(Block &block) {
  return Grouping(block).run();
}
