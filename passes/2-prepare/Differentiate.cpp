//===- Differentiate.cpp - reverse-mode gradients of the loss -------------===//

#include "dialects/graph/gradients/Differentiate.h"
#include "dialects/diagnostics/EmitStatus.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/FusedAttention.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/StepParts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/2-prepare/Passes.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "passes/2-prepare/training/ArithmeticBuilder.h"
#include "passes/2-prepare/training/LossScale.h"
#include "passes/2-prepare/training/TrainingRequest.h"
#include "runtime/base/QuantityText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "differentiate"

namespace pcc::prepare {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "passes/2-prepare/Passes.h.inc"
} // namespace pcc::prepare

using namespace mlir;
using namespace pcc;
using namespace pcc::prepare;
using graph::GetParameterOp;

/// Returns whether `op` is a transpose, a reshape, a slice or a cast. The
/// result of these ops holds the elements of the operand, in another order,
/// shape or type. The result of a slice holds only some elements.
static bool isView(Operation *op) {
  return op->hasTrait<graph::IsView>() || isa<graph::CastOp>(op);
}

/// Clones the transposes, reshapes, slices and casts of a weight, so that each
/// of these ops has at most one use. `maker` is the op that reads the weight,
/// or one of these ops.
static void separateUses(Operation *maker) {
  for (Operation *user : llvm::to_vector(maker->getUsers())) {
    if (!isView(user))
      continue;
    auto uses = llvm::map_to_vector(user->getUses(),
                                    [](OpOperand &use) { return &use; });
    for (OpOperand *use : llvm::drop_begin(uses)) {
      OpBuilder builder(user);
      builder.setInsertionPointAfter(user);
      use->set(builder.clone(*user)->getResult(0));
    }
  }
  for (Operation *user : llvm::to_vector(maker->getUsers()))
    if (isView(user))
      separateUses(user);
}

namespace {
/// Finds the ops in @main that read trained weights. Each of these ops is a
/// `graph.get_parameter`, and its result is the value of a weight. The
/// constructor changes @main so that each of these results is used as an
/// operand at most once: every use after the first gets a clone of the
/// `graph.get_parameter`. The pass then builds a separate gradient for each
/// use.
class TrainedReads {
public:
  TrainedReads(ModuleOp module, func::FuncOp model,
               const TrainingRequest &request)
      : module(module), model(model) {
    const bool hasTrainingInfo = graph::isTraining(model.front());
    for (auto parameter : module.getOps<graph::ParameterOp>())
      if (hasTrainingInfo ? isAskedFor(parameter) : request.trains(parameter))
        trained[parameter.getSymName()] = parameter;
    for (auto get : llvm::to_vector(model.getOps<GetParameterOp>()))
      if (trained.contains(get.getParameter()))
        separate(get);
  }

  /// Returns the values of the trained weights, one value for each use as an
  /// operand. Each value is the result of a separate `graph.get_parameter`.
  ArrayRef<Value> values() const { return reads; }

private:
  /// Returns whether the ONNX model itself uses the gradient of `parameter`. A
  /// model with ONNX TrainingInfo contains the update of its weights, which
  /// uses gradients. For each such gradient, phase 1-import has created a
  /// placeholder, the op `graph.loss_gradient`. The function searches for the
  /// placeholder that belongs to `parameter`.
  bool isAskedFor(graph::ParameterOp parameter) {
    for (auto op : model.getOps<graph::LossGradientOp>())
      if (auto name =
              op->getAttrOfType<FlatSymbolRefAttr>(graph::gradientOfName);
          name && name.getValue() == parameter.getSymName())
        return true;
    return false;
  }

  /// Clones `get`, a read of a weight, so that each read has one use. Appends
  /// the results of `get` and of the clones to `reads`. A clone gets the
  /// location, and thus the node name, of the op that uses it.
  void separate(GetParameterOp get) {
    separateUses(get);
    auto uses =
        llvm::map_to_vector(get->getUses(), [](OpOperand &u) { return &u; });
    for (auto [i, use] : llvm::enumerate(llvm::reverse(uses))) {
      Operation *own = get;
      if (i > 0) {
        OpBuilder builder(get);
        builder.setInsertionPointAfter(get);
        own = builder.clone(*get);
        own->setLoc(use->getOwner()->getLoc());
        use->set(own->getResult(0));
      }
      reads.push_back(own->getResult(0));
    }
  }

