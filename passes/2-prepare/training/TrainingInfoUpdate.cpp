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

// In the model, a `graph.accumulate` (sum over the microbatches) reads each
// placeholder of a gradient. The values in `gradients` are such sums already,
// so they replace the accumulate ops.
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

// The function is in topological order, so one forward traversal finds, for
// each op, the weights whose gradients it depends on.
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

/// Returns the name of a weight if all users of `op` belong to the update of
/// this weight, and of no other weight. Otherwise returns null.
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

// Some ops of the update depend on no gradient, such as ops for weight decay.
// If only ops of one weight's update read such an op, it belongs to this
// update, too. The loop runs backward, because the readers of an op come after
// it.
void TrainingInfoUpdate::markOperands() {
  for (Operation &op : llvm::reverse(model.front()))
    if (op.getNumOperands() > 0 && !weights.contains(&op) &&
        !op.hasAttr(graph::updatesName) && !op.hasAttr(graph::mirrorsName) &&
        !op.hasAttr(graph::numberName))
      if (Attribute weight = onlyReader(op))
        op.setAttr(graph::updatesName, weight);
}

// Ops that depend on the gradients of several weights, such as the global norm,
// get no `graph.updates`: they belong to all weights.
void TrainingInfoUpdate::mark() {
  SymbolTable symbols(model->getParentOfType<ModuleOp>());
  for (auto &[op, names] : weights)
    if (names.size() == 1 && !op->hasAttr(graph::updatesName))
      op->setAttr(graph::updatesName, FlatSymbolRefAttr::get(names.front()));
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
