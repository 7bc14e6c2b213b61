//===- LibraryCalls.cpp - epilogues and operand views of library calls ----===//

#include "passes/7-emit/fuse/LibraryCalls.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/StepParts.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/7-emit/kernel/Plan.h"
#include <numbers>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

static RankedTensorType typeOf(Value value) { return graph::tensorType(value); }

using Activation = program::Activation;

namespace {
/// Abilities of the library that computes matmuls and convolutions on one
/// target. Every library multiplies f32 and bf16, and adds a bias and a
/// residual (another tensor).
struct Library {
  StringRef target;
  /// Whether the library computes matmuls of f16 (`multipliesF16`) and
  /// convolutions (`convolves`).
  bool multipliesF16, convolves;
  /// Whether the library can add a residual (another tensor) after an
  /// activation.
  bool addsToActivations;
  /// Whether the library can add a matmul's result in place to an f32 sum, as
  /// in gradient accumulation over microbatches.
  bool accumulates;
  /// Whether the library can compute a bias gradient (column sums of an
  /// operand) along with a matmul.
  bool sumsFactors;
  /// Activations that the library can apply to its result.
  ArrayRef<Activation> activations;
};
} // namespace

static constexpr Activation ofOneDnn[] = {
    Activation::Relu,    Activation::GeluErf, Activation::GeluTanh,
    Activation::Sigmoid, Activation::Tanh,    Activation::Silu};
static constexpr Activation ofCublasLt[] = {Activation::Relu,
                                            Activation::GeluTanh};
static const Library libraries[] = {
    // Each entry of this list describes the library of one target. The library
    // is oneDNN for the target "cpu", and cuBLASLt for the target "cuda". An
    // entry has the fields of the struct Library in this order: target,
    // multipliesF16, convolves, addsToActivations, accumulates, sumsFactors,
    // activations.
    {"cpu", false, true, true, false, false, ofOneDnn},
    {"cuda", true, false, false, true, true, ofCublasLt}};

/// Returns a description of the library that computes matmuls on the target.
/// The target is an attribute of the module that contains `op`. The library is
/// oneDNN for the target `cpu`, and cuBLASLt for the target `cuda`. For any
/// other target, returns the description of oneDNN. The description tells, for
/// example, whether the library can also compute convolutions.
static const Library &libraryOf(Operation *op) {
  StringRef target = dist::targetOf(op->getParentOfType<ModuleOp>());
  const auto *found = llvm::find_if(libraries, [&](const Library &library) {
    return library.target == target;
  });
  return found == std::end(libraries) ? libraries[0] : *found;
}

bool pcc::emit::isLibraryContraction(Operation *op) {
  const Library &library = libraryOf(op);
  if (!isa<graph::MatmulOp>(op) &&
      !(library.convolves && isa<graph::ConvOp, graph::ConvTransposeOp>(op)))
    return false;
  Type element = typeOf(op->getResult(0)).getElementType();
  return (element.isF32() || element.isBF16() ||
          (library.multipliesF16 && element.isF16())) &&
         typeOf(op->getOperand(0)).getElementType() == element &&
         typeOf(op->getOperand(1)).getElementType() == element;
}

bool pcc::emit::canComputeBiasGradient(graph::MatmulOp product) {
  return libraryOf(product).sumsFactors && isLibraryContraction(product) &&
         !graph::isReproducible(product);
}

/// Returns whether a fused kernel computes `value`, rather than a library call.
/// If `value` is the result of a reshape, looks at the operand of the reshape
/// instead.
static bool isOfKernel(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<graph::ReshapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op && readKindOf(op) != ReadKind::None;
}

bool pcc::emit::isReadByKernel(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<graph::ReshapeOp>(user) ? isReadByKernel(user->getResult(0))
                                       : readKindOf(user) != ReadKind::None;
  });
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// Returns whether the constants of the activation function `gelu` have their
/// usual values. Libraries compute GELU only with these values. There are two
/// forms of GELU:
///
///   exact            0.5 x (1 + erf(slope x))
///   approximate      0.5 x (1 + tanh(slope (x + cubic x³)))
///
/// The usual value of `slope` is 1/√2 in the exact form, and √(2/π) in the
/// approximate form. The usual value of `cubic` is 0.044715. Allows a relative
/// error of 1e-6, because a model may store rounded constants. A constant that
/// `gelu` does not specify has its usual value.
static bool isStandard(graph::GeluOp gelu) {
  auto isAbout = [](std::optional<APFloat> number, double wanted) {
    return !number || std::abs(number->convertToDouble() / wanted - 1) < 1e-6;
  };
  const double slope = gelu.getTanh()
                           ? std::numbers::sqrt2 * std::numbers::inv_sqrtpi
                           : 1 / std::numbers::sqrt2;
  return isAbout(gelu.getSlope(), slope) && isAbout(gelu.getCubic(), 0.044715);
}

