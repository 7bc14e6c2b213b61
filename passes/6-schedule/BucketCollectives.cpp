//===- BucketCollectives.cpp - bucketing of small collectives -------------===//
//
// Gradient bucketing (PyTorch DDP, Li et al. 2020), applied to all-reduces and
// all-gathers of any values. One call on a packed buffer replaces several small
// calls; the received bytes stay equal and the latency of a call is paid once.
//
//   a' = all_reduce a                c  = all_reduce concat(a, b)
//   b' = all_reduce b        ->      a' = slice c;  b' = slice c
//
//===----------------------------------------------------------------------===//

#include "dialects/dist/Decision.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/TensorBytes.h"
#include "mlir/IR/Builders.h"
#include "passes/6-schedule/Passes.h"
#include "passes/plan/memory/Buckets.h"
#include "passes/plan/reshard/ClusterPrices.h"
#include "passes/plan/reshard/ReshardMove.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "bucket-collectives"

namespace pcc::schedule {
#define GEN_PASS_DEF_BUCKETCOLLECTIVES
#include "passes/6-schedule/Passes.h.inc"
} // namespace pcc::schedule

using namespace mlir;
using namespace pcc;
using dist::CollectiveKind;

namespace {
/// One collective of a bucket. A bucket is a list of collectives that are
/// merged into one call, like the gradients in a bucket of data-parallel
/// training.
struct BucketPart {
  /// The collective. Mutable, because accessors of op handles are not const.
  mutable dist::CollectiveOp op;
  /// Mesh axes along which the ranks of one call differ, major to minor.
  /// Example: if a call on the mesh dp=2 × tp=4 joins the 4 ranks with the same
  /// coordinate along dp, `group` is {tp}. An element may also be a sub-axis,
  /// which is a part of a mesh axis.
  dist::SubAxes group;
  /// Reduction that an all-reduce performs.
  dist::ReductionKind reduction = dist::ReductionKind::Sum;
  /// For an all-gather: the dim that is gathered.
  int64_t dim = 0;

  /// Types of the operand and of the result of the collective. The types have
  /// the shapes of one rank's shards.
  RankedTensorType operand() const { return graph::tensorType(op.getInput()); }
  RankedTensorType result() const { return graph::tensorType(op.getResult()); }
  /// Returns the number of ranks that take part in the call.
  int64_t numMembers() const { return dist::numParts(group); }
};
} // namespace

/// Returns the mesh axes, or sub-axes, that are in `from` but not in `to`. For
/// example, {x} without {x:(1)2}, the major half of an axis of size 4, is
/// {x:(2)2}. Returns nullopt if the difference is empty, or if the sub-axes do
/// not fit together, such as a half and a third of an axis of size 6.
static std::optional<dist::SubAxes> difference(const dist::SubAxes &from,
                                               const dist::SubAxes &to) {
  auto rest = plan::subtract(from, to);
  return rest && !rest->empty() ? rest : std::nullopt;
}

/// Returns the all-reduce `op` as an element of a bucket (collectives merged
/// into one call). `from` and `to` are the shardings of its operand and its
/// result. `op` reduces over the mesh axes with a pending reduction in `from`,
/// but not in `to`. Returns nullopt in these cases: there are no such axes, one
/// of them is `mb` (microbatches, not ranks), the sub-axes do not fit together
/// (see difference()), or operand and result are split differently.
static std::optional<BucketPart> partOfReduction(dist::CollectiveOp op,
                                                 const dist::Sharding &from,
                                                 const dist::Sharding &to) {
  auto group = difference(dist::partialAxes(from), dist::partialAxes(to));
  const bool inTime = group && llvm::any_of(*group, [](const auto &axis) {
                        return axis.axis == dist::timeAxis;
                      });
  if (!group || inTime || from.dims != to.dims)
    return std::nullopt;
  return BucketPart{op, *group, from.partials.front().kind};
}

