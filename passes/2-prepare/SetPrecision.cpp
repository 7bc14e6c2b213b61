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
/// Classes of the float values of a model. The class of a value determines the
/// type of the value:
///
///   class    type of the value
///   Known    type in the model
///   Stored   type in the model
///   Narrow   type that the user requests, such as bf16
///   Wide     f32
///
/// A Known value depends only on constants and buffers. A buffer is a stored
/// tensor that is not a weight, such as the running mean of a batch norm. A
/// Stored value is an input of the model, a weight that keeps its type from the
/// model, or a result that is computed from such values in the type of the
/// model. Trained weights in f16 or bf16 are an exception: pcc stores these
/// weights in f32. Stored values that depend on them are f32, too.
///
/// The classes have an order: Known < Stored < Narrow < Wide. If the operands
/// of an op have different classes, usually the highest class determines the
/// type in which the op computes. For example, the addition of a Narrow value
/// and a Wide value computes in f32, the type of the Wide value.
enum class Precision : uint8_t {
  Known,  ///< depends on constants and buffers only; keeps the model's type
  Stored, ///< depends on inputs or weights too; keeps the model's type
  Narrow, ///< computed in the requested type
  Wide,   ///< computed in f32
};

/// Creates casts of values to other float types. Each cast is directly after
/// the op that computes the value. If a caller requests the same cast again,
/// the class returns the cast that it has already created.
///
/// A constant needs no cast op if the new type represents all its numbers
/// exactly. The class then creates a new constant. A number that is too large
/// for the new type counts as exact, too: it becomes the nearest finite number
/// of the new type. Three examples for f16, whose largest number is 65504:
///
///   old constant   result
///   [0.5, 2]       constant [0.5, 2]
///   [0.5, 1e5]     constant [0.5, 65504]
///   [0.1, 2]       cast op, because f16 cannot represent 0.1 exactly
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
    // The largest number of f16 is 65504. A mask may contain a larger finite
    // number, such as -1e30. A cast to f16 would turn -1e30 into -infinity. A
    // softmax over a row of -infinity would then give NaN. A clamp before the
    // cast prevents this: it replaces -1e30 by -65504.
    //
    // The set `beyond` holds the values that depend on a constant with such a
    // large finite number. The set `infinite` holds the values that depend on a
    // constant with an infinity. A clamp would replace the infinity by a finite
    // number. Therefore, a value in `infinite` is never clamped.
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
/// 2018). The user requests one float type, such as bf16. Matrix products
/// compute in this type. Ops that need more accuracy compute in f32.
///
/// Each float value has one of four classes. The class determines the type of
/// the value:
///
///   class    type of the value
///   Known    type in the model
///   Stored   type in the model
///   Narrow   type that the user requests
///   Wide     f32
///
/// A model has two kinds of stored tensors: weights and buffers. A buffer is
/// any stored tensor that is not a weight, such as the running mean of a batch
/// norm. Constants, inputs, weights and buffers have these classes:
///
///   value                                      class
///   constant or buffer                         Known
///   input of the model                         Stored
///   weight that training changes               Stored
///   other weight with at most one dim          Stored
///   other weight with two or more dims         Narrow
///
/// The class of the result of an op depends on the op and on its float
/// operands. A contraction is a matrix product, a convolution or an attention.
/// The first row whose condition holds gives the class:
///
///   condition                                                        class
///   all operands are Known                                           Known
///   the op is a contraction                                          Narrow
///   all operands are Known or Stored                                 Stored
///   an operand is Wide                                               Wide
///   the op is inaccurate in the requested type, such as exp          Wide
///   an operand is a scalar constant that the requested type rounds   Wide
///   no contraction depends on the op                                 Wide
///   any other op                                                     Narrow
///
/// An op that computes the loss is an example of the row "no contraction
/// depends on the op". The function roundsResult() selects some Wide results.
/// The pass casts each selected result to the requested type. The ops that read
/// a selected result then read the cast instead.
///
/// Stored values have the type in the model, with one exception. If the model
/// has a trained weight in f16 or bf16, pcc stores the weight in f32. Stored
/// results that depend on the weight are then f32, too.
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

  /// Numbers of op results to which the pass has given a float type.
  /// `numNarrow` counts the results that get the type that the user requests,
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

  /// Chooses the type in which ops read `input`, an input of @main. Does
  /// nothing if `input` holds no floats. Two examples:
  ///
  ///   type of `input`   requested by the user   ops read
  ///   f32               bf16                    the input itself
  ///   f16               f32                     a cast of the input to f32
  ///
  /// In the first row, the input has at least as many bits as the requested
  /// type, so the function inserts no cast. In the second row, the input has
  /// fewer bits, so the function inserts a cast to the requested type. The
  /// function also stores the classes of the input and of the cast in the map
  /// `precisions`. The class of a value tells which type the value has.
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

  /// Chooses the float type in which `op` computes. In these examples, the type
  /// in the model is f16, and the user requests bf16:
  ///
  ///   `op`                                type        reason
  ///   matrix product of two inputs        bf16        the user requests bf16
  ///   exponential of a matrix product     f32         exp needs more accuracy
  ///   sum of an input and the exp above   f32         an operand is f32
  ///   sum of two inputs                   f16         all operands are f16
  ///   sum of an input and a weight that   f32         pcc stores the weight in
  ///   training changes                                f32
  ///
  /// The comment of the class PrecisionSetter lists the exact rules. If the
  /// chosen type is not the type in the model, the function casts the float
  /// operands of `op` to the chosen type, and gives this type to the float
  /// results. If `op` is a layer norm or an RMS norm, the function casts only
  /// the tensor to normalize. The scale and the bias keep their types. The
  /// types of the scale and the bias do not affect the type in which `op`
  /// computes.
  ///
  /// If `op` reads a weight, the function chooses the type in which pcc stores
  /// the weight. If `op` is a cast between float types, the function chooses a
  /// new target type.
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

  /// Makes `op` compute in f32 if one of its operands has been changed to f32
  /// by this pass. For example, an f16 model adds the weights u and w, and
  /// training changes only w. The pass stores each trained weight in f32. It
  /// has therefore changed the type of w from f16 to f32, and u still has the
  /// type f16. The function casts u to f32 and changes the type of the sum to
  /// f32.
  ///
  /// The set `widened` holds all values that have been changed to f32 in this
  /// way: w and the sum in the example. If no operand in `inputs` is in the
  /// set, the function does nothing. Otherwise, it casts all float operands in
  /// `inputs` to f32. It changes the type of all float results of `op` to f32,
  /// and adds these results to the set.
  ///
  /// `inputs` holds the operands of `op`. If `op` is a layer norm or an RMS
  /// norm, `inputs` holds only the tensor to normalize, without the scale and
  /// the bias.
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

  /// Decides whether the pass casts the result of `op` to the type that the
  /// user requests, such as bf16. `op` is an op that computes in f32. Without
  /// the cast, the ops that read the f32 result would also compute in f32,
  /// unless they are matrix products.
  ///
  /// In this example, the user requests bf16. The function returns true for the
  /// subtraction:
  ///
  ///   x             bf16
  ///   mean(x)       f32, because bf16 is too inaccurate for a mean
  ///   x - mean(x)   computed in f32, because mean(x) is f32; then cast to bf16
  ///
  /// The function returns true if all these conditions hold:
  ///
  ///   - `op` has one result.
  ///   - An operand has the requested type and as many elements as the result.
  ///     In the example, x is this operand.
  ///   - The requested type is accurate enough for `op`. It is not accurate
  ///     enough for an exponential or for the sum of many elements.
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

  /// Stores `precision` as the class of each float result of `op`, and sets the
  /// type of each float result. The pass gives each float value one of four
  /// classes. The class tells which type the value has. In the examples of the
  /// table, the inputs of the model are f32, and the user requests bf16:
  ///
  ///   class    example of `op`                    new type of the results
  ///   Known    sum of two constants               unchanged
  ///   Stored   sum of two inputs of the model     unchanged
  ///   Narrow   matrix product of two inputs       the requested type, bf16
  ///   Wide     exponential of a matrix product    f32
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

  /// Changes the target type of `op`. `op` is a cast that the model contains,
  /// from one float type to another. The pass has already given a class to the
  /// operand of the cast. There are four classes (see the enum Precision):
  ///
  ///   class    example of a value                 type of this value
  ///   Known    constant                           type in the model
  ///   Stored   input of the model                 type in the model
  ///   Narrow   result of a matrix product         type that the user requests
  ///   Wide     exponential of a matrix product    f32
  ///
  /// The class of the operand and the old target type determine the new target
  /// type:
  ///
  ///   class of the operand   old target type     new target type
  ///   Known or Stored        any type            old target type
  ///   Narrow or Wide         f32 or wider        f32
  ///   Narrow or Wide         narrower than f32   type that the user requests
  ///
  /// In the last two rows, the operand may already have the new target type.
  /// The function then replaces the cast by the operand. For example, the user
  /// requests bf16, and the cast converts a matrix product from bf16 to f16.
  /// The new target type is bf16, so the cast is not needed. However, the
  /// function keeps the cast if the user requests a sharding of the result of
  /// the cast with the option --shard.
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
  /// The tensor is a weight or a buffer. A buffer is a stored tensor that is
  /// not a weight, such as the running mean of a batch norm. The kind of the
  /// tensor determines the stored type:
  ///
  ///   kind of tensor                  stored type
  ///   buffer                          type in the model
  ///   weight that training changes    f32, or f64 if the model has f64
  ///   other weight, 2 or more dims    type that the user requests
  ///   other weight, at most 1 dim     type in the model
  ///
  /// The choice in the last row is preliminary. If all ops that read the weight
  /// are casts to the requested type, convertCastWeights() later stores the
  /// weight in this type. The file of the weight is not changed: the runtime
  /// converts a weight to the stored type when it loads the weight.
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

  /// Returns whether the weight that `get` reads is needed only in the type
  /// that the user requests, such as bf16. This is the case if every op that
  /// uses the result of `get` is a cast to this type.
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
  /// Maps each float value that the pass has visited to the class of the value.
  /// There are four classes (see the enum Precision):
  ///
  ///   class    example of a value                 type of this value
  ///   Known    constant                           type in the model
  ///   Stored   input of the model                 type in the model
  ///   Narrow   result of a matrix product         type that the user requests
  ///   Wide     exponential of a matrix product    f32
  ///
  /// Values of other types, such as integers, have no entry.
  DenseMap<Value, Precision> precisions;
  /// Contractions (matrix products, convolutions, attention), and all ops on
  /// which a contraction depends.
  DenseSet<Operation *> leading;
  /// Values that pcc stores or computes in f32 although the model has a
  /// narrower type: trained weights, and results that depend on them.
  DenseSet<Value> widened;
  /// Maps a weight to the ops that read the weight. The map holds all float
  /// weights that satisfy two conditions:
  ///
  ///   - The weight has at most one dim, such as a bias.
  ///   - Training does not change the weight.
  ///
  /// The class first leaves these weights in their type from the model. At the
  /// end, convertCastWeights() uses the map. If each op that reads a weight is
  /// a cast to the type that the user requests, convertCastWeights() stores the
  /// weight in this type.
  ///
  /// The map does not hold buffers. A buffer is a stored tensor that is not a
  /// weight, such as the running mean of a batch norm.
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
