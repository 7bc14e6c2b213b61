//===- LibraryCalls.cpp - epilogues and operand views of library calls ----===//

#include "passes/7-emit/fuse/LibraryCalls.h"
#include "dialects/dist/Target.h"
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
/// Abilities of a target's library. Every library computes matmuls of f32 and
/// bf16, with a bias and a residual.
struct Library {
  StringRef target;
  /// Whether the library computes matmuls of f16, and whether it computes
  /// convolutions.
  bool multipliesF16, convolves;
  /// Whether the library can add a residual behind an activation.
  bool addsToActivations;
  /// Whether the library can add a product of any type, in place, to an f32 sum
  /// over microbatches.
  bool accumulates;
  /// Whether the library can compute a bias gradient along with a product.
  bool sumsFactors;
  /// Activations that the library can apply.
  ArrayRef<Activation> activations;
};
} // namespace

static constexpr Activation ofOneDnn[] = {
    Activation::Relu,    Activation::GeluErf, Activation::GeluTanh,
    Activation::Sigmoid, Activation::Tanh,    Activation::Silu};
static constexpr Activation ofCublasLt[] = {Activation::Relu,
                                            Activation::GeluTanh};
static const Library libraries[] = {
    // target, multipliesF16, convolves, addsToActivations, accumulates,
    // sumsFactors, activations
    {"cpu", false, true, true, false, false, ofOneDnn},
    {"cuda", true, false, false, true, true, ofCublasLt}};

/// Returns the library of the target of the module around `op`.
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

/// Returns whether a kernel computes `value`, possibly followed by reshapes.
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

/// Returns whether the constants of `gelu` are those of the standard function.
/// Constants that a model wrote in its own type differ from them by rounding.
static bool isStandard(graph::GeluOp gelu) {
  auto isAbout = [](std::optional<APFloat> number, double wanted) {
    return !number || std::abs(number->convertToDouble() / wanted - 1) < 1e-6;
  };
  const double slope = gelu.getTanh()
                           ? std::numbers::sqrt2 * std::numbers::inv_sqrtpi
                           : 1 / std::numbers::sqrt2;
  return isAbout(gelu.getSlope(), slope) && isAbout(gelu.getCubic(), 0.044715);
}

/// Returns the activation that `op` alone computes, or Activation::None. Silu
/// is two ops, so takeSilu() finds it.
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

/// Returns whether `op` is part of a training step. In such a step the backward
/// pass may read or recompute the result of `op`, and its bits must not depend
/// on which of the two happens.
static bool isOfTraining(Operation *op) {
  return op->getParentOfType<ModuleOp>()->hasAttr(pipe::recomputedFlopsName);
}

/// Returns whether the result of `op` has to be rounded before the next step: a
/// kernel would round a narrow float, and in training the library must give the
/// same bits as a kernel.
static bool roundsBetween(Operation *op) {
  const Type element = graph::tensorType(op->getResult(0)).getElementType();
  return isOfTraining(op) && (element.isBF16() || element.isF16());
}

namespace {
/// Reader of the steps behind a contraction. Extends `epilogue` step by step;
/// `epilogue.result` is the value behind the last step so far.
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
  /// Reads the steps in the order in which libraries apply them.
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

  /// Returns the value that the next step would read, and records in `reshapes`
  /// the reshapes on the way to it. A matmul sees rows only, so reshapes of its
  /// result do not matter; take() adds them to the epilogue.
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

  /// Adds a step, which consists of `ops`, to the epilogue.
  void take(ArrayRef<Operation *> ops) {
    epilogue.ops.append(reshapes);
    llvm::append_range(epilogue.ops, ops);
    epilogue.result = ops.back()->getResult(0);
  }

  /// Returns the value that the only reader of `value` adds to it. Returns null
  /// if the reader is no addition or if it broadcasts `value`.
  static Value addend(Value value) {
    auto add = value.hasOneUse() ? dyn_cast<graph::AddOp>(*value.user_begin())
                                 : graph::AddOp();
    if (!add || add.getType() != value.getType())
      return {};
    return add.getLhs() == value ? add.getRhs() : add.getLhs();
  }

