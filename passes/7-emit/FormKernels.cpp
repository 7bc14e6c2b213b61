//===- FormKernels.cpp - fusion of ops into kernels and their launches ----===//

#include "dialects/dist/DistDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/7-emit/Passes.h"
#include "passes/7-emit/fuse/AttentionGroups.h"
#include "passes/7-emit/fuse/KernelGroups.h"
#include "passes/7-emit/fuse/KernelTable.h"
#include "passes/7-emit/fuse/TopologicalOrder.h"
#include "passes/7-emit/gpu/fuse/MultiTensorLaunch.h"
#include "passes/7-emit/gpu/lower/SplitReductions.h"
#include "passes/7-emit/lower/LowerResize.h"
#include "passes/7-emit/lower/SplitConcats.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "form-kernels"

namespace pcc::emit {
#define GEN_PASS_DEF_FORMKERNELS
#include "passes/7-emit/Passes.h.inc"
} // namespace pcc::emit

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Removes reshapes from `group`, a list of ops that one kernel will compute. A
/// reshape is removed if its operand comes from outside of the kernel, or if no
/// op of `group` reads its result. The removed reshapes stay in the function.
/// There, a reshape costs no time, because operand and result share memory. In
/// the kernel, one operand or result would need two shapes. One removal can
/// make another reshape removable, so the function repeats the removal.
static void peelReshapes(KernelGroup &group) {
  auto isOutside = [&](Operation *op) {
    return !op || (!group.ops.contains(op) && !isCopiedIntoKernels(op));
  };
  auto isFirst = [&](Operation *op) {
    return isOutside(op->getOperand(0).getDefiningOp());
  };
  auto isLast = [&](Operation *op) {
    return llvm::none_of(op->getUsers(), [&](Operation *user) {
      return group.ops.contains(user);
    });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *op : llvm::to_vector(group.ops))
      if (isa<graph::ReshapeOp>(op) && (isFirst(op) || isLast(op)))
        changed |= group.ops.remove(op);
  }
}

namespace {
/// Fuses a group of ops of a function into a kernel. The kernel is an op of the
/// module, and its body has clones of the ops of the group. In the function,
/// one `rank.launch` op, which runs the kernel, replaces the ops of the group.
class Outlining {
public:
  /// Finds the operands and the results of the kernel that will compute the ops
  /// of `group`. The constructor creates no kernel and changes no op. run()
  /// creates the kernel.
  explicit Outlining(const KernelGroup &group) : group(group) {
    for (Operation *op : group.ops) {
      for (Value operand : op->getOperands())
        addOperand(operand);
      for (Value result : op->getResults())
        if (isReadOutside(result))
          results.push_back(result);
    }
  }

  /// Replaces the ops of `group` by one `rank.launch` of a kernel, at the place
  /// of the last op. Reuses an equal kernel in `kernels`, or adds a new one.
  void run(KernelTable &kernels) {
    Operation *last = group.ops.back();
    OpBuilder builder(last);
    rank::KernelOp kernel = kernels.intern(makeKernel(last));
    auto launch = rank::LaunchOp::create(
        builder, last->getLoc(), TypeRange(ValueRange(results)),
        kernel.getSymName(), inputs.getArrayRef());
    for (auto [old, value] : llvm::zip_equal(results, launch.getResults()))
      old.replaceUsesWithIf(value, [&](OpOperand &use) {
        return !group.ops.contains(use.getOwner());
      });
    for (Operation *op : llvm::reverse(group.ops))
      op->erase();
  }

private:
  void addOperand(Value operand) {
    Operation *op = operand.getDefiningOp();
    if (op && isCopiedIntoKernels(op))
      leaves.insert(op);
    else if (!op || !group.ops.contains(op))
      inputs.insert(operand);
  }

  bool isReadOutside(Value result) {
    return llvm::any_of(result.getUsers(), [&](Operation *user) {
      return !group.ops.contains(user);
    });
  }

