//===- ApplyOptimizer.cpp - update of weights from their gradients --------===//

#include "dialects/diagnostics/EmitStatus.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/StepParts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/2-prepare/Passes.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "passes/2-prepare/simplify/Simplifications.h"
#include "passes/2-prepare/training/LearningRate.h"
#include "passes/2-prepare/training/LossScale.h"
#include "passes/2-prepare/training/Optimizers.h"
#include "passes/2-prepare/training/StateParameters.h"
#include "passes/2-prepare/training/TrainingInfoUpdate.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/DebugLog.h"

#include <cmath>

#define DEBUG_TYPE "apply-optimizer"

namespace pcc::prepare {
#define GEN_PASS_DEF_APPLYOPTIMIZER
#include "passes/2-prepare/Passes.h.inc"
} // namespace pcc::prepare

using namespace mlir;
using namespace pcc;
using namespace pcc::prepare;

namespace {
/// Builds the update of the weights at the end of @main, which returns one
/// gradient for each use of a weight. run() applies pcc's optimizer.
/// runTrainingInfoUpdate() completes the update that an ONNX TrainingInfo
/// contains. An op that serves only the update of the weight w gets the
/// attribute `graph.updates` = @w. Phase 3-place puts this op on the first
/// pipeline stage that reads w.
class Updater {
public:
  Updater(func::FuncOp model, const TrainingRequest &request,
          const Optimizer &optimizer, const LearningRateSchedule &schedule,
          std::optional<LossScale> lossScale)
      : model(model), module(model->getParentOfType<ModuleOp>()),
        request(request), optimizer(optimizer), schedule(schedule),
        lossScale(lossScale), symbols(module),
        builder(model.front().getTerminator(),
                locationOf("optimizer", model.getLoc())) {}

  /// Builds one training step of the optimizer that `--optimizer` names. Makes
  /// the loss, the global gradient norm, the learning rate and the loss scale
  /// (if used) the only results of @main.
  void run() {
    takeGradients();
    Value counted = buildRate();
    Value norm = buildNorm();
    findFinite(norm);
    write(graph::stepName, counted, done);
    Value factor = buildClipping(norm);
    for (auto &[name, gradient] : gradients)
      update(name, factor ? clipped(name, gradient, factor) : gradient);
    SmallVector<std::pair<StringRef, Value>> metrics{
        {"loss", loss}, {"grad_norm", norm}, {"lr", rate}};
    markForAll();
    addScale(metrics);
    returnMetrics(metrics);
  }

  /// Completes the weight update of a model that has an ONNX TrainingInfo.
  /// Phase 1-import has already built this update, with a placeholder for each
  /// gradient. The function replaces the placeholders by the gradients. It
  /// moves the writes of parameters to the end of @main.
  void runTrainingInfoUpdate() {
    takeGradients();
    done = readStep(builder, module);
    Value counted = builder.add(done, 1);
    Value norm = buildNorm();
    findFinite(norm);
    TrainingInfoUpdate own(model);
    own.substituteGradients(gradients, builder);
    for (graph::SetParameterOp set : own.writes())
      finishWrite(set);
    markForAll();
    write(graph::stepName, counted, done);
    SmallVector<std::pair<StringRef, Value>> metrics{{"loss", loss},
                                                     {"grad_norm", norm}};
    addScale(metrics);
    returnMetrics(metrics);
  }

  /// Returns the number of weights that the update changes.
  size_t numUpdated() const { return gradients.size(); }

private:
  /// Makes `builder` set the attribute `graph.updates` on each op that it
  /// creates from now on. `weight` is the name of a weight. For example, after
  /// a call with the name "w", each new op has the attribute `graph.updates` =
  /// @w. The attribute means that only the update of the weight w needs the op.
  /// After a call of markForAll(), new ops get no attribute.
  void markFor(StringAttr weight) {
    builder.setMark(graph::updatesName, FlatSymbolRefAttr::get(weight));
  }
  /// Makes `builder` create ops without the attribute `graph.updates` until the
  /// next call of markFor(). The attribute names a weight and means that only
  /// the update of this weight needs the op. An op without the attribute is not
  /// specific to one weight. An example is the op that computes the learning
  /// rate, because the updates of all weights use the learning rate.
  void markForAll() { builder.setMark({}, {}); }

