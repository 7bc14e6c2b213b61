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
/// One collective of a bucket (collectives that share one call).
struct BucketPart {
  /// The collective. Mutable, because accessors of op handles are not const.
  mutable dist::CollectiveOp op;
  /// Mesh axes along which the ranks of one call differ, major to minor.
  /// Example: the mesh is dp=2 × tp=4. A call joins the 4 ranks with the same
  /// coordinate along dp. These ranks differ along tp, so `group` is {tp}. An
  /// entry of `group` may also be a sub-axis, which is a part of a mesh axis.
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

/// Returns the all-reduce `op` as an element of a bucket. `from` and `to` are
/// the shardings of the operand and of the result. `op` performs the pending
/// reductions of `from` that are not in `to`. Returns nullopt if there is none,
/// if one is over `mb` (microbatches, not ranks), if the sub-axes do not fit
/// together, or if the operand and the result are split differently.
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

/// Returns the all-gather `op` as an element of a bucket. `from` and `to` are
/// the shardings of the operand and of the result. Returns nullopt if their
/// pending reductions differ, if several dims are gathered, or if the operands
/// do not form the result in the order of the ranks. Example:
///
///   rank 0    rank 1    result
///   0 1 2 3   4 5 6 7   0 1 2 3 4 5 6 7   accepted
///   0 1 4 5   2 3 6 7   0 1 2 3 4 5 6 7   nullopt
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

/// Returns `op` as an element of a bucket. A bucket is a list of collectives
/// that share one call. Returns nullopt in these cases:
///
/// - `op` is neither an all-reduce nor an all-gather.
/// - partOfReduction() or partOfGather() returns nullopt for `op`.
/// - `op` is a halo exchange: each rank gets some elements of its neighbor
///   ranks.
/// - `op` has the operands `rows`. These operands are boolean masks that the
///   ranks compute at run time. The collective then sends only those rows of
///   its operand that the masks select.
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
/// Groups the collectives of one function into buckets. A bucket is a group of
/// all-reduces or a group of all-gathers along the same mesh axes. Replaces
/// each bucket by one collective on a larger tensor. The ranks then pay the
/// latency of one call only. Example with a bucket of two all-reduces:
///
///   before    a' = all_reduce a
///             b' = all_reduce b
///
///   after     c = all_reduce concat(a, b)
///             a' = slice c
///             b' = slice c
class Bucketing {
public:
  Bucketing(func::FuncOp function, const dist::Mesh &mesh,
            const plan::Prices &prices)
      : function(function), mesh(mesh), prices(prices) {}

  /// Forms buckets of collectives, and replaces each bucket by one new
  /// collective. A bucket is a group of all-reduces or a group of all-gathers
  /// that the ranks can perform in one call. Returns the number of calls that
  /// the ranks save. Example: the buckets have 3 and 2 collectives. The ranks
  /// perform 2 calls instead of 5, so the function returns 3.
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
  /// Finds the collectives that may be joined with other collectives to one
  /// call, and appends them to `parts`. Returns a description of each of these
  /// collectives, in the same order. The function formBuckets() uses the
  /// descriptions to decide which collectives are joined. A description has
  /// three members:
  ///
  /// - a number for the kind of the collective, such as all-reduce over tp
  /// - the position of the collective in the function
  /// - the position of the first op that reads the result of the collective
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

  /// Returns whether `part` is small enough to be joined with other
  /// collectives. The ranks then perform one call for several collectives,
  /// which saves latency. But two copies are necessary: the operand of `part`
  /// is copied into a larger tensor before the call, and the result is copied
  /// out of a larger tensor after the call. The function returns true if the
  /// two copies take at most half of the latency of one call.
  bool isSmall(const BucketPart &part) const {
    return plan::isWorthPacking(
        graph::numBytes(part.operand()), graph::numBytes(part.result()),
        prices.seconds(part.group, 0), prices.cluster->memoryBytesPerSecond);
  }

