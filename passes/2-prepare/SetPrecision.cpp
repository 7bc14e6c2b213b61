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

/// Returns whether `op` must compute in f32, because f16 or bf16 is too
/// inaccurate or cannot represent large results. Examples are an exponential,
/// and a reduction that adds or multiplies many elements. A reduction to the
/// maximum or the minimum has no rounding error, so the function returns false
/// for it.
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
/// Classes of the float values of a model. The class of a value determines its
/// type. The order is Known < Stored < Narrow < Wide, and an op usually
/// computes in the type of the operand with the highest class. A buffer is a
/// stored tensor that is not a weight, such as the running mean of a batch
/// norm. A weight in f16 or bf16 that training changes is an exception: pcc
/// stores it in f32. Stored values that depend on this weight are f32, too.
enum class Precision : uint8_t {
  Known,  ///< depends on constants and buffers only; keeps the model's type
  Stored, ///< depends on inputs or weights too; keeps the model's type
  Narrow, ///< computed in the type of the option --dtype
  Wide,   ///< computed in f32
};

/// Casts float values to another float type, directly after the op that
/// computes the value. Each cast is created only once. A constant needs no cast
/// op if the new type represents all its numbers exactly. Finite numbers beyond
/// the range of the type become its largest or lowest finite number.
class Casts {
public:
  /// Stores `narrow`, the float type of the option --dtype, such as bf16.
  /// Creates no casts yet.
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
  /// (option --dtype, such as bf16) cannot represent exactly.
  bool isInexact(Value value) const {
    auto constant = value.getDefiningOp<ConstantOp>();
    return constant && tensorType(value).getNumElements() == 1 &&
           floatTypeOf(value) && !exactly(constant, narrow);
  }

  /// Records whether the results of `op` depend on constants with extreme
  /// numbers. A result goes into the set `infinite` if it depends on a constant
  /// with an infinity. A result goes into the set `beyond` if it depends on a
  /// constant with a finite number that is too large for the type `narrow`
  /// (option --dtype). For example, 1e5 is too large for f16.
  void noteRange(Operation *op) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      return noteConstant(constant);
    for (Value operand : op->getOperands())
      for (auto *values : {&beyond, &infinite})
        if (values->contains(operand))
          values->insert_range(op->getResults());
  }

private:
  /// Adds `constant` to `infinite` if an element is infinite. Adds `constant`
  /// to `beyond` if an element is finite but too large for the type `narrow`
  /// (option --dtype).
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
    // A mask may hold a finite number too large for f16, such as -1e30. A cast
    // would turn it into -infinity, and a softmax over a row of -infinity is
    // NaN. Clamp the value first, unless it also depends on a real infinity.
    if (beyond.contains(value) && !infinite.contains(value))
      value = clamped(builder, value, type);
    return CastOp::create(builder, value.getLoc(),
                          tensorType(value).clone(type), value);
  }

  /// Creates ops that limit each element of `value` to the range of the finite
  /// numbers of `type`. Returns the result, which has the same type as `value`.
  /// For example, the finite numbers of f16 range from -65504 to 65504. If
  /// `type` is f16, the elements [-1e30, 2, 1e5] become [-65504, 2, 65504].
  static Value clamped(OpBuilder &builder, Value value, FloatType type) {
    double most =
        APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
    auto limit = [&](double number) {
      return makeScalar(builder, value.getLoc(), floatTypeOf(value), number);
    };
    value = MaxOp::create(builder, value.getLoc(), value, limit(-most));
    return MinOp::create(builder, value.getLoc(), value, limit(most));
  }

  /// Returns the elements of `constant`, converted to `type`. Finite numbers
  /// beyond the range of `type` become its largest or lowest finite number.
  /// Returns null if any other number is not exact in `type`, or if the
  /// constant holds no floats.
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
  /// Values that depend on constants with extreme numbers. `narrow` is the type
  /// of the option --dtype, such as f16. One value can be in both sets.
  ///
  ///   beyond    depends on a finite number too large for `narrow`, such as 1e5
  ///   infinite  depends on an infinity
  DenseSet<Value> beyond, infinite;
};

/// Sets the float types of a model for mixed precision (Micikevicius et al.
/// 2018). The first row that holds gives the class (see Precision) of an op's
/// results:
///
///   all operands are Known                                           Known
///   the op is a matrix product, a convolution or an attention        Narrow
///   all operands are Known or Stored                                 Stored
///   an operand is Wide, or the op is inaccurate, such as exp         Wide
///   an operand is a scalar constant that the --dtype type rounds     Wide
///   no op of row 2 depends on the op, such as the loss               Wide
///   any other op                                                     Narrow
class PrecisionSetter {
public:
  PrecisionSetter(ModuleOp module, func::FuncOp model, FloatType asked)
      : body(model.front()), symbols(module),
        request(TrainingRequest::of(module)), asked(asked),
        wide(Float32Type::get(module.getContext())), casts(asked) {}

  /// Sets the float types of all values in @main, and adds casts between values
  /// of different types.
  void run() {
    findLeading();
    for (BlockArgument input : body.getArguments())
      readInput(input);
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
      visit(&op);
    castOutputs();
    convertCastWeights();
  }

  /// Numbers of op results to which the pass has given a float type.
  /// `numNarrow` counts the results that get the type of the option --dtype,
  /// such as bf16. `numWide` counts the results that get the type f32 because
  /// f32 is more accurate. The numbers are statistics of the pass.
  int64_t numNarrow = 0, numWide = 0;

private:
  Precision of(Value value) const { return precisions.lookup(value); }

