//===- LibraryCalls.cpp - what a library does along with a contraction ----===//

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
/// What the library of a target computes, beside products of f32 and bf16 with
/// a bias and a residual.
struct Library {
  StringRef target;
  bool multipliesF16, convolves;
  /// Adds a residual to what it has activated.
  bool addsToActivations;
  /// Adds a product to a sum over microbatches where that lies, in f32 whatever
  /// the product's type.
  bool accumulates;
  /// Sums a factor over what it contracts.
  bool sumsFactors;
  ArrayRef<Activation> activations;
};
} // namespace

static constexpr Activation ofOneDnn[] = {
    Activation::Relu,    Activation::GeluErf, Activation::GeluTanh,
    Activation::Sigmoid, Activation::Tanh,    Activation::Silu};
static constexpr Activation ofCublasLt[] = {Activation::Relu,
                                            Activation::GeluTanh};
static const Library libraries[] = {
    // target f16    convolves adds behind accumulates sums factors
    {"cpu", false, true, true, false, false, ofOneDnn},
    {"cuda", true, false, false, true, true, ofCublasLt}};

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

/// Whether a kernel computes the value, reshapes apart.
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

/// A model that wrote the numbers of gelu in its own type means the function.
static bool isStandard(graph::GeluOp gelu) {
  auto isAbout = [](std::optional<APFloat> number, double wanted) {
    return !number || std::abs(number->convertToDouble() / wanted - 1) < 1e-6;
  };
  const double slope = gelu.getTanh()
                           ? std::numbers::sqrt2 * std::numbers::inv_sqrtpi
                           : 1 / std::numbers::sqrt2;
  return isAbout(gelu.getSlope(), slope) && isAbout(gelu.getCubic(), 0.044715);
}

/// What an op other than x · sigmoid(x) activates by; None if it does not.
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

/// Whether the backward pass might read what the op makes, or make it again: it
/// has to be the same whether others read it on the way or not.
static bool isOfTraining(Operation *op) {
  return op->getParentOfType<ModuleOp>()->hasAttr(pipe::recomputedFlopsName);
}

/// Of narrow floats a step of its own rounds what the library does not.
static bool roundsBetween(Operation *op) {
  const Type element = graph::tensorType(op->getResult(0)).getElementType();
  return isOfTraining(op) && (element.isBF16() || element.isF16());
}

namespace {
/// Reads the steps behind `epilogue.result`, one after another.
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

  /// Goes on to the value that the next step reads: reshapes do not matter to a
  /// product, which sees rows. They are taken if the step is.
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

  void take(ArrayRef<Operation *> ops) {
    epilogue.ops.append(reshapes);
    llvm::append_range(epilogue.ops, ops);
    epilogue.result = ops.back()->getResult(0);
  }

  /// What alone is added to `value`; null if nothing is, or if that makes a
  /// larger tensor.
  static Value addend(Value value) {
    auto add = value.hasOneUse() ? dyn_cast<graph::AddOp>(*value.user_begin())
                                 : graph::AddOp();
    if (!add || add.getType() != value.getType())
      return {};
    return add.getLhs() == value ? add.getRhs() : add.getLhs();
  }

  /// Columns of a product, channels of a convolution: the dim of a value that a
  /// bias runs along, from the last.
  int64_t biasDim() const {
    return isa<graph::MatmulOp>(contraction)
               ? 1
               : typeOf(contraction->getResult(0)).getRank() - 1;
  }

  bool isBias(Value value, Value of) const {
    RankedTensorType all = typeOf(of), type = typeOf(value);
    RankedTensorType whole = typeOf(contraction->getResult(0));
    const int64_t size = whole.getDimSize(whole.getRank() - biasDim());
    return all.getRank() >= biasDim() && type.getRank() >= biasDim() &&
           all.getDimSize(all.getRank() - biasDim()) == size &&
           type.getDimSize(type.getRank() - biasDim()) == size &&
           type.getNumElements() == size;
  }

  void takeBias() {
    Value value = next(), other = addend(value);
    if (!other || !isBias(other, value))
      return;
    epilogue.bias = other;
    take({*value.user_begin()});
  }

  /// Whether `value` is what `sum` is added to in every microbatch, and lies
  /// where it does.
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

  /// A product that is nothing but added to a sum over microbatches. It is not
  /// rounded on the way, which --reproducible would see.
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

  bool activates(Activation activation) const {
    return llvm::is_contained(library.activations, activation);
  }

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

  /// x · sigmoid(x)
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

  /// Rows stay rows. A kernel that reads the result reorders it for nothing.
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

  /// The result of the last op in the order of the contraction's dims.
  std::optional<StridedView> viewBehind(ArrayRef<Operation *> ops) const {
    return storedView(contraction->getResult(0), ops);
  }

  Operation *contraction;
  const Library &library;
  Epilogue &epilogue;
  SmallVector<Operation *> reshapes;
};
} // namespace

Epilogue::Epilogue(Operation *contraction) {
  EpilogueReader(contraction, *this).run();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Libraries read matrices of which one dim is dense.
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
  while (Operation *op = seen.source.getDefiningOp()) {
    if (!isa<graph::TransposeOp, graph::SliceOp, graph::ReshapeOp>(op) ||
        !op->hasOneUse())
      break;
    seen.ops.push_back(op);
    seen.source = op->getOperand(0);
  }
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