  /// Returns whether `part` receives the same number of bytes in a shared call
  /// as in a call of its own. A shared call sends the whole operand of each
  /// collective, also the padding in the operand. Example: 2 ranks gather a dim
  /// of 7 elements. Each operand has 4 elements, so the operand of rank 1 ends
  /// with 1 element of padding. The function returns false, because a shared
  /// call would deliver 8 elements instead of 7. For an all-reduce, the exact
  /// number of received bytes can be a fraction. The attribute `received_bytes`
  /// of the op then has the rounded number, and the function returns false.
  static bool isEven(const BucketPart &part) {
    const bool gathers = part.op.getKind() == CollectiveKind::AllGather;
    const int64_t pieces = gathers ? part.numMembers() : 1;
    return part.result().getNumElements() ==
               pieces * part.operand().getNumElements() &&
           static_cast<int64_t>(part.op.getReceivedBytes()) *
                   part.numMembers() ==
               receivedTimesMembers(part);
  }

  /// Returns m · b for the collective `part`. m is the number of ranks that
  /// communicate with each other. b is the number of bytes that one of these
  /// ranks receives. b may be a fraction, but m · b is an integer. If the
  /// operand has n bytes on each rank, b has this value:
  ///
  ///   all-reduce   b = 2 · n · (m - 1) / m
  ///   all-gather   b = n · (m - 1)
  ///
  /// Example: 3 ranks communicate, and the operand has 4 bytes on each rank. In
  /// an all-reduce, b is 16 / 3, and the function returns 16. In an all-gather,
  /// b is 8, and the function returns 24.
  static int64_t receivedTimesMembers(const BucketPart &part) {
    const int64_t members = part.numMembers();
    const int64_t bytes =
        part.operand().getNumElements() * graph::elementBytes(part.operand());
    return part.op.getKind() == CollectiveKind::AllReduce
               ? 2 * (members - 1) * bytes
               : (members - 1) * members * bytes;
  }

  /// Returns a number for the kind of collective that `part` is. Two
  /// collectives have the same number if these properties are equal: all-reduce
  /// or all-gather, mesh axes along which they communicate, reduction (such as
  /// sum), and element type. Only collectives with the same number can be
  /// joined to one.
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

  /// Replaces the collectives of `bucket` by one collective, before the last of
  /// them. All are all-gathers, or all are all-reduces, over the same mesh
  /// axes. The packed operand has three dims. Example with dp=2 × tp=4,
  /// communication over tp, and operands of 3 and 5 elements:
  ///
  ///   dim   all-gather   all-reduce   split by
  ///   0     4 ranks      1            tp, before the call only
  ///   1     2 ranks      2            dp, the axes without communication
  ///   2     8 elements   8            none
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

  /// Returns the sharding of the packed tensor before the call. `reduces` is
  /// true for all-reduces. `part` is any collective of the bucket. Example with
  /// dp=2 × tp=4, communication over tp, and 8 elements on each rank, where
  /// 4@tp means that tp splits a dim of size 4:
  ///
  ///                sharding           pending reduction
  ///   all-gather   [4@tp, 2@dp, 8]    none
  ///   all-reduce   [1, 2@dp, 8]       sum over tp
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

  /// Returns the location of the call that replaces `bucket`. It names the ONNX
  /// nodes of all collectives, and joins their dist::Cause: the producer of the
  /// first cause and the consumers of all. Example:
  ///
  ///                  producer   consumers
  ///   collective 0   a          b
  ///   collective 1   c          d, e
  ///   call           a          b, d, e
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

  /// Builds the result of `part` from `results`, and makes all readers of
  /// `part` read it. `results` has one row per rank of the call (all-reduce:
  /// one row). The elements of `part` start in column `begin`. Example: 4 ranks
  /// gather [3, 5] to [3, 20] along dim 1.
  ///
  ///   slice       [4, 15]     row i has the 15 elements from rank i
  ///   reshape     [4, 3, 5]
  ///   transpose   [3, 4, 5]   then reshape to [3, 20]
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
  /// Candidates for a bucket, in program order. A bucket is a list of
  /// collectives that the ranks perform together, in one call. A candidate is
  /// an all-reduce or an all-gather that is small enough for a bucket. The
  /// function findCalls() fills this list. The function formBuckets() then
  /// decides which candidates form a bucket.
  std::vector<BucketPart> parts;
  /// Map from a text to a number. The text describes a kind of collective, such
  /// as "all_reduce tp sum f32": its type, its mesh axes, its reduction and its
  /// element type. Different texts have different numbers. Only collectives
  /// with the same number can be joined to one.
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