/// Returns the all-gather `op` as an element of a bucket (collectives merged
/// into one call). `from` and `to` are the shardings of its operand and its
/// result. Returns nullopt in these cases: several dims are gathered, operand
/// and result have different pending reductions, or the result is not the
/// concatenation of the shards in the order of the ranks.
static std::optional<BucketPart> partOfGather(dist::CollectiveOp op,
                                              const dist::Sharding &from,
                                              const dist::Sharding &to) {
  if (from.partials != to.partials)
    return std::nullopt;
  std::optional<BucketPart> part;
  for (size_t dim = 0; dim < from.dims.size(); ++dim) {
    if (from.dims[dim] == to.dims[dim])
      continue;
    const int64_t size = op.getShape()[dim];
    const dist::SubAxes kept = to.dims[dim].axes();
    auto group = difference(from.dims[dim].axes(), kept);
    if (part || !group)
      return std::nullopt;
    dist::SubAxes ordered = kept;
    llvm::append_range(ordered, *group);
    auto splitOver = [&](const dist::SubAxes &axes) {
      return dist::canonical(dist::splitOver(size, axes));
    };
    if (splitOver(ordered) != from.dims[dim] || splitOver(kept) != to.dims[dim])
      return std::nullopt;
    part = BucketPart{op, *group, {}, static_cast<int64_t>(dim)};
  }
  return part;
}

/// Returns `op` as an element of a bucket (collectives merged into one call),
/// or nullopt. Accepts only all-reduces and all-gathers. Rejects halo
/// exchanges, and collectives that send only the rows that run-time masks
/// select.
static std::optional<BucketPart> partOf(dist::CollectiveOp op) {
  const dist::Sharding from = dist::placement(op.getFrom().getSharding());
  const dist::Sharding to = dist::placement(op.getTo().getSharding());
  if (dist::hasView(from) || dist::hasView(to) || !op.getRows().empty())
    return std::nullopt;
  if (op.getKind() == CollectiveKind::AllReduce)
    return partOfReduction(op, from, to);
  return op.getKind() == CollectiveKind::AllGather ? partOfGather(op, from, to)
                                                   : std::nullopt;
}

namespace {
/// Merges small collectives of one function. A merged group (bucket) consists
/// of all-reduces, or of all-gathers, over the same mesh axes. One collective
/// on a larger tensor replaces the group, and its latency is paid once.
class Bucketing {
public:
  Bucketing(func::FuncOp function, const dist::Mesh &mesh,
            const plan::Prices &prices)
      : function(function), mesh(mesh), prices(prices) {}

  /// Groups collectives into buckets, and replaces each bucket by one new
  /// collective. A bucket has only all-reduces or only all-gathers. Returns the
  /// number of calls that the ranks save. For buckets of 3 and 2 collectives,
  /// this is 3: the ranks perform 2 calls instead of 5.
  int64_t run() {
    std::vector<plan::CollectiveCall> calls = findCalls();
    int64_t saved = 0;
    for (const std::vector<size_t> &bucket : plan::formBuckets(calls)) {
      SmallVector<BucketPart> joined;
      for (size_t call : bucket)
        joined.push_back(parts[call]);
      callOnce(joined);
      saved += static_cast<int64_t>(bucket.size()) - 1;
    }
    return saved;
  }

private:
  /// Finds the collectives that may be merged with each other, and appends them
  /// to `parts`. Returns their descriptions for plan::formBuckets(), in the
  /// same order.
  std::vector<plan::CollectiveCall> findCalls() {
    DenseMap<Operation *, size_t> placeOf;
    for (Operation &op : function.front())
      placeOf[&op] = placeOf.size();
    std::vector<plan::CollectiveCall> calls;
    for (auto op : function.getOps<dist::CollectiveOp>()) {
      std::optional<BucketPart> part = partOf(op);
      if (!part || op.use_empty() || !isSmall(*part) || !isEven(*part))
        continue;
      size_t firstUse = SIZE_MAX;
      for (Operation *user : op->getUsers())
        firstUse = std::min(firstUse, placeOf.at(user));
      calls.push_back({kindOf(*part), placeOf.at(op), firstUse});
      parts.push_back(*part);
    }
    return calls;
  }

  /// Returns whether `part` is small enough to be merged with other
  /// collectives. One call for several collectives saves latency, but needs two
  /// copies: the operand is copied into a packed tensor before the call, and
  /// the result is copied out of a packed tensor after the call. True if these
  /// two copies take at most half of the latency of one call.
  bool isSmall(const BucketPart &part) const {
    return plan::isWorthPacking(
        graph::numBytes(part.operand()), graph::numBytes(part.result()),
        prices.seconds(part.op.getKind(), part.group, 0),
        prices.cluster->memoryBytesPerSecond);
  }

  /// Returns whether a rank receives as many bytes for `part` in a merged call
  /// as in a separate call. False if a shard has padding, because a merged call
  /// also sends the padding. False for an all-reduce in which a rank receives a
  /// fractional number of bytes, such as 2 · 2 · 4 / 3 if 3 ranks reduce one
  /// f32 element.
  static bool isEven(const BucketPart &part) {
    const bool gathers = part.op.getKind() == CollectiveKind::AllGather;
    const int64_t pieces = gathers ? part.numMembers() : 1;
    return part.result().getNumElements() ==
               pieces * part.operand().getNumElements() &&
           static_cast<int64_t>(part.op.getReceivedBytes()) *
                   part.numMembers() ==
               receivedTimesMembers(part);
  }

