//===- SetPrecision.cpp - mixed precision in f32, bf16 or f16 -------------===//

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/TensorBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/2-prepare/Passes.h"
#include "passes/2-prepare/match/Pins.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "passes/2-prepare/training/TrainingRequest.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "set-precision"

namespace pcc::prepare {
#define GEN_PASS_DEF_SETPRECISION
#include "passes/2-prepare/Passes.h.inc"
} // namespace pcc::prepare

using namespace mlir;
using namespace pcc;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Returns whether `op` is a contraction, which computes in the asked type.
static bool isContraction(Operation *op) {
  return isa<MatmulOp, EinsumOp, ConvOp, ConvTransposeOp, AttentionOp>(op);
}

/// Returns whether `op` must compute in f32 at least: a function that amplifies
/// relative errors or leaves the range of f16, or a sum of many terms. Norms
/// and softmax are not included, because they accumulate in f32 internally.
static bool needsWide(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() != ReduceKind::Max &&
           reduce.getKind() != ReduceKind::Min;
  return isa<ExpOp, LogOp, SqrtOp, ReciprocalOp, PowOp, SoftplusOp, SinOp,
             CosOp, TanOp, AsinOp, AcosOp, SinhOp, CoshOp, AcoshOp, AtanhOp,
             CumSumOp>(op);
}

static bool isNorm(Operation *op) { return isa<LayerNormOp, RmsNormOp>(op); }

/// Returns the float element type of `value`; null if it has none.
static FloatType floatTypeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? dyn_cast<FloatType>(type.getElementType()) : FloatType();
}

namespace {
/// Classes of float values, by their origin. Among the operands of an op, the
/// class that is listed last determines how the op computes.
enum class Precision : uint8_t {
  Known,  ///< depends on positions, constants and buffers; the model's type
  Stored, ///< depends on inputs or weights, not on Narrow; the model's type
  Narrow, ///< computed in the asked type
  Wide,   ///< computed in f32
};

/// Creates casts of values, directly after their definition and once per value
/// and type. Casts of constants are folded where that is exact.
class Casts {
public:
  /// `narrow` is the asked type.
  explicit Casts(FloatType narrow) : narrow(narrow) {}

  /// Returns `value` in element type `type`; `value` itself if it has that
  /// type.
  Value of(Value value, FloatType type) {
    if (floatTypeOf(value) == type)
      return value;
    Value &cast = known[{value, type}];
    if (!cast)
      cast = make(value, type);
    return cast;
  }

  /// Returns whether `value` is a scalar constant that the narrow type cannot
  /// represent exactly.
  bool isInexact(Value value) const {
    auto constant = value.getDefiningOp<ConstantOp>();
    return constant && tensorType(value).getNumElements() == 1 &&
           floatTypeOf(value) && !exactly(constant, narrow);
  }

  /// Records whether the results of `op` depend on constants with infinities,
  /// or with finite numbers beyond the range of the narrow type.
  void noteRange(Operation *op) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      return noteConstant(constant);
    for (Value operand : op->getOperands())
      for (auto *values : {&beyond, &infinite})
        if (values->contains(operand))
          values->insert_range(op->getResults());
  }

private:
  /// Implements noteRange for a constant.
  void noteConstant(ConstantOp constant) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense || !isa<FloatType>(dense.getElementType()))
      return;
    for (const APFloat &number : dense.getValues<APFloat>())
      if (number.isInfinity())
        infinite.insert(constant);
      else if (bool rounds; converted(number, narrow, rounds).isInfinity())
        beyond.insert(constant);
  }

  /// Returns `number` rounded to `type`. Sets `rounds` to whether that loses
  /// information.
  static APFloat converted(APFloat number, FloatType type, bool &rounds) {
    number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &rounds);
    return number;
  }

  /// Creates the cast of `value` to `type`.
  Value make(Value value, FloatType type) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    if (auto constant = value.getDefiningOp<ConstantOp>())
      if (DenseElementsAttr same = exactly(constant, type))
        return ConstantOp::create(builder, value.getLoc(), same.getType(),
                                  same);
    // An additive mask of huge finite numbers, such as -1e30, must not become
    // one of infinities: softmax of a row that is masked entirely would give
    // NaN.
    if (beyond.contains(value) && !infinite.contains(value))
      value = clamped(builder, value, type);
    return CastOp::create(builder, value.getLoc(),
                          tensorType(value).clone(type), value);
  }

  /// Builds `value` clamped to the finite range of `type`.
  static Value clamped(OpBuilder &builder, Value value, FloatType type) {
    double most =
        APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
    auto limit = [&](double number) {
      return makeScalar(builder, value.getLoc(), floatTypeOf(value), number);
    };
    value = MaxOp::create(builder, value.getLoc(), value, limit(-most));
    return MinOp::create(builder, value.getLoc(), value, limit(most));
  }

  /// Returns the elements of `constant` in `type`. Finite numbers beyond the
  /// range of `type` are clamped. Returns null if any other number would be
  /// rounded.
  static DenseElementsAttr exactly(ConstantOp constant, FloatType type) {
    auto dense = dyn_cast<DenseFPElementsAttr>(constant.getValue());
    if (!dense)
      return {};
    bool isExact = true;
    DenseElementsAttr same = dense.mapValues(type, [&](const APFloat &number) {
      bool rounds;
      APFloat result = converted(number, type, rounds);
      if (result.isInfinity() && !number.isInfinity())
        result =
            APFloat::getLargest(type.getFloatSemantics(), number.isNegative());
      else
        isExact &= !rounds;
      return result.bitcastToAPInt();
    });
    return isExact ? same : DenseElementsAttr();
  }

  FloatType narrow;
  /// Casts created so far, by value and type.
  DenseMap<std::pair<Value, Type>, Value> known;
  /// Values that depend on constants with finite numbers beyond the range of
  /// `narrow`, and values that depend on constants with infinities.
  DenseSet<Value> beyond, infinite;
};

