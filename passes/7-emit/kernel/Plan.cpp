//===- Plan.cpp - loop nest and row space of a kernel ---------------------===//

#include "passes/7-emit/kernel/Plan.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include <numeric>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Returns the dims that `op` reduces; std::nullopt if `op` is no reduction,
/// arg-reduction, softmax or norm.
static std::optional<SmallVector<int64_t>> reducedDims(Operation *op) {
  auto from = [&](int64_t first) {
    SmallVector<int64_t> dims(graph::tensorType(op->getOperand(0)).getRank() -
                              first);
    std::iota(dims.begin(), dims.end(), first);
    return dims;
  };
  if (auto reduce = dyn_cast<graph::ReduceOp>(op))
    return SmallVector<int64_t>(reduce.getDims());
  if (auto reduce = dyn_cast<graph::ArgReduceOp>(op))
    return SmallVector<int64_t>{int64_t(reduce.getDim())};
  if (auto softmax = dyn_cast<graph::SoftmaxOp>(op))
    return SmallVector<int64_t>{int64_t(softmax.getDim())};
  if (auto softmax = dyn_cast<graph::LogSoftmaxOp>(op))
    return SmallVector<int64_t>{int64_t(softmax.getDim())};
  if (auto norm = dyn_cast<graph::LayerNormOp>(op))
    return from(norm.getDim());
  if (auto norm = dyn_cast<graph::RmsNormOp>(op))
    return from(norm.getDim());
  return std::nullopt;
}

/// Returns whether `op` moves elements: its result elements are operand
/// elements with other indices, as in a transpose or gather.
static bool readsElsewhere(Operation *op) {
  return op->hasTrait<graph::IsLayout>() ||
         op->hasTrait<graph::MovesElements>() ||
         isa<graph::PadOp, graph::RotaryOp, graph::OneHotOp>(op);
}

ReadKind pcc::emit::readKindOf(Operation *op) {
  if (auto constant = dyn_cast<graph::ConstantOp>(op))
    return constant.getValue().isSplat() ? ReadKind::Source : ReadKind::None;
  if (isa<graph::IotaOp, dist::GlobalIndexOp>(op))
    return ReadKind::Source;
  if (op->hasTrait<graph::IsElementWise>())
    return ReadKind::ElementWise;
  if (readsElsewhere(op))
    return ReadKind::Layout;
  return reducedDims(op) ? ReadKind::Row : ReadKind::None;
}

