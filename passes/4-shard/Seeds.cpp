//===- Seeds.cpp - shardings that the user asked for ----------------------===//

#include "passes/4-shard/Seeds.h"
#include "dialects/dist/ShardingText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Whether `pattern` (a glob, or a name that holds glob characters itself)
/// names `name`.
static bool matches(StringRef pattern, StringRef name) {
  if (pattern == name)
    return true;
  auto glob = llvm::GlobPattern::create(pattern);
  if (!glob) {
    llvm::consumeError(glob.takeError());
    return false;
  }
  return glob->match(name);
}

/// The name under which a user knows an op's value: weight, input, output, or
/// the value's own.
static SmallVector<StringRef> namesOf(const ShardedGraph &graph,
                                      unsigned index) {
  auto text = [](Attribute attribute) {
    return attribute ? cast<StringAttr>(attribute).getValue() : StringRef();
  };
  func::FuncOp function = graph.function;
  if (graph.isArgument(index))
    return {text(function.getArgAttr(index, "graph.name"))};
  if (graph.isSink(index))
    return {text(function.getResultAttr(graph.sinkIndex(index), "graph.name"))};
  Operation *op = graph.ops[index].op;
  if (auto parameter = dyn_cast<graph::GetParameterOp>(op))
    return {parameter.getParameter()};
  const SmallVector<StringRef> own{text(op->getAttr("graph.name"))};
  // An output's name means what the user gets, not how the op makes it.
  for (const auto &uses : graph.users[index])
    for (const ShardedGraph::Edge &use : uses)
      if (graph.isSink(use.user) && namesOf(graph, use.user) == own)
        return {};
  return own;
}

static RankedTensorType typeOf(const ShardedGraph &graph, unsigned index) {
  return graph::tensorType(graph.isSink(index)
                               ? graph.valueOf(graph.operands[index][0])
                               : graph.valueOf(index, 0));
}

FailureOr<Seeds> Seeds::resolve(const ShardedGraph &graph,
                                const dist::Mesh &mesh) {
  Seeds seeds;
  auto texts =
      graph.function->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(
          "dist.seeds");
  for (Attribute attribute : texts ? texts.getValue() : ArrayRef<Attribute>()) {
    StringRef text = cast<StringAttr>(attribute).getValue();
    auto [name, spec] = text.rsplit('=');
    bool found = false;
    for (unsigned i = 0; i < graph.ops.size(); ++i) {
      if (!llvm::any_of(namesOf(graph, i), [&, name = name](StringRef own) {
            return !own.empty() && matches(name, own);
          }))
        continue;
      std::string error;
      auto sharding = dist::parseSharding(
          spec.str(), mesh, dist::shapeOf(typeOf(graph, i).getShape()), error);
      if (!sharding)
        return emitError(UnknownLoc::get(graph.function.getContext()))
               << "cannot shard '" << name << "' as " << spec << ": " << error;
      seeds.seeds[i] = Seed{*sharding, text};
      found = true;
    }
    if (!found)
      return emitError(UnknownLoc::get(graph.function.getContext()))
             << "no weight, input, output or value is named '" << name << "'";
  }
  return seeds;
}

/// `sharding` with only those of its axes that overlap `decided`.
static dist::Sharding restricted(dist::Sharding sharding,
                                 const dist::SubAxes &decided) {
  for (dist::DimSharding &dim : sharding.dims)
    for (dist::Factor &factor : dim.factors) {
      dist::SubAxes kept;
      for (const dist::SubAxis &axis : factor.axes)
        for (const dist::SubAxis &other : decided)
          if (auto both = dist::overlap(axis, other))
            kept.push_back(*both);
      factor.axes = kept;
    }
  return dist::canonical(sharding);
}

bool Seeds::allows(unsigned op, const ShardedOp &candidate,
                   const dist::SubAxes &decided) const {
  const Seed *seed = find(op);
  if (!seed)
    return true;
  dist::Sharding actual = candidate.rule->results.empty()
                              ? candidate.operandSharding(0)
                              : candidate.resultSharding(0);
  dist::Sharding wanted = restricted(seed->sharding, decided);
  actual = restricted(actual, decided);
  if (!actual.partials.empty())
    return false;
  for (auto [want, got] : llvm::zip_equal(wanted.dims, actual.dims))
    if (!want.open &&
        dist::canonical(want).factors != dist::canonical(got).factors)
      return false;
  return true;
}
