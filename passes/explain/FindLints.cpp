//===- FindLints.cpp - search for suspicious shardings (lints) ------------===//
//
// One function per lint, over all functions of a module with local shapes. The
// shardings of values still contain the global sizes.
//
//===----------------------------------------------------------------------===//

#include "passes/explain/FindLints.h"
#include "dialects/dist/Decision.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/TensorBytes.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/base/QuantityText.h"
#include "sharding/ShardingText.h"
#include "status/Counted.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <set>

using namespace mlir;
using namespace pcc;
using namespace pcc::explain;
using dist::Lint;

/// Largest number of weights that one message names. If there are more weights,
/// the message states how many it does not name.
static constexpr size_t mostNamed = 5;

/// Formats a fraction between 0 and 1 in percent, such as "25 %".
static std::string percent(double share) {
  return llvm::formatv("{0:F0} %", share * 100).str();
}

namespace {
/// The messages of one kind of lint. Equal messages are merged into one message
/// with a count.
class CountedMessages {
public:
  /// Adds a message about `op`. This object stores equal messages only once,
  /// together with the number of calls of add() with this message. The message
  /// has the remedy of the first of these calls, and the ONNX node of the op in
  /// this call.
  void add(const std::string &message, Operation *op,
           std::optional<Remedy> remedy = {}) {
    auto [entry, isNew] = entries.insert({message, {}});
    if (isNew) {
      entry->second.node = graph::nodeName(op->getLoc()).str();
      entry->second.remedy = std::move(remedy);
    }
    ++entry->second.count;
  }

  /// Appends lints of the kind `lint` to `lints`: one lint for each different
  /// message that add() has stored. This object has counted the calls of add()
  /// for each message. If the count of a message is greater than 1, the text of
  /// the lint ends with the count and the noun `things`. For example, the count
  /// is 24, and `things` is "values". The text then ends with " (24 values)".
  void report(Lint lint, StringRef things, std::vector<FoundLint> &lints) {
    for (auto &[message, entry] : entries)
      lints.push_back(
          {lint,
           message +
               (entry.count < 2
                    ? ""
                    : llvm::formatv(" ({0} {1})", entry.count, things).str()),
           entry.node, entry.remedy});
  }

private:
  /// Data about one message. `count` is the number of calls of add() with this
  /// message. Each call is about an op. `node` is the name of the ONNX node of
  /// the op in the first call. Example: three calls of add() have the same
  /// message, and are about three all-gathers. `count` is then 3, and `node` is
  /// the ONNX node of the first all-gather.
  struct FoundMessage {
    int64_t count = 0;
    std::string node;
    std::optional<Remedy> remedy;
  };
  llvm::MapVector<std::string, FoundMessage, std::map<std::string, unsigned>>
      entries;
};

/// Finds all lints of one module. A lint is a warning about a suspicious
/// sharding.
class LintFinder {
public:
  explicit LintFinder(ModuleOp module)
      : module(module), mesh(dist::meshOf(module)) {}

  /// Returns all lints, ordered by their codes, such as PCC-L001.
  std::vector<FoundLint> run() {
    findFullGathers();
    findWholeWeights();
    findPadding();
    findUnusedAxes();
    findRepeatedReshards();
    findWeakStages();
    return std::move(lints);
  }

private:
  /// Calls `use` for each op of each function, in program order.
  void forEachOp(llvm::function_ref<void(Operation *)> use) {
    for (auto function : module.getOps<func::FuncOp>())
      for (Operation &op : function.front())
        use(&op);
  }

  //===--------------------------------------------------------------------===//
  // Collectives
  //===--------------------------------------------------------------------===//

  /// Returns whether `op` is an all-gather that moves all elements of its
  /// operand. An all-gather may also have operands `rows`, which are masks. It
  /// then moves only the rows of the tensor that the masks select at run time.
  /// For example, each row belongs to a token, and a rank needs only the tokens
  /// of its own experts. The function returns false for an all-gather with
  /// masks.
  static bool isGather(dist::CollectiveOp op) {
    return op.getKind() == dist::CollectiveKind::AllGather &&
           op.getRows().empty();
  }

