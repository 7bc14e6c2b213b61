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

/// Returns whether `op` must compute in f32 or wider. A reduction must compute
/// in f32 or wider if it sums or multiplies elements, but not if it only finds
/// the largest or smallest element.
static bool needsWide(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() != ReduceKind::Max &&
           reduce.getKind() != ReduceKind::Min;
  return op->hasTrait<LosesDigits>();
}

static bool isNorm(Operation *op) { return isa<LayerNormOp, RmsNormOp>(op); }

/// Returns the float element type of `value`; null if it has none.
static FloatType floatTypeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? dyn_cast<FloatType>(type.getElementType()) : FloatType();
}

namespace {
/// Classes of float values by their origin, in ascending order. The asked type
/// is the type that the user requests, such as bf16. The highest class among an
/// op's operands determines the type in which the op computes.
enum class Precision : uint8_t {
  Known,  ///< depends on positions, constants and buffers; the model's type
  Stored, ///< depends on inputs or weights, not on Narrow; the model's type
  Narrow, ///< computed in the asked type
  Wide,   ///< computed in f32
};

/// Creates casts of values. Each cast is placed right after the value's
/// definition, and exists once per value and type. If a constant is exactly
/// representable in the new type, a constant is created instead of a cast.
class Casts {
public:
  /// Creates an object without casts. `narrow` is the float type that the user
  /// requests, such as bf16.
  explicit Casts(FloatType narrow) : narrow(narrow) {}

  /// Returns `value` cast to the element type `type`. Returns `value` itself if
  /// it already has that type.
  Value of(Value value, FloatType type) {
    if (floatTypeOf(value) == type)
      return value;
    Value &cast = known[{value, type}];
    if (!cast)
      cast = make(value, type);
    return cast;
  }

  /// Returns whether `value` is a scalar constant that the type `narrow`
  /// (requested by the user, such as bf16) cannot represent exactly.
  bool isInexact(Value value) const {
    auto constant = value.getDefiningOp<ConstantOp>();
    return constant && tensorType(value).getNumElements() == 1 &&
           floatTypeOf(value) && !exactly(constant, narrow);
  }

  /// Adds the results of `op` to `infinite` if they depend on constants with
  /// infinities. Adds them to `beyond` if they depend on constants with finite
  /// numbers that are too large for the type `narrow` (requested by the user,
  /// such as f16).
  void noteRange(Operation *op) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      return noteConstant(constant);
    for (Value operand : op->getOperands())
      for (auto *values : {&beyond, &infinite})
        if (values->contains(operand))
          values->insert_range(op->getResults());
  }

private:
  /// Adds `constant` to `infinite` if it holds infinities, and to `beyond` if
  /// it holds finite numbers that are too large for the type `narrow`
  /// (requested by the user, such as f16).
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

  /// Returns `number` rounded to `type`. Sets `rounds` to whether the result
  /// differs from `number`.
  static APFloat converted(APFloat number, FloatType type, bool &rounds) {
    number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &rounds);
    return number;
  }

  /// Creates the cast of `value` to `type`. If `value` is a constant that is
  /// exactly representable in `type`, creates a constant instead.
  Value make(Value value, FloatType type) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    if (auto constant = value.getDefiningOp<ConstantOp>())
      if (DenseElementsAttr same = exactly(constant, type))
        return ConstantOp::create(builder, value.getLoc(), same.getType(),
                                  same);
    // Clamp a mask of huge finite numbers, such as -1e30, that is added to
    // scores. The cast would turn these numbers into -infinity, and the softmax
    // of a row whose elements are all masked would be NaN.
    if (beyond.contains(value) && !infinite.contains(value))
      value = clamped(builder, value, type);
    return CastOp::create(builder, value.getLoc(),
                          tensorType(value).clone(type), value);
  }

  /// Creates `value` clamped to the finite numbers of `type`.
  static Value clamped(OpBuilder &builder, Value value, FloatType type) {
    double most =
        APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
    auto limit = [&](double number) {
      return makeScalar(builder, value.getLoc(), floatTypeOf(value), number);
    };
    value = MaxOp::create(builder, value.getLoc(), value, limit(-most));
    return MinOp::create(builder, value.getLoc(), value, limit(most));
  }

  /// Returns the elements of `constant` as elements of `type`. Finite numbers
  /// that are too large for `type` are clamped. Returns null if `type` cannot
  /// represent one of the other numbers exactly.
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
  /// Casts created so far. The key is the value and the type to which it is
  /// cast.
  DenseMap<std::pair<Value, Type>, Value> known;
  /// `beyond`: values that depend on a constant with finite numbers that are
  /// too large for the type `narrow`. `infinite`: values that depend on a
  /// constant with infinities.
  DenseSet<Value> beyond, infinite;
};

/// Sets the float types of all values of a model for mixed-precision
/// computation (Micikevicius et al. 2018). The user requests one type, such as
/// bf16: the asked type. One traversal in program order assigns a class to each
/// value:
///
///   Known    depends on constants, token positions and buffers only
///   Stored   depends on inputs or weights
///   Narrow   computed in the asked type
///   Wide     computed in f32
///
/// The op that defines a value determines the value's class:
///
///   - A contraction (matrix product, convolution or attention) computes in the
///     asked type, unless all its operands are Known.
///   - An op whose operands are all Known or Stored keeps the model's type.
///   - Any other op computes in f32 in the cases below, else in the asked type:
///       - the op needs f32 (needsWide)
///       - an operand is Wide
///       - an operand is a scalar constant that the asked type cannot represent
///       - no contraction depends on the op, as in a loss
///
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

  /// Sets the types of all values of the function.
  void run() {
    findLeading();
    for (BlockArgument input : body.getArguments())
      readInput(input);
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
      visit(&op);
    castOutputs();
    convertCastWeights();
  }

  /// Number of values computed in the asked type (requested by the user), and
  /// number of values computed in f32.
  int64_t numNarrow = 0, numWide = 0;