/// Returns the activation function that `op` computes. For example, returns
/// Activation::Relu if `op` is relu. Returns Activation::None if `op` is no
/// activation function that a library can compute. For example, `op` is exp.
/// Never returns Activation::Silu, because no single op computes Silu. The
/// function Silu, x · sigmoid(x), consists of the two ops sigmoid and mul.
static Activation activationOf(Operation *op) {
  if (auto gelu = dyn_cast<graph::GeluOp>(op)) {
    if (!isStandard(gelu))
      return Activation::None;
    return gelu.getTanh() ? Activation::GeluTanh : Activation::GeluErf;
  }
  if (isa<graph::ReluOp>(op))
    return Activation::Relu;
  if (isa<graph::SigmoidOp>(op))
    return Activation::Sigmoid;
  return isa<graph::TanhOp>(op) ? Activation::Tanh : Activation::None;
}

/// Returns whether `op` belongs to a training step.
static bool isOfTraining(Operation *op) {
  return op->getParentOfType<ModuleOp>()->hasAttr(pipe::recomputedFlopsName);
}

/// Returns whether the result of the matmul or convolution `op` must be rounded
/// to its element type before another op reads it. Returns true in training
/// with bf16 or f16. Example: a bias is added to the result. A library call
/// that also adds the bias does not round in between, so its bits can differ
/// from those of a kernel. But activation checkpointing can compute the
/// addition twice, and both results must have equal bits. A kernel therefore
/// adds the bias.
static bool roundsBetween(Operation *op) {
  const Type element = graph::tensorType(op->getResult(0)).getElementType();
  return isOfTraining(op) && (element.isBF16() || element.isF16());
}

namespace {
/// Finds the epilogue of a matmul or convolution. The epilogue is the list of
/// ops that the library computes after the matmul or convolution, in the same
/// call. The library is oneDNN or cuBLASLt. Example from an inference step: the
/// epilogue of this matmul consists of add and relu. The library cannot compute
/// exp after the matmul.
///
///   matmul -> add bias -> relu -> exp
///
/// `contraction` is the matmul or convolution. The method run() stores the
/// epilogue in the struct `epilogue`.
class EpilogueReader {
public:
  EpilogueReader(Operation *contraction, Epilogue &epilogue)
      : contraction(contraction), library(libraryOf(contraction)),
        epilogue(epilogue) {
    epilogue.result = contraction->getResult(0);
  }

  void run() {
    if (!takeSum())
      takeSteps();
    epilogue.stored = *viewBehind(epilogue.ops);
  }

private:
  /// Finds the steps of the epilogue: ops on the result of a matmul or
  /// convolution that the library computes in the same call. Libraries apply
  /// them in the order bias, activation, residual, transpose. Each step is
  /// optional.
  void takeSteps() {
    const bool addsInside = !roundsBetween(contraction);
    if (addsInside)
      takeBias();
    takeActivation();
    if (!isa<graph::MatmulOp>(contraction))
      return;
    if (addsInside)
      takeResidual();
    takeOrder();
  }

  /// Returns the value that the next step of the epilogue would read. A step is
  /// one operation of the epilogue, such as the addition of a bias. The value
  /// is the result of the preceding step, or of the matmul or convolution.
  /// After a matmul, also follows reshapes, and stores them in the field
  /// `reshapes`. In this example, the step after the bias would read the result
  /// of the reshape:
  ///
  ///   matmul -> bias -> reshape -> relu
  Value next() {
    reshapes.clear();
    Value value = epilogue.result;
    if (!isa<graph::MatmulOp>(contraction))
      return value;
    while (value.hasOneUse() && isa<graph::ReshapeOp>(*value.user_begin())) {
      reshapes.push_back(*value.user_begin());
      value = reshapes.back()->getResult(0);
    }
    return value;
  }