  ModuleOp module;
  func::FuncOp model;
  llvm::StringMap<graph::ParameterOp> trained;
  SmallVector<Value> reads;
};

/// Pass `--differentiate`: adds the gradients of the loss with respect to the
/// trained weights to @main.
struct Differentiate : pcc::prepare::impl::DifferentiateBase<Differentiate> {
  void runOnOperation() override {
    auto request = TrainingRequest::of(getOperation());
    auto model = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!request || !model)
      return;
    TrainedReads reads(getOperation(), model, *request);
    Operation *terminator = model.front().getTerminator();
    ArithmeticBuilder builder(terminator, locationOf("loss", model.getLoc()));
    Value loss = terminator->getOperand(0);
    Value seed = builder.make<graph::LossGradientOp>(loss.getType());
    auto scale = LossScale::of(getOperation());
    if (!scale) {
      emitStatus(getOperation(),
                 scale.status().prefixed("invalid --loss-scale '" +
                                         request->text("loss_scale").str() +
                                         "': "));
      return signalPassFailure();
    }
    if (*scale)
      seed = scaled(builder, seed, **scale, loss.getDefiningOp());
    auto gradients = graph::differentiate(
        loss, seed, reads.values(), terminator,
        [&](Operation *op, Operation *made) { note(op, made); },
        [&](Operation *op) { return hasKernel(op); });
    if (failed(gradients))
      return signalPassFailure();
    if (failed(addResults(model, reads.values(), *gradients)))
      return signalPassFailure();
  }

  /// Returns whether fused CUDA kernels, as in FlashAttention, can compute the
  /// gradient of `op`. If true, and if the attention mask needs no gradient,
  /// graph::differentiate() builds fused gradient ops. Otherwise, it builds
  /// matmuls and element-wise ops.
  bool hasKernel(Operation *op) {
    auto attention = dyn_cast<graph::AttentionOpInterface>(op);
    return attention && dist::targetOf(getOperation()) == "cuda" &&
           graph::fitsFusedKernel(attention);
  }

  /// Returns the product of `seed` and the loss scale. `seed` is the gradient
  /// of the loss with respect to itself. Records that the product belongs to
  /// `loss`, the op that computes the loss. `loss` is null if the loss is an
  /// input of @main.
  Value scaled(ArithmeticBuilder &builder, Value seed, const LossScale &scale,
               Operation *loss) {
    Value factor =
        builder.cast(scale.build(builder, getOperation()), elementTypeOf(seed));
    Value product = builder.mul(seed, factor);
    if (loss)
      note(loss, product.getDefiningOp());
    return product;
  }

  /// Records that `made` is a backward op of the forward op `op`. Gives both
  /// ops the same number. In `op`, the number is the attribute `graph.number`.
  /// In `made`, it is the attribute `graph.mirrors`. All backward ops of one
  /// forward op have the same number.
  void note(Operation *op, Operation *made) {
    Attribute number = op->getAttr(graph::numberName);
    if (!number) {
      number = Builder(op->getContext()).getI64IntegerAttr(numNumbered++);
      op->setAttr(graph::numberName, number);
    }
    made->setAttr(graph::mirrorsName, number);
    ++numOps;
  }