  /// Moves `set`, a write of a parameter, to the end of @main, after all reads
  /// of the parameter. If training uses a loss scale, the parameter keeps its
  /// old value in a step with an infinite or NaN gradient.
  void finishWrite(graph::SetParameterOp set) {
    auto parameter = symbols.lookup<graph::ParameterOp>(set.getParameter());
    auto weight = parameter.getStateOfAttr();
    auto name = weight ? weight.getAttr() : parameter.getSymNameAttr();
    markForAll();
    if (gradients.count(name))
      markFor(name);
    Value next = set.getValue();
    if (isFinite)
      next = builder.select(isFinite, next, read(builder, parameter));
    builder.makeOp<graph::SetParameterOp>(set.getParameter(), next);
    set.erase();
  }

  /// Sets `isFinite` to the comparison `norm` < infinity. The result is false
  /// if a gradient contains an infinity or a NaN. Without a loss scale, builds
  /// nothing, and `isFinite` stays null.
  void findFinite(Value norm) {
    if (lossScale)
      isFinite = builder.compare(graph::Predicate::Less, norm,
                                 builder.scalarLike(norm, HUGE_VAL));
  }

  /// Appends this step's loss scale to `metrics`, and updates the loss scale
  /// for the next step. Without a loss scale, does nothing.
  void addScale(SmallVectorImpl<std::pair<StringRef, Value>> &metrics) {
    if (!lossScale)
      return;
    // The metric is the loss scale of this step. If the loss scale is dynamic,
    // lossScale->build() returns a read of the parameter `pcc.loss_scale`. The
    // result of this read is not a copy: it is the memory of the parameter.
    // lossScale->update() overwrites this memory with the loss scale of the
    // next step. The metric is therefore the result of a cast to f64: the cast
    // stores the loss scale of this step in other memory.
    metrics.push_back(
        {"loss_scale", builder.cast(lossScale->build(builder, module),
                                    builder.getF64Type())});
    lossScale->update(builder, module, isFinite);
  }

  /// Fills `gradients` with one gradient per weight: the sum over all
  /// microbatches and over all uses of the weight as an operand. If training
  /// uses a loss scale, divides the sum by it.
  void takeGradients() {
    collectGradients();
    if (lossScale)
      unscale();
    if (request.sumsGradients())
      sumGradients();
  }

  /// Builds the sum of each weight's gradients over all training steps. The sum
  /// for a weight "w" is a new parameter "w.gradients". `pcc verify` compares
  /// these sums with the sums of the unpartitioned model.
  void sumGradients() {
    for (auto &[name, gradient] : gradients) {
      markFor(name);
      auto sum = makeState(name.getValue() + ".gradients",
                           graph::tensorType(gradient));
      sum.setStateOf(name.getValue());
      Value next = builder.add(read(builder, sum), gradient);
      builder.makeOp<graph::SetParameterOp>(sum.getSymName(), next);
    }
    markForAll();
  }

  /// Fills `loss` and `gradients` from the results of @main: the loss and one
  /// gradient for each use of a weight. The result attribute
  /// `graph.gradient_of` names the weight. Sums the results over all
  /// microbatches, and adds the gradients of each weight.
  void collectGradients() {
    Operation *terminator = model.front().getTerminator();
    loss = builder.make<graph::AccumulateOp>(terminator->getOperand(0));
    for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
      auto of = model.getResultAttrOfType<FlatSymbolRefAttr>(
          i, graph::gradientOfName);
      if (!of)
        continue;
      markFor(of.getAttr());
      builder.setLocation(value.getLoc());
      Value whole = builder.make<graph::AccumulateOp>(value);
      Value &sum = gradients[of.getAttr()];
      sum = sum ? builder.add(sum, whole) : whole;
    }
    markForAll();
    builder.setLocation(locationOf("optimizer", model.getLoc()));
  }

  /// Creates a parameter for optimizer state, with initial value 0, before
  /// @main. If the name exists already, the parameter gets a similar, unused
  /// name.
  graph::ParameterOp makeState(const Twine &name, RankedTensorType type) {
    OpBuilder atTop(model);
    auto parameter = graph::ParameterOp::create(
        atTop, builder.getUnknownLoc(), builder.getStringAttr(name), type);
    parameter.setFillAttr(builder.getF64FloatAttr(0));
    symbols.insert(parameter);
    return parameter;
  }

  /// Multiplies all gradients by 1 / loss scale.
  void unscale() {
    Value one = builder.scalar(builder.getF32Type(), 1);
    Value factor = builder.div(one, lossScale->build(builder, module));
    for (auto &[name, gradient] : gradients) {
      markFor(name);
      gradient =
          builder.mul(gradient, builder.cast(factor, elementTypeOf(gradient)));
    }
    markForAll();
  }

