//===- MultiTensorLaunch.cpp - multi-tensor apply: joined kernel launches -===//

#include "passes/7-emit/gpu/fuse/MultiTensorLaunch.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/IRMapping.h"
#include "passes/7-emit/fuse/TopologicalOrder.h"
#include "passes/7-emit/gpu/kernel/GpuPlan.h"
#include "passes/7-emit/kernel/Plan.h"
#include "runtime/program/TensorTable.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Returns the shape of a tensor type.
static ArrayRef<int64_t> shapeOf(Type type) {
  return cast<RankedTensorType>(type).getShape();
}

/// Returns `type` with its shape replaced by `shape`.
static Type withShape(Type type, ArrayRef<int64_t> shape) {
  return cast<RankedTensorType>(type).clone(shape);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
/// Version of an element-wise kernel that computes one tile (a fixed number of
/// elements) instead of whole tensors.
struct TiledForm {
  /// Kernel that computes one tile of each result. A tile is a fixed number of
  /// consecutive elements of a tensor. The first arguments of the kernel have
  /// one element, such as a learning rate. All tiles are computed with the same
  /// learning rate. Each other argument of the kernel is one tile of a tensor.
  rank::KernelOp kernel;
  /// Indices of the arguments of the original kernel, for whole tensors.
  /// `shared` has the arguments with one element, such as a learning rate.
  /// `own` has all other arguments. The arguments of `kernel` are first
  /// `shared`, then `own`.
  SmallVector<unsigned> shared, own;
};

/// Converts an element-wise kernel to a kernel that computes one tile of each
/// result. A tile is a fixed number of consecutive elements. All results of the
/// original kernel must have one shape. Each operand must have this shape or
/// one element.
class Tiling {
public:
  explicit Tiling(rank::KernelOp kernel) : kernel(kernel) {}

  /// Returns a version of `kernel` that computes one tile of each result: a
  /// fixed number of consecutive elements. The new kernel is in no module, and
  /// the caller owns it. Returns std::nullopt if `kernel` is not element-wise.
  std::optional<TiledForm> run() {
    if (kernel.getResultTypes().empty() || kernel.getScalarsAttr() ||
        kernel.getInParts())
      return std::nullopt;
    whole = shapeOf(kernel.getResultTypes().front());
    if (ShapedType::getNumElements(whole) < 2 || !isElementWise())
      return std::nullopt;
    for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes()))
      (isOwn(type) ? form.own : form.shared).push_back(unsigned(i));
    if (form.own.empty())
      return std::nullopt;
    tile = elementsPerTile(kernel);
    build();
    return form;
  }