  /// Returns a remedy for the all-gather `gather`: the option that sets the
  /// sharding `wanted` for the gathered value, such as --shard 'w=[tp,-]'.
  /// Returns nullopt if the value has no name.
  std::optional<Remedy> pinAs(dist::CollectiveOp gather,
                              dist::ShardingAttr wanted) const {
    if (gather.getValue().empty())
      return std::nullopt;
    return Remedy{
        .shards = {gather.getValue().str() + "=" +
                   dist::toBriefString(dist::withoutTime(wanted.getSharding()),
                                       mesh)}};
  }

  /// Adds the lints PCC-L001 to `lints`. They warn about all-gathers that give
  /// every rank a whole tensor of at least 64 MiB (dist::largeGatherBytes).
  void findFullGathers() {
    CountedMessages found;
    forEachOp([&](Operation *op) {
      auto gather = dyn_cast<dist::CollectiveOp>(op);
      if (!gather || !isGather(gather) ||
          dist::numParts(dist::withoutTime(gather.getTo().getSharding())) > 1)
        return;
      auto type = graph::tensorType(gather.getResult());
      const double bytes = graph::numBytes(type);
      if (bytes >= dist::largeGatherBytes)
        found.add("every rank gathers a whole tensor of " +
                      runtime::bytesText(bytes),
                  op, pinAs(gather, gather.getFrom()));
    });
    found.report(Lint::FullGather, "times", lints);
  }

  /// Returns the value from which `value` takes its elements. Goes back through
  /// transposes, reshapes, and collectives that only move elements. Stops at
  /// reductions and at halo exchanges, because their results have other
  /// elements.
  static Value elementsOf(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (!isa<dist::CollectiveOp>(op) && !op->hasTrait<graph::KeepsElements>())
        break;
      if (auto collective = dyn_cast<dist::CollectiveOp>(op);
          collective && (dist::isPartial(collective.getFrom().getSharding()) ||
                         dist::hasView(collective.getTo().getSharding())))
        break;
      value = op->getOperand(0);
    }
    return value;
  }

  /// Adds the lints PCC-L005 to `lints`. They warn about an all-gather whose
  /// operand has the same elements as the operand of an earlier all-gather.
  /// Both operands must be split along the same mesh axes. Example: the axis tp
  /// splits x and the transpose of x. The first all-gather makes x whole. The
  /// second all-gather makes the transpose of x whole. The lint is about the
  /// second all-gather.
  void findRepeatedReshards() {
    std::map<std::pair<void *, std::string>, std::string> gathered;
    CountedMessages found;
    forEachOp([&](Operation *op) {
      auto gather = dyn_cast<dist::CollectiveOp>(op);
      if (!gather || !isGather(gather))
        return;
      const std::string axes =
          dist::axisNames(dist::splitAxes(gather.getFrom().getSharding()));
      auto [first, isNew] = gathered.insert(
          {{elementsOf(gather.getInput()).getAsOpaquePointer(), axes},
           graph::nodeName(op->getLoc()).str()});
      if (!isNew)
        found.add((first->second.empty()
                       ? "the same elements"
                       : "the elements of '" + first->second + "'") +
                      " are gathered over " + axes + " again",
                  op, pinAs(gather, gather.getTo()));
    });
    found.report(Lint::RepeatedReshard, "times", lints);
  }

  //===--------------------------------------------------------------------===//
  // Weights
  //===--------------------------------------------------------------------===//

  /// Returns the size of the whole weight in bytes.
  static double bytesOf(graph::ParameterOp weight) {
    return graph::numBytes(cast<RankedTensorType>(weight.getType()));
  }

