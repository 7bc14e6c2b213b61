//===- KernelGroups.cpp - which ops become one kernel ---------------------===//

#include "passes/7-emit/fuse/KernelGroups.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <set>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// More ops than this make one kernel slow to compile.
static constexpr size_t maxOps = 64;
/// Reductions in one kernel: the threads of a GPU's block share memory for each
/// of them, and there is room for so many of the largest kind.
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

/// The slice that alone reads `use`, perhaps through a reshape.
static graph::SliceOp onlySlice(Operation *use) {
  if (isa<graph::ReshapeOp>(use) && use->hasOneUse())
    use = *use->getUsers().begin();
  return dyn_cast<graph::SliceOp>(use);
}

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
    // In the order of the block: that of the uses differs after a dump.
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
/// The shapes of values that a kernel over `rows` may compute from statistics.
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

/// Whether `user` may take `value`, which depends on statistics of the current
/// row: both have to speak of the same row.
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

/// Whether all that `group` computes from `op`, a reduction over `rows`, stays
/// within a row.
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
class Grouping {
public:
  explicit Grouping(Block &block) : block(block) {}

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
  /// The group of `op`, -1 if it has none.
  int groupOf(Operation *op) const {
    auto found = groupOfOp.find(op);
    return found == groupOfOp.end() ? -1 : found->second;
  }

  void add(Operation *op, int group) {
    groups[group].ops.insert(op);
    groupOfOp[op] = group;
    if (auto rows = rowSpaceOf(op); rows && !groups[group].rows) {
      groups[group].rows = rows;
      groups[group].shape = rows->shape;
    }
  }

  void begin(Operation *op) {
    groups.emplace_back().shape =
        SmallVector<int64_t>(shapeOf(op->getResult(0)));
    add(op, groups.size() - 1);
  }

  /// A constant is part of the program; an index that an op outside needs is
  /// written by a kernel of its own.
  void placeLeaf(Operation *op) {
    bool isNeeded = llvm::any_of(
        op->getUsers(), [&](Operation *user) { return groupOf(user) < 0; });
    if (isNeeded && !isa<graph::ConstantOp>(op))
      begin(op);
  }

  void place(Operation *op, bool mayBegin) {
    // The nearest group first; the order of uses differs after a dump.
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

  bool canJoin(Operation *op, int number) {
    const KernelGroup &group = groups[number];
    auto rows = rowSpaceOf(op);
    if (group.ops.size() >= maxOps || (rows && isFullOfReductions(group)))
      return false;
    if (rows ? !fitsRows(op, *rows, group) : !isWorthRepeating(op, group))
      return false;
    bool escapes = llvm::any_of(op->getUsers(), [&](Operation *user) {
      return groupOf(user) != number;
    });
    return !escapes || (canStore(op, rows, group) && !leadsBack(op, number));
  }

  static bool isFullOfReductions(const KernelGroup &group) {
    return llvm::count_if(group.ops, [](Operation *op) {
             return rowSpaceOf(op).has_value();
           }) >= maxReductions;
  }

  /// Whether the rows of the reduction `op` can be those of `group`.
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

  /// Whether computing `op` wherever the group reads it costs little more than
  /// computing it once.
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

  /// Whether the group can store the result of `op` where it computes it.
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

  /// Whether a path leads from a user of `op` outside the group into it; other
  /// groups are passed as a whole.
  bool leadsBack(Operation *op, int number) const {
    SmallVector<Operation *> work;
    llvm::SmallPtrSet<Operation *, 32> seen;
    auto visitUsers = [&](Operation *from, int except) {
      for (Operation *user : from->getUsers())
        if (groupOf(user) != except && seen.insert(user).second)
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