private:
  /// Returns whether a tensor of `type` is cut into tiles of equal size. True
  /// if it has the shape of the kernel's results. Other tensors have one
  /// element, which all tiles share.
  bool isOwn(Type type) const { return shapeOf(type) == whole; }
  bool isKnown(Type type) const {
    return isOwn(type) || ShapedType::getNumElements(shapeOf(type)) == 1;
  }

  /// Returns whether the kernel computes each element from operand elements at
  /// the same index. Operands with one element are allowed, too.
  bool isElementWise() {
    auto isFine = [&](Operation &op) {
      return (readKindOf(&op) == ReadKind::ElementWise ||
              isa<graph::ConstantOp>(op)) &&
             llvm::all_of(op.getResultTypes(),
                          [&](Type type) { return isKnown(type); });
    };
    return llvm::all_of(kernel.getBody().front().without_terminator(),
                        isFine) &&
           llvm::all_of(kernel.getArgumentTypes(),
                        [&](Type type) { return isKnown(type); }) &&
           llvm::all_of(kernel.getResultTypes(),
                        [&](Type type) { return isOwn(type); });
  }

  /// Returns the type that a tensor of type `type` gets in `form.kernel`.
  /// `form.kernel` computes one tile of each result. A tile is `tile`
  /// consecutive elements of a tensor. A tensor with one element gets the shape
  /// []. Any other tensor gets the shape [`tile`].
  Type tiled(Type type) const {
    return isOwn(type) ? withShape(type, {tile}) : withShape(type, {});
  }

  /// Creates `form.kernel`, a kernel that computes one tile: a fixed number of
  /// elements of each tensor.
  void build() {
    MLIRContext *context = kernel.getContext();
    OpBuilder builder(context);
    SmallVector<Type> arguments, results;
    for (unsigned i : llvm::concat<const unsigned>(form.shared, form.own))
      arguments.push_back(tiled(kernel.getArgumentTypes()[i]));
    for (Type type : kernel.getResultTypes())
      results.push_back(tiled(type));
    OperationState state(kernel.getLoc(), rank::KernelOp::getOperationName());
    state.addRegion();
    state.addAttribute("sym_name", builder.getStringAttr("kernel"));
    state.addAttribute("function_type", TypeAttr::get(FunctionType::get(
                                            context, arguments, results)));
    state.addAttribute("in_parts", builder.getUnitAttr());
    form.kernel = cast<rank::KernelOp>(Operation::create(state));
    writeBody(builder, arguments);
  }

  /// Copies the ops of `kernel` into the body of `form.kernel`, and changes the
  /// types of the copies. `kernel` computes whole tensors. `form.kernel`
  /// computes one tile of each tensor: `tile` consecutive elements. In the
  /// copies, a tensor with one element has the shape []. Any other tensor has
  /// the shape [`tile`]. `builder` creates the copies. `arguments` are the
  /// types of the arguments of `form.kernel`.
  void writeBody(OpBuilder &builder, ArrayRef<Type> arguments) {
    Block *body = &form.kernel.getBody().emplaceBlock();
    Block &from = kernel.getBody().front();
    IRMapping map;
    size_t next = 0;
    for (unsigned i : llvm::concat<const unsigned>(form.shared, form.own))
      map.map(from.getArgument(i),
              body->addArgument(arguments[next++], kernel.getLoc()));
    builder.setInsertionPointToEnd(body);
    for (Operation &op : from.without_terminator()) {
      Operation *clone = builder.clone(op, map);
      for (Value result : clone->getResults())
        result.setType(tiled(result.getType()));
      if (auto constant = dyn_cast<graph::ConstantOp>(clone)) {
        auto value = cast<DenseElementsAttr>(constant.getValue());
        constant.setValueAttr(value.resizeSplat(
            cast<ShapedType>(constant.getResult().getType())));
      }
    }
    SmallVector<Value> yielded;
    for (Value result : kernel.getYield().getResults())
      yielded.push_back(map.lookup(result));
    rank::YieldOp::create(builder, kernel.getLoc(), yielded);
  }

  rank::KernelOp kernel;
  /// `whole` is the shape of each result of the original kernel (`kernel`).
  /// `tile` is the number of elements that the new kernel (`form.kernel`)
  /// computes of each result. Example: the original kernel computes a tensor of
  /// the shape [64, 64], and the new kernel computes 1024 elements of this
  /// tensor. Then `whole` is [64, 64], and `tile` is 1024.
  ArrayRef<int64_t> whole;
  int64_t tile = 1;
  TiledForm form;
};
} // namespace

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Returns one key for each tensor that `launch` reads or overwrites, except
/// operands with one element. All reads and writes of one parameter have the
/// same key. Launches with a common key must not be joined, because joined
/// launches run at the same time.
static SmallVector<const void *> tensorsOf(rank::LaunchOp launch,
                                           const TiledForm &form) {
  SmallVector<const void *> tensors;
  for (unsigned i : form.own) {
    Value value = launch.getInputs()[i];
    while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
      value = reshape->getOperand(0);
    auto get = value.getDefiningOp<graph::GetParameterOp>();
    tensors.push_back(get ? get.getParameterAttr().getAsOpaquePointer()
                          : value.getAsOpaquePointer());
  }
  for (Operation *user : launch->getUsers())
    if (auto set = dyn_cast<graph::SetParameterOp>(user))
      tensors.push_back(set.getParameterAttr().getAsOpaquePointer());
  return tensors;
}