  /// Returns the number of bytes above which a weight is large: 1 %
  /// (dist::largeWeightShare) of the bytes of all weights divided by the number
  /// of layers. Ignores weights with fewer than two dims, such as biases. The
  /// number of layers is an estimate: the largest number of weights with the
  /// same shape. Example: 10 weights of 4 MB have one shape, and one weight of
  /// 200 MB has another shape. The result is 0.01 * 240 MB / 10 = 0.24 MB.
  double largeWeight() {
    double total = 0;
    int64_t repeats = 1;
    std::map<std::vector<int64_t>, int64_t> shapes;
    for (auto weight : module.getOps<graph::ParameterOp>()) {
      auto type = cast<RankedTensorType>(weight.getType());
      if (type.getRank() < 2)
        continue;
      total += bytesOf(weight);
      repeats = std::max(repeats, ++shapes[type.getShape().vec()]);
    }
    return dist::largeWeightShare * total / static_cast<double>(repeats);
  }

  /// Returns groups of mesh axes. At least one axis of each group should split
  /// each large weight. The axis tp is the first possible group. All axes with
  /// other names than tp, dp, cp and mb are the second possible group. The axes
  /// dp, cp and mb are in no group, because they split data instead of weights.
  std::vector<std::vector<dist::Axis>> weightAxes() const {
    std::vector<std::vector<dist::Axis>> groups;
    std::vector<dist::Axis> own;
    for (const dist::Axis &axis : mesh.axes) {
      const bool isData =
          axis.name == "dp" || axis.name == "cp" || axis.name == dist::timeAxis;
      if (axis.size < 2 || isData)
        continue;
      if (axis.name == "tp")
        groups.push_back({axis});
      else
        own.push_back(axis);
    }
    if (!own.empty())
      groups.push_back(std::move(own));
    return groups;
  }

  /// A large weight that no axis of a group splits.
  struct WholeWeight {
    graph::ParameterOp weight;
    /// Option by which the user set the sharding, such as "--shard
    /// 'v=[-,-]'"; empty if there is none.
    std::string pin;
    std::string node;
    /// Stages that read the weight.
    std::set<int64_t> stages;
  };

  /// Returns the large weights that no axis of `axes` splits, in the order of
  /// the program. A weight is large if it has at least two dims, and more bytes
  /// than largeWeight() returns.
  llvm::MapVector<StringRef, WholeWeight>
  wholeWeights(const std::vector<dist::Axis> &axes) {
    const double large = largeWeight();
    const SymbolTable parameters(module);
    llvm::MapVector<StringRef, WholeWeight> found;
    forEachOp([&](Operation *op) {
      auto get = dyn_cast<graph::GetParameterOp>(op);
      auto weight =
          get ? parameters.lookup<graph::ParameterOp>(get.getParameter())
              : graph::ParameterOp();
      dist::ShardingAttr sharding =
          weight ? dist::shardingOf(get.getResult()) : dist::ShardingAttr();
      if (!sharding || graph::tensorType(get).getRank() < 2 ||
          bytesOf(weight) <= large ||
          llvm::any_of(axes, [&](const dist::Axis &axis) {
            return dist::holdsAxis(dist::splitAxes(sharding.getSharding()),
                                   axis.name);
          }))
        return;
      WholeWeight &whole = found[get.getParameter()];
      if (!whole.weight) {
        auto pin = op->getAttrOfType<StringAttr>(dist::pinnedName);
        whole = {weight,
                 pin ? pin.str() : "",
                 graph::nodeName(op->getLoc()).str(),
                 {}};
      }
      whole.stages.insert(stageOf(op));
    });
    return found;
  }

  /// Adds the lints PCC-L002 to `lints`. Each lint belongs to one group of mesh
  /// axes from weightAxes(), and names all large weights that no axis of the
  /// group splits. Example: the groups are {tp} and {a, b}. Axis a splits the
  /// weight v, and no axis splits the weight w. The lint of {tp} names v and w.
  /// The lint of {a, b} names only w.
  void findWholeWeights() {
    for (const auto &axes : weightAxes()) {
      const auto whole = wholeWeights(axes);
      if (whole.empty())
        continue;
      const WholeWeight *largest = &whole.front().second;
      for (const auto &[name, each] : whole)
        if (bytesOf(each.weight) > bytesOf(largest->weight))
          largest = &each;
      lints.push_back({Lint::WholeWeight, wholeText(axes, whole),
                       whole.front().second.node,
                       divide(*largest, axes.front())});
    }
  }