  /// Returns the bytes that all ranks of one call receive together. The sum is
  /// an integer, even if the bytes of one rank are a fraction.
  static int64_t receivedTimesMembers(const BucketPart &part) {
    const int64_t members = part.numMembers();
    const int64_t bytes =
        part.operand().getNumElements() * graph::elementBytes(part.operand());
    return part.op.getKind() == CollectiveKind::AllReduce
               ? 2 * (members - 1) * bytes
               : (members - 1) * members * bytes;
  }

  /// Returns a number for the kind of the collective `part`. Two collectives
  /// can be merged only if their numbers are equal. The numbers are equal if
  /// both are all-reduces or both are all-gathers, and if they have the same
  /// mesh axes along which ranks communicate, the same reduction (such as sum),
  /// and the same element type.
  size_t kindOf(const BucketPart &part) {
    std::string text = dist::toString(part.op.getKind());
    for (const dist::SubAxis &axis : part.group)
      text += " " + dist::toString(axis);
    if (part.op.getKind() == CollectiveKind::AllReduce)
      text += std::string(" ") + dist::toString(part.reduction);
    llvm::raw_string_ostream(text) << " " << part.operand().getElementType();
    return kinds.try_emplace(text, kinds.size()).first->second;
  }

  //===--------------------------------------------------------------------===//
  // Packing
  //===--------------------------------------------------------------------===//

  /// Replaces the collectives of `bucket` by one merged collective, at the
  /// place of the last of them. Global shape of the packed tensor: [ranks of
  /// the call (1 for an all-reduce), ranks along the remaining mesh axes,
  /// elements per rank].
  void callOnce(ArrayRef<BucketPart> bucket) {
    OpBuilder builder(bucket.back().op);
    const bool reduces = bucket[0].op.getKind() == CollectiveKind::AllReduce;
    SmallVector<Value> pieces;
    int64_t length = 0, received = 0;
    SmallVector<StringRef> names;
    for (const BucketPart &part : bucket) {
      const int64_t size = part.operand().getNumElements();
      pieces.push_back(reshape(builder, part.op.getInput(), {size}));
      length += size;
      received += part.op.getReceivedBytes();
      names.push_back(part.op.getValue());
    }
    const Location location = locationOf(bucket);
    Value packed = graph::ConcatOp::create(builder, location, pieces, 0);
    packed = reshape(builder, packed, {1, 1, length});
    dist::Sharding from = sharding(bucket[0], reduces), to = from;
    to.partials.clear();
    to.dims[0] = {};
    const int64_t members = reduces ? 1 : bucket[0].numMembers();
    const SmallVector<int64_t> shape{members, numOthers(bucket[0]), length};
    auto call = dist::CollectiveOp::create(
        builder, location, dist::localType(typeOf(packed, shape), to),
        bucket[0].op.getKind(), packed,
        dist::ShardingAttr::get(builder.getContext(), from),
        dist::ShardingAttr::get(builder.getContext(), to), shape, received,
        llvm::join(names, ", "), ValueRange());
    Value results = reshape(builder, call.getResult(), {members, length});
    int64_t begin = 0;
    for (const BucketPart &part : bucket) {
      unpack(builder, results, begin, part);
      begin += part.operand().getNumElements();
    }
    for (const BucketPart &part : bucket)
      part.op->erase();
  }

  /// Returns the mesh axes along which the collective `part` does not
  /// communicate. Example: if the mesh is dp=2 × tp=4 and `part` gathers along
  /// tp, the function returns {dp}. If `part` communicates along a part of an
  /// axis, the result contains the rest of this axis. The result never contains
  /// the axis `mb`, because the coordinates along `mb` are microbatches, not
  /// ranks.
  dist::SubAxes othersOf(const BucketPart &part) const {
    dist::SubAxes others;
    for (const dist::Axis &axis : mesh.axes) {
      if (axis.name == dist::timeAxis)
        continue;
      dist::SubAxes rest{dist::fullAxis(mesh, axis.name)};
      for (const dist::SubAxis &used : part.group)
        rest = *plan::subtract(rest, {used});
      llvm::append_range(others, rest);
    }
    return others;
  }

  int64_t numOthers(const BucketPart &part) const {
    return dist::numParts(othersOf(part));
  }