/// Sets the float types of all values of a model for mixed-precision
/// computation (Micikevicius et al. 2018). One traversal in program order
/// classifies each value by its operands:
///  - A contraction computes in the asked type, unless all its operands are
///    Known.
///  - An op with a Narrow or Wide operand computes in f32 if it needs f32
///    (needsWide), if an operand is Wide, or if no contraction depends on it,
///    as in a loss or at the end of a model. Otherwise it computes in the asked
///    type.
///  - An op on inputs, weights, masks and positions keeps the model's type.
/// An example with asked type bf16:
///
///   ids, table -> gather   Stored    f32
///   layer_norm             Stored    f32
///   matmul                 Narrow    bf16, of casts of both operands
///   gelu, add, softmax     Narrow    bf16
///   exp, reduce sum        Wide      f32, also for ops on their results
///   matmul                 Narrow    bf16
///   log_softmax, …, loss   Wide      f32
class PrecisionSetter {
public:
  PrecisionSetter(ModuleOp module, func::FuncOp model, FloatType asked)
      : body(model.front()), symbols(module),
        request(TrainingRequest::of(module)), asked(asked),
        wide(Float32Type::get(module.getContext())), casts(asked) {}

  /// Converts the whole function.
  void run() {
    findLeading();
    for (BlockArgument input : body.getArguments())
      readInput(input);
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
      visit(&op);
    castOutputs();
    convertCastWeights();
  }

  /// Statistics of the pass.
  int64_t numNarrow = 0, numWide = 0;

private:
  Precision of(Value value) const { return precisions.lookup(value); }

  /// Finds the ops that a contraction depends on, users before producers.
  void findLeading() {
    for (Operation &op : llvm::reverse(body.without_terminator()))
      if (isContraction(&op) ||
          llvm::any_of(op.getUsers(),
                       [&](Operation *user) { return leading.contains(user); }))
        leading.insert(&op);
  }

  /// Classifies an input. An input narrower than the asked type is cast to it.
  void readInput(BlockArgument input) {
    FloatType type = floatTypeOf(input);
    if (!type)
      return;
    precisions[input] = Precision::Stored;
    if (type.getWidth() >= asked.getWidth())
      return;
    Value whole = casts.of(input, asked);
    precisions[whole] = Precision::Narrow;
    input.replaceAllUsesExcept(whole, whole.getDefiningOp());
  }