namespace {
/// List of kernel launches that apply equal element-wise ops to different
/// tensors. Example: each launch updates a different weight with the Adam
/// optimizer. All launches also use the same operands with one element, such as
/// the same learning rate. One new launch can replace several launches of the
/// list. The new launch then computes the results of all launches that it
/// replaces.
struct LaunchClass {
  TiledForm form;
  SmallVector<Value> shared;
  SmallVector<rank::LaunchOp> launches;
};

/// Replaces launches of kernels in one MLIR block by multi-tensor launches. A
/// multi-tensor launch applies one kernel to many tensors. One multi-tensor
/// launch costs less time than one launch for each tensor.
class LaunchJoiner {
public:
  LaunchJoiner(Block &block,
               llvm::function_ref<rank::KernelOp(rank::KernelOp)> find)
      : block(block), find(find) {}

  /// Replaces launches of element-wise kernels in the MLIR block by
  /// multi-tensor launches, where possible. A multi-tensor launch applies one
  /// kernel to many tensors. Returns the number of removed launches minus the
  /// number of new launches. Example: if one multi-tensor launch replaces 10
  /// launches, returns 9.
  size_t run() {
    std::vector<LaunchClass> classes = classify();
    size_t numJoined = 0;
    for (LaunchClass &same : classes)
      if (same.launches.size() > 1)
        numJoined += joinClass(same);
    if (numJoined > 0)
      setLast();
    return numJoined;
  }

private:
  /// Returns the version of the kernel of `launch` that computes one tile of
  /// each result: a fixed number of consecutive elements. Returns std::nullopt
  /// if the kernel is not element-wise. Caches the result.
  const std::optional<TiledForm> &formOf(rank::LaunchOp launch) {
    auto [entry, isNew] = forms.try_emplace(launch.getKernelAttr().getAttr());
    if (!isNew)
      return entry->second;
    auto kernel = SymbolTable::lookupNearestSymbolFrom<rank::KernelOp>(
        launch, launch.getKernelAttr());
    entry->second = Tiling(kernel).run();
    if (entry->second)
      entry->second->kernel = find(entry->second->kernel);
    return entry->second;
  }

  /// Divides the launches of element-wise kernels into classes. Launches of one
  /// class have equal ops and equal one-element operands, such as a learning
  /// rate. Only launches of one class can be joined.
  std::vector<LaunchClass> classify() {
    std::vector<LaunchClass> classes;
    for (auto launch : block.getOps<rank::LaunchOp>()) {
      const std::optional<TiledForm> &form = formOf(launch);
      if (!form)
        continue;
      SmallVector<Value> shared;
      for (unsigned i : form->shared)
        shared.push_back(launch.getInputs()[i]);
      auto same = llvm::find_if(classes, [&](const LaunchClass &other) {
        return other.form.kernel == form->kernel && other.shared == shared;
      });
      if (same == classes.end())
        same = classes.insert(classes.end(), {*form, shared, {}});
      same->launches.push_back(launch);
    }
    return classes;
  }

  /// Groups the launches in `same.launches` by depth. Launches of equal depth
  /// do not depend on each other, so one multi-tensor launch can replace them.
  /// The depth of a launch is the largest number of launches of the list that
  /// must run before it, one after another. Example: b reads a result of a, c
  /// reads a result of b, and d depends on no launch. The depths are 0 (a and
  /// d), 1 (b) and 2 (c).
  llvm::MapVector<int64_t, SmallVector<rank::LaunchOp>>
  byDepth(const LaunchClass &same) {
    llvm::SmallPtrSet<Operation *, 16> members(same.launches.begin(),
                                               same.launches.end());
    llvm::DenseMap<Operation *, int64_t> depths;
    llvm::MapVector<int64_t, SmallVector<rank::LaunchOp>> launches;
    for (Operation *op : topologicalOrder(block)) {
      int64_t depth = 0;
      for (Value operand : op->getOperands())
        depth = std::max(depth, depths.lookup(operand.getDefiningOp()));
      if (members.contains(op))
        launches[depth++].push_back(cast<rank::LaunchOp>(op));
      depths[op] = depth;
    }
    return launches;
  }