  /// Returns the remedy for a large weight that `axis` does not split: an
  /// option that splits a dim of the weight over `axis`. Chooses the largest
  /// dim whose size is divisible by the size of the axis, or the largest dim if
  /// there is none. If an option of the user determines the sharding of the
  /// weight, the remedy is to leave out this option.
  static Remedy divide(const WholeWeight &whole, const dist::Axis &axis) {
    if (!whole.pin.empty())
      return {.omitted = whole.pin};
    graph::ParameterOp weight = whole.weight;
    auto shape = cast<RankedTensorType>(weight.getType()).getShape();
    const auto rank = [&](size_t dim) {
      return std::pair(shape[dim] % axis.size == 0, shape[dim]);
    };
    size_t best = 0;
    for (size_t dim = 1; dim < shape.size(); ++dim)
      if (rank(dim) > rank(best))
        best = dim;
    std::vector<std::string> dims(shape.size(), "-");
    dims[best] = axis.name;
    return {.shards = {weight.getSymName().str() + "=[" +
                       llvm::join(dims, ",") + "]"}};
  }

  /// Returns the lint message about large weights that no axis of `axes`
  /// splits, such as "weights of 96.0 KiB are whole on every rank of tp: 'v',
  /// 'w'; each rank of stage 0 holds 48.0 KiB more than if tp split them". The
  /// optimizer state of the weights counts in the second number only. If an
  /// option of the user determines the sharding of a weight, the option
  /// follows the name of the weight in parentheses.
  std::string
  wholeText(const std::vector<dist::Axis> &axes,
            const llvm::MapVector<StringRef, WholeWeight> &whole) const {
    double bytes = 0, most = 0;
    bool hasState = false;
    std::map<int64_t, double> ofStage;
    std::vector<std::string> names, stages;
    for (const auto &[name, each] : whole) {
      graph::ParameterOp weight = each.weight;
      if (whole.contains(weight.getStateOf().value_or(""))) {
        hasState = true;
      } else {
        names.push_back("'" + name.str() + "'" +
                        (each.pin.empty() ? "" : " (" + each.pin + ")"));
        bytes += bytesOf(each.weight);
      }
      for (int64_t stage : each.stages)
        most = std::max(most, ofStage[stage] += bytesOf(each.weight));
    }
    for (const auto &[stage, held] : ofStage)
      stages.push_back(std::to_string(stage));
    const size_t more = names.size() - std::min(names.size(), mostNamed);
    names.resize(names.size() - more);
    SmallVector<StringRef> axisNames;
    for (const dist::Axis &axis : axes)
      axisNames.push_back(axis.name);
    const double spared = 1 - 1 / static_cast<double>(axes.front().size);
    return "weights of " + runtime::bytesText(bytes) +
           " are whole on every rank of " + llvm::join(axisNames, "+") + ": " +
           llvm::join(names, ", ") +
           (more ? " and " + std::to_string(more) +
                       " more (pcc inspect BUNDLE --rank 0 lists all)"
                 : "") +
           "; each rank of stage " + llvm::join(stages, "+") + " holds " +
           (stages.size() > 1 ? "up to " : "") +
           runtime::bytesText(most * spared) + " more" +
           (hasState ? ", optimizer state included," : "") + " than if " +
           axes.front().name + " split them";
  }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  /// Adds the lints PCC-L003 to `lints`. They warn about split dims with much
  /// padding. Example: 4 ranks split a dim of 10 elements. The buffer of each
  /// rank has 3 elements along this dim. The 4 ranks together have 12 elements,
  /// so 2 elements of 12 (17 %) are padding. The function examines each dim of
  /// each op result. The lint is for dims with at least 10 % padding
  /// (dist::largePaddingShare).
  void findPadding() {
    CountedMessages found;
    forEachOp([&](Operation *op) {
      for (Value result : op->getResults())
        if (dist::ShardingAttr sharding = dist::shardingOf(result))
          for (const dist::DimSharding &dim : sharding.getSharding().dims)
            for (const dist::Factor &factor : dim.factors)
              addPadding(factor, op, found);
    });
    found.report(Lint::Padding, "values", lints);
  }

