//===- TrainingInfoUpdate.cpp - the update of an ONNX TrainingInfo --------===//

#include "passes/2-prepare/training/TrainingInfoUpdate.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/StepParts.h"
#include "mlir/Analysis/TopologicalSortUtils.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::prepare;

TrainingInfoUpdate::TrainingInfoUpdate(func::FuncOp model)
    : model(model), sets(model.getOps<graph::SetParameterOp>()) {}

// Replaces each placeholder `graph.loss_gradient` by the gradient of its
// weight. Also erases the `graph.accumulate` that reads the placeholder,
// because `gradients` holds sums over all microbatches.
void TrainingInfoUpdate::substituteGradients(
    const llvm::MapVector<StringAttr, Value> &gradients,
    ArithmeticBuilder &builder) {
  for (auto seed : llvm::to_vector(model.getOps<graph::LossGradientOp>())) {
    auto weight = seed->getAttrOfType<FlatSymbolRefAttr>(graph::gradientOfName);
    if (!weight)
      continue;
    Value gradient = gradients.lookup(weight.getAttr());
    auto type = graph::tensorType(seed.getResult());
    if (!gradient)
      gradient = builder.make<graph::BroadcastOp>(
          type, builder.scalar(type.getElementType(), 0));
    for (Operation *user : llvm::to_vector(seed->getUsers())) {
      user->getResult(0).replaceAllUsesWith(gradient);
      user->erase();
    }
    seed.erase();
  }
  sortTopologically(&model.front());
  findWeights(gradients);
  mark();
}

// Finds, for each op, the weights whose gradients the op depends on. One loop
// over @main is enough, because its ops are sorted topologically.
void TrainingInfoUpdate::findWeights(
    const llvm::MapVector<StringAttr, Value> &gradients) {
  llvm::DenseMap<Value, StringAttr> known;
  for (auto &[name, gradient] : gradients)
    known[gradient] = name;
  for (Operation &op : model.front())
    for (Value operand : op.getOperands()) {
      if (StringAttr name = known.lookup(operand))
        weights[&op].insert(name);
      if (auto made = weights.find(operand.getDefiningOp());
          made != weights.end()) {
        llvm::SetVector<StringAttr> all = made->second;
        weights[&op].insert_range(all);
      }
    }
}

/// Returns the attribute `graph.updates` that all users of `op` have in common.
/// Its value is the name of a weight. Returns null if a user lacks the
/// attribute, if two users name different weights, or if there is no user. Also
/// returns null if a user is an op `graph.accumulate`.
static Attribute onlyReader(Operation &op) {
  Attribute only;
  for (Operation *user : op.getUsers()) {
    Attribute weight = user->getAttr(graph::updatesName);
    if (!weight || isa<graph::AccumulateOp>(user) || (only && only != weight))
      return {};
    only = weight;
  }
  return only;
}

// Sets `graph.updates` = @w on an op if it depends on no gradient, and if all
// its readers have `graph.updates` = @w. An example is the product of w and the
// weight decay. The loop runs in reverse, because the readers need the
// attribute first.
void TrainingInfoUpdate::markOperands() {
  for (Operation &op : llvm::reverse(model.front()))
    if (op.getNumOperands() > 0 && !weights.contains(&op) &&
        !op.hasAttr(graph::updatesName) && !op.hasAttr(graph::mirrorsName) &&
        !op.hasAttr(graph::numberName))
      if (Attribute weight = onlyReader(op))
        op.setAttr(graph::updatesName, weight);
}

// Sets `graph.updates` = @w on ops that only the update of the weight w needs.
// Sets `state_of` = @w on the optimizer state of w. Optimizer state of w is
// each other parameter that has the type of w, and whose new value depends on
// the gradient of w and on no other gradient.
void TrainingInfoUpdate::mark() {
  SymbolTable symbols(model->getParentOfType<ModuleOp>());
  for (auto &[op, names] : weights)
    if (names.size() == 1 && !op->hasAttr(graph::updatesName))
      op->setAttr(graph::updatesName, FlatSymbolRefAttr::get(names.front()));
  // Reads the attributes that the loop above has set.
  markOperands();
  for (graph::SetParameterOp set : sets) {
    auto made = weights.find(set);
    auto written = symbols.lookup<graph::ParameterOp>(set.getParameter());
    if (made == weights.end() || made->second.size() != 1 ||
        made->second.front() == written.getSymNameAttr())
      continue;
    auto weight = symbols.lookup<graph::ParameterOp>(made->second.front());
    if (weight && weight.getType() == written.getType())
      written.setStateOf(weight.getSymName());
  }
}
