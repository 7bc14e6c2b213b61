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
/// Largest number of operands that all concatenations of a kernel have in sum.
/// For each operand the kernel has a branch, and often an argument.
static constexpr size_t maxParts = 64;
/// Largest number of reductions in a kernel. On a GPU each reduction needs
/// shared memory. The shared memory of a block suffices for 8 reductions of the
/// kind that needs most.
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

/// If the op `use` is a slice, returns `use`. If `use` is a reshape whose only
/// reader is a slice, returns that slice. Otherwise returns null.
static graph::SliceOp onlySlice(Operation *use) {
  if (isa<graph::ReshapeOp>(use) && use->hasOneUse())
    use = *use->getUsers().begin();
  return dyn_cast<graph::SliceOp>(use);
}

/// Returns whether slices are the only readers of the result of `op`, and all
/// slices together have no more elements than the result.
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
    // Sort the users by their order in the block. Their order in the list of
    // uses changes when the module is printed and parsed, but the output must
    // be the same in both cases.
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
/// Shapes of the values that a kernel with reductions can compute. Example for
/// a reduction of [8, 16, 32] over the last dim, which has 8 · 16 rows:
///
///   element   [8, 16, 32]   one element per element of the rows
///   kept      [8, 16, 1]    one element per row; the reduced dim has size 1
///   flat      [8, 16]       one element per row, without the reduced dim
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

/// Returns whether the kernel that computes `value` can also contain `user`, a
/// reader of `value`. `value` depends on statistics of rows, such as sums. The
/// kernel has only the statistics of the current row. So row i of the result of
/// `user` must depend only on row i of `value`.
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

/// Returns whether `group` can compute the reduction `op` row by row. For each
/// op of `group` that depends on `op`, row i of the result must depend only on
/// row i of its operand.
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
/// Greedy fusion of a block's ops into groups, from the last op to the first.
///
/// Invariants: when an op is added to a group, all users of the op have been
/// visited. Each group has one iteration space, and no path of uses leaves a
/// group and returns to it.
class Grouping {
public:
  explicit Grouping(Block &block) : block(block) {}

  /// Returns the groups in block order. Sorts the ops of each group in block
  /// order.
  std::vector<KernelGroup> run() {
    for (Operation &op : llvm::reverse(block))
      if (isa<graph::ReshapeOp>(op))
        place(&op, /*mayBegin=*/false);
      else if (isCopiedIntoKernels(&op))
        placeLeaf(&op);
      else if (readKindOf(&op) != ReadKind::None)
        place(&op, /*mayBegin=*/true);
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
  /// Returns the index in `groups` of the group of `op`, or -1 if `op` has no
  /// group.
  int groupOf(Operation *op) const {
    auto found = groupOfOp.find(op);
    return found == groupOfOp.end() ? -1 : found->second;
  }

  /// Adds `op` to the group with index `group`. If `op` is the first reduction
  /// of the group, the rows of `op` become the rows of the group. A row is a
  /// set of elements that `op` reduces to one.
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
  }

  /// Starts a group for the index op `op`, such as an iota, if an op outside of
  /// all groups reads it: a kernel then writes the indices to memory. Kernels
  /// that read `op` hold a copy of it, so they need no group for `op`. Starts
  /// no group for a constant, which is stored with the program.
  void placeLeaf(Operation *op) {
    bool isNeeded = llvm::any_of(
        op->getUsers(), [&](Operation *user) { return groupOf(user) < 0; });
    if (isNeeded && !isa<graph::ConstantOp>(op))
      begin(op);
  }

  /// Adds `op` to the group of one of its users. If no such group can contain
  /// `op`, starts a group if `mayBegin` is true; otherwise `op` stays without a
  /// group.
  void place(Operation *op, bool mayBegin) {
    // Try the groups with large indices first: they are earlier in the block
    // and thus nearer to `op`. The order of the list of uses must not decide,
    // since it changes when the module is printed and parsed.
    std::set<int, std::greater<int>> candidates;
    for (Operation *user : op->getUsers())
      if (int group = groupOf(user); group >= 0)
        candidates.insert(group);
    for (int group : candidates)
      if (canJoin(op, group))
        return add(op, group);
    if (mayBegin)
      begin(op);
  }

  /// Returns whether `op` can be added to the group with index `number`.
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

  /// Returns whether `group` has the largest number of reductions that a kernel
  /// may have.
  static bool isFullOfReductions(const KernelGroup &group) {
    return llvm::count_if(group.ops, [](Operation *op) {
             return rowSpaceOf(op).has_value();
           }) >= maxReductions;
  }

  /// Returns whether the concatenation `op` and those of `group` have more
  /// operands than those of one kernel may have.
  static bool isFullOfParts(Operation *op, const KernelGroup &group) {
    size_t parts = op->getNumOperands();
    for (Operation *other : group.ops)
      if (isa<graph::ConcatOp>(other))
        parts += other->getNumOperands();
    return parts > maxParts;
  }

  /// Returns whether the group can take the reduction `op` over `rows`. If the
  /// group has rows, they must be equal to `rows`; otherwise its shape must be
  /// one that a kernel over `rows` can compute. In both cases all ops that
  /// depend on `op` must stay within one row.
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

  /// Returns whether the kernel of `group` may compute `op` once per read of
  /// its result. It may in three cases:
  ///
  ///   - `op` is cheap.
  ///   - The kernel computes `op` for no more elements than its result has.
  ///   - The last dim of the result has size 1, and that of the kernel at least
  ///     16. LLVM then hoists `op` out of the innermost loop.
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

  /// Returns whether the kernel of `group` can store the result of `op` for
  /// readers outside of the group. If so, the result has one of the shapes that
  /// the loops of the kernel cover.
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

  /// Returns whether a path of uses leads from `op` through ops outside of the
  /// group with index `number` into that group. If so, `op` cannot join the
  /// group. Other groups on the path become one kernel each, so the path
  /// continues from all ops of such a group.
  bool leadsBack(Operation *op, int number) const {
    SmallVector<Operation *> work;
    llvm::SmallPtrSet<Operation *, 32> seen;
    // Groups are filled from the last op to the first. An op from which only
    // ops behind the last op of the group are reached leads to none of it.
    Operation *last = groups[number].ops.front();
    auto mayLeadBack = [&](Operation *at) {
      const int group = groupOf(at);
      Operation *first = group < 0 ? at : groups[group].ops.back();
      return first == last || first->isBeforeInBlock(last);
    };
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
};
} // namespace

std::vector<KernelGroup> pcc::emit::groupKernels(Block &block) {
  return Grouping(block).run();
}