  /// Returns whether an option is named after `axis`, such as --tp.
  static bool hasOption(StringRef axis) {
    return axis == "tp" || axis == "dp" || axis == "cp";
  }

  /// Returns the remedy for a padded factor of a dim: another size of the mesh
  /// axis that splits the factor. The size is the largest one below the current
  /// size that divides the factor. For a factor of 10 elements and tp=4, the
  /// remedy is --tp 2. Returns nullopt if only the size 1 divides the factor,
  /// if several axes split the factor, or if no option sets the size of the
  /// axis.
  static std::optional<Remedy> resize(const dist::Factor &factor) {
    if (factor.axes.size() != 1 || !hasOption(factor.axes[0].axis))
      return std::nullopt;
    for (int64_t size = factor.numParts() - 1; size > 1; --size)
      if (factor.size % size == 0)
        return Remedy{.axes = {{factor.axes[0].axis, size}}};
    return std::nullopt;
  }

  /// Adds a message about `op` to `found` if ranks pad `factor`, a factor of
  /// the size of a dim, by at least 10 % (dist::largePaddingShare). Example: 4
  /// ranks split the size 10 into 3 each, so 2 of 12 elements are padding.
  static void addPadding(const dist::Factor &factor, Operation *op,
                         CountedMessages &found) {
    const int64_t parts = factor.numParts();
    const auto all = static_cast<double>(parts * factor.localSize());
    const double share = 1 - static_cast<double>(factor.size) / all;
    if (parts > 1 && share >= dist::largePaddingShare)
      found.add(
          llvm::formatv("{0} in {1} over {2}: {3} of the elements are padding",
                        factor.size, parts, dist::axisNames(factor.axes),
                        percent(share))
              .str(),
          op, resize(factor));
  }

  /// Returns whether the sharding of an operand or a result of `op` uses the
  /// mesh axis `axis`. There are two ways to use an axis:
  ///
  ///  - The axis splits a dim of the tensor.
  ///  - Each rank along the axis holds a partial result of the tensor, such as
  ///    one term of a sum.
  static bool isDividedBy(Operation *op, StringRef axis) {
    auto divides = [&](Value value) {
      dist::ShardingAttr sharding = dist::shardingOf(value);
      return sharding &&
             dist::holdsAxis(dist::axesUsed(sharding.getSharding()), axis);
    };
    return llvm::any_of(op->getOperands(), divides) ||
           llvm::any_of(op->getResults(), divides);
  }

  /// Adds the lint PCC-L004 to `lints` for each mesh axis along which all ranks
  /// repeat much of the computation. An op is repeated along an axis if the
  /// axis splits none of its operands and results, and none of them is partial
  /// (such as one term of a sum) along the axis. All ranks along the axis then
  /// compute the same result. The function adds the lint if the repeated ops
  /// need at least half of the flops of a rank (dist::largeRepeatedShare).
  void findUnusedAxes() {
    for (const dist::Axis &axis : mesh.axes) {
      if (axis.size < 2 || axis.name == dist::timeAxis)
        continue;
      double all = 0, repeated = 0, most = 0;
      Operation *largest = nullptr;
      forEachOp([&](Operation *op) {
        auto cost = dyn_cast<graph::CostOpInterface>(op);
        if (!cost)
          return;
        // `repeated` counts the flops of ops that all ranks along `axis`
        // execute on the same data. `all` counts the flops of all ops, with one
        // exception. An op that phase 5-localize has added has no attribute
        // `dist.shardings`, so it is unknown whether ranks repeat it. It counts
        // in `all` only if one of its operands or results uses `axis`, and
        // never in `repeated`.
        const bool isDivided = isDividedBy(op, axis.name);
        if (isDivided || op->hasAttr(dist::shardingsName))
          all += cost.getFlops();
        if (isDivided || !op->hasAttr(dist::shardingsName))
          return;
        repeated += cost.getFlops();
        if (cost.getFlops() > most) {
          most = cost.getFlops();
          largest = op;
        }
      });
      if (largest && repeated >= dist::largeRepeatedShare * all)
        lints.push_back({Lint::UnusedAxis,
                         unusedText(axis, repeated / all, largest),
                         graph::nodeName(largest->getLoc()).str(),
                         hasOption(axis.name)
                             ? std::optional(Remedy{.axes = {{axis.name, 1}}})
                             : std::nullopt});
    }
  }