  /// Returns the dim along which a bias runs, counted from 1 for the last dim:
  /// the columns of a matmul, the channels of a convolution.
  int64_t biasDim() const {
    return isa<graph::MatmulOp>(contraction)
               ? 1
               : typeOf(contraction->getResult(0)).getRank() - 1;
  }

  /// Returns whether `value` is a bias of `of`, which is the contraction's
  /// result or a reshape of it: `value` has one element per column or channel.
  bool isBias(Value value, Value of) const {
    RankedTensorType all = typeOf(of), type = typeOf(value);
    RankedTensorType whole = typeOf(contraction->getResult(0));
    const int64_t size = whole.getDimSize(whole.getRank() - biasDim());
    return all.getRank() >= biasDim() && type.getRank() >= biasDim() &&
           all.getDimSize(all.getRank() - biasDim()) == size &&
           type.getDimSize(type.getRank() - biasDim()) == size &&
           type.getNumElements() == size;
  }

  /// Reads a bias, if there is one.
  void takeBias() {
    Value value = next(), other = addend(value);
    if (!other || !isBias(other, value))
      return;
    epilogue.bias = other;
    take({*value.user_begin()});
  }

  /// Returns whether `value` is the sum over the microbatches before, and `sum`
  /// the sum after adding this microbatch, so that both share one buffer.
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

  /// Reads the addition of the product to a sum over microbatches. Returns
  /// false if there is none. The sum is in f32 and adds the unrounded product,
  /// so reproducible runs do not use this step.
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

  /// Reads a residual, if there is one and the library can add it.
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

  /// Returns whether the library can apply `activation`.
  bool activates(Activation activation) const {
    return llvm::is_contained(library.activations, activation);
  }

  /// Reads an activation, if there is one and the library can apply it.
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

  /// Reads x · sigmoid(x). Returns false if `value` is not the x of such ops.
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

  /// Reads a transpose of the result. The library must be able to store rows
  /// contiguously. A transpose that a kernel reads is left to that kernel,
  /// which can hold it for free.
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

  /// Returns a view with the shape of the contraction's result into the result
  /// of the last of `ops`.
  std::optional<StridedView> viewBehind(ArrayRef<Operation *> ops) const {
    return storedView(contraction->getResult(0), ops);
  }

  Operation *contraction;
  const Library &library;
  Epilogue &epilogue;
  /// Reshapes between the last step and the value that next() returned.
  SmallVector<Operation *> reshapes;
};
} // namespace

Epilogue::Epilogue(Operation *contraction) {
  EpilogueReader(contraction, *this).run();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Returns whether a library can read a matrix through `view`: all strides are
/// positive, and one of the last two dims is contiguous.
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
  // Follows layout ops upwards; `seen.ops` is in reverse execution order.
  while (Operation *op = seen.source.getDefiningOp()) {
    if (!isa<graph::TransposeOp, graph::SliceOp, graph::ReshapeOp>(op) ||
        !op->hasOneUse())
      break;
    seen.ops.push_back(op);
    seen.source = op->getOperand(0);
  }
  // Reshapes of the source are free, so the reshaped tensor is the source.
  while (!seen.ops.empty() && isa<graph::ReshapeOp>(seen.ops.back()))
    seen.source = seen.ops.pop_back_val()->getResult(0);
  if (seen.ops.empty() || isOfKernel(seen.source))
    return plain;
  std::reverse(seen.ops.begin(), seen.ops.end());
  std::optional<StridedView> view =
      StridedView::dense(typeOf(seen.source).getShape());
  for (Operation *op : seen.ops)
    if (!(view = view->through(op)))
      return plain;
  if (!isReadable(*view))
    return plain;
  seen.view = *view;
  return seen;
}
