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
/// Largest sum of the operand counts of a kernel's concatenations. Each operand
/// costs a branch.
static constexpr size_t maxParts = 64;
/// Largest number of reductions in a kernel. On a GPU each reduction needs
/// shared memory, and a block has enough for 8 reductions of any kind.
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

/// Returns whether only slices read the result of `op`. The slices together
/// must not have more elements than the result.
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
/// Shapes of the values that a kernel with reductions can compute. Example: a
/// reduction of [8, 16, 32] over the last dim has 8 · 16 rows.
///
///   element   [8, 16, 32]   all elements of the rows
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

/// Returns whether `user` keeps the rows of its operand `value` apart: row i of
/// its result depends only on row i of `value`. A row is the set of elements
/// over which a reduction of the kernel runs.
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

/// Returns whether all ops of `group` that depend on the reduction `op` keep
/// rows apart: row i of their result depends only on row i of their operand.
/// One loop over the rows can then compute `op` and these ops.
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
/// Greedy fusion of a block's ops into groups, one per kernel. Visits the ops
/// from the last to the first. Keeps three invariants:
///
///   - When an op joins a group, all users of the op have been visited.
///   - One loop nest can compute all ops of a group.
///   - No path of uses leaves a group and returns to it.
class Grouping {
public:
  explicit Grouping(Block &block) : block(block) {}

  /// Returns the groups in block order. Sorts the ops of each group in block
  /// order.
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
  /// of the group, sets the group's iteration space to the shape of the
  /// reduction's operand, divided into the rows that `op` reduces.
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

  /// Adds `op`, which is being visited, to the group with index `group`. The
  /// span of the group then reaches from its last op to `op`, and contains all
  /// spans between them.
  void join(Operation *op, int group) {
    add(op, group);
    spans.resize(spanOf(group) + 1);
  }

  /// Returns the index in `spans` of the span that contains the group with
  /// index `group`.
  size_t spanOf(int group) const {
    const size_t turn = turnOf.at(groups[group].ops.front());
    return llvm::upper_bound(spans, turn) - spans.begin() - 1;
  }

  /// Starts a group for an index op (iota, global index) if a reader belongs to
  /// no group, such as a matmul. This reader needs the indices in memory.
  /// Readers in groups compute the indices on their own. Starts no group for a
  /// constant.
  void placeLeaf(Operation *op) {
    bool isNeeded = llvm::any_of(
        op->getUsers(), [&](Operation *user) { return groupOf(user) < 0; });
    if (isNeeded && !isa<graph::ConstantOp>(op))
      begin(op);
  }

  /// Adds `op` to the group of one of its users (ops that read its result). If
  /// no group can take `op` and `mayBegin` is true, starts a new group.
  void place(Operation *op, bool mayBegin) {
    // Try the groups with large indices first, since they are nearer to `op`.
    // Do not try them in the order of the op's list of users: this order can
    // change when the module is printed and parsed.
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

  /// Returns whether the reduction `op`, which reduces `rows`, can join
  /// `group`. Two conditions must hold:
  ///
  ///   - If `group` has reductions, they reduce equal dims of equal shapes. If
  ///     it has none, its shape is that of the operand of `op`, or has one
  ///     element per row.
  ///   - In ops of `group` that depend on `op`, row i of the result depends
  ///     only on row i of the operand.
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

  /// Returns whether the kernel of `group` may compute the same element of `op`
  /// several times, once per read. True in three cases:
  ///
  ///   - `op` is cheap.
  ///   - The kernel's iteration space is not larger than the result of `op`. At
  ///     most one layout op of the group, such as a transpose, reads the
  ///     result.
  ///   - The last dim of the result has size 1, and that of the iteration space
  ///     at least 16. LLVM then hoists `op` out of the innermost loop.
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

  /// Returns whether the kernel of `group` can store the result of `op`. The
  /// result must have the shape of the kernel's loops. In a kernel with
  /// reductions, it can have one element per row instead. False for a reshape.
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

  /// Returns whether a path of uses leads from `op` out of the group with index
  /// `number` and back into it. The group's kernel would then need its own
  /// result, so `op` cannot join. If the path enters another group, it can
  /// leave from any op of that group, since one kernel computes all of them.
  bool leadsBack(Operation *op, int number) const {
    SmallVector<Operation *> work;
    llvm::SmallPtrSet<Operation *, 32> seen;
    // A path goes on to later ops, and within a group also to earlier ones. It
    // never returns to a span from an op behind the span.
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
  /// Number of ops that were visited before each op. The last op of the block
  /// has the number 0.
  llvm::DenseMap<Operation *, size_t> turnOf;
  /// Spans of the block. A group reaches from its first to its last op. Groups
  /// that overlap are in one span, and spans do not overlap. Each span is given
  /// by the number (`turnOf`) of its last op, in ascending order.
  std::vector<size_t> spans;
};
} // namespace

std::vector<KernelGroup> pcc::emit::groupKernels(Block &block) {
  return Grouping(block).run();
}
