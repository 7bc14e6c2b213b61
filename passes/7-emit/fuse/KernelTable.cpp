//===- KernelTable.cpp - kernels of a module, without duplicates ----------===//

#include "passes/7-emit/fuse/KernelTable.h"
#include "mlir/IR/Builders.h"
#include "passes/7-emit/kernel/Plan.h"

#include <numeric>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Largest number of ops in kernels that differ in scalar constants only.
static constexpr size_t mostOps = 128;

/// Returns the printed form of `kernel`, with a fixed symbol name. Equal
/// kernels have equal printed forms.
static std::string textOf(rank::KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  StringAttr name = kernel.getSymNameAttr();
  kernel.setSymName("kernel");
  kernel->print(stream, OpPrintingFlags().useLocalScope());
  kernel.setSymNameAttr(name);
  return text;
}

KernelTable::KernelTable(ModuleOp module) : module(module), symbols(module) {
  for (auto kernel : module.getOps<rank::KernelOp>())
    known[textOf(kernel)] = kernel;
}

rank::KernelOp KernelTable::intern(rank::KernelOp made) {
  rank::KernelOp &kernel = known[textOf(made)];
  if (kernel) {
    made.erase();
    return kernel;
  }
  kernel = made;
  symbols.insert(kernel, module.getBody()->end());
  return kernel;
}

//===----------------------------------------------------------------------===//
// Scalars as operands
//===----------------------------------------------------------------------===//

namespace {
/// Constants of a kernel that an operand can replace.
using Scalars = SmallVector<graph::ConstantOp>;

/// Kernels that differ in the values of their scalars only.
struct Twins {
  SmallVector<rank::KernelOp> kernels;
  /// Scalars of each kernel, in the order of the ops.
  SmallVector<Scalars> scalars;
};
} // namespace

/// Returns the constants of `kernel` with one element that only cheap
/// element-wise ops read. The value of another constant can decide how an op is
/// computed, as an exponent of 2 does.
static Scalars scalarsOf(rank::KernelOp kernel) {
  auto isCheap = [](Operation *user) {
    return user->hasTrait<graph::IsElementWise>() && !isExpensive(user);
  };
  Scalars found;
  for (auto constant : kernel.getBody().front().getOps<graph::ConstantOp>())
    if (graph::tensorType(constant.getResult()).getNumElements() == 1 &&
        llvm::all_of(constant->getUsers(), isCheap))
      found.push_back(constant);
  return found;
}

/// Returns the printed form of `kernel` with 0 in place of each of `scalars`.
static std::string formOf(rank::KernelOp kernel, Scalars scalars) {
  SmallVector<ElementsAttr> values;
  for (graph::ConstantOp scalar : scalars) {
    values.push_back(scalar.getValue());
    ShapedType type = scalar.getValue().getShapedType();
    scalar.setValueAttr(DenseElementsAttr::get(
        type, Builder(type.getContext()).getZeroAttr(type.getElementType())));
  }
  std::string text = textOf(kernel);
  for (auto [scalar, value] : llvm::zip_equal(scalars, values))
    scalar.setValueAttr(value);
  return text;
}

/// Returns the sets of kernels of `module` that differ in scalars only.
static std::vector<Twins> findTwins(ModuleOp module) {
  llvm::StringMap<size_t> indices;
  std::vector<Twins> sets;
  for (auto kernel : module.getOps<rank::KernelOp>()) {
    Scalars scalars = scalarsOf(kernel);
    if (scalars.empty() || kernel.getInParts())
      continue;
    const size_t i =
        indices.try_emplace(formOf(kernel, scalars), sets.size()).first->second;
    if (i == sets.size())
      sets.emplace_back();
    sets[i].kernels.push_back(kernel);
    sets[i].scalars.push_back(std::move(scalars));
  }
  return sets;
}

/// Returns whether scalar `i` has the same value in all kernels.
static bool isEqualInAll(const Twins &twins, size_t i) {
  return llvm::all_equal(llvm::map_range(
      twins.scalars, [i](Scalars scalars) { return scalars[i].getValue(); }));
}

/// Returns the indices of the scalars that differ between kernels.
static SmallVector<size_t> differingScalars(const Twins &twins) {
  SmallVector<size_t> differing(twins.scalars.front().size());
  std::iota(differing.begin(), differing.end(), 0);
  llvm::erase_if(differing, [&](size_t i) { return isEqualInAll(twins, i); });
  return differing;
}

/// Replaces `launch` by a launch of `kernel`, with the constants `scalars` of
/// its old kernel as further operands.
static void launchWith(rank::KernelOp kernel, rank::LaunchOp launch,
                       const Scalars &scalars) {
  OpBuilder builder(launch);
  SmallVector<Value> operands(launch.getInputs());
  for (graph::ConstantOp scalar : scalars)
    operands.push_back(builder.clone(*scalar)->getResult(0));
  auto made =
      rank::LaunchOp::create(builder, launch.getLoc(), launch.getResultTypes(),
                             kernel.getSymName(), operands);
  launch->replaceAllUsesWith(made);
  launch.erase();
}

/// Makes `kernel` take the values of `scalars`, its constants, as operands.
static void takeScalars(rank::KernelOp kernel, const Scalars &scalars) {
  Block &body = kernel.getBody().front();
  for (graph::ConstantOp scalar : scalars) {
    Value taken =
        body.addArgument(scalar.getResult().getType(), scalar.getLoc());
    scalar.getResult().replaceAllUsesWith(taken);
    scalar.erase();
  }
  kernel.setFunctionType(FunctionType::get(
      kernel.getContext(), body.getArgumentTypes(), kernel.getResultTypes()));
  const KernelPlan plan = planOf(kernel);
  kernel.setExtent(plan.extent);
  kernel.setGrain(plan.grain);
}

void pcc::emit::passScalars(ModuleOp module) {
  llvm::StringMap<SmallVector<rank::LaunchOp>> launches;
  module.walk([&](rank::LaunchOp launch) {
    launches[launch.getKernel()].push_back(launch);
  });
  for (Twins &twins : findTwins(module)) {
    const size_t ops =
        twins.kernels.front().getBody().front().getOperations().size();
    if (twins.kernels.size() == 1 || twins.kernels.size() * ops <= mostOps)
      continue;
    const SmallVector<size_t> differing = differingScalars(twins);
    auto pick = [&](const Scalars &scalars) {
      return llvm::map_to_vector(differing,
                                 [&](size_t i) { return scalars[i]; });
    };
    rank::KernelOp first = twins.kernels.front();
    for (auto [kernel, scalars] :
         llvm::zip_equal(twins.kernels, twins.scalars)) {
      for (rank::LaunchOp launch : launches[kernel.getSymName()])
        launchWith(first, launch, pick(scalars));
      if (kernel != first)
        kernel.erase();
    }
    takeScalars(first, pick(twins.scalars.front()));
  }
}
