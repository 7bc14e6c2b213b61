//===- GpuPlan.cpp - division of a kernel over GPU blocks and threads -----===//

#include "passes/7-emit/gpu/kernel/GpuPlan.h"
#include "dialects/graph/TensorBytes.h"
#include "passes/7-emit/gpu/kernel/AttentionPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Number of threads of a warp.
static constexpr int64_t warp = 32;
/// Number of threads of a block of a kernel without reductions.
static constexpr int64_t threadsOfMap = 256;
/// Number of threads of a block that reduces several rows of a tensor at once.
/// The block divides the threads equally between the rows. Example: if 32
/// threads reduce one row together, a block reduces 128 / 32 = 4 rows. A block
/// that reduces columns of a tensor does not use this number.
static constexpr int64_t threadsOfTeams = 128;
/// Largest number of threads of a block on any GPU.
static constexpr int64_t mostThreads = 1024;
/// Largest number of vectors of a row that one thread should reduce. A vector
/// is a group of neighboring elements that one instruction loads. Longer rows
/// get more threads.
static constexpr int64_t fewRounds = 8;
/// Number of columns that one block reduces, and largest number of threads per
/// column. Example: to sum a [500, 64] tensor over dim 0, each of two blocks
/// reduces 32 columns, with 8 threads per column.
static constexpr int64_t rowsAcross = 32, teamAcross = 8;

int64_t GpuPlan::rounds() const {
  return llvm::divideCeil(loops.rows->innerSize(), team * vector);
}

/// Returns the number of elements that a thread should load by one instruction.
/// One instruction can load 16 bytes, such as 8 elements of bf16 or 4 elements
/// of f32. If the tensors of `kernel` have several element types, the narrowest
/// type decides. Types of less than 16 bits, such as booleans, are ignored.
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

/// Returns the number of neighboring elements that a thread of `kernel`
/// computes together. `groupSize` is the number of iterations of the kernel's
/// innermost loop. The function starts with the number of elements that one
/// instruction loads, such as 8 elements of bf16. It halves this number until
/// the number divides `groupSize`. Example: if `groupSize` is 12, 8 is halved
/// to 4.
static int64_t vectorFor(rank::KernelOp kernel, int64_t groupSize) {
  int64_t vector = wantedVector(kernel);
  while (groupSize % vector != 0)
    vector /= 2;
  return vector;
}

/// Returns the smallest power of two that is not less than `least`.
static int64_t powerOfTwo(int64_t least) {
  return int64_t(llvm::PowerOf2Ceil(uint64_t(std::max<int64_t>(1, least))));
}

/// Returns the number of iterations of the innermost loop over `shape`. Each
/// entry of `groups` is the number of neighboring dims that one loop covers.
/// Example: shape [8, 4, 6] with groups [1, 2] gives 4 · 6 = 24.
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

/// Returns the bytes of shared memory that a block of `kernel` needs for
/// transposes. Counts one padded tile per transpose that moves the innermost
/// dim of its operand to dim `dim` of a result of shape `shape`.
static int64_t bytesOfTiles(rank::KernelOp kernel, int64_t dim,
                            ArrayRef<int64_t> shape) {
  int64_t bytes = 0;
  for (auto op : kernel.getBody().front().getOps<graph::TransposeOp>())
    if (transposedDimOf(op, shape) == dim)
      bytes += tileSize * tilePitch *
               graph::elementBytes(graph::tensorType(op.getInput()));
  return bytes;
}

/// Plans a kernel that transposes operands through shared memory: each block
/// computes a tile of 32 x 32 elements. Returns false and leaves `plan`
/// unchanged if there is no such transpose, or if the tiles of all operands do
/// not fit into shared memory.
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

/// Fills `plan` for a kernel without reductions. If the kernel transposes
/// operands through shared memory, each block computes a square tile. Otherwise
/// each thread computes `plan.vector` elements.
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

/// Plans a kernel that reduces rows, whose elements are usually contiguous in
/// memory. A team of threads reduces one row together. A row of up to 32
/// vectors of `plan.vector` elements gets one thread per vector. A longer row
/// gets one thread per 8 vectors, but at least 32 and at most 1024.
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
  // Threads of different warps can only synchronize by barriers of the whole
  // block. If a row needs several warps, let the block compute only one row.
  if (plan.team > warp)
    plan.teams = 1;
}

/// Plans a kernel that reduces columns, whose elements are strided in memory.
/// Sets only `isAcross`, `team` (threads per column) and `teams` (columns per
/// block).
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