  /// Makes @main return the loss and then each gradient that is not null.
  /// `gradients[i]` belongs to the weight value `reads[i]`, and null means 0.
  /// Sets `graph.gradient_of` on the results and `trained` on the parameters.
  /// Emits an error if all gradients are null.
  LogicalResult addResults(func::FuncOp model, ArrayRef<Value> reads,
                           ArrayRef<Value> gradients) {
    SymbolTable symbols(getOperation());
    SmallVector<Value> results{model.front().getTerminator()->getOperand(0)};
    SmallVector<DictionaryAttr> attributes{
        DictionaryAttr::get(&getContext(), model.getResultAttrs(0))};
    for (auto [read, gradient] : llvm::zip_equal(reads, gradients)) {
      if (!gradient)
        continue;
      auto name = read.getDefiningOp<GetParameterOp>().getParameterAttr();
      auto parameter = symbols.lookup<graph::ParameterOp>(name.getAttr());
      numTrained += trained.insert(parameter).second;
      parameter.setTrained(true);
      results.push_back(gradient);
      attributes.push_back(onlyAttr(graph::gradientOfName, name));
    }
    if (results.size() == 1)
      return emitError(UnknownLoc::get(&getContext()))
                 << "the loss does not depend on any weight that trains",
             failure();
    model.front().getTerminator()->setOperands(results);
    model.setType(FunctionType::get(&getContext(),
                                    model.front().getArgumentTypes(),
                                    ValueRange(results).getTypes()));
    model.setAllResultAttrs(attributes);
    noteTrained(model);
    return success();
  }

  /// Returns the names of the parameters that the model's own update (ONNX
  /// TrainingInfo) writes without their gradient: the states of its optimizer.
  static llvm::StringSet<> statesOf(func::FuncOp model) {
    llvm::StringSet<> states;
    for (auto set : model.getOps<graph::SetParameterOp>())
      states.insert(set.getParameter());
    for (auto op : model.getOps<graph::LossGradientOp>())
      if (auto name =
              op->getAttrOfType<FlatSymbolRefAttr>(graph::gradientOfName))
        states.erase(name.getValue());
    return states;
  }

  /// Emits a remark about the trained weights of `model`. It names the few that
  /// train, or the few that do not.
  void noteTrained(func::FuncOp model) {
    SmallVector<std::string> names, others;
    int64_t elements = 0;
    const llvm::StringSet<> states = statesOf(model);
    for (auto parameter : getOperation().getOps<graph::ParameterOp>()) {
      auto type = cast<RankedTensorType>(parameter.getType());
      if (trained.contains(parameter))
        elements += type.getNumElements();
      else if (!isa<FloatType>(type.getElementType()) ||
               states.contains(parameter.getSymName()))
        continue;
      (trained.contains(parameter) ? names : others)
          .push_back(parameter.getSymName().str());
    }
    const auto count = static_cast<int64_t>(names.size() + others.size());
    emitRemark(UnknownLoc::get(&getContext()))
        << "trains "
        << (others.empty() ? "all " : std::to_string(names.size()) + " of ")
        << runtime::countText(count, "weight") << " ("
        << runtime::countText(elements, "parameter") << ")"
        << whichTrain(names, others);
  }

  /// Returns which weights train, for the end of a remark; empty if all do.
  static std::string whichTrain(ArrayRef<std::string> names,
                                ArrayRef<std::string> others) {
    constexpr size_t mostNamed = 4;
    if (others.empty())
      return "";
    if (names.size() <= mostNamed)
      return ": " + llvm::join(names, ", ");
    if (others.size() <= mostNamed)
      return ", all but " + llvm::join(others, ", ");
    return ": " + llvm::join(names.take_front(mostNamed), ", ") + " and " +
           std::to_string(names.size() - mostNamed) +
           " more; --stop-after 2 -o - shows them as 'trained'";
  }

  /// Number for the next forward op that gets a number. A forward op is an op
  /// of the model, and a backward op is an op that the pass creates to compute
  /// gradients. When the pass creates the first backward op of a forward op, it
  /// stores a new number in the attribute `graph.number` of the forward op. The
  /// numbers are 0, 1, 2, …. All backward ops of the forward op have the number
  /// of the forward op in the attribute `graph.mirrors`.
  int64_t numNumbered = 0;
  /// Set of `graph.parameter` ops. Each op declares a weight for which the pass
  /// has computed a gradient.
  llvm::SmallPtrSet<Operation *, 16> trained;
};
} // namespace
