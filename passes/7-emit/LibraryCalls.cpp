//===- LibraryCalls.cpp - what a library does along with a contraction ----===//

#include "passes/7-emit/LibraryCalls.h"
#include "dialects/dist/Target.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/7-emit/KernelPlan.h"
#include <numbers>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

static RankedTensorType typeOf(Value value) { return graph::tensorType(value); }

/// cuBLASLt does less than oneDNN.
static bool isForGpus(Operation *op) {
  return dist::targetOf(op->getParentOfType<ModuleOp>()) == "cuda";
}

bool pcc::emit::isLibraryContraction(Operation *op) {
  const bool ofGpus = isForGpus(op);
  if (!isa<graph::MatmulOp>(op) &&
      (ofGpus || !isa<graph::ConvOp, graph::ConvTransposeOp>(op)))
    return false;
  Type element = typeOf(op->getResult(0)).getElementType();
  return (element.isF32() || element.isBF16() || (ofGpus && element.isF16())) &&
         typeOf(op->getOperand(0)).getElementType() == element &&
         typeOf(op->getOperand(1)).getElementType() == element;
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

static bool isActivation(Operation *op) {
  if (auto gelu = dyn_cast<graph::GeluOp>(op))
    return isStandard(gelu) && (gelu.getTanh() || !isForGpus(op));
  if (isForGpus(op))
    return isa<graph::ReluOp>(op);
  return isa<graph::ReluOp, graph::SigmoidOp, graph::TanhOp>(op);
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
      : contraction(contraction), epilogue(epilogue) {
    epilogue.result = contraction->getResult(0);
  }

  void run() {
    const bool addsInside = !roundsBetween(contraction);
    if (addsInside)
      takeBias();
    takeActivation();
    if (isa<graph::MatmulOp>(contraction)) {
      if (addsInside)
        takeResidual();
      takeOrder();
    }
    epilogue.stored = *viewBehind(epilogue.ops);
  }

private:
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

  /// A sum over microbatches lies where the call would write.
  static bool isSumSoFar(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && pipe::isSumSoFar(argument);
  }

  void takeResidual() {
    // cuBLASLt adds it before it activates.
    if (epilogue.activation && isForGpus(contraction))
      return;
    Value value = next(), other = addend(value);
    if (!other || other.getType() != value.getType() || isSumSoFar(other))
      return;
    epilogue.residual = other;
    take({*value.user_begin()});
  }

  void takeActivation() {
    if (isOfTraining(contraction))
      return;
    Value value = next();
    if (value.hasOneUse() && isActivation(*value.user_begin()))
      take({*value.user_begin()});
    else if (!takeSilu(value))
      return;
    epilogue.activation = epilogue.ops.back();
  }

  /// x · sigmoid(x)
  bool takeSilu(Value value) {
    if (isForGpus(contraction) || !value.hasNUses(2))
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
