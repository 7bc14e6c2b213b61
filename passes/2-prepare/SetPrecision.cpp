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

/// Returns whether `op` must compute in f32 or wider. A sum or product of
/// elements must; a maximum or minimum need not.
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
/// Classes of float values. The class of a value tells which float type the
/// value has. The requested type is the float type that the user chooses, such
/// as bf16. The classes have an order: Known < Stored < Narrow < Wide. The
/// class of the result of an op depends on the highest class of the operands.
enum class Precision : uint8_t {
  Known,  ///< depends on constants and buffers only; keeps the model's type
  Stored, ///< depends on inputs or weights too; keeps the model's type
  Narrow, ///< computed in the requested type
  Wide,   ///< computed in f32
};

/// Creates casts of values. The class places each cast directly after the op
/// that computes the value. If a caller asks twice for a cast of one value to
/// one type, the second call returns the first cast. For a constant, the class
/// creates a new constant instead of a cast if the new type represents all
/// numbers exactly. A finite number that is too large for the new type does not
/// prevent this. It becomes the nearest finite number of the new type: in f16,
/// 1e5 becomes 65504.
class Casts {
public:
  /// Stores `narrow`, the float type that the user requests, such as bf16.
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
  /// (requested by the user, such as bf16) cannot represent exactly.
  bool isInexact(Value value) const {
    auto constant = value.getDefiningOp<ConstantOp>();
    return constant && tensorType(value).getNumElements() == 1 &&
           floatTypeOf(value) && !exactly(constant, narrow);
  }

  /// Records whether the results of `op` depend on constants with extreme
  /// numbers. A result goes into the set `infinite` if it depends on a constant
  /// with an infinity. A result goes into the set `beyond` if it depends on a
  /// constant with a finite number that is too large for the type `narrow`. For
  /// example, 1e5 is too large for f16. `narrow` is the type that the user
  /// requests.
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
  /// to `beyond` if an element is finite but too large for `narrow` (the type
  /// that the user requests).
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
    // A cast to f16 would turn huge finite numbers, such as -1e30 in a mask,
    // into -infinity. A softmax over a row of -infinity is NaN. Therefore clamp
    // the numbers to the finite range of `type`. The set `beyond` holds the
    // values that can have such numbers. The set `infinite` holds the values
    // that can have infinities of the model. Do not clamp the values in
    // `infinite`, because the clamp would make the infinities finite.
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

  /// Returns the elements of `constant`, converted to `type`. If a finite
  /// number is too large for `type`, the function returns the finite number of
  /// `type` that is nearest to it. If any other number is not exactly
  /// representable in `type`, the function returns null. It also returns null
  /// if the constant holds no floats. Examples for f16:
  ///
  ///   [0.5, 2]     ->  [0.5, 2]
  ///   [0.5, 1e5]   ->  [0.5, 65504]
  ///   [0.1, 2]     ->  null
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
  /// Values that depend on constants with extreme numbers. `narrow` is the
  /// float type that the user requests, such as f16. One value can be in both
  /// sets.
  ///
  ///   beyond     depends on a finite number too large for `narrow`, such as 1e5
  ///   infinite   depends on an infinity
  DenseSet<Value> beyond, infinite;
};