  /// Creates a kernel that computes the ops of `group`. The kernel has the
  /// location of the op `at`. The body of the kernel has a clone of each op of
  /// `group`. It also has a clone of each op of `leaves`: constants and ops
  /// such as iota, whose results the ops of `group` read. The function does not
  /// insert the kernel into the module.
  rank::KernelOp makeKernel(Operation *at) {
    OpBuilder builder(at->getContext());
    auto type =
        builder.getFunctionType(TypeRange(ValueRange(inputs.getArrayRef())),
                                TypeRange(ValueRange(results)));
    OperationState state(at->getLoc(), rank::KernelOp::getOperationName());
    state.addRegion();
    state.addAttribute("sym_name", builder.getStringAttr("kernel"));
    state.addAttribute("function_type", TypeAttr::get(type));
    auto kernel = cast<rank::KernelOp>(Operation::create(state));
    Block *body = &kernel.getBody().emplaceBlock();
    IRMapping map;
    for (Value input : inputs)
      map.map(input, body->addArgument(input.getType(), at->getLoc()));
    builder.setInsertionPointToEnd(body);
    SmallVector<Attribute> scalars;
    auto copy = [&](Operation *op) {
      Operation *clone = builder.clone(*op, map);
      clone->setDiscardableAttrs(ArrayRef<NamedAttribute>());
      llvm::append_range(scalars, offsetsOf(clone));
    };
    llvm::for_each(leaves, copy);
    for (Operation *op : group.ops)
      if (!leaves.contains(op))
        copy(op);
    SmallVector<Value> yielded;
    for (Value result : results)
      yielded.push_back(map.lookup(result));
    rank::YieldOp::create(builder, at->getLoc(), yielded);
    if (!scalars.empty())
      kernel.setScalarsAttr(builder.getArrayAttr(scalars));
    KernelPlan plan = planOf(kernel);
    kernel.setExtent(plan.extent);
    kernel.setGrain(plan.grain);
    return kernel;
  }

  const KernelGroup &group;
  /// Operands of the `rank.launch` op that will run the kernel. `group`
  /// contains the ops that the kernel will compute. An operand is a value that
  /// an op of `group` reads and that the kernel does not compute. Example:
  /// `group` contains the ops y = exp(x) and z = y + 1. The only operand is x.
  /// The kernel computes y, because exp is in `group`. The kernel also computes
  /// the constant 1, because it gets a clone of the constant.
  llvm::SetVector<Value> inputs;
  /// Constants, and ops such as iota, whose results the ops of `group` read.
  /// The kernel gets a clone of each of these ops. The kernel therefore
  /// computes their results, and does not load them from memory.
  llvm::SetVector<Operation *> leaves;
  /// Results of the kernel that will compute the ops of `group`. The list has
  /// each value that an op of `group` computes and that an op outside of
  /// `group` reads.
  SmallVector<Value> results;
};
} // namespace

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Erases ops that have no readers and no side effects, such as constants that
/// were cloned into kernels.
static void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// Sorts the ops of `block` so that each op comes before all ops that read its
/// result. If an op comes after an op that reads its result, the function moves
/// the op. The new place is directly before the first op that reads the result.
/// The function does not reorder the other ops, because their order determines
/// how long buffers are live.
static void moveBeforeReaders(Block &block) {
  for (Operation *op : topologicalOrder(block))
    op->moveBefore(block.getTerminator());
}