  /// Builds the write of `next` to `parameter`. If training uses a loss scale,
  /// a step with an infinite or NaN gradient writes `before`, the parameter's
  /// old value, instead.
  void write(StringRef parameter, Value next, Value before) {
    if (isFinite)
      next = builder.select(isFinite, next, before);
    builder.makeOp<graph::SetParameterOp>(parameter, next);
  }

  /// Builds the scalars `done` (i64, number of steps that have changed the
  /// weights), `step` (f64, `done` + 1) and `rate` (f64, learning rate after
  /// --lr-schedule). Returns `done` + 1 as i64, the new value of the parameter
  /// `pcc.step`.
  Value buildRate() {
    done = readStep(builder, module);
    Value next = builder.add(done, 1);
    step = builder.cast(next, builder.getF64Type());
    const double full = request.number("lr", optimizer.defaultRate);
    Value share = buildLearningRateFactor(
        builder, builder.cast(done, builder.getF64Type()), schedule);
    rate = share ? builder.mul(share, full)
                 : builder.scalar(builder.getF64Type(), full);
    return next;
  }

  /// Rounds the elements of `squares`, none negative, so that f64 adds them
  /// without error in any order (Demmel and Nguyen, Fast reproducible
  /// floating-point summation, ARITH 2013). For n elements with the maximum m,
  /// each element changes by at most about n m / 2^52.
  Value roundedAlike(Value squares) {
    auto type = graph::tensorType(squares);
    Value largest =
        builder.reduce(graph::ReduceKind::Max, squares,
                       llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
    Value shift = builder.mul(
        largest,
        2 * static_cast<double>(std::max<int64_t>(type.getNumElements(), 1)));
    // No pass may simplify (x + s) - s to x.
    return builder.sub(builder.add(squares, shift), shift);
  }

  /// Builds the global norm: the square root of the sum of the squares of all
  /// elements of all gradients. The sum is computed in f64. The result is f32,
  /// or f64 if any gradient is f64. The order of the additions depends on the
  /// sharding and changes the last bits of the sum. With --reproducible,
  /// roundedAlike() first rounds the squares of each gradient so that the order
  /// has no effect.
  Value buildNorm() {
    SmallVector<Value> squares;
    for (auto &[name, gradient] : gradients) {
      markFor(name);
      Value wide = builder.cast(gradient, builder.getF64Type());
      Value square = builder.square(wide);
      if (module->hasAttr(graph::reproducibleName))
        square = roundedAlike(square);
      squares.push_back(builder.reshape(builder.sum(square), {1}));
    }
    markForAll();
    Value all =
        squares.size() == 1
            ? squares.front()
            : builder.make<graph::ConcatOp>(squares, static_cast<uint64_t>(0));
    return builder.cast(builder.sqrt(builder.sum(all)), normType());
  }

  /// Returns the type of the gradients' global norm: f64 if any gradient is
  /// f64, otherwise f32.
  Type normType() {
    const bool isWide = llvm::any_of(gradients, [](const auto &named) {
      return elementTypeOf(named.second).isF64();
    });
    return isWide ? builder.getF64Type() : Type(builder.getF32Type());
  }

  /// Builds the factor that limits the gradients' norm to --clip-norm, as
  /// torch.nn.utils.clip_grad_norm_ does: min(limit / (norm + 1e-6), 1).
  /// Returns null if the user sets no limit.
  Value buildClipping(Value norm) {
    auto limit = request.number("clip_norm");
    if (!limit)
      return {};
    Value factor =
        builder.div(builder.scalarLike(norm, *limit), builder.add(norm, 1e-6));
    return builder.make<graph::MinOp>(factor, builder.scalarLike(factor, 1));
  }

  /// Returns `gradient`, which belongs to the weight `name`, multiplied by the
  /// clipping factor `factor`.
  Value clipped(StringAttr name, Value gradient, Value factor) {
    markFor(name);
    return builder.mul(gradient, builder.cast(factor, elementTypeOf(gradient)));
  }

  /// Returns the weight decay coefficient of the weight `name`: --weight-decay
  /// or the optimizer's default, or 0 if the weight does not decay. The option
  /// --decay selects the decaying weights by name patterns. Without --decay,
  /// all weights with two or more dims decay.
  double decayOf(StringRef name, RankedTensorType type) const {
    const bool decays = request.list("decay").empty()
                            ? type.getRank() >= 2
                            : request.matches("decay", name);
    return decays ? request.number("weight_decay", optimizer.defaultDecay) : 0;
  }

  /// Builds the ops that compute the new value of the weight `name` and write
  /// it to its parameter. Creates a parameter for each optimizer state of the
  /// weight, such as "w.exp_avg" for Adam's average of the gradients of "w".
  void update(StringAttr name, Value gradient) {
    markFor(name);
    auto weight = symbols.lookup<graph::ParameterOp>(name);
    builder.setLocation(weight.getLoc());
    auto type = cast<RankedTensorType>(weight.getType());
    UpdateInputs in;
    in.weight = read(builder, weight);
    in.gradient = gradient;
    in.rate = builder.cast(rate, type.getElementType());
    in.step = step;
    in.decay = decayOf(name, type);
    llvm::MapVector<StringRef, graph::GetParameterOp> states;
    auto state = [&](StringRef kind) {
      auto parameter = makeState(name.getValue() + "." + kind, type);
      parameter.setStateOf(name.getValue());
      Value value = read(builder, parameter);
      states[kind] = value.getDefiningOp<graph::GetParameterOp>();
      return value;
    };
    auto keep = [&](StringRef kind, Value value) {
      graph::GetParameterOp before = states[kind];
      write(before.getParameter(), value, before);
    };
    in.state = state;
    in.keep = keep;
    Value next = optimizer.update(builder, request, in);
    write(weight.getSymName(), next, in.weight);
    LDBG() << "updates @" << name.getValue();
  }

  /// Makes the scalars in `metrics`, each with its name, the only results of
  /// @main.
  void returnMetrics(ArrayRef<std::pair<StringRef, Value>> metrics) {
    SmallVector<Value> values;
    SmallVector<DictionaryAttr> attributes;
    for (auto [name, value] : metrics) {
      values.push_back(value);
      attributes.push_back(
          onlyAttr(graph::nameName, builder.getStringAttr(name)));
    }
    model.front().getTerminator()->setOperands(values);
    model.setType(FunctionType::get(model.getContext(),
                                    model.front().getArgumentTypes(),
                                    ValueRange(values).getTypes()));
    model.setAllResultAttrs(attributes);
  }

  func::FuncOp model;
  ModuleOp module;
  const TrainingRequest &request;
  const Optimizer &optimizer;
  const LearningRateSchedule &schedule;
  std::optional<LossScale> lossScale;
  SymbolTable symbols;
  ArithmeticBuilder builder;
  /// Loss, learning rate, and number of this step counted from 1. All are
  /// scalars in the graph.
  Value loss, rate, step;
  /// Value of the parameter `pcc.step` before this training step, an i64 scalar
  /// in the graph. The parameter counts the training steps that have changed
  /// the weights. It is 0 in the first step. A step changes no weights if
  /// training uses a loss scale and a gradient of the step contains an infinity
  /// or a NaN.
  Value done;
  /// Boolean scalar: whether all gradients of this step are finite. Null
  /// without a loss scale.
  Value isFinite;
  /// Maps the name of each trained weight to the weight's gradient: the sum
  /// over all microbatches and over all uses of the weight as an operand.
  llvm::MapVector<StringAttr, Value> gradients;
};

/// Pass `--apply-optimizer`: builds the update of the weights from their
/// gradients.
struct ApplyOptimizer : pcc::prepare::impl::ApplyOptimizerBase<ApplyOptimizer> {
  void runOnOperation() override {
    auto request = TrainingRequest::of(getOperation());
    auto model = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!request || !model)
      return;
    const Optimizer *optimizer = findOptimizer(request->text("optimizer"));
    if (!optimizer) {
      getOperation().emitError()
          << "no optimizer is called '" << request->text("optimizer") << "'";
      return signalPassFailure();
    }
    StringRef text = request->text("lr_schedule");
    auto schedule = parseLearningRateSchedule(text.empty() ? "constant" : text);
    if (!schedule) {
      emitStatus(getOperation(),
                 schedule.status().prefixed("invalid --lr-schedule '" +
                                            text.str() + "': "));
      return signalPassFailure();
    }
    // LossScale::of() returns an error if the text of --loss-scale is invalid.
    // The pass `differentiate` has already run and would have failed in that
    // case. The operator * can therefore read the value without a check.
    auto lossScale = *LossScale::of(getOperation());
    const bool hasTrainingInfo = graph::isTraining(model.front());
    Updater updater(model, *request, *optimizer, *schedule, lossScale);
    hasTrainingInfo ? updater.runTrainingInfoUpdate() : updater.run();
    numUpdated += updater.numUpdated();
    if (failed(foldAll(model)))
      return signalPassFailure();
  }
};
} // namespace