  /// Appends one step to the epilogue. The epilogue is the list of ops that the
  /// library computes after a matmul or convolution, in the same call. A step
  /// is one operation of the epilogue, such as the addition of a bias. `ops`
  /// are the ops of the step.
  ///
  /// Reshapes can lie between the preceding step and `ops`. The last call of
  /// next() has stored these reshapes in the field `reshapes`. Appends these
  /// reshapes first, and then `ops`.
  void take(ArrayRef<Operation *> ops) {
    epilogue.ops.append(reshapes);
    llvm::append_range(epilogue.ops, ops);
    epilogue.result = ops.back()->getResult(0);
  }

  /// Returns the tensor that is added to `value`. Example: if value + b is the
  /// only op that reads `value`, returns b. Returns null in two cases:
  ///
  ///   - The only reader of `value` is no addition, or `value` has several
  ///     readers.
  ///   - The result of the addition does not have the shape and the element
  ///     type of `value`.
  static Value addend(Value value) {
    auto add = value.hasOneUse() ? dyn_cast<graph::AddOp>(*value.user_begin())
                                 : graph::AddOp();
    if (!add || add.getType() != value.getType())
      return {};
    return add.getLhs() == value ? add.getRhs() : add.getLhs();
  }

  /// Returns the dim to which a bias belongs, in the result of the matmul or
  /// convolution. A bias has one element per column of a matmul, or one element
  /// per channel of a convolution. The returned number counts the dims from the
  /// end. The number 1 means the last dim:
  ///
  ///   op            result         dim of the bias     returned number
  ///   matmul        [m, n]         n (columns)         1
  ///   convolution   [N, C, H, W]   C (channels)        3
  int64_t biasDim() const {
    return isa<graph::MatmulOp>(contraction)
               ? 1
               : typeOf(contraction->getResult(0)).getRank() - 1;
  }

  /// Returns whether the library can add `value` as a bias to the tensor `of`.
  /// `of` is the result of a matmul or of a convolution. A bias must have one
  /// element per column of a matmul, or one element per channel of a
  /// convolution:
  ///
  ///   `of`                                  examples of bias shapes
  ///   result of a matmul [8, 32]            [32], [1, 32]
  ///   result of a convolution [2, 3, 5, 5]  [3, 1, 1], [1, 3, 1, 1]
  ///
  /// For a matmul, `of` can also be a reshape of the result. The reshape must
  /// not change the size of the last dim. Example: a reshape from [8, 32] to
  /// [2, 4, 32].
  bool isBias(Value value, Value of) const {
    RankedTensorType all = typeOf(of), type = typeOf(value);
    RankedTensorType whole = typeOf(contraction->getResult(0));
    const int64_t size = whole.getDimSize(whole.getRank() - biasDim());
    return all.getRank() >= biasDim() && type.getRank() >= biasDim() &&
           all.getDimSize(all.getRank() - biasDim()) == size &&
           type.getDimSize(type.getRank() - biasDim()) == size &&
           type.getNumElements() == size;
  }

  /// Appends the addition of a bias to the epilogue, if possible. The epilogue
  /// is the list of ops that the library computes after a matmul or
  /// convolution, in the same call. A bias has one element per column of the
  /// matmul, or one element per channel of the convolution. The method appends
  /// an op that adds a bias to the result of the matmul or convolution. No
  /// other op may read this result. If there is no such op, the epilogue does
  /// not change.
  void takeBias() {
    Value value = next(), other = addend(value);
    if (!other || !isBias(other, value))
      return;
    epilogue.bias = other;
    take({*value.user_begin()});
  }

  /// Returns whether `value` and `sum` are a sum of gradients before and after
  /// one microbatch. A function runs once for each microbatch. Its result `sum`
  /// is its argument `value` in the next run, so both share one buffer:
  ///
  ///   func backward(value, x) { sum = value + gradient(x); return sum }
  ///
  /// If `value` is an argument in the body of a library call, and `sum` is the
  /// first result of the body, checks the operand and the first result of the
  /// call instead.
  static bool isSumSoFar(Value value, Value sum) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto call =
        argument
            ? dyn_cast<rank::LibraryCallOp>(argument.getOwner()->getParentOp())
            : rank::LibraryCallOp();
    if (call)
      return call.getYield().getOperand(0) == sum &&
             isSumSoFar(call.getInputs()[argument.getArgNumber()],
                        call->getResult(0));
    return argument && pipe::isAccumulator(argument) &&
           pipe::heldBy(argument) == sum;
  }