  /// Classifies `op`, casts its operands and sets the types of its results.
  /// Only the first operand of a norm counts; scale and bias keep their types.
  void visit(Operation *op) {
    if (auto get = dyn_cast<GetParameterOp>(op))
      return readWeight(get);
    if (auto cast = dyn_cast<CastOp>(op);
        cast && floatTypeOf(cast.getInput()) && floatTypeOf(cast))
      return visitCast(cast);
    auto inputs =
        op->getOpOperands().take_front(isNorm(op) ? 1 : op->getNumOperands());
    Precision highest = Precision::Known;
    for (OpOperand &operand : inputs)
      if (floatTypeOf(operand.get()))
        highest = std::max(highest, of(operand.get()));
    const bool isAsIs = highest == Precision::Known ||
                        (highest == Precision::Stored && !isContraction(op));
    if (isAsIs) {
      widen(op, inputs);
      return setResults(op, highest);
    }
    const bool isWide =
        !isContraction(op) &&
        (highest == Precision::Wide || needsWide(op) || !leading.contains(op) ||
         llvm::any_of(op->getOperands(),
                      [&](Value operand) { return casts.isInexact(operand); }));
    const bool staysNarrow = isWide && roundsResult(op);
    for (OpOperand &operand : inputs)
      if (floatTypeOf(operand.get()))
        operand.set(casts.of(operand.get(), isWide ? wide : asked));
    setResults(op, isWide ? Precision::Wide : Precision::Narrow);
    if (staysNarrow)
      round(op);
  }

  /// Converts an op that keeps the model's type, and its other operands, to f32
  /// if an operand depends on a weight that readWeight has widened.
  void widen(Operation *op, MutableArrayRef<OpOperand> inputs) {
    auto isWidened = [&](OpOperand &operand) {
      return widened.contains(operand.get());
    };
    if (llvm::none_of(inputs, isWidened))
      return;
    for (OpOperand &operand : inputs)
      if (floatTypeOf(operand.get()))
        operand.set(casts.of(operand.get(), wide));
    for (Value result : op->getResults())
      if (floatTypeOf(result)) {
        result.setType(tensorType(result).clone(wide));
        widened.insert(result);
      }
  }