/// Makes `block` return copies of the parameters (such as weights) that the
/// training step overwrites. Without a copy, the returned tensor would change
/// when the step overwrites the parameter. `written` has the names of the
/// overwritten parameters.
static void copyReturned(Block &block, const llvm::StringSet<> &written) {
  Operation *terminator = block.getTerminator();
  for (OpOperand &operand : terminator->getOpOperands()) {
    Value value = operand.get();
    while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
      value = reshape->getOperand(0);
    auto get = value.getDefiningOp<graph::GetParameterOp>();
    if (!get || !written.contains(get.getParameter()))
      continue;
    auto type = graph::tensorType(operand.get());
    const SmallVector<int64_t> starts(type.getRank(), 0),
        steps(type.getRank(), 1);
    Operation *maker = operand.get().getDefiningOp();
    OpBuilder builder(maker->getContext());
    builder.setInsertionPointAfter(maker);
    auto copy = graph::SliceOp::create(builder, maker->getLoc(), operand.get(),
                                       starts, type.getShape(), steps);
    copy->setDiscardableAttrs(maker->getDiscardableAttrDictionary());
    copy->removeDiscardableAttr(graph::chosenName);
    if (dist::ShardingAttr sharding = dist::shardingOf(operand.get()))
      copy->setAttr(dist::shardingsName, builder.getArrayAttr(sharding));
    operand.set(copy);
  }
}

namespace {
struct FormKernels : pcc::emit::impl::FormKernelsBase<FormKernels> {
  void outline(const KernelGroup &group, KernelTable &kernels) {
    numOps += group.ops.size();
    ++numLaunches;
    Outlining(group).run(kernels);
  }

  /// Replaces the fusible ops of one function by launches of kernels.
  void runOnFunction(func::FuncOp function, KernelTable &kernels) {
    Block &block = function.getBody().front();
    for (auto op : llvm::make_early_inc_range(block.getOps<graph::ResizeOp>()))
      lowerResize(op);
    if (isForGpus)
      splitLongReductions(function);
    splitConcats(block, maxConcatParts);
    eraseDeadOps(block);
    copyReturned(block, written);
    splitBeforeSlices(block);
    const std::vector<KernelGroup> attention = groupAttention(block);
    for (const KernelGroup &group : attention)
      outline(group, kernels);
    // Each launch is at the place of the last op of its group. An op between
    // the first and the last op of the group may read a result of the launch.
    // Move each launch before such an op, because groupKernels() requires that
    // each op comes before its readers.
    if (!attention.empty())
      moveBeforeReaders(block);
    for (KernelGroup &group : groupKernels(block)) {
      peelReshapes(group);
      if (!group.ops.empty())
        outline(group, kernels);
    }
    eraseDeadOps(block);
    if (isForGpus && pipe::runsOnce(function))
      numJoined += joinLaunches(
          block, [&](rank::KernelOp made) { return kernels.intern(made); });
    moveBeforeReaders(block);
  }

  void runOnOperation() override {
    KernelTable kernels(getOperation());
    isForGpus = dist::targetOf(getOperation()) == "cuda";
    getOperation().walk(
        [&](graph::SetParameterOp set) { written.insert(set.getParameter()); });
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isDeclaration())
        runOnFunction(function, kernels);
    if (numJoined > 0)
      eraseUnlaunched();
    passScalars(getOperation());
    auto left = getOperation().getOps<rank::KernelOp>();
    numKernels += std::distance(left.begin(), left.end());
    numLaunches -= numJoined;
    LDBG() << numKernels.getValue() << " kernels for " << numLaunches
           << " launches";
  }

  /// Erases kernels that no op launches. joinLaunches() leaves such kernels
  /// when it replaces several launches by one launch of a new kernel.
  void eraseUnlaunched() {
    llvm::StringSet<> launched;
    getOperation().walk([&](Operation *op) {
      if (auto launch = dyn_cast<rank::LaunchOp>(op))
        launched.insert(launch.getKernel());
      else if (auto parts = dyn_cast<rank::LaunchPartsOp>(op))
        launched.insert(parts.getKernel());
    });
    for (auto kernel :
         llvm::make_early_inc_range(getOperation().getOps<rank::KernelOp>()))
      if (!launched.contains(kernel.getSymName()))
        kernel.erase();
  }

  /// Names of the parameters that the module overwrites with the op
  /// `graph.set_parameter`. A parameter is a tensor that ranks keep from step
  /// to step, such as a weight.
  llvm::StringSet<> written;
  /// Whether the target is `cuda`.
  bool isForGpus = false;
};
} // namespace
