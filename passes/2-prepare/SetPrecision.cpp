//===- SetPrecision.cpp - compute in the float type that is asked for -----===//

#include "dialects/graph/TensorBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/2-prepare/Passes.h"
#include "passes/2-prepare/match/Pins.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "passes/2-prepare/training/Precision.h"
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

/// What the asked type is for.
static bool isContraction(Operation *op) {
  return isa<MatmulOp, EinsumOp, ConvOp, ConvTransposeOp, AttentionOp>(op);
}

/// Functions that make large errors of small ones, or large numbers of small
/// ones, and sums whose terms are many. (Norms and softmaxes see to that by
/// themselves.)
static bool needsWide(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() != ReduceKind::Max &&
           reduce.getKind() != ReduceKind::Min;
  return isa<ExpOp, LogOp, SqrtOp, ReciprocalOp, PowOp, SoftplusOp, SinOp,
             CosOp, TanOp, AsinOp, AcosOp, SinhOp, CoshOp, AcoshOp, AtanhOp,
             CumSumOp>(op);
}

static bool isNorm(Operation *op) { return isa<LayerNormOp, RmsNormOp>(op); }

static FloatType floatTypeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? dyn_cast<FloatType>(type.getElementType()) : FloatType();
}

namespace {
/// How exact a float is. Of the operands of an op the last one decides.
enum class Precision : uint8_t {
  Known,  ///< follows from positions, constants and buffers: the model's type
  Stored, ///< of inputs and weights before any contraction: the model's type
  Narrow, ///< the asked type
  Wide,   ///< f32
};

/// Makes casts behind the values that they are of, each one once.
class Casts {
public:
  explicit Casts(FloatType narrow) : narrow(narrow) {}

  /// `value` in `type`.
  Value of(Value value, FloatType type) {
    if (floatTypeOf(value) == type)
      return value;
    Value &cast = known[{value, type}];
    if (!cast)
      cast = make(value, type);
    return cast;
  }

  /// Whether the narrow type does not have the number that `value` is.
  bool isInexact(Value value) const {
    auto constant = value.getDefiningOp<ConstantOp>();
    return constant && tensorType(value).getNumElements() == 1 &&
           floatTypeOf(value) && !exactly(constant, narrow);
  }

  /// Remembers results that are made of finite numbers which the narrow type
  /// does not have.
  void noteRange(Operation *op) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      return noteConstant(constant);
    for (Value operand : op->getOperands())
      for (auto *values : {&beyond, &infinite})
        if (values->contains(operand))
          values->insert_range(op->getResults());
  }

private:
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

  /// `number` in another type; `rounds` is set if that changes it.
  static APFloat converted(APFloat number, FloatType type, bool &rounds) {
    number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &rounds);
    return number;
  }

  Value make(Value value, FloatType type) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    if (auto constant = value.getDefiningOp<ConstantOp>())
      if (DenseElementsAttr same = exactly(constant, type))
        return ConstantOp::create(builder, value.getLoc(), same.getType(),
                                  same);
    // A mask of huge numbers must not become one of infinities, which leave
    // nothing of a row that they hide.
    if (beyond.contains(value) && !infinite.contains(value))
      value = clamped(builder, value, type);
    return CastOp::create(builder, value.getLoc(),
                          tensorType(value).clone(type), value);
  }

  static Value clamped(OpBuilder &builder, Value value, FloatType type) {
    double most =
        APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
    auto limit = [&](double number) {
      return makeScalar(builder, value.getLoc(), floatTypeOf(value), number);
    };
    value = MaxOp::create(builder, value.getLoc(), value, limit(-most));
    return MinOp::create(builder, value.getLoc(), value, limit(most));
  }

  /// The constant in another type, numbers beyond its range clamped to it; null
  /// if others are rounded.
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
  DenseMap<std::pair<Value, Type>, Value> known;
  DenseSet<Value> beyond, infinite;
};