  /// Returns the message of the lint PCC-L004: all ranks along the mesh axis
  /// `axis` execute some ops on the same data. `share` is the fraction of the
  /// flops of a rank that these ops need. `largest` is the one of these ops
  /// with the most flops. Example of a message: "75 % of a rank's computation
  /// is repeated by the 2 ranks of tp, most of it by matmul". In this example,
  /// `share` is 0.75.
  static std::string unusedText(const dist::Axis &axis, double share,
                                Operation *largest) {
    return llvm::formatv("{0} of a rank's computation is repeated by the {1} "
                         "ranks of {2}, most of it by {3}",
                         share >= 1 ? "all" : percent(share), axis.size,
                         axis.name, largest->getName().stripDialect())
        .str();
  }

  //===--------------------------------------------------------------------===//
  // Pipeline stages
  //===--------------------------------------------------------------------===//

  /// Returns the pipeline stage of `op`. If each stage already has its own
  /// functions, returns the stage of the function that contains `op`. Otherwise
  /// returns the stage that `op` itself has as an attribute.
  static int64_t stageOf(Operation *op) {
    auto stage = op->getParentOp()->getAttrOfType<IntegerAttr>(pipe::stageName);
    return stage ? stage.getInt() : pipe::stageOf(op);
  }

  /// Returns the flops of each stage on one rank. Counts each op once, even if
  /// its function runs once per microbatch.
  std::vector<double> flopsOfStages() {
    const auto count = module->getAttrOfType<IntegerAttr>(pipe::stagesName);
    std::vector<double> flops(count ? count.getInt() : 0);
    forEachOp([&](Operation *op) {
      if (auto cost = dyn_cast<graph::CostOpInterface>(op))
        if (const size_t at = stageOf(op); at < flops.size())
          flops[at] += cost.getFlops();
    });
    return flops;
  }

  /// Adds lints about pipeline stages with little work: PCC-L007 if stages have
  /// no flops, and PCC-L008 if a stage has much fewer flops than the stage with
  /// the most flops. PCC-L008 ignores stages without flops.
  void findWeakStages() {
    const std::vector<double> flops = flopsOfStages();
    const auto idle = llvm::count(flops, 0.0);
    const auto numStages = static_cast<int64_t>(flops.size());
    if (numStages < 2 || idle == numStages)
      return;
    if (idle > 0)
      lints.push_back(
          {Lint::IdleStage,
           llvm::formatv("{0} of {1} {2} nothing", idle,
                         counted(numStages, "stage"),
                         idle == 1 ? "computes" : "compute")
               .str(),
           "",
           pipe::countOf(module, pipe::virtualStagesName) == 1
               ? std::optional(Remedy{.axes = {{"pp", numStages - idle}}})
               : std::nullopt});
    size_t least = 0, most = 0;
    for (size_t stage = 0; stage < flops.size(); ++stage) {
      if (flops[most] < flops[stage])
        most = stage;
      if (flops[least] == 0 ||
          (flops[stage] > 0 && flops[stage] < flops[least]))
        least = stage;
    }
    if (flops[least] < dist::smallStageShare * flops[most])
      lints.push_back(
          {Lint::UnbalancedStages,
           llvm::formatv("stage {0} computes {1} of what stage {2} computes, "
                         "and waits for it",
                         least, percent(flops[least] / flops[most]), most)
               .str(),
           ""});
  }

  ModuleOp module;
  dist::Mesh mesh;
  std::vector<FoundLint> lints;
};
} // namespace

std::vector<FoundLint> explain::findLints(ModuleOp module) {
  return LintFinder(module).run();
}
