//===- Seeds.cpp - shardings that the user or the model pins --------------===//

#include "passes/4-shard/graph/Seeds.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/dist/Lints.h"
#include "dialects/dist/NamePattern.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/4-shard/graph/ExpertAxes.h"
#include "passes/4-shard/graph/ShardedGraph.h"
#include "sharding/ShardingText.h"
#include "status/Suggestions.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Returns a suffix for error messages about a sharding that the user asked for
/// (--shard or an annotation) and that the compiler cannot use. The suffix is a
/// space and, in brackets, the code of the error: " [PCC-L006]".
static std::string code() {
  return " [" + std::string(dist::codeOf(dist::Lint::UnmetRequest)) + "]";
}

static StringRef textOf(Attribute attribute) {
  return attribute ? cast<StringAttr>(attribute).getValue() : StringRef();
}

/// Returns the name of the result of `op` in the user's model. For a weight,
/// the name is that of the parameter. Otherwise it is the attribute
/// `graph.name`, which may be empty.
static StringRef nameOf(Operation *op) {
  if (auto parameter = dyn_cast<graph::GetParameterOp>(op))
    return parameter.getParameter();
  return textOf(op->getAttr(graph::nameName));
}

/// Returns whether `value` is also a function result with the name `name`.
static bool isOutputOf(func::FuncOp function, Value value, StringRef name) {
  for (auto [i, result] :
       llvm::enumerate(function.front().getTerminator()->getOperands()))
    if (result == value &&
        textOf(function.getResultAttr(i, graph::nameName)) == name)
      return true;
  return false;
}

/// Returns `annotation`, the sharding that the model sets for `value`, as a
/// Seed. If that sharding does not fit the mesh or the shape, emits an error
/// and returns std::nullopt.
static std::optional<Seed> seedOf(dist::ShardingAttr annotation, StringRef name,
                                  Value value, const dist::Mesh &mesh) {
  const dist::Sharding &sharding = annotation.getSharding();
  std::string spec = dist::toBriefString(sharding, mesh);
  if (auto error = dist::findError(
          sharding, mesh, dist::shapeOf(graph::tensorType(value).getShape()))) {
    emitError(value.getLoc())
        << "cannot shard '" << name << "' as " << spec
        << ", as the model asks for: " << *error << code();
    return std::nullopt;
  }
  auto text = StringAttr::get(annotation.getContext(), name + "=" + spec);
  return Seed{dist::canonical(sharding), text.getValue(),
              /*isAnnotation=*/true};
}

/// Returns the sharding that the model sets for the result of `op`, or null.
/// Only a `dist.pin` and a `graph.get_parameter` can have one. `parameters` is
/// the symbol table of the module.
static dist::ShardingAttr annotationOf(Operation &op,
                                       const SymbolTable &parameters) {
  if (auto pin = dyn_cast<dist::PinOp>(op))
    return pin.getTo();
  auto get = dyn_cast<graph::GetParameterOp>(op);
  Operation *parameter = get ? parameters.lookup(get.getParameter()) : nullptr;
  return parameter
             ? parameter->getAttrOfType<dist::ShardingAttr>(dist::shardingName)
             : dist::ShardingAttr();
}

LogicalResult Seeds::takeAnnotations(func::FuncOp function,
                                     const dist::Mesh &mesh) {
  SymbolTable parameters(function->getParentOfType<ModuleOp>());
  bool isSound = true;
  auto take = [&](dist::ShardingAttr annotation, StringRef name, Value value,
                  Seed &seed) {
    auto taken = seedOf(annotation, name, value, mesh);
    isSound &= taken.has_value();
    if (taken)
      seed = *taken;
  };
  for (auto [i, argument] : llvm::enumerate(function.getArguments()))
    if (auto annotation = function.getArgAttrOfType<dist::ShardingAttr>(
            i, dist::shardingName))
      take(annotation, textOf(function.getArgAttr(i, graph::nameName)),
           argument, values[argument]);
  for (Operation &op : function.front().without_terminator())
    if (auto annotation = annotationOf(op, parameters)) {
      auto pin = dyn_cast<dist::PinOp>(op);
      take(annotation, pin ? pin.getValue() : nameOf(&op), op.getResult(0),
           values[op.getResult(0)]);
    }
  for (auto [i, result] :
       llvm::enumerate(function.front().getTerminator()->getOperands()))
    if (auto annotation = function.getResultAttrOfType<dist::ShardingAttr>(
            i, dist::shardingName))
      take(annotation, textOf(function.getResultAttr(i, graph::nameName)),
           result, outputs[i]);
  return success(isSound);
}