bool pcc::emit::isExpensive(Operation *op) {
  return op->hasTrait<graph::IsExpensive>();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Returns the sizes that `dims` have in `shape`, in the order of `dims`.
static SmallVector<int64_t> pick(ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> dims) {
  SmallVector<int64_t> picked;
  for (int64_t dim : dims)
    picked.push_back(shape[dim]);
  return picked;
}

SmallVector<int64_t> RowSpace::innerShape() const {
  return pick(shape, innerDims);
}
SmallVector<int64_t> RowSpace::outerShape() const {
  return pick(shape, outerDims);
}
int64_t RowSpace::innerSize() const {
  return ShapedType::getNumElements(innerShape());
}
int64_t RowSpace::outerSize() const {
  return ShapedType::getNumElements(outerShape());
}

bool RowSpace::isByColumns() const {
  // If the last dim is not reduced, elements of neighboring columns are
  // contiguous, and one vector instruction can load several of them. 8 elements
  // fill a vector register.
  return !outerDims.empty() && outerDims.back() + 1 == int64_t(shape.size()) &&
         shape.back() >= 8;
}

bool pcc::emit::isPerElement(Value result, const RowSpace &rows) {
  return graph::tensorType(result).getShape() == ArrayRef(rows.shape) &&
         !isa_and_nonnull<graph::ReduceOp, graph::ArgReduceOp>(
             result.getDefiningOp());
}

std::optional<RowSpace> pcc::emit::rowSpaceOf(Operation *op) {
  auto dims = reducedDims(op);
  if (!dims)
    return std::nullopt;
  RowSpace rows;
  rows.shape =
      SmallVector<int64_t>(graph::tensorType(op->getOperand(0)).getShape());
  rows.innerDims = *dims;
  for (int64_t dim = 0; dim < int64_t(rows.shape.size()); ++dim)
    if (!llvm::is_contained(*dims, dim))
      rows.outerDims.push_back(dim);
  rows.innerGroups.assign(dims->size(), 1);
  return rows;
}

//===----------------------------------------------------------------------===//
// Merging dims
//===----------------------------------------------------------------------===//

/// Returns whether one loop over both dims `dim` and `dim` + 1 of `shape` can
/// read a tensor of type `type`, broadcast to `shape`. Examples for dims 1 and
/// 2 of [4, 8, 6]: true for [4, 8, 6] and [4, 1, 1], false for [6].
static bool treatsAlike(RankedTensorType type, ArrayRef<int64_t> shape,
                        int64_t dim) {
  auto sizeAt = [&](int64_t at) -> int64_t {
    int64_t own = at - (int64_t(shape.size()) - type.getRank());
    return own < 0 ? 1 : type.getDimSize(own);
  };
  bool repeatsFirst = sizeAt(dim) == 1, repeatsSecond = sizeAt(dim + 1) == 1;
  return repeatsFirst == repeatsSecond || shape[dim] == 1 ||
         (shape[dim + 1] == 1);
}

/// Returns whether one loop of `kernel` can cover the dims `dim` and `dim` + 1
/// of `shape`. Returns false if an op, such as a transpose or an iota, needs
/// separate indices along the two dims. Does not check the shapes of the
/// results of reductions, softmaxes and norms.
static bool canMerge(rank::KernelOp kernel, ArrayRef<int64_t> shape,
                     int64_t dim) {
  auto alike = [&](Value value) {
    return graph::tensorType(value).getRank() <= int64_t(shape.size()) &&
           treatsAlike(graph::tensorType(value), shape, dim);
  };
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    ReadKind kind = readKindOf(&op);
    if (kind == ReadKind::Layout || isa<graph::IotaOp>(op))
      return false;
    if (kind != ReadKind::Row && !llvm::all_of(op.getResults(), alike))
      return false;
    if (!llvm::all_of(op.getOperands(), alike))
      return false;
  }
  return true;
}