/// Gives the floats of a model their types, from its inputs on.
///
/// Contractions take the asked type and give it; what meets their results takes
/// it too, unless it needs f32, or nothing behind it is a contraction (a loss,
/// the end of a model). What a value is made of decides: masks, positions and
/// their like stay as they are until they meet what is narrow.
///
///   ids, table -> gather   Stored    f32
///   layer_norm             Stored    f32
///   matmul                 Narrow    bf16, of casts of both operands
///   gelu, add, softmax     Narrow    bf16
///   exp, reduce sum        Wide      f32, and what follows from them alone
///   matmul                 Narrow    bf16
///   log_softmax, …, loss   Wide      f32
class PrecisionSetter {
public:
  PrecisionSetter(ModuleOp module, func::FuncOp model, FloatType asked)
      : body(model.front()), symbols(module),
        request(TrainingRequest::of(module)), asked(asked),
        wide(Float32Type::get(module.getContext())), casts(asked) {}

  void run() {
    findLeading();
    for (BlockArgument input : body.getArguments())
      readInput(input);
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
      visit(&op);
    castOutputs();
    convertCastWeights();
  }

  int64_t numNarrow = 0, numWide = 0;

private:
  Precision of(Value value) const { return precisions.lookup(value); }

  /// Ops that a contraction depends on, and contractions.
  void findLeading() {
    for (Operation &op : llvm::reverse(body.without_terminator()))
      if (isContraction(&op) ||
          llvm::any_of(op.getUsers(),
                       [&](Operation *user) { return leading.contains(user); }))
        leading.insert(&op);
  }

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

  /// What stays as it is follows a weight that the model has in a narrow type
  /// and that is kept in f32.
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

  /// Whether an op in f32 of something narrow and of statistics gives something
  /// narrow again: x minus its mean.
  bool roundsResult(Operation *op) const {
    if (needsWide(op) || !leading.contains(op) || op->getNumResults() != 1)
      return false;
    const int64_t count = tensorType(op->getResult(0)).getNumElements();
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return of(operand) == Precision::Narrow &&
             tensorType(operand).getNumElements() == count;
    });
  }

  void round(Operation *op) {
    Value result = op->getResult(0);
    if (!floatTypeOf(result))
      return;
    Value narrow = casts.of(result, asked);
    precisions[narrow] = Precision::Narrow;
    if (narrow == result)
      return;
    if (Attribute name = op->removeAttr(nameName))
      narrow.getDefiningOp()->setAttr(nameName, name);
    result.replaceAllUsesExcept(narrow, narrow.getDefiningOp());
  }

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

  /// A model that widens means it; what it narrows has the asked type.
  void visitCast(CastOp op) {
    const Precision from = of(op.getInput());
    if (from < Precision::Narrow)
      return setResults(op, from);
    const bool isWide = floatTypeOf(op).getWidth() >= wide.getWidth() &&
                        asked.getWidth() < wide.getWidth();
    Value same = casts.of(op.getInput(), isWide ? wide : asked);
    const Precision to = isWide ? Precision::Wide : Precision::Narrow;
    precisions[same] = to;
    if (!op->hasAttr(pinnedName)) {
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

  /// Weights that train are kept in f32 at least. Others are read in the asked
  /// type; scales and biases, if they are used in no other one.
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

  bool isCast(GetParameterOp get) const {
    return llvm::all_of(get->getUsers(), [&](Operation *user) {
      return isa<CastOp>(user) && floatTypeOf(user->getResult(0)) == asked;
    });
  }

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

  /// Outputs have the types that the model says.
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
  DenseMap<Value, Precision> precisions;
  DenseSet<Operation *> leading;
  /// Weights in f32 that the model has in a narrow type, and what is made of
  /// them before any contraction.
  DenseSet<Value> widened;
  /// Weights of one dim that do not train, and what reads them.
  llvm::MapVector<ParameterOp, SmallVector<GetParameterOp>> vectors;
};

struct SetPrecision : pcc::prepare::impl::SetPrecisionBase<SetPrecision> {
  void runOnOperation() override {
    auto asked = getOperation()->getAttrOfType<TypeAttr>(precisionName);
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