/// Returns the location for an error about the sharding that the user asked
/// for: the location of the op that computes `value`. Returns an unknown
/// location for an input, because no ONNX node computes it.
static Location locationOf(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? op->getLoc() : UnknownLoc::get(value.getContext());
}

/// Checks that the sharding of `value` in `seed`, from --shard, is the same as
/// `asked`, from an annotation of the model. If the two shardings differ, emits
/// an error and fails.
static LogicalResult checkSame(const Seed &asked, const Seed &seed,
                               Value value) {
  if (dist::samePlacement(asked.sharding, seed.sharding))
    return success();
  auto [name, spec] = seed.text.rsplit('=');
  return emitError(locationOf(value))
         << "cannot shard '" << name << "' as " << spec
         << ": the model asks for '" << asked.text << "'" << code();
}

/// A function output and the op result that it returns may have the same name.
/// A --shard for this name then applies only to the output.
LogicalResult Seeds::resolveText(func::FuncOp function, const dist::Mesh &mesh,
                                 StringRef text) {
  auto [name, spec] = text.rsplit('=');
  bool found = false;
  std::vector<std::string> names;
  Status error;
  Location cause = UnknownLoc::get(function.getContext());
  auto seedFor = [&, name = name, spec = spec](
                     StringRef own, Value value) -> std::optional<Seed> {
    if (!own.empty())
      names.push_back(own.str());
    if (error.failed() || !dist::matchesName(name, own))
      return std::nullopt;
    found = true;
    auto sharding = dist::parseSharding(
        spec.str(), mesh, dist::shapeOf(graph::tensorType(value).getShape()));
    if (sharding)
      return Seed{*sharding, text};
    error = sharding.status();
    cause = locationOf(value);
    return std::nullopt;
  };
  for (auto [i, argument] : llvm::enumerate(function.getArguments()))
    if (auto seed =
            seedFor(textOf(function.getArgAttr(i, graph::nameName)), argument))
      values[argument] = *seed;
  for (Operation &op : function.front().without_terminator())
    if (op.getNumResults() > 0 &&
        !isOutputOf(function, op.getResult(0), nameOf(&op)))
      if (auto seed = seedFor(nameOf(&op), op.getResult(0)))
        values[op.getResult(0)] = *seed;
  for (auto [i, result] :
       llvm::enumerate(function.front().getTerminator()->getOperands()))
    if (auto seed =
            seedFor(textOf(function.getResultAttr(i, graph::nameName)), result))
      outputs[i] = *seed;
  if (error.failed())
    return emitError(cause) << "cannot shard '" << name << "' as " << spec
                            << ": " << error.message() << code();
  if (found)
    return success();
  InFlightDiagnostic diagnostic = emitError(cause);
  diagnostic << "no weight, input, output or value is named '" << name << "'"
             << nearestOf(name, names);
  diagnostic.attachNote()
      << "values that pcc folds, such as the result of an Identity or a weight "
         "of one element in inference, have no name";
  return diagnostic;
}

FailureOr<Seeds> Seeds::resolve(func::FuncOp function, const dist::Mesh &mesh) {
  Seeds seeds;
  if (failed(seeds.takeAnnotations(function, mesh)))
    return failure();
  const Seeds asked = seeds;
  auto texts = function->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(
      dist::seedsName);
  for (Attribute text : texts ? texts.getValue() : ArrayRef<Attribute>())
    if (failed(seeds.resolveText(function, mesh,
                                 cast<StringAttr>(text).getValue())))
      return failure();
  for (const auto &[value, seed] : asked.values)
    if (failed(checkSame(seed, seeds.values[value], value)))
      return failure();
  Operation *terminator = function.front().getTerminator();
  for (const auto &[index, seed] : asked.outputs)
    if (failed(checkSame(seed, seeds.outputs[index],
                         terminator->getOperand(index))))
      return failure();
  if (failed(seeds.collectFacts(function, mesh)))
    return failure();
  return seeds;
}

