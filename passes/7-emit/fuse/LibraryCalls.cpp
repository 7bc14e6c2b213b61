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

/// Returns whether `gelu` has the constants that libraries use: 0.5 x (1 +
/// erf(x/√2)), or 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))). Allows a relative
/// error of 1e-6, because a model may store rounded constants.
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
/// to bf16 or f16 before the next op. This is so in training: the backward pass
/// may recompute the next op from the stored, rounded result (activation
/// checkpointing), and must get the same bits as the forward pass.
static bool roundsBetween(Operation *op) {
  const Type element = graph::tensorType(op->getResult(0)).getElementType();
  return isOfTraining(op) && (element.isBF16() || element.isF16());
}

namespace {
/// Finds the epilogue of a matmul or convolution: the next ops, which oneDNN or
/// cuBLASLt can compute in the same call. Example: if an addition of a bias,
/// relu and exp follow a matmul, the epilogue is the addition and relu.
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

  /// Returns the value that the next op of the epilogue must read:
  /// `epilogue.result`, or a reshape of it. Stores such reshapes in `reshapes`.
  /// Follows reshapes only after a matmul.
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

  /// Appends to the epilogue the reshapes that next() has found, and then
  /// `ops`.
  void take(ArrayRef<Operation *> ops) {
    epilogue.ops.append(reshapes);
    llvm::append_range(epilogue.ops, ops);
    epilogue.result = ops.back()->getResult(0);
  }

  /// Returns b if the addition value + b is the only reader of `value`. Returns
  /// null otherwise, or if the sum has another type than `value`.
  static Value addend(Value value) {
    auto add = value.hasOneUse() ? dyn_cast<graph::AddOp>(*value.user_begin())
                                 : graph::AddOp();
    if (!add || add.getType() != value.getType())
      return {};
    return add.getLhs() == value ? add.getRhs() : add.getLhs();
  }

  /// Returns the dim of the result along which a bias varies, counted from the
  /// end. Example: 1 for a matmul [m, n], and 3 for a convolution [N, C, H, W].
  int64_t biasDim() const {
    return isa<graph::MatmulOp>(contraction)
               ? 1
               : typeOf(contraction->getResult(0)).getRank() - 1;
  }

  /// Returns whether `value` is a bias for `of`: one element per column of a
  /// matmul, or per channel of a convolution. Examples are [32] for a matmul
  /// [8, 32], and [3, 1, 1] for a convolution [2, 3, 5, 5]. `of` is the result
  /// of either op, or a reshape of a matmul's result that keeps the last dim.
  bool isBias(Value value, Value of) const {
    RankedTensorType all = typeOf(of), type = typeOf(value);
    RankedTensorType whole = typeOf(contraction->getResult(0));
    const int64_t size = whole.getDimSize(whole.getRank() - biasDim());
    return all.getRank() >= biasDim() && type.getRank() >= biasDim() &&
           all.getDimSize(all.getRank() - biasDim()) == size &&
           type.getDimSize(type.getRank() - biasDim()) == size &&
           type.getNumElements() == size;
  }

  /// Appends the addition of a bias to the epilogue, if this op comes next.
  void takeBias() {
    Value value = next(), other = freeAddend(value);
    if (!other || !isBias(other, value))
      return;
    epilogue.bias = other;
    take({*value.user_begin()});
  }

  /// Returns whether `value` and `sum` are an accumulated gradient before and
  /// after the addition of one microbatch. `value` is then an argument of the
  /// stage function, `sum` is a result of this stage function, and both share
  /// one buffer. If `value` is an argument in the body of a rank.library_call,
  /// the body must return `sum`. The condition must then hold for the operand
  /// and the result of the rank.library_call.
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

  /// Returns addend(value): the tensor b if the only reader of `value` is an
  /// addition value + b. Returns null if b is a sum of gradients over
  /// microbatches. Only takeSum() may fuse an addition to such a sum, even if
  /// the sum has the shape of a bias.
  Value freeAddend(Value value) const {
    Value other = addend(value);
    return other && !isSumSoFar(other, (*value.user_begin())->getResult(0))
               ? other
               : Value();
  }

  /// Appends to the epilogue the addition that adds the result of a matmul to
  /// an accumulated gradient. If a cast to f32 comes before this addition, also
  /// appends the cast. Returns false if there is no such addition, or if the
  /// run must be reproducible: the library does not round a bf16 product before
  /// the addition, but separate ops do.
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
  /// activation function if the library cannot add a tensor there. Also appends
  /// nothing if the other tensor is a sum of gradients over microbatches,
  /// because takeSum() handles this case.
  void takeResidual() {
    if (epilogue.activation != Activation::None && !library.addsToActivations)
      return;
    Value value = next(), other = freeAddend(value);
    if (!other || other.getType() != value.getType())
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

  /// Appends the next op to the epilogue if it is an activation that the
  /// library supports. Appends none in training: a kernel may recompute the
  /// activation (activation checkpointing), and the bits of kernel and library
  /// can differ.
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

  /// Appends Silu, value · sigmoid(value), to the epilogue. The readers of
  /// `value` must be one sigmoid and one product, and the product must be the
  /// only reader of the sigmoid. Otherwise returns false and appends nothing.
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

  /// Appends a transpose to the epilogue of a matmul. The library then stores
  /// the result with strides. Appends none if a fused kernel reads the
  /// transposed tensor, because kernels can read with strides. Also appends
  /// none if the stride of the last dim of the stored result would not be 1.
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

  /// Returns the strides with which the library stores the result of the matmul
  /// or convolution if the epilogue consists of `ops`. Example: if `ops`
  /// transposes a result [2, 3], the strides are [1, 2]. Returns std::nullopt
  /// if strides cannot describe the layout.
  std::optional<StridedView> viewBehind(ArrayRef<Operation *> ops) const {
    return storedView(contraction->getResult(0), ops);
  }

  Operation *contraction;
  const Library &library;
  Epilogue &epilogue;
  /// Reshapes between `epilogue.result` and the value that the last call of
  /// next() returned, in execution order.
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
  // Drop the reshapes that run first. They move no elements, so the matmul can
  // read their result as `seen.source`. The last op of `seen.ops` runs first.
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