  /// Appends the addition to a sum of gradients over microbatches to the
  /// epilogue, if possible. Returns whether the addition was appended. The ops
  /// have one of these forms:
  ///
  ///   matmul -> add to the sum
  ///   matmul -> cast to f32 -> add to the sum
  ///
  /// Returns false if the run must be reproducible. Separate ops round a bf16
  /// product before they add it to an f32 sum, but the library does not.
  bool takeSum() {
    if (!library.accumulates || !isa<graph::MatmulOp>(contraction) ||
        graph::isReproducible(contraction))
      return false;
    Value value = next();
    SmallVector<Operation *, 2> ops;
    if (auto cast = value.hasOneUse()
                        ? dyn_cast<graph::CastOp>(*value.user_begin())
                        : graph::CastOp()) {
      if (!typeOf(cast.getResult()).getElementType().isF32())
        return false;
      value = cast.getResult();
      ops.push_back(cast);
    }
    Value other = addend(value);
    if (!other || other.getType() != value.getType())
      return false;
    ops.push_back(*value.user_begin());
    if (!isSumSoFar(other, ops.back()->getResult(0)))
      return false;
    epilogue.residual = other;
    take(ops);
    return true;
  }

  /// Appends the addition of a residual to the epilogue of a matmul, if
  /// possible. A residual is another tensor of the same type as the result so
  /// far. No other op may read the result so far. Appends nothing after an
  /// activation function if the library cannot add a tensor there. Leaves the
  /// addition to a sum of gradients over microbatches to takeSum().
  void takeResidual() {
    if (epilogue.activation != Activation::None && !library.addsToActivations)
      return;
    Value value = next(), other = addend(value);
    if (!other || other.getType() != value.getType() ||
        isSumSoFar(other, (*value.user_begin())->getResult(0)))
      return;
    epilogue.residual = other;
    take({*value.user_begin()});
  }

  /// Returns whether one library call can compute a matmul or convolution, and
  /// then apply the activation function `activation` to the result. The library
  /// is oneDNN or cuBLASLt.
  bool activates(Activation activation) const {
    return llvm::is_contained(library.activations, activation);
  }

  /// Appends an activation function to the epilogue, if possible. The epilogue
  /// is the list of ops that the library computes after a matmul or
  /// convolution, in the same call. Let x be the result of the last op of the
  /// epilogue. If the epilogue has no op yet, x is the result of the matmul or
  /// convolution. The method appends the ops that apply an activation function
  /// to x, if the library can compute this function and no other op reads x.
  ///
  /// Appends no activation function in a training step. In training, the
  /// backward pass can compute results of the forward pass again (activation
  /// checkpointing). Both computations must give the same bits. But a library
  /// and a kernel can give different bits for the same activation function.
  /// Kernels therefore compute all activation functions in training.
  void takeActivation() {
    if (isOfTraining(contraction))
      return;
    Value value = next();
    const Activation activation = value.hasOneUse()
                                      ? activationOf(*value.user_begin())
                                      : Activation::None;
    if (activates(activation)) {
      epilogue.activation = activation;
      take({*value.user_begin()});
    } else if (activates(Activation::Silu) && takeSilu(value)) {
      epilogue.activation = Activation::Silu;
    }
  }

  /// Appends Silu, x · sigmoid(x), to the epilogue, if possible. The epilogue
  /// is the list of ops that the library computes after a matmul or
  /// convolution, in the same call. Silu consists of two ops:
  ///
  ///   s = sigmoid value
  ///   y = mul value, s
  ///
  /// If these two ops are the only ops that read `value`, and no other op reads
  /// s, appends both ops and returns true. Otherwise, changes nothing and
  /// returns false.
  bool takeSilu(Value value) {
    if (!value.hasNUses(2))
      return false;
    for (Operation *user : value.getUsers()) {
      auto sigmoid = dyn_cast<graph::SigmoidOp>(user);
      if (!sigmoid || !sigmoid->hasOneUse())
        continue;
      auto mul = dyn_cast<graph::MulOp>(*sigmoid->user_begin());
      if (!mul || !llvm::is_contained(mul->getOperands(), value))
        return false;
      take({sigmoid, mul});
      return true;
    }
    return false;
  }