  /// Returns the sharding of the packed tensor before the merged call. For an
  /// all-gather, the mesh axes of the call split dim 0. For an all-reduce
  /// (`reduces` is true), a reduction over the mesh axes of the call is
  /// pending. The remaining mesh axes split dim 1. `part` is any one of the
  /// merged collectives.
  dist::Sharding sharding(const BucketPart &part, bool reduces) const {
    dist::Sharding made = dist::Sharding::whole(3);
    if (reduces)
      for (const dist::SubAxis &axis : part.group)
        made.partials.push_back({axis, part.reduction});
    else
      made.dims[0] = dist::splitOver(part.numMembers(), part.group);
    made.dims[1] = dist::splitOver(numOthers(part), othersOf(part));
    return dist::canonical(made);
  }

  /// Returns the location of the call that replaces the collectives of
  /// `bucket`. The location names the ONNX nodes of all collectives. Its
  /// dist::Cause has the producer of the first cause and the consumers of all
  /// causes.
  static Location locationOf(ArrayRef<BucketPart> bucket) {
    SmallVector<Location> all;
    std::optional<dist::Cause> cause;
    for (const BucketPart &part : bucket) {
      all.push_back(dist::withDecisions(part.op.getLoc(), {}));
      std::optional<dist::Cause> own = dist::causeOf(part.op.getLoc());
      if (!cause)
        cause = own;
      else if (own)
        llvm::append_range(cause->uses, own->uses);
    }
    const Location fused = FusedLoc::get(bucket[0].op.getContext(), all);
    return cause ? dist::withCause(fused, *cause) : fused;
  }

  /// Returns a tensor type of the given shape with the element type of `like`.
  static RankedTensorType typeOf(Value like, ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape,
                                 graph::tensorType(like).getElementType());
  }

  static Value reshape(OpBuilder &builder, Value value,
                       ArrayRef<int64_t> shape) {
    return graph::ReshapeOp::create(builder, value.getLoc(),
                                    typeOf(value, shape), value);
  }

  /// Replaces the result of `part` by its columns of `results`, from column
  /// `begin` on. `results` is the output of the shared call. It has one row for
  /// each rank of the call, or one row for an all-reduce.
  static void unpack(OpBuilder &builder, Value results, int64_t begin,
                     const BucketPart &part) {
    const int64_t members = graph::tensorType(results).getDimSize(0);
    const int64_t size = part.operand().getNumElements();
    Location location = part.op.getLoc();
    Value value = graph::SliceOp::create(
        builder, location, results, ArrayRef<int64_t>{0, begin},
        ArrayRef<int64_t>{members, size}, ArrayRef<int64_t>{1, 1});
    SmallVector<int64_t> shape{members}, order;
    llvm::append_range(shape, part.operand().getShape());
    value = reshape(builder, value, shape);
    for (int64_t dim = 0; dim < part.operand().getRank(); ++dim) {
      if (dim == part.dim)
        order.push_back(0);
      order.push_back(dim + 1);
    }
    if (order.empty())
      order.push_back(0);
    value = builder.createOrFold<graph::TransposeOp>(location, value, order);
    value = reshape(builder, value, part.result().getShape());
    value.getDefiningOp()->setDiscardableAttrs(
        part.op->getDiscardableAttrDictionary());
    part.op.getResult().replaceAllUsesWith(value);
  }

  func::FuncOp function;
  const dist::Mesh &mesh;
  const plan::Prices &prices;
  /// Collectives that may be merged, in program order: each is an all-reduce or
  /// an all-gather that is small enough. findCalls() fills this list.
  /// plan::formBuckets() then decides which of them are merged into one call.
  std::vector<BucketPart> parts;
  /// Maps a text to a number. The text describes a kind of collective, such as
  /// "all_reduce tp sum f32": its type, mesh axes, reduction and element type.
  /// Only collectives with the same number can be merged.
  std::map<std::string, size_t> kinds;
};

struct BucketCollectives
    : pcc::schedule::impl::BucketCollectivesBase<BucketCollectives> {
  void runOnOperation() override {
    const dist::Mesh mesh = dist::meshOf(getOperation());
    const plan::Prices prices = {
        plan::clusterOf(dist::clusterOf(getOperation()),
                        dist::targetOf(getOperation())),
        mesh};
    for (auto function : getOperation().getOps<func::FuncOp>())
      savedCalls += Bucketing(function, mesh, prices).run();
    LDBG() << savedCalls << " calls are saved";
  }
};
} // namespace
