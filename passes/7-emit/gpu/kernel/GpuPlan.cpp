//===- GpuPlan.cpp - division of a kernel over GPU blocks and threads -----===//

#include "passes/7-emit/gpu/kernel/GpuPlan.h"
#include "dialects/graph/TensorBytes.h"
#include "passes/7-emit/gpu/kernel/AttentionPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Threads of a warp.
static constexpr int64_t warp = 32;
/// Threads of a block without reductions.
static constexpr int64_t threadsOfMap = 256;
/// Threads of a block with several teams over contiguous rows.
static constexpr int64_t threadsOfTeams = 128;
/// Most threads of a block on any GPU.
static constexpr int64_t mostThreads = 1024;
/// Number of rounds that a team of more than a warp should need at most.
static constexpr int64_t fewRounds = 8;
/// If rows are columns: columns of a block, and threads of a team.
static constexpr int64_t rowsAcross = 32, teamAcross = 8;

int64_t GpuPlan::rounds() const {
  return llvm::divideCeil(loops.rows->innerSize(), team * vector);
}

/// Returns how many elements of the narrowest operand or result of `kernel`
/// make up the widest access. Ignores element types below 16 bits, such as
/// booleans.
static int64_t wantedVector(rank::KernelOp kernel) {
  int64_t narrowest = 8;
  auto see = [&](Type type) {
    auto element = cast<RankedTensorType>(type).getElementType();
    if (int64_t bits = element.getIntOrFloatBitWidth(); bits >= 16)
      narrowest = std::min(narrowest, bits / 8);
  };
  llvm::for_each(kernel.getArgumentTypes(), see);
  llvm::for_each(kernel.getResultTypes(), see);
  return widestAccess / narrowest;
}

/// Returns the largest number of elements, up to that of the widest access,
/// that divides `groupSize`.
static int64_t vectorFor(rank::KernelOp kernel, int64_t groupSize) {
  int64_t vector = wantedVector(kernel);
  while (groupSize % vector != 0)
    vector /= 2;
  return vector;
}

/// Returns the smallest power of two that is at least `least`.
static int64_t powerOfTwo(int64_t least) {
  return int64_t(llvm::PowerOf2Ceil(uint64_t(std::max<int64_t>(1, least))));
}

/// Returns the number of elements of the dims that the innermost loop covers.
static int64_t sizeOfLastGroup(ArrayRef<int64_t> shape,
                               ArrayRef<int64_t> groups) {
  return groups.empty()
             ? 1
             : ShapedType::getNumElements(shape.take_back(groups.back()));
}

int64_t pcc::emit::transposedDimOf(graph::TransposeOp op,
                                   ArrayRef<int64_t> shape) {
  auto type = graph::tensorType(op.getResult());
  const int64_t last = type.getRank() - 1;
  if (type.getShape() != shape || last < 1)
    return -1;
  const int64_t dim = llvm::find(op.getPerm(), last) - op.getPerm().begin();
  const bool isSmall = std::min(shape[dim], shape[last]) < tileSize / 2;
  return dim == last || isSmall ? -1 : dim;
}

/// Returns the bytes of shared memory for one tile of each operand whose
/// innermost dim is dim `dim` of the results.
static int64_t bytesOfTiles(rank::KernelOp kernel, int64_t dim,
                            ArrayRef<int64_t> shape) {
  int64_t bytes = 0;
  for (auto op : kernel.getBody().front().getOps<graph::TransposeOp>())
    if (transposedDimOf(op, shape) == dim)
      bytes += tileSize * tilePitch *
               graph::elementBytes(graph::tensorType(op.getInput()));
  return bytes;
}

/// Plans square tiles if `kernel` transposes an operand and the tiles fit into
/// shared memory. Returns whether it does. If operands are transposed
/// differently, the first transpose determines the tiles.
static bool planTransposed(rank::KernelOp kernel, GpuPlan &plan) {
  ArrayRef<int64_t> shape = plan.loops.shape;
  int64_t transposed = -1;
  for (auto op : kernel.getBody().front().getOps<graph::TransposeOp>())
    if (transposed < 0)
      transposed = transposedDimOf(op, shape);
  if (transposed < 0 || bytesOfTiles(kernel, transposed, shape) > sharedBytes)
    return false;
  plan.transposedDim = transposed;
  plan.threads = threadsOfMap;
  plan.blocks = 1;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    const bool isTiled =
        int64_t(dim) == plan.transposedDim || dim + 1 == shape.size();
    plan.blocks *= isTiled ? llvm::divideCeil(size, tileSize) : size;
  }
  return true;
}

/// Plans a kernel without reductions.
static void planMap(rank::KernelOp kernel, GpuPlan &plan) {
  if (planTransposed(kernel, plan))
    return;
  const KernelPlan &loops = plan.loops;
  plan.groupSize = sizeOfLastGroup(loops.shape, loops.groups);
  plan.vector = vectorFor(kernel, plan.groupSize);
  const int64_t elements = ShapedType::getNumElements(loops.shape);
  plan.threads = threadsOfMap;
  plan.blocks = llvm::divideCeil(elements / plan.vector, plan.threads);
}

/// Plans a kernel over contiguous rows. A short row gets as many threads as it
/// has vectors; a long one gets whole warps.
static void planAlong(rank::KernelOp kernel, GpuPlan &plan) {
  const RowSpace &rows = *plan.loops.rows;
  plan.groupSize = sizeOfLastGroup(rows.innerShape(), rows.innerGroups);
  plan.vector = vectorFor(kernel, plan.groupSize);
  const int64_t chunks = rows.innerSize() / plan.vector;
  plan.team = powerOfTwo(chunks);
  if (plan.team > warp)
    plan.team = std::clamp(powerOfTwo(llvm::divideCeil(chunks, fewRounds)),
                           warp, mostThreads);
  plan.teams = std::max<int64_t>(1, threadsOfTeams / plan.team);
  // Teams of several warps synchronize by barriers of the whole block.
  if (plan.team > warp)
    plan.teams = 1;
}

/// Plans a kernel over rows that are columns.
static void planAcross(GpuPlan &plan) {
  const RowSpace &rows = *plan.loops.rows;
  plan.isAcross = true;
  plan.team = std::min(teamAcross, powerOfTwo(rows.innerSize()));
  plan.teams = rowsAcross;
}

GpuPlan pcc::emit::gpuPlanOf(rank::KernelOp kernel) {
  GpuPlan plan;
  plan.loops = planOf(kernel);
  if (auto attention = attentionOf(kernel)) {
    const AttentionPlan tiles(attention);
    plan.threads = tiles.threads();
    plan.blocks = tiles.blocks();
    return plan;
  }
  if (!plan.loops.rows) {
    planMap(kernel, plan);
    return plan;
  }
  if (plan.loops.rows->isByColumns())
    planAcross(plan);
  else
    planAlong(kernel, plan);
  plan.threads = plan.team * plan.teams;
  plan.blocks = llvm::divideCeil(plan.loops.rows->outerSize(), plan.teams);
  return plan;
}

int64_t pcc::emit::elementsPerTile(rank::KernelOp kernel) {
  return threadsOfMap * wantedVector(kernel);
}
