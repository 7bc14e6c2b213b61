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

/// Returns whether only slices read the result of `op`, directly or through a
/// reshape, and the slices together have at most as many elements as the
/// result. Clones of `op`, one for each slice, then cost no more than `op`.
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
/// Shapes of the values that a kernel with reductions can compute. Example: for
/// a sum over the last dim of a tensor [8, 16, 32], `element` is [8, 16, 32],
/// `kept` is [8, 16, 1], and `flat` is [8, 16].
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

/// Returns whether each row of the result of `user` depends only on the same
/// row of its operand `value`. A row is a set of elements that are reduced
/// together. True for exp, false for a transpose.
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

/// Returns whether one loop over the rows of the reduction `op` can compute all
/// ops of `group` that depend on `op`. A row is a set of elements that are
/// reduced together. True for a division by the sum of the row, false for a sum
/// over all rows.
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
/// Greedy fusion of the ops of a block into groups. Each group becomes one
/// kernel, which is one loop nest. Visits the ops from the last to the first,
/// so users come before their operands. No kernel may need its own result as an
/// input, directly or through other ops.
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

  /// Starts a group (ops that become one kernel) for `op` if an op without a
  /// group, such as a matmul, must read the result of `op` from memory. `op` is
  /// a constant, an iota or a global index. Kernels that read `op` compute its
  /// elements themselves. A constant never starts a group, because the compiled
  /// program contains its elements.
  void placeLeaf(Operation *op) {
    bool isNeeded = llvm::any_of(
        op->getUsers(), [&](Operation *user) { return groupOf(user) < 0; });
    if (isNeeded && !isa<graph::ConstantOp>(op))
      begin(op);
  }

  /// Adds `op` to the group of one of its users, if possible. Otherwise begins
  /// a new group, unless `mayBegin` is false. A reshape must not begin a group,
  /// because a reshape without a kernel costs no time.
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

  /// Returns whether `op` can join the group with index `number`. If an op
  /// outside of the group reads `op`, the kernel must be able to store the
  /// result of `op`. No op of the group may depend on that outside op.
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

  /// Returns whether the reduction `op` can join `group`. All reductions of a
  /// group must reduce the same dims of the same shape. One loop over the rows
  /// must be able to compute all ops that depend on `op`.
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
  /// reduction. False if the kernel would compute elements of an expensive `op`
  /// several times.
  static bool isWorthRepeating(Operation *op, const KernelGroup &group) {
    ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
    // If the last dim of the result of `op` has size 1, `op` does not depend on
    // the index of the innermost loop. LLVM is expected to move `op` out of
    // this loop. If the loop has at least 16 iterations, the cost of `op` is
    // then small compared with the loop.
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
  /// memory. The result must have the shape of the kernel's loops, or one
  /// element per reduced row. No kernel can store the result of a reshape.
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

  /// Returns whether an op of the group with index `number` depends on `op`
  /// through an op outside of the group. Then `op` cannot join the group,
  /// because the kernel would need its own result as an input.
  bool leadsBack(Operation *op, int number) const {
    SmallVector<Operation *> work;
    llvm::SmallPtrSet<Operation *, 32> seen;
    // The group lies in one span (range of successive ops, see `spans`). No
    // path leads from an op after the span back to the group, so the search can
    // stop there. `turn` is the number of the last op of the span. Ops are
    // numbered from the end of the block, so later ops have smaller numbers.
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
      // One kernel computes all ops of this group, so all results of the group
      // depend on the operands of `at`. Continue at the users of all ops.
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
  /// Smallest op number of each span, in ascending order. A span is a range of
  /// successive ops that splits no group. Ops are numbered from the end of the
  /// block. Example: the groups {0, 1}, {2, 4} and {3} lie in the spans 0 to 1
  /// and 2 to 4, so the list is [0, 2].
  std::vector<size_t> spans;
};
} // namespace

std::vector<KernelGroup> pcc::emit::groupKernels(Block &block) {
  return Grouping(block).run();
}
