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
/// Builds the update part of a training step before the terminator of @main.
/// The pass `differentiate` has added one gradient per use of a trained weight
/// to the results of @main. The update has these steps:
///
///   1. sum the gradients of each weight over its uses and the microbatches
///   2. clip all gradients by their global norm
///   3. apply the optimizer
///   4. write the parameters
///
/// Ops that concern only one weight get the weight's name as `graph.updates`,
/// so that phase 3-place can put them on the weight's pipeline stage.
class Updater {
public:
  Updater(func::FuncOp model, const TrainingRequest &request,
          const Optimizer &optimizer, const LearningRateSchedule &schedule,
          std::optional<LossScale> lossScale)
      : model(model), module(model->getParentOfType<ModuleOp>()),
        request(request), optimizer(optimizer), schedule(schedule),
        lossScale(lossScale), symbols(module),
        builder(model.front().getTerminator(), model.getLoc()) {}

  /// Builds the update with the optimizer that `--optimizer` names, and makes
  /// loss, gradient norm and learning rate the results of @main.
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

  /// Builds the update that the model's ONNX TrainingInfo describes. The ops of
  /// that update exist already. Gradients replace the ops' placeholders for
  /// gradients, and the writes of weights move to the end of @main.
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
  /// Sets `graph.updates` = `weight` on each op built from here on.
  void markFor(StringAttr weight) {
    builder.setMark(graph::updatesName, FlatSymbolRefAttr::get(weight));
  }
  /// Stops setting `graph.updates`: ops built from here on concern all weights.
  void markForAll() { builder.setMark({}, {}); }

  /// Moves `set`, a parameter write of the TrainingInfo's update, before the
  /// terminator, because no read of a parameter may follow its write. With a
  /// loss scale (factor on the gradients), the parameter keeps its old value if
  /// a gradient is not finite.
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

  /// If there is a loss scale, sets `isFinite` to a boolean scalar: whether
  /// `norm`, the norm of all gradients, is finite. An infinity or NaN in any
  /// gradient makes the norm infinite or NaN.
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
    // The cast to f64 copies the value before this step overwrites the
    // parameter.
    metrics.push_back(
        {"loss_scale", builder.cast(lossScale->build(builder, module),
                                    builder.getF64Type())});
    lossScale->update(builder, module, isFinite);
  }

  /// Fills `gradients` with one gradient per weight: the sum over all
  /// microbatches and uses, divided by the loss scale.
  void takeGradients() {
    collectGradients();
    if (lossScale)
      unscale();
    if (request.sumsGradients())
      sumGradients();
  }

  /// Adds each gradient to a new state parameter WEIGHT.gradients, which
  /// thereby holds the sum over all steps. `pcc verify` compares these sums.
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

  /// Moves the gradients from the results of @main to `gradients`. A weight has
  /// one gradient per use. The gradient of each use is first accumulated over
  /// the microbatches. Then the totals of all uses are added. If the uses lie
  /// on several pipeline stages, as with tied weights, only these totals are
  /// sent between stages.
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
    builder.setLocation(model.getLoc());
  }

  /// Creates a parameter for optimizer state, with initial value 0, before
  /// @main. If the module already uses `name`, the parameter gets a similar,
  /// unused name.
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

  /// Builds the write of `next` to `parameter`. With a loss scale, the write
  /// keeps the parameter's old value `before` if a gradient of the step is not
  /// finite.
  void write(StringRef parameter, Value next, Value before) {
    if (isFinite)
      next = builder.select(isFinite, next, before);
    builder.makeOp<graph::SetParameterOp>(parameter, next);
  }

  /// Builds the learning rate of this step and stores it in `rate`. Also sets
  /// `done`, the step's number counted from 0, and `step`, counted from 1.
  /// Returns the value to be stored in the step counter.
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

  /// Rounds the squares of a gradient so that their sum is the same in any
  /// order: all squares become multiples of one power of two, and every partial
  /// sum is exact. The power of two depends only on the largest square and the
  /// number n of elements. The sum's error is at most n² / 2^52 times the
  /// largest square.
  ///
  /// The method is that of Demmel and Nguyen (Fast reproducible floating-point
  /// summation, ARITH 2013) with one bin.
  Value roundedAlike(Value squares) {
    auto type = graph::tensorType(squares);
    Value largest =
        builder.reduce(graph::ReduceKind::Max, squares,
                       llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
    Value shift = builder.mul(
        largest,
        2 * static_cast<double>(std::max<int64_t>(type.getNumElements(), 1)));
    return builder.sub(builder.add(squares, shift), shift);
  }

  /// Builds the global norm: the square root of the sum of the squares of all
  /// gradients. The sum is computed in f64, and the norm is then rounded to f32
  /// (unless a gradient is f64). Therefore the order of additions, which
  /// depends on the sharding, hardly ever changes the norm. With --reproducible
  /// it never does.
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

  /// Returns the type of the norm: f64 if any gradient is f64, otherwise f32.
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

  /// Returns the coefficient of weight decay for the weight `name`; 0 if the
  /// weight does not decay. Without --decay, weights of at least two dims
  /// decay, but biases and scales do not.
  double decayOf(StringRef name, RankedTensorType type) const {
    const bool decays = request.list("decay").empty()
                            ? type.getRank() >= 2
                            : request.matches("decay", name);
    return decays ? request.number("weight_decay", optimizer.defaultDecay) : 0;
  }

  /// Builds the update of the weight `name` by `gradient`. Each optimizer state
  /// of the weight becomes a parameter, such as WEIGHT.exp_avg for the first
  /// moment of Adam.
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
  /// Number of earlier steps that have changed the weights, which is the value
  /// of the parameter `pcc.step`.
  Value done;
  /// Boolean scalar: whether all gradients of this step are finite. Null
  /// without a loss scale.
  Value isFinite;
  /// Gradient of the whole step for each trained weight, by the weight's name.
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
    // The pass `differentiate` has already rejected an invalid --loss-scale, so
    // the result is no error.
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
