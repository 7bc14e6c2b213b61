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

// Replaces placeholders by gradients. An op `graph.loss_gradient` is a
// placeholder for the gradient of a weight in one microbatch. The op
// `graph.accumulate` that reads it is erased, too, because the gradient %dw in
// the map `gradients` is already the sum over all microbatches:
//
//   before   %sum = graph.accumulate %placeholder
//            %x = graph.mul %sum, %rate
//   after    %x = graph.mul %dw, %rate
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

// Finds, for each op, the weights whose gradients the op depends on. The ops in
// @main are sorted topologically: the op that computes a value comes before the
// ops that read the value. Therefore, one loop over all ops is enough. For
// example, let %du and %dw be the gradients of the weights u and w:
//
//   op                     weights
//   %a = mul %du, %scale   u      the op reads %du
//   %b = add %a, %dw       u, w   the op reads %dw, and %a depends on %du
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

// The attribute `graph.updates` = @w on an op says that only the update of the
// weight w needs the op. This function sets the attribute on ops that depend on
// no gradient. An example is the product of w and the coefficient of weight
// decay. An op gets `graph.updates` = @w only if all ops that read its result
// already have `graph.updates` = @w. In the function @main, an op comes before
// the ops that read its result. The loop therefore visits the ops in reverse
// order.
void TrainingInfoUpdate::markOperands() {
  for (Operation &op : llvm::reverse(model.front()))
    if (op.getNumOperands() > 0 && !weights.contains(&op) &&
        !op.hasAttr(graph::updatesName) && !op.hasAttr(graph::mirrorsName) &&
        !op.hasAttr(graph::numberName))
      if (Attribute weight = onlyReader(op))
        op.setAttr(graph::updatesName, weight);
}

// Sets two attributes to the name of a weight w. An op that depends on the
// gradient of w and on no other gradient gets `graph.updates`. So do ops
// without gradients that only these ops need. The attribute `state_of` marks
// optimizer state of w, such as its momentum. A parameter other than w gets
// `state_of` if it has the type of w, and its new value depends on the gradient
// of w and on no other gradient. markOperands() must follow the first loop,
// because it reads the attributes that this loop sets.
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