LogicalResult Seeds::collectFacts(func::FuncOp function,
                                  const dist::Mesh &mesh) {
  for (const dist::Axis &axis : mesh.axes)
    cuts[axis.name] = {1, axis.size};
  auto module = function->getParentOfType<ModuleOp>();
  if (auto experts = module->getAttrOfType<IntegerAttr>(dist::expertsName))
    for (const dist::SubAxis &part : expertAxes(mesh, experts.getInt()))
      cuts[part.axis].insert({part.pre, part.end()});
  for (const auto &[value, seed] : values)
    if (failed(collectFactsFrom(seed, value)))
      return failure();
  Operation *terminator = function.front().getTerminator();
  for (const auto &[index, seed] : outputs)
    if (failed(collectFactsFrom(seed, terminator->getOperand(index))))
      return failure();
  return success();
}

LogicalResult Seeds::collectFactsFrom(const Seed &seed, Value value) {
  for (const dist::DimSharding &dim : seed.sharding.dims)
    for (const dist::Factor &factor : dim.factors) {
      if (factor.size < factor.numParts())
        overfull.insert(factor.size);
      for (auto [i, axis] : llvm::enumerate(factor.axes)) {
        cuts[axis.axis].insert({axis.pre, axis.end()});
        auto [known, isNew] = priorities.insert({axis.axis, dim.priority});
        known->second = std::min(known->second, dim.priority);
        for (const dist::SubAxis &minor : ArrayRef(factor.axes).drop_front(i))
          order.insert({axis.axis, minor.axis});
      }
    }
  for (const auto &[axis, places] : cuts)
    for (auto it = places.begin(); std::next(it) != places.end(); ++it)
      if (*std::next(it) % *it != 0)
        return emitError(locationOf(value))
               << "sharding '" << seed.text
               << "' cannot be met: another one cuts axis '" << axis
               << "' in other parts, at " << *it << " and at " << *std::next(it)
               << code();
  return success();
}

/// Returns whether the ranks that split the batch dim `dim` cannot share one
/// microbatch evenly. The first factor of `dim` is the number of samples. For
/// example, [6@dp] is uneven for 2 microbatches and dp=2: a microbatch has 3
/// samples for 2 ranks.
static bool isUnevenIn(const dist::DimSharding &dim, int64_t microbatches) {
  if (dim.factors.empty() || dim.factors.front().axes.empty())
    return false;
  const dist::Factor &batch = dim.factors.front();
  return batch.size % microbatches == 0 &&
         batch.size / microbatches % batch.numParts() != 0;
}

void Seeds::cutBatch(const ShardedGraph &graph, int64_t microbatches) {
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    const graph::ShardingRule &rule = *graph.ops[i].rule;
    // Skip nodes whose sharding the user did not set. Also skip nodes that
    // write a weight: they have no result and no batch dim. A sink (node of a
    // function result) has no result either, but may have a batch dim.
    if (!graph.seedOf(i) || (rule.results.empty() && !graph.isSink(i)))
      continue;
    Seed &seed = graph.isSink(i) ? outputs[graph.sinkIndex(i)]
                                 : values[graph.valueOf(i, 0)];
    for (auto [factors, dim] :
         llvm::zip_equal(graph.isSink(i) ? rule.operands[0] : rule.results[0],
                         seed.sharding.dims))
      if (!factors.empty() &&
          graph.tags[i][factors.front()] == FactorTag::Batch &&
          isUnevenIn(dim, microbatches)) {
        dist::Factor &batch = dim.factors.front();
        batch.size /= microbatches;
        if (batch.size < batch.numParts())
          overfull.insert(batch.size);
        dim.factors.insert(dim.factors.begin(), {microbatches, {}});
      }
  }
}

dist::SubAxes Seeds::partsOf(const dist::Axis &axis) const {
  dist::SubAxes parts;
  const std::set<int64_t> &places = cuts.at(axis.name);
  for (auto it = places.begin(); std::next(it) != places.end(); ++it) {
    int64_t before = *it, rest = *std::next(it) / before;
    for (int64_t prime = 2; rest > 1; ++prime)
      for (; rest % prime == 0; rest /= prime, before *= prime)
        parts.push_back({axis.name, before, prime});
  }
  return parts;
}
