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
#include "runtime/program/InspectText.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

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
  /// Adds a message about `op`. For a repeated message, only increments the
  /// count.
  void add(const std::string &message, Operation *op) {
    auto [entry, isNew] = entries.insert({message, {}});
    if (isNew)
      entry->second.node = graph::nodeName(op->getLoc()).str();
    ++entry->second.count;
  }

  /// Appends all messages to `lints`. A repeated message gets a suffix with its
  /// count, such as " (24 values)". `things` is the noun of the suffix.
  void report(Lint lint, StringRef things, std::vector<FoundLint> &lints) {
    for (auto &[message, entry] : entries)
      lints.push_back(
          {lint,
           message +
               (entry.count < 2
                    ? ""
                    : llvm::formatv(" ({0} {1})", entry.count, things).str()),
           entry.node});
  }

private:
  /// Count of one message, and the ONNX node of the first op with this message.
  struct FoundMessage {
    int64_t count = 0;
    std::string node;
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

  /// Returns whether `op` is an all-gather of all elements. An all-gather of
  /// selected rows (the tokens that experts need) does not count.
  static bool isGather(dist::CollectiveOp op) {
    return op.getKind() == dist::CollectiveKind::AllGather &&
           op.getRows().empty();
  }

  /// PCC-L001: an all-gather leaves a large tensor whole on every rank.
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
                  op);
    });
    found.report(Lint::FullGather, "times", lints);
  }

  /// Returns the earliest value that holds the same elements as `value`. Goes
  /// back through collectives, transposes and reshapes. Example: x is
  /// all-gathered to y, and y is transposed to z. The result for z is x. Stops
  /// at ops that change elements: reductions and windowed reads (halo
  /// exchanges).
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

  /// PCC-L005: the same elements are gathered twice over the same axes.
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
                  op);
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

  /// Returns the size in bytes above which a weight is large, a fixed fraction
  /// of
  ///
  ///     bytes of all weights / number of blocks (layers)
  ///
  /// Weights of rank 0 and 1 do not count. The largest number of weights with
  /// equal shapes serves as the number of blocks.
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

  /// Returns groups of mesh axes that are meant to split weights. The axis `tp`
  /// is one group. All axes with other names than `tp`, `dp`, `cp` and `mb` are
  /// another group. Example: the mesh {dp=2, tp=4, a=2, b=2} has the groups
  /// {tp} and {a, b}. A lint reports a large weight that no axis of a group
  /// splits.
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

  /// PCC-L002: finds each large weight that no axis of some group splits.
  /// weightAxes() returns the groups. Every rank along such a group of axes
  /// stores the whole weight.
  void findWholeWeights() {
    const double large = largeWeight();
    const SymbolTable parameters(module);
    for (const auto &axes : weightAxes()) {
      std::map<std::string, double> whole;
      std::vector<std::string> names;
      std::string node;
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
        if (!whole.insert({get.getParameter().str(), bytesOf(weight)}).second)
          return;
        auto pin = op->getAttrOfType<StringAttr>(dist::pinnedName);
        names.push_back("'" + get.getParameter().str() + "'" +
                        (pin ? " (" + pin.str() + ")" : ""));
        if (node.empty())
          node = graph::nodeName(op->getLoc()).str();
      });
      if (!names.empty())
        lints.push_back(
            {Lint::WholeWeight, wholeText(axes, names, whole), node});
    }
  }

  /// Returns the message about the weights `names`, which no axis of `axes`
  /// splits. `whole` maps the name of each weight to its size in bytes.
  static std::string wholeText(const std::vector<dist::Axis> &axes,
                               std::vector<std::string> names,
                               const std::map<std::string, double> &whole) {
    double bytes = 0;
    for (const auto &[name, size] : whole)
      bytes += size;
    const size_t more = names.size() - std::min(names.size(), mostNamed);
    names.resize(names.size() - more);
    SmallVector<StringRef> axisNames;
    for (const dist::Axis &axis : axes)
      axisNames.push_back(axis.name);
    return "weights of " + runtime::bytesText(bytes) +
           " are whole on every rank of " + llvm::join(axisNames, "+") + ": " +
           llvm::join(names, ", ") +
           (more ? " and " + std::to_string(more) + " more" : "");
  }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  /// PCC-L003: a dim is split so unevenly that a large fraction of its elements
  /// on the ranks is padding.
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

  /// Adds a message to `found` if a large fraction of `factor` is padding. A
  /// dim of 192 elements can have the factors 3 and 64, written [3|64@tp]. The
  /// axis tp then splits only the factor 64.
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
          op);
  }

  /// Returns whether `axis` splits an operand or a result of `op`, or whether
  /// one of them is partial along `axis`.
  static bool isDividedBy(Operation *op, StringRef axis) {
    auto divides = [&](Value value) {
      dist::ShardingAttr sharding = dist::shardingOf(value);
      return sharding &&
             dist::holdsAxis(dist::axesUsed(sharding.getSharding()), axis);
    };
    return llvm::any_of(op->getOperands(), divides) ||
           llvm::any_of(op->getResults(), divides);
  }

  /// PCC-L004: all ranks along a mesh axis repeat a large fraction of the
  /// computation.
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
        // Ops that phase 5-localize has added have no recorded shardings. Count
        // such an op only if one of its operands or results is split or partial
        // along `axis`.
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
                         graph::nodeName(largest->getLoc()).str()});
    }
  }

  /// Returns the message about an axis along which ranks repeat the fraction
  /// `share` of the computation. `largest` is the repeated op with the most
  /// flops.
  static std::string unusedText(const dist::Axis &axis, double share,
                                Operation *largest) {
    return llvm::formatv("{0} of a rank's computation is repeated by the {1} "
                         "ranks of {2}, most of it by {3}",
                         share >= 1 ? "all" : percent(share), axis.size,
                         axis.name, largest->getName().stripDialect())
        .str();
  }

  ModuleOp module;
  dist::Mesh mesh;
  std::vector<FoundLint> lints;
};
} // namespace

std::vector<FoundLint> explain::findLints(ModuleOp module) {
  return LintFinder(module).run();
}