/// Sets the float types of a model for mixed precision (Micikevicius et al.
/// 2018). The user requests one float type, such as bf16. One traversal in
/// program order gives each float value one of four classes. A buffer is a
/// stored tensor that the exporter does not count as a weight, such as a
/// running mean.
///
///   Known    computed from constants and buffers; keeps the model's type
///   Stored   an input, a weight, or computed from them; keeps the model's type
///   Narrow   computed or stored in the requested type
///   Wide     computed in f32
///
/// One exception: trained weights of a type narrower than f32, and the Stored
/// results that depend on them, become f32.
///
/// The first of these rules that applies gives the class of the result of an
/// op. Only float operands count. A contraction is a matrix product, a
/// convolution or an attention.
///
///   1. Known if all operands are Known
///   2. Narrow for a contraction
///   3. Stored if all operands are Known or Stored
///   4. Wide in each of these cases:
///       - the op is inaccurate in a narrow type, such as exp or a reduce sum
///       - an operand is Wide
///       - an operand is a scalar constant that the requested type rounds
///       - no contraction depends on the op; the loss is an example
///   5. Narrow in all other cases
///
/// An example of training in bf16. The model has f32 weights. Each row shows
/// ops, the class of their results, and the type of their results:
///
///   gather from the embedding   Stored   f32
///   layer_norm                  Stored   f32
///   matmul                      Narrow   bf16; both operands are cast to bf16
///   gelu, add, softmax          Narrow   bf16
///   exp, reduce sum             Wide     f32
///   matmul                      Narrow   bf16
///   log_softmax, loss           Wide     f32
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

  /// Numbers of values computed in the type that the user requests, and in f32.
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

  /// Records that `input` has the class Stored: the input keeps the float type
  /// that it has in the model. Does nothing if `input` holds no floats. If this
  /// type has fewer bits than the type that the user requests, inserts a cast
  /// of the input to the requested type. All ops that read the input then read
  /// the cast. For an f16 input and the requested type f32, the function
  /// inserts a cast from f16 to f32.
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

  /// Chooses the float type in which `op` computes. Casts the float operands to
  /// this type, and sets the types of the results. The choice depends on `op`
  /// and on the operands. For example, a matrix product of activations computes
  /// in the type that the user requests. An addition computes in f32 if an
  /// operand was computed in f32. The comment of the class PrecisionSetter
  /// lists all rules. The operands of a layer norm are an input, a scale and a
  /// bias. For a layer norm or an RMS norm, the class of the input decides, and
  /// the function casts only the input.
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

  /// Makes `op` compute in f32 if an operand in `inputs` depends on a trained
  /// weight whose type in the model is narrower than f32, such as f16. In this
  /// case, casts all float operands in `inputs` to f32, and changes the type of
  /// the float results to f32. Otherwise does nothing. `inputs` holds the
  /// operands of `op` that can be cast. For a layer norm or an RMS norm,
  /// `inputs` holds the first operand alone.
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

  /// Returns whether pcc must round the result of `op` to the type that the
  /// user requests, such as bf16. `op` computes in f32. All these conditions
  /// must hold:
  ///
  ///   - `op` has one result.
  ///   - An operand was computed in the requested type, and has as many
  ///     elements as the result. In the subtraction x - mean(x), x can be such
  ///     an operand.
  ///   - `op` is accurate enough in a narrow type. An exponential is not
  ///     accurate enough. A reduction that sums many elements is not accurate
  ///     enough. An addition of two tensors is accurate enough.
  ///   - A matrix product, a convolution or an attention depends on `op`.
  bool roundsResult(Operation *op) const {
    if (needsWide(op) || !leading.contains(op) || op->getNumResults() != 1)
      return false;
    const int64_t count = tensorType(op->getResult(0)).getNumElements();
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return of(operand) == Precision::Narrow &&
             tensorType(operand).getNumElements() == count;
    });
  }

  /// Replaces the result of `op` by a cast of the result to the type that the
  /// user requests. The cast gets the name (`graph.name`) of `op`.
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

  /// Stores `precision` as the class of each float result of `op`. The class
  /// decides the type of the result:
  ///
  ///   Known    not changed; the value depends on constants and buffers only
  ///   Stored   not changed; the value also depends on an input or a weight
  ///   Narrow   the type that the user requests, such as bf16
  ///   Wide     f32
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

  /// Changes the target type of `op`, a cast in the model from one float type
  /// to another. The requested type is the type that the user chooses, such as
  /// bf16. The operand either keeps its type from the model (class Known or
  /// Stored), or this pass has chosen the requested type or f32 for the operand
  /// (class Narrow or Wide):
  ///
  ///   type of the operand     old target type     new target type
  ///   kept from the model     any                 not changed
  ///   chosen by this pass     f32 or wider        f32
  ///   chosen by this pass     narrower than f32   requested type
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

  /// Chooses the float type in which pcc stores the weight that `get` reads:
  ///
  ///   weight                              stored type
  ///   buffer, such as a running mean      the model's type
  ///   weight that training changes        f32, or the model's type if wider
  ///   any other, with at least two dims   the type that the user requests
  ///   any other, with at most one dim     the model's type, for now
  ///
  /// Later, convertCastWeights() stores some weights of the last row in the
  /// type that the user requests. The runtime converts a weight to the stored
  /// type when it loads the weight.
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

  /// Returns whether all readers of `get`, a read of a weight, cast the weight
  /// to the type that the user requests.
  bool isCast(GetParameterOp get) const {
    return llvm::all_of(get->getUsers(), [&](Operation *user) {
      return isa<CastOp>(user) && floatTypeOf(user->getResult(0)) == asked;
    });
  }

  /// Changes the stored type of some vectors. A vector is a weight of at most
  /// one dim, such as a bias, that training does not change. If all ops that
  /// read a vector are casts to the type that the user requests, the function
  /// stores the vector in the requested type. It then erases the casts.
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
  /// Maps a float value to its class. The class tells which float type the
  /// value has: the model's type, the requested type or f32 (see the enum
  /// Precision). A value without an entry has the class Known: the value keeps
  /// the model's type and depends on constants only.
  DenseMap<Value, Precision> precisions;
  /// Contractions (matrix products, convolutions, attention), and all ops on
  /// which a contraction depends.
  DenseSet<Operation *> leading;
  /// Values that pcc stores or computes in f32 although the model has a
  /// narrower type: trained weights, and results that depend on them.
  DenseSet<Value> widened;
  /// Maps a vector to the ops that read the vector. A vector is a float weight
  /// of at most one dim, such as a bias. The map holds no vectors that training
  /// changes. It also holds no buffers. A buffer is a stored tensor that the
  /// exporter does not count as a weight, such as the running mean of a batch
  /// norm.
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
