//===- ApplyOptimizer.cpp - make new weights of gradients -----------------===//

#include "dialects/graph/StepParts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/2-prepare/LearningRate.h"
#include "passes/2-prepare/Match.h"
#include "passes/2-prepare/Optimizers.h"
#include "passes/2-prepare/Passes.h"
#include "passes/2-prepare/Simplifications.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/DebugLog.h"

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
          const Optimizer &optimizer, const LearningRateSchedule &schedule)
      : model(model), request(request), optimizer(optimizer),
        schedule(schedule), symbols(model->getParentOfType<ModuleOp>()),
        builder(model.front().getTerminator(), model.getLoc()) {}

  void run() {
    collectGradients();
    buildRate();
    Value norm = buildNorm();
    Value factor = buildClipping(norm);
    for (auto &[name, gradient] : gradients)
      update(name, factor ? clipped(name, gradient, factor) : gradient);
    returnMetrics({{"loss", loss}, {"grad_norm", norm}, {"lr", rate}});
  }

  size_t numUpdated() const { return gradients.size(); }

private:
  void markFor(StringAttr weight) {
    builder.setMark(graph::updatesName, FlatSymbolRefAttr::get(weight));
  }
  void markForAll() { builder.setMark({}, {}); }

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

  /// A parameter for what is kept between steps, in front of the model.
  graph::ParameterOp makeState(const Twine &name, RankedTensorType type) {
    OpBuilder atTop(model);
    auto parameter = graph::ParameterOp::create(
        atTop, builder.getUnknownLoc(), builder.getStringAttr(name), type);
    parameter.setFillAttr(builder.getF64FloatAttr(0));
    symbols.insert(parameter);
    return parameter;
  }

  Value read(graph::ParameterOp parameter) {
    return builder.make<graph::GetParameterOp>(parameter.getType(),
                                               parameter.getSymName());
  }

  void buildRate() {
    auto counter =
        makeState("pcc.step", RankedTensorType::get({}, builder.getI64Type()));
    Value done = read(counter);
    Value next = builder.add(done, 1);
    builder.makeOp<graph::SetParameterOp>(counter.getSymName(), next);
    step = builder.cast(next, builder.getF64Type());
    const double full = request.number("lr", optimizer.defaultRate);
    Value share =
        buildShare(builder, builder.cast(done, builder.getF64Type()), schedule);
    rate = share ? builder.mul(share, full)
                 : builder.scalar(builder.getF64Type(), full);
  }

  /// sqrt(sum of the squares of all gradients), in the order of weights.
  Value buildNorm() {
    SmallVector<Value> squares;
    for (auto &[name, gradient] : gradients) {
      markFor(name);
      Value wide = builder.cast(gradient, wideType(gradient));
      squares.push_back(
          builder.reshape(builder.sum(builder.square(wide)), {1}));
    }
    markForAll();
    Value all =
        squares.size() == 1
            ? squares.front()
            : builder.make<graph::ConcatOp>(squares, static_cast<uint64_t>(0));
    return builder.sqrt(builder.sum(all));
  }

  Type wideType(Value value) {
    Type type = elementTypeOf(value);
    return type.getIntOrFloatBitWidth() < 32 ? builder.getF32Type() : type;
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
    in.weight = read(weight);
    in.gradient = gradient;
    in.rate = builder.cast(rate, type.getElementType());
    in.step = step;
    in.decay = decayOf(name, type);
    llvm::MapVector<StringRef, graph::ParameterOp> states;
    auto state = [&](StringRef kind) {
      auto parameter = makeState(name.getValue() + "." + kind, type);
      parameter.setStateOf(name.getValue());
      states[kind] = parameter;
      return read(parameter);
    };
    auto keep = [&](StringRef kind, Value value) {
      builder.makeOp<graph::SetParameterOp>(states[kind].getSymName(), value);
    };
    in.state = state;
    in.keep = keep;
    Value next = optimizer.update(builder, request, in);
    builder.makeOp<graph::SetParameterOp>(weight.getSymName(), next);
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
  const TrainingRequest &request;
  const Optimizer &optimizer;
  const LearningRateSchedule &schedule;
  SymbolTable symbols;
  StepBuilder builder;
  Value loss, rate, step;
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
    auto schedule = parseSchedule(text.empty() ? "constant" : text, error);
    if (!schedule) {
      getOperation().emitError()
          << "cannot follow --lr-schedule '" << text << "': " << error;
      return signalPassFailure();
    }
    Updater updater(model, *request, *optimizer, *schedule);
    updater.run();
    numUpdated += updater.numUpdated();
    if (failed(foldAll(model)))
      return signalPassFailure();
  }
};
} // namespace