  /// Replaces launches of `same` by multi-tensor launches. Returns how many
  /// launches this saves. Joined launches do not depend on each other, and
  /// share only tensors with one element. The addresses of their tensors must
  /// fit into one TensorTable, a kernel argument.
  size_t joinClass(LaunchClass &same) {
    const int64_t most = runtime::TensorTable::mostParts(
        int64_t(same.form.own.size()) +
            int64_t(same.form.kernel.getResultTypes().size()),
        int64_t(same.form.shared.size()));
    size_t numJoined = 0;
    for (auto &[depth, launches] : byDepth(same)) {
      SmallVector<rank::LaunchOp> part;
      llvm::DenseSet<const void *> taken;
      auto finish = [&] {
        if (part.size() > 1)
          numJoined += join(same, part);
        part.clear();
        taken.clear();
      };
      for (rank::LaunchOp launch : launches) {
        const SmallVector<const void *> tensors = tensorsOf(launch, same.form);
        if (int64_t(part.size()) == most ||
            llvm::any_of(tensors, [&](const void *tensor) {
              return taken.contains(tensor);
            }))
          finish();
        taken.insert(tensors.begin(), tensors.end());
        part.push_back(launch);
      }
      finish();
    }
    return numJoined;
  }

  /// Replaces `launches`, members of the class `same`, by one multi-tensor
  /// launch at the place of the last one. Returns how many launches this saves.
  size_t join(LaunchClass &same, ArrayRef<rank::LaunchOp> launches) {
    rank::LaunchOp last = launches.back();
    OpBuilder builder(last);
    SmallVector<Value> shared, own;
    for (Value number : same.shared)
      shared.push_back(withoutDims(builder, number));
    for (unsigned i : same.form.own)
      for (rank::LaunchOp launch : launches)
        own.push_back(launch.getInputs()[i]);
    SmallVector<Value> results;
    for (size_t i = 0; i < last->getNumResults(); ++i)
      for (rank::LaunchOp launch : launches)
        results.push_back(launch->getResult(unsigned(i)));
    auto joined = rank::LaunchPartsOp::create(
        builder, last.getLoc(), TypeRange(ValueRange(results)),
        same.form.kernel.getSymName(), shared, own);
    for (auto [old, value] : llvm::zip_equal(results, joined.getResults()))
      old.replaceAllUsesWith(value);
    for (rank::LaunchOp launch : launches)
      launch->erase();
    return launches.size() - 1;
  }

  /// Returns `number`, a tensor of one element, reshaped to rank 0.
  static Value withoutDims(OpBuilder &builder, Value number) {
    if (shapeOf(number.getType()).empty())
      return number;
    return graph::ReshapeOp::create(builder, number.getLoc(),
                                    withShape(number.getType(), {}), number);
  }

  /// Moves all graph.set_parameter ops, which overwrite weights, to the end of
  /// the block. A joined launch can run later than the launches that it
  /// replaces, but must still read the old weights.
  void setLast() {
    for (auto set : llvm::to_vector(block.getOps<graph::SetParameterOp>()))
      set->moveBefore(block.getTerminator());
  }

  Block &block;
  llvm::function_ref<rank::KernelOp(rank::KernelOp)> find;
  /// Versions of kernels that compute one tile (a fixed number of elements) of
  /// each tensor, by name of the kernel. An entry is std::nullopt if the kernel
  /// is not element-wise.
  llvm::DenseMap<StringAttr, std::optional<TiledForm>> forms;
};
} // namespace

size_t pcc::emit::joinLaunches(
    Block &block, llvm::function_ref<rank::KernelOp(rank::KernelOp)> find) {
  return LaunchJoiner(block, find).run();
}