  /// Returns whether the result of an op that computes in f32 should be rounded
  /// to the asked type: whether an operand of the result's size is Narrow. The
  /// Wide operands are then statistics, as in x minus its mean.
  bool roundsResult(Operation *op) const {
    if (needsWide(op) || !leading.contains(op) || op->getNumResults() != 1)
      return false;
    const int64_t count = tensorType(op->getResult(0)).getNumElements();
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return of(operand) == Precision::Narrow &&
             tensorType(operand).getNumElements() == count;
    });
  }

  /// Replaces the result of `op` by its cast to the asked type, which takes
  /// over the name.
  void round(Operation *op) {
    Value result = op->getResult(0);
    if (!floatTypeOf(result))
      return;
    Value narrow = casts.of(result, asked);
    precisions[narrow] = Precision::Narrow;
    if (narrow == result)
      return;
    if (Attribute name = op->removeAttr(graph::nameName))
      narrow.getDefiningOp()->setAttr(graph::nameName, name);
    result.replaceAllUsesExcept(narrow, narrow.getDefiningOp());
  }

  /// Sets the class of the float results of `op`, and their types if the class
  /// is Narrow or Wide.
  void setResults(Operation *op, Precision precision) {
    if (precision < Precision::Narrow)
      casts.noteRange(op);
    for (Value result : op->getResults()) {
      if (!floatTypeOf(result))
        continue;
      precisions[result] = precision;
      if (precision < Precision::Narrow)
        continue;
      const bool isWide = precision == Precision::Wide;
      ++(isWide ? numWide : numNarrow);
      result.setType(tensorType(result).clone(isWide ? wide : asked));
    }
  }

  /// Replaces a cast of the model between float types. A cast to f32 or wider
  /// is taken as a request for f32, and any other cast as one for the asked
  /// type. Casts of Known and Stored values are kept.
  void visitCast(CastOp op) {
    const Precision from = of(op.getInput());
    if (from < Precision::Narrow)
      return setResults(op, from);
    const bool isWide = floatTypeOf(op).getWidth() >= wide.getWidth() &&
                        asked.getWidth() < wide.getWidth();
    Value same = casts.of(op.getInput(), isWide ? wide : asked);
    const Precision to = isWide ? Precision::Wide : Precision::Narrow;
    precisions[same] = to;
    if (!op->hasAttr(graph::pinnedName)) {
      op.replaceAllUsesWith(same);
      op.erase();
      return;
    }
    op.getInputMutable().assign(same);
    setResults(op, to);
  }

  //===--------------------------------------------------------------------===//
  // Weights
  //===--------------------------------------------------------------------===//

  /// Chooses the type in which a weight is stored. Buffers keep their type.
  /// Trained weights are stored in f32 at least (master weights). Other weights
  /// of at least two dims are converted to the asked type when they are loaded.
  /// Vectors, such as scales and biases, are decided by convertCastWeights.
  void readWeight(GetParameterOp get) {
    auto parameter = symbols.lookup<ParameterOp>(get.getParameter());
    FloatType type = floatTypeOf(get);
    if (!type)
      return;
    Precision precision = Precision::Stored;
    if (parameter.getBuffer()) {
      precision = Precision::Known;
    } else if (request && request->trains(parameter)) {
      if (type.getWidth() < wide.getWidth()) {
        convert(parameter, wide);
        widened.insert(get.getResult());
      }
    } else if (tensorType(get).getRank() > 1) {
      convert(parameter, asked);
      precision = Precision::Narrow;
    } else {
      vectors[parameter].push_back(get);
    }
    get.getResult().setType(cast<RankedTensorType>(parameter.getType()));
    precisions[get.getResult()] = precision;
  }

  /// Changes the stored type of a parameter. The weight reference gets a
  /// conversion that the loader applies.
  static void convert(ParameterOp parameter, FloatType type) {
    auto old = cast<RankedTensorType>(parameter.getType());
    if (old.getElementType() == type)
      return;
    MLIRContext *context = parameter.getContext();
    WeightAttr weight = parameter.getWeightAttr();
    if (!weight)
      weight = WeightAttr::get(context, StringAttr::get(context, ""),
                               /*offset=*/0, /*length=*/0, old, {});
    parameter.setWeightAttr(
        weight.withTransform(ConvertAttr::get(context, type)));
    parameter.setType(old.clone(type));
  }

  /// Returns whether all users of a weight cast it to the asked type.
  bool isCast(GetParameterOp get) const {
    return llvm::all_of(get->getUsers(), [&](Operation *user) {
      return isa<CastOp>(user) && floatTypeOf(user->getResult(0)) == asked;
    });
  }

  /// Converts each vector that is only used in the asked type to that type when
  /// it is loaded, and removes its casts.
  void convertCastWeights() {
    for (auto &[parameter, gets] : vectors) {
      if (!llvm::all_of(gets, [&](GetParameterOp get) { return isCast(get); }))
        continue;
      convert(parameter, asked);
      for (GetParameterOp get : gets) {
        get.getResult().setType(cast<RankedTensorType>(parameter.getType()));
        for (Operation *user : llvm::to_vector(get->getUsers())) {
          user->getResult(0).replaceAllUsesWith(get.getResult());
          user->erase();
        }
      }
    }
  }

  /// Casts the results to the types that the function declares.
  void castOutputs() {
    auto model = cast<func::FuncOp>(body.getParentOp());
    for (auto [operand, type] : llvm::zip_equal(
             body.getTerminator()->getOpOperands(), model.getResultTypes()))
      if (floatTypeOf(operand.get()))
        operand.set(casts.of(
            operand.get(),
            cast<FloatType>(cast<RankedTensorType>(type).getElementType())));
  }

  Block &body;
  SymbolTable symbols;
  std::optional<TrainingRequest> request;
  FloatType asked, wide;
  Casts casts;
  /// Classes of the values visited so far; a missing value is Known.
  DenseMap<Value, Precision> precisions;
  /// Contractions, and all ops that a contraction depends on.
  DenseSet<Operation *> leading;
  /// Weights that readWeight has widened to f32, and values that depend on them
  /// and keep the class Stored.
  DenseSet<Value> widened;
  /// Untrained weights of at most one dim, with the ops that read each.
  llvm::MapVector<ParameterOp, SmallVector<GetParameterOp>> vectors;
};

/// Implements `--set-precision`.
struct SetPrecision : pcc::prepare::impl::SetPrecisionBase<SetPrecision> {
  void runOnOperation() override {
    auto asked = getOperation()->getAttrOfType<TypeAttr>(graph::precisionName);
    auto model = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!asked || !model)
      return;
    Type type = asked.getValue();
    if (!type.isF32() && !type.isBF16() && !type.isF16()) {
      getOperation().emitError()
          << "cannot compute in " << type << "; f32, bf16 and f16 are known";
      return signalPassFailure();
    }
    Pins pins(model);
    PrecisionSetter setter(getOperation(), model, cast<FloatType>(type));
    setter.run();
    numNarrow += setter.numNarrow;
    numWide += setter.numWide;
    LDBG() << numNarrow.getValue() << " values of " << type << ", "
           << numWide.getValue() << " of f32";
  }
};
} // namespace