private:
  Precision of(Value value) const { return precisions.lookup(value); }

  /// Fills `leading` with the contractions and the ops on which a contraction
  /// depends, by visiting users before producers.
  void findLeading() {
    for (Operation &op : llvm::reverse(body.without_terminator()))
      if (op.hasTrait<SumsProducts>() ||
          llvm::any_of(op.getUsers(),
                       [&](Operation *user) { return leading.contains(user); }))
        leading.insert(&op);
  }

  /// Sets the precision class of the model input `input`. If the input's float
  /// type is narrower than the asked type (requested by the user), the input's
  /// users read a cast to the asked type.
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

  /// Sets the precision class of the results of `op`, casts its operands and
  /// sets the types of its results. For a norm, only the class of operand 0
  /// matters; the norm's scale and bias keep their types.
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
    const bool sumsProducts = op->hasTrait<SumsProducts>();
    const bool isAsIs = highest == Precision::Known ||
                        (highest == Precision::Stored && !sumsProducts);
    if (isAsIs) {
      widen(op, inputs);
      return setResults(op, highest);
    }
    const bool isWide =
        !sumsProducts &&
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

  /// Converts `op` to f32 if a float operand depends on a trained weight that
  /// readWeight has widened to f32. All float operands in `inputs` are then
  /// cast to f32. Does nothing if there is no such operand.
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

  /// Returns whether the result of `op`, which computes in f32, must be rounded
  /// to the asked type (requested by the user). All these conditions must hold:
  ///
  ///   - an operand of the asked type has as many elements as the result; f32
  ///     operands are then only statistics, such as the mean in x - mean(x)
  ///   - `op` does not need f32 (needsWide)
  ///   - a contraction depends on `op`
  bool roundsResult(Operation *op) const {
    if (needsWide(op) || !leading.contains(op) || op->getNumResults() != 1)
      return false;
    const int64_t count = tensorType(op->getResult(0)).getNumElements();
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return of(operand) == Precision::Narrow &&
             tensorType(operand).getNumElements() == count;
    });
  }

  /// Replaces the result of `op` by a cast of the result to the asked type
  /// (requested by the user). The cast gets the `graph.name` of `op`.
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

  /// Sets the class of the float results of `op` to `precision`. For the class
  /// Narrow, the results' type becomes the asked type (requested by the user).
  /// For the class Wide, the type becomes f32. For the classes Known and
  /// Stored, the type does not change.
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

  /// Changes the type to which a cast of the model converts. The asked type is
  /// the type that the user requests.
  ///
  ///   class of the operand   type in the model   new type
  ///   Known or Stored        any                 not changed
  ///   Narrow or Wide         f32 or wider        f32
  ///   Narrow or Wide         narrower than f32   asked type
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

  /// Chooses the type in which the weight that `get` reads is stored:
  ///
  ///   buffer                                the model's type
  ///   trained weight                        f32 or wider (master weight)
  ///   other weight of at least two dims     the type that the user requests
  ///   other vector, such as scale or bias   convertCastWeights chooses later
  ///
  /// A weight is converted when it is loaded.
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

  /// Changes the type in which `parameter` is stored to `type`. The weight
  /// reference gets a conversion, which is applied when the weight is loaded.
  static void convert(ParameterOp parameter, FloatType type) {
    auto old = cast<RankedTensorType>(parameter.getType());
    if (old.getElementType() == type)
      return;
    parameter.setType(old.clone(type));
    // A fill value is a number of any type.
    if (parameter.getFill())
      return;
    MLIRContext *context = parameter.getContext();
    WeightAttr weight = parameter.getWeightAttr();
    if (!weight)
      weight = WeightAttr::get(context, StringAttr::get(context, ""),
                               /*offset=*/0, /*length=*/0, old, {});
    parameter.setWeightAttr(
        weight.withTransform(ConvertAttr::get(context, type)));
  }

  /// Returns whether all ops that read the result of `get`, a read of a weight,
  /// cast the result to the asked type (requested by the user).
  bool isCast(GetParameterOp get) const {
    return llvm::all_of(get->getUsers(), [&](Operation *user) {
      return isa<CastOp>(user) && floatTypeOf(user->getResult(0)) == asked;
    });
  }

  /// Converts vectors (weights of at most one dim) to the asked type, which the
  /// user requests, when they are loaded. Does so only if all readers of the
  /// vector are casts to the asked type, and erases these casts.
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

  /// Casts the results of the function to the types that the function declares.
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
  /// Precision class of each value visited so far. A value without an entry has
  /// the class Known (depends on constants, token positions and buffers only).
  DenseMap<Value, Precision> precisions;
  /// Contractions (matrix products, convolutions, attention), and all ops on
  /// which a contraction depends.
  DenseSet<Operation *> leading;
  /// Trained weights that readWeight has widened to f32, and results of ops
  /// that `widen` has converted to f32 because they depend on such weights.
  DenseSet<Value> widened;
  /// Weights of at most one dim that are not trained, each with the ops that
  /// read it.
  llvm::MapVector<ParameterOp, SmallVector<GetParameterOp>> vectors;
};

/// Pass `--set-precision`: sets the float types of @main for mixed precision.
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