/// Divides `dims`, an ascending list of dims of `shape`, into groups that one
/// loop of `kernel` can cover. Returns the number of dims of each group.
/// Example: [1, 2] if one loop can cover only the last two of three dims.
static SmallVector<int64_t> groupsOf(rank::KernelOp kernel,
                                     ArrayRef<int64_t> shape,
                                     ArrayRef<int64_t> dims) {
  SmallVector<int64_t> groups;
  for (auto [i, dim] : llvm::enumerate(dims))
    if (i > 0 && dims[i - 1] + 1 == dim && canMerge(kernel, shape, dim - 1))
      ++groups.back();
    else
      groups.push_back(1);
  return groups;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Approximate least number of elements that each thread computes, if two or
/// more threads execute a kernel. A kernel with fewer elements runs on one
/// thread. The start of work on another thread takes some time. In this time,
/// one thread computes about this number of elements.
static constexpr int64_t elementsPerThread = 16384;
/// Number of iterations that is enough to keep all threads busy. planMap()
/// distributes as many outermost loops over threads as are needed to reach this
/// number.
static constexpr int64_t enoughIterations = 256;

/// Largest number of neighboring columns that one unit of work reduces. A
/// column is a set of elements that are reduced together and are strided in
/// memory. Example: the sum of a [500, 1024] tensor over dim 0 reduces 1024
/// columns of 500 elements. The kernel then has 1024 / 64 = 16 units of work,
/// which several threads can execute in parallel. 64 elements fill several
/// vector registers.
static constexpr int64_t columnsTogether = 64;

/// Returns whether `kernel` can reduce several neighboring columns side by
/// side. A column is a set of elements that are reduced together and are
/// strided in memory. The kernel must contain no softmax, norm or
/// arg-reduction.
static bool reducesColumns(rank::KernelOp kernel, const RowSpace &rows) {
  return rows.isByColumns() &&
         llvm::all_of(kernel.getBody().front(), [](Operation &op) {
           return readKindOf(&op) != ReadKind::Row || isa<graph::ReduceOp>(op);
         });
}

/// Divides the work of `kernel`, which has reductions, into units that threads
/// execute in parallel. A unit is one row (elements reduced together), or up to
/// 64 neighboring columns. Reads `plan.rows`. Sets `plan.rows->innerGroups`,
/// `width`, `extent` and `grain`.
static void planRows(rank::KernelOp kernel, KernelPlan &plan) {
  RowSpace &rows = *plan.rows;
  rows.innerGroups = groupsOf(kernel, rows.shape, rows.innerDims);
  plan.extent = rows.outerSize();
  int64_t inside = std::max<int64_t>(1, rows.innerSize());
  if (reducesColumns(kernel, rows)) {
    plan.width = std::min(columnsTogether, rows.shape.back());
    plan.extent = plan.extent / rows.shape.back() *
                  llvm::divideCeil(rows.shape.back(), plan.width);
    inside *= plan.width;
  }
  plan.grain = std::max<int64_t>(1, elementsPerThread / inside);
}

/// Sets the fields of `plan` for `kernel`, which has no reductions. The
/// outermost loops are distributed over threads, until they have
/// `enoughIterations` iterations. The innermost of several loops is never
/// distributed, since LLVM vectorizes it.
static void planMap(rank::KernelOp kernel, KernelPlan &plan) {
  auto type = cast<RankedTensorType>(kernel.getResultTypes()[0]);
  plan.shape = SmallVector<int64_t>(type.getShape());
  SmallVector<int64_t> dims(plan.shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  plan.groups = groupsOf(kernel, plan.shape, dims);
  size_t first = 0;
  for (int64_t group : plan.groups) {
    bool isInnermost = plan.numParallel + 1 == int64_t(plan.groups.size());
    if (plan.numParallel > 0 &&
        (isInnermost || plan.extent >= enoughIterations))
      break;
    for (int64_t i = 0; i < group; ++i)
      plan.extent *= plan.shape[first++];
    ++plan.numParallel;
  }
  int64_t inside = 1;
  for (int64_t size : ArrayRef(plan.shape).drop_front(first))
    inside *= size;
  plan.grain =
      std::max<int64_t>(1, elementsPerThread / std::max<int64_t>(1, inside));
}

/// Returns whether `op` is attention or the gradient of attention. A kernel
/// that contains this op has a separate loop nest for each result, since the
/// results can have different shapes. Example: the gradient of the queries has
/// the shape [8, 64], and the gradient of the keys has the shape [32, 64].
static bool givesResultsApart(Operation &op) {
  return isa<graph::AttentionOpInterface>(op);
}

KernelPlan pcc::emit::planOf(rank::KernelOp kernel) {
  KernelPlan plan;
  if (llvm::any_of(kernel.getBody().front(), givesResultsApart)) {
    plan.hasOwnShapes = true;
    return plan;
  }
  for (Operation &op : kernel.getBody().front())
    if (auto rows = rowSpaceOf(&op)) {
      plan.rows = rows;
      break;
    }
  if (plan.rows)
    planRows(kernel, plan);
  else
    planMap(kernel, plan);
  return plan;
}

SmallVector<Attribute> pcc::emit::offsetsOf(Operation *op) {
  SmallVector<Attribute> offsets;
  auto index = dyn_cast<dist::GlobalIndexOp>(op);
  if (!index)
    return offsets;
  const dist::Sharding sharding = index.getSharding().getSharding();
  for (auto [i, factor] : llvm::enumerate(sharding.dims[0].factors))
    if (factor.numParts() > 1)
      offsets.push_back(
          rank::OffsetAttr::get(op->getContext(), index.getShardingAttr(), i));
  return offsets;
}
