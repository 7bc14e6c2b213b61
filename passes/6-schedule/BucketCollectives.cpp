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
/// One collective of a bucket, a set of collectives that share one call and one
/// buffer.
struct BucketPart {
  /// The collective. Mutable because the accessors of an op handle are not
  /// const.
  mutable dist::CollectiveOp op;
  /// Sub-axes of the mesh along which the members (ranks that take part in the
  /// call) have different coordinates, major to minor.
  dist::SubAxes group;
  /// Reduction that an all-reduce performs.
  dist::ReductionKind reduction = dist::ReductionKind::Sum;
  /// For an all-gather: the dim along which the operands of all ranks are
  /// concatenated.
  int64_t dim = 0;

  /// Returns the types of operand and result on one rank.
  RankedTensorType operand() const { return graph::tensorType(op.getInput()); }
  RankedTensorType result() const { return graph::tensorType(op.getResult()); }
  /// Returns the number of ranks that take part in the call.
  int64_t numMembers() const { return dist::numParts(group); }
};
} // namespace

/// Returns the sub-axes of `from` that are not in `to`. Returns nullopt if
/// there are none, or if a sub-axis of `from` overlaps a sub-axis of `to` only
/// in part.
static std::optional<dist::SubAxes> difference(const dist::SubAxes &from,
                                               const dist::SubAxes &to) {
  auto rest = plan::subtract(from, to);
  return rest && !rest->empty() ? rest : std::nullopt;
}

/// Returns the all-reduce `op` as a BucketPart, an element of a bucket
/// (collectives that share one call). Returns nullopt if the op also changes
/// how dims are split, or if it reduces over the time axis (microbatches).
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

/// Returns the all-gather `op` along one dim as a BucketPart, an element of a
/// bucket (collectives that share one call). The result of the op must be the
/// plain concatenation of the ranks' operands. Therefore the gathered axes must
/// be the most minor axes of the dim, without strides:
///
///   [16@dp+tp] -> [16@dp]   accepted
///   [16@dp+tp] -> [16@tp]   nullopt
///
/// Returns nullopt for other all-gathers, too.
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

/// Returns `op` as a BucketPart, an element of a bucket (collectives that share
/// one call). Returns nullopt if `op` cannot be in a bucket: it is neither an
/// all-reduce nor an all-gather, reads through a window (halo exchange), or has
/// masked rows.
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
/// Groups the collectives of one function into buckets (sets of collectives
/// that can share one call), and replaces each bucket by one call.
class Bucketing {
public:
  Bucketing(func::FuncOp function, const dist::Mesh &mesh,
            const plan::Prices &prices)
      : function(function), mesh(mesh), prices(prices) {}

  /// Replaces each bucket of the function (collectives that can share one call)
  /// by one call. Returns the number of calls saved.
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
  /// Finds the collectives that may be in a bucket (collectives that share one
  /// call). Appends them to `parts`. Returns, in the order of `parts`, the form
  /// of each collective that the planner reads.
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

  /// Returns whether the collective is small enough for a bucket (collectives
  /// that share one call). Its operand and result are copied into and out of a
  /// packed buffer. This must take at most half of the latency of a call.
  bool isSmall(const BucketPart &part) const {
    return plan::isWorthPacking(
        graph::numBytes(part.operand()), graph::numBytes(part.result()),
        prices.seconds(part.group, 0), prices.cluster->memoryBytesPerSecond);
  }

  /// Returns whether the operands of all ranks in the group have equal sizes,
  /// without padding. In a packed buffer, padding would be sent as well, so
  /// more bytes would be received.
  static bool isEven(const BucketPart &part) {
    const bool gathers = part.op.getKind() == CollectiveKind::AllGather;
    const int64_t pieces = gathers ? part.numMembers() : 1;
    return part.result().getNumElements() ==
               pieces * part.operand().getNumElements() &&
           static_cast<int64_t>(part.op.getReceivedBytes()) *
                   part.numMembers() ==
               receivedTimesMembers(part);
  }

  /// Returns m times the bytes that a rank receives, where m is the number of
  /// ranks in the group. (The factor m makes the result an integer.) The
  /// operands of all ranks must have equal sizes. A rank receives 2 (m - 1) / m
  /// operands in an all-reduce, and m - 1 operands in an all-gather.
  static int64_t receivedTimesMembers(const BucketPart &part) {
    const int64_t members = part.numMembers();
    const int64_t bytes =
        part.operand().getNumElements() * graph::elementBytes(part.operand());
    return part.op.getKind() == CollectiveKind::AllReduce
               ? 2 * (members - 1) * bytes
               : (members - 1) * members * bytes;
  }

  /// Returns a number for the kind of call. Two collectives have equal numbers
  /// if and only if they agree in kind, group (axes of the ranks that
  /// communicate), reduction and element type. Their shapes may differ.
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

  /// Replaces the collectives of a bucket (which share one call) by one call
  /// before the last of them: packs the operands into one tensor, creates the
  /// call and unpacks the results. The packed tensor has three dims:
  ///
  ///     [members @ group, others @ other axes, elements]  ->  [-, others, -]
  ///
  /// - members: one index per rank of the group, the ranks that take part in
  ///   the call. For an all-reduce, the size is 1, and the tensor is partial
  ///   over the group.
  /// - others: one index per rank along the axes outside of the group. Ranks
  ///   along these axes have different data.
  /// - elements: the elements of all packed operands.
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

  /// Returns the sub-axes of the mesh that are not in the group of the
  /// collective, except for the time axis. (The group is the axes along which
  /// ranks communicate.)
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

  /// Returns the sharding of the packed operand of the call that replaces a
  /// bucket (collectives that share one call). `part` is any collective of the
  /// bucket. `reduces` is true for an all-reduce and false for an all-gather.
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

  /// Returns the location of the call that replaces `bucket`. It names the
  /// nodes of all collectives in the bucket and, as the cause of the
  /// communication, all uses that caused one of these collectives.
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

  /// Returns a tensor type with the shape `shape` and the element type of
  /// `like`.
  static RankedTensorType typeOf(Value like, ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape,
                                 graph::tensorType(like).getElementType());
  }

  static Value reshape(OpBuilder &builder, Value value,
                       ArrayRef<int64_t> shape) {
    return graph::ReshapeOp::create(builder, value.getLoc(),
                                    typeOf(value, shape), value);
  }

  /// Makes all users of the result of the collective `part` read a slice of
  /// `results`, the packed result of the call. `results` has the shape [ranks,
  /// length], or [1, length] for an all-reduce. The slice starts at column
  /// `begin`. For an all-gather, the dim of ranks is moved before the gathered
  /// dim and merged into it:
  ///   [ranks, a, b]  ->  [a, ranks, b]  ->  [a, ranks · b]
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
  /// Collectives that may share a call with others, in program order.
  std::vector<BucketPart> parts;
  /// By the text form of a kind of call: the number of the kind, as kindOf
  /// returns it.
  std::map<std::string, size_t> kinds;
};

struct BucketCollectives
    : pcc::schedule::impl::BucketCollectivesBase<BucketCollectives> {
  void runOnOperation() override {
    const dist::Mesh mesh = dist::meshOf(getOperation());
    const plan::Prices prices =
        plan::pricesOf(plan::clusterOf(dist::clusterOf(getOperation()),
                                       dist::targetOf(getOperation())),
                       mesh);
    for (auto function : getOperation().getOps<func::FuncOp>())
      savedCalls += Bucketing(function, mesh, prices).run();
    LDBG() << savedCalls << " calls are saved";
  }
};
} // namespace