  /// Fills `leading` with all contractions (such as matrix products) and all
  /// ops on which a contraction depends. Visits each op after the ops that read
  /// it.
  void findLeading() {
    for (Operation &op : llvm::reverse(body.without_terminator()))
      if (op.hasTrait<SumsProducts>() ||
          llvm::any_of(op.getUsers(),
                       [&](Operation *user) { return leading.contains(user); }))
        leading.insert(&op);
  }

  /// Gives `input`, an input of @main, the class Stored (see Precision). If
  /// `input` has fewer bits than the type of the option --dtype, makes all ops
  /// read a cast to this type. Does nothing if `input` holds no floats.
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

  /// Chooses the float type in which `op` computes, by the rules in the comment
  /// of the class. The float operands are cast to this type, and the float
  /// results get it. In a layer norm or an RMS norm, only the tensor to
  /// normalize counts and is cast. If `op` reads a weight, the function chooses
  /// the stored type of the weight. If `op` is a cast between float types, the
  /// function chooses a new target type.
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

  /// Makes `op` compute in f32 if this pass has changed one of its operands to
  /// f32. For example, an f16 model adds the weights u and w. Training changes
  /// only w, so pcc stores w in f32. The function then casts u to f32, and the
  /// sum becomes f32. The set `widened` holds the changed values, here w and
  /// the sum. `inputs` holds the operands of `op`, or only the tensor to
  /// normalize for a layer norm or an RMS norm.
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

  /// Returns whether the f32 result of `op` is cast to the type of the option
  /// --dtype, such as bf16. Example: x is bf16, and mean(x) is f32 for
  /// accuracy. Then x - mean(x) is computed in f32 and cast to bf16. Without
  /// the cast, later ops would compute in f32, too.
  bool roundsResult(Operation *op) const {
    if (needsWide(op) || !leading.contains(op) || op->getNumResults() != 1)
      return false;
    const int64_t count = tensorType(op->getResult(0)).getNumElements();
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return of(operand) == Precision::Narrow &&
             tensorType(operand).getNumElements() == count;
    });
  }

  /// Replaces the result of `op` by a cast of the result to the type of the
  /// option --dtype. The cast gets the name (`graph.name`) of `op`.
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

  /// Stores `precision` as the class of each float result of `op` (see
  /// Precision). Results of class Narrow get the type of the option --dtype,
  /// and results of class Wide get f32. Results of class Known or Stored keep
  /// their type.
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

  /// Changes the target type of `op`, a cast between two float types in the
  /// model. If the operand has the class Known or Stored, the target type
  /// stays. Otherwise, a target type of at least 32 bits becomes f32, and a
  /// narrower one becomes the type of --dtype. If the operand already has the
  /// new type, the operand replaces the cast. A cast that an option --shard
  /// names (it has the attribute `graph.pinned`) is not removed.
  void visitCast(CastOp op) {
    // readInput() has already given a class to the casts that it creates.
    if (precisions.contains(op.getResult()))
      return;
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

  /// Chooses the float type in which pcc stores the tensor that `get` reads.
  /// Trained weights get at least f32. Untrained weights of 2 or more dims get
  /// the type of the option --dtype. Buffers and untrained weights of at most 1
  /// dim keep their type. convertCastWeights() may later change these small
  /// weights.
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

  /// Changes the type in which pcc stores `parameter` to `type`. The runtime
  /// converts a weight when it loads the weight.
  static void convert(ParameterOp parameter, FloatType type) {
    auto old = cast<RankedTensorType>(parameter.getType());
    if (old.getElementType() == type)
      return;
    parameter.setType(old.clone(type));
    // The attribute `fill` is one f64 number. A parameter with this attribute
    // has no data in a file: each element starts with the number `fill`.
    // Therefore there is no data to convert.
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

  /// Returns whether the weight that `get` reads is needed only in the type of
  /// the option --dtype, such as bf16. This is the case if every op that uses
  /// the result of `get` is a cast to this type.
  bool isCast(GetParameterOp get) const {
    return llvm::all_of(get->getUsers(), [&](Operation *user) {
      return isa<CastOp>(user) && floatTypeOf(user->getResult(0)) == asked;
    });
  }

  /// Changes the stored type of some vectors. A vector is a weight of at most
  /// one dim, such as a bias, that training does not change. If all ops that
  /// read a vector are casts to the type of the option --dtype, the function
  /// stores the vector in this type. It then erases the casts.
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

  /// Casts the float values that @main returns to the result types that @main
  /// declares. For example, @main declares one f32 result, and the pass has
  /// changed the type of the returned value from f32 to bf16. The function then
  /// casts the value from bf16 to f32, and @main returns the cast.
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
  /// Class of each float value that the pass has visited. Values of other
  /// types, such as integers, have no entry.
  DenseMap<Value, Precision> precisions;
  /// Contractions (matrix products, convolutions, attention), and all ops on
  /// which a contraction depends.
  DenseSet<Operation *> leading;
  /// Values that pcc stores or computes in f32 although the model has a
  /// narrower type: trained weights, and results that depend on them.
  DenseSet<Value> widened;
  /// Maps each float weight of at most one dim, such as a bias, to the ops that
  /// read it. The map holds no buffers, and no weights that training changes.
  /// The weights keep their type from the model until convertCastWeights().
  /// This function stores a weight in the type of the option --dtype if each op
  /// that reads it is a cast to this type.
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
