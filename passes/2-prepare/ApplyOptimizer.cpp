//===- ApplyOptimizer.cpp - make new weights of gradients -----------------===//

#include "dialects/graph/StepCounter.h"
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
/// Builds the update of all weights in front of the terminator.
class Updater {
public:
  Updater(func::FuncOp model, const TrainingRequest &request,
          const Optimizer &optimizer, const LearningRateSchedule &schedule,
          std::optional<LossScale> lossScale)
      : model(model), module(model->getParentOfType<ModuleOp>()),
        request(request), optimizer(optimizer), schedule(schedule),
        lossScale(lossScale), symbols(module),
        builder(model.front().getTerminator(), model.getLoc()) {}

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

  /// The same for a model that spells its update out.
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

  size_t numUpdated() const { return gradients.size(); }

private:
  void markFor(StringAttr weight) {
    builder.setMark(graph::updatesName, FlatSymbolRefAttr::get(weight));
  }
  void markForAll() { builder.setMark({}, {}); }

  /// A write of the model's own, which no read may follow.
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

  void findFinite(Value norm) {
    if (lossScale)
      isFinite = builder.compare(graph::Predicate::Less, norm,
                                 builder.scalarLike(norm, HUGE_VAL));
  }

  void addScale(SmallVectorImpl<std::pair<StringRef, Value>> &metrics) {
    if (!lossScale)
      return;
    // The state itself is another one as soon as it is written.
    metrics.push_back(
        {"loss_scale", builder.cast(lossScale->build(builder, module),
                                    builder.getF64Type())});
    lossScale->update(builder, module, isFinite);
  }

  void takeGradients() {
    collectGradients();
    if (lossScale)
      unscale();
    if (request.sumsGradients())
      sumGradients();
  }

  /// Keeps what a verification compares, as an optimizer keeps its state.
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

  /// Each use of a weight accumulates by itself, wherever stages are cut.
  void collectGradients() {
    Operation *terminator = model.front().getTerminator();
    loss = builder.make<graph::AccumulateOp>(terminator->getOperand(0));
    for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
      auto of = model.getResultAttrOfType<FlatSymbolRefAttr>(i, gradientOfName);
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

  /// A parameter for what is kept of a weight between steps, in front of the
  /// model.
  graph::ParameterOp makeState(const Twine &name, RankedTensorType type) {
    OpBuilder atTop(model);
    auto parameter = graph::ParameterOp::create(
        atTop, builder.getUnknownLoc(), builder.getStringAttr(name), type);
    parameter.setFillAttr(builder.getF64FloatAttr(0));
    symbols.insert(parameter);
    return parameter;
  }

  /// What gradients would be if the loss had not been scaled.
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

  /// Gives a parameter its next value, unless the step does not count.
  void write(StringRef parameter, Value next, Value before) {
    if (isFinite)
      next = builder.select(isFinite, next, before);
    builder.makeOp<graph::SetParameterOp>(parameter, next);
  }

  /// Returns the number of steps after this one.
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

  /// `squares`, none of which is negative, rounded to multiples of one number
  /// that depends on the largest only, and is so large that no sum of them is
  /// rounded: in any order they sum to the same. (Demmel and Nguyen, Fast
  /// reproducible floating-point summation, ARITH 2013, with one bin.) Of n
  /// squares the sum is off by at most n² / 2^52 of the largest.
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

  /// sqrt(sum of the squares of all gradients), in the order of weights. It is
  /// summed in f64 and then rounded to f32: layouts that split the sum in other
  /// places agree but for bad luck, and with --reproducible always.
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

  /// f64 if a weight is.
  Type normType() {
    const bool isWide = llvm::any_of(gradients, [](const auto &named) {
      return elementTypeOf(named.second).isF64();
    });
    return isWide ? builder.getF64Type() : Type(builder.getF32Type());
  }

  /// What gradients are multiplied by; null if their norm has no limit.
  Value buildClipping(Value norm) {
    auto limit = request.number("clip_norm");
    if (!limit)
      return {};
    Value factor =
        builder.div(builder.scalarLike(norm, *limit), builder.add(norm, 1e-6));
    return builder.make<graph::MinOp>(factor, builder.scalarLike(factor, 1));
  }

  Value clipped(StringAttr name, Value gradient, Value factor) {
    markFor(name);
    return builder.mul(gradient, builder.cast(factor, elementTypeOf(gradient)));
  }

  double decayOf(StringRef name, RankedTensorType type) const {
    const bool decays = request.list("decay").empty()
                            ? type.getRank() >= 2
                            : request.matches("decay", name);
    return decays ? request.number("weight_decay", optimizer.defaultDecay) : 0;
  }

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

  void returnMetrics(ArrayRef<std::pair<StringRef, Value>> metrics) {
    SmallVector<Value> values;
    SmallVector<DictionaryAttr> attributes;
    for (auto [name, value] : metrics) {
      values.push_back(value);
      attributes.push_back(onlyAttr(nameName, builder.getStringAttr(name)));
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
  Value loss, rate, step;
  /// The number of steps before this one.
  Value done;
  /// Whether all gradients are finite; null if they are taken as they are.
  Value isFinite;
  llvm::MapVector<StringAttr, Value> gradients;
};

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
    std::string error;
    StringRef text = request->text("lr_schedule");
    auto schedule =
        parseLearningRateSchedule(text.empty() ? "constant" : text, error);
    if (!schedule) {
      getOperation().emitError()
          << "cannot follow --lr-schedule '" << text << "': " << error;
      return signalPassFailure();
    }
    // What is wrong with it, `differentiate` has said.
    auto lossScale = LossScale::of(getOperation(), error);
    const bool hasTrainingInfo = graph::isTraining(model.front());
    Updater updater(model, *request, *optimizer, *schedule, lossScale);
    hasTrainingInfo ? updater.runTrainingInfoUpdate() : updater.run();
    numUpdated += updater.numUpdated();
    if (failed(foldAll(model)))
      return signalPassFailure();
  }
};
} // namespace