  /// Appends a transpose to the epilogue of a matmul if the transpose is the
  /// only reader of the result so far, or of its reshape. The library then
  /// stores each element at its transposed position. Example: the result
  /// [2, 3, 8] with dims 0 and 1 exchanged is stored with the strides [8, 16,
  /// 1]. Appends nothing if a fused kernel reads the transposed tensor, because
  /// that kernel can read the tensor before the transpose with strides. Appends
  /// nothing either if no strides describe the positions, or if neighbors in
  /// the last dim would not be neighbors in memory, as for [2, 3] to [3, 2].
  void takeOrder() {
    Value value = next();
    auto transpose = value.hasOneUse()
                         ? dyn_cast<graph::TransposeOp>(*value.user_begin())
                         : graph::TransposeOp();
    if (!transpose || isReadByKernel(transpose.getResult()))
      return;
    SmallVector<Operation *> ops(epilogue.ops);
    ops.append(reshapes);
    ops.push_back(transpose);
    std::optional<StridedView> view = viewBehind(ops);
    if (view && (view->strides.back() == 1 || view->shape.back() == 1))
      take({transpose});
  }

  /// Returns the positions at which the library stores the elements of the
  /// result of the matmul or convolution: an offset and one stride for each
  /// dim. `ops` is a chain of later ops of the same call. The library stores
  /// only the result of the last op. Example: a matmul has the shape [2, 3],
  /// and `ops` is a transpose. Element [i, j] is stored at position i + 2 j, so
  /// the strides are [1, 2]. Returns std::nullopt if no strides give the
  /// positions.
  std::optional<StridedView> viewBehind(ArrayRef<Operation *> ops) const {
    return storedView(contraction->getResult(0), ops);
  }

  Operation *contraction;
  const Library &library;
  Epilogue &epilogue;
  /// Reshapes that the last call of next() has found, in execution order. The
  /// epilogue is the list of ops that the library computes after a matmul, in
  /// the same call. The method next() follows the reshapes that come after the
  /// last op of the epilogue. Example: the last op of the epilogue adds a bias,
  /// and two reshapes come after this op:
  ///
  ///   matmul -> add bias -> reshape 1 -> reshape 2 -> relu
  ///
  /// The method next() returns the result of reshape 2. This list contains
  /// reshape 1 and reshape 2. If no reshape came after the addition of the
  /// bias, next() would return the result of the addition (`epilogue.result`),
  /// and the list would be empty.
  SmallVector<Operation *> reshapes;
};
} // namespace

Epilogue::Epilogue(Operation *contraction) {
  EpilogueReader(contraction, *this).run();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Returns whether a library can read a matrix through `view`. All strides must
/// be positive, and one of the last two dims must be contiguous.
static bool isReadable(const StridedView &view) {
  bool isDense = false;
  for (auto [i, stride] : llvm::enumerate(view.strides)) {
    if (stride <= 0)
      return false;
    isDense |= i + 2 >= view.strides.size() && stride == 1;
  }
  return isDense;
}

OperandView OperandView::plain(Value operand) {
  return {operand, {}, StridedView::dense(typeOf(operand).getShape())};
}

OperandView pcc::emit::viewOperand(Value operand) {
  OperandView plain = OperandView::plain(operand);
  OperandView seen = plain;
  // Collect the layout ops (transposes, slices, reshapes) that produce
  // `operand`, last op first. Stop at an op with several readers.
  while (Operation *op = seen.source.getDefiningOp()) {
    if (!op->hasTrait<graph::IsView>() || !op->hasOneUse())
      break;
    seen.ops.push_back(op);
    seen.source = op->getOperand(0);
  }
  // The ops in the list `seen.ops` compute `operand` from the tensor
  // `seen.source`. The list is in reverse order: the last op in the list runs
  // first. The loop below removes the reshapes at the end of the list. These
  // reshapes move no elements, so the matmul can read the result of a removed
  // reshape. Example, where a reshape computes y from x, and a transpose
  // computes `operand` from y:
  //
  //                     `seen.ops`             `seen.source`
  //   before the loop   transpose, reshape     x
  //   after the loop    transpose              y
  while (!seen.ops.empty() && isa<graph::ReshapeOp>(seen.ops.back()))
    seen.source = seen.ops.pop_back_val()->getResult(0);
  if (seen.ops.empty() || isOfKernel(seen.source))
    return plain;
  std::reverse(seen.ops.begin(), seen.ops.end());
  std::optional<StridedView> view =
      StridedView::dense(typeOf(seen.source).getShape());
  for (Operation *op : seen.ops) {
    view = view->through(op);
    if (!view)
      return plain;
  }
  if (!isReadable(*view))
    return plain;
  seen.view = *view;
  return seen;
}
