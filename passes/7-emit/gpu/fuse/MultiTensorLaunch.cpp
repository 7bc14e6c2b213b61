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
  /// Indices of arguments of an element-wise kernel. The element-wise kernel
  /// computes whole tensors. The kernel in the field `kernel` was created from
  /// the element-wise kernel. The list `shared` has the indices of the
  /// arguments with one element, such as a learning rate. The list `own` has
  /// the indices of all other arguments, such as a weight.
  ///
  /// Example: the element-wise kernel has the arguments w, rate and g, and rate
  /// has one element. `shared` is [1], and `own` is [0, 2]. The kernel in the
  /// field `kernel` has the arguments rate, one tile of w, and one tile of g. A
  /// tile is a fixed number of consecutive elements of a tensor.
  SmallVector<unsigned> shared, own;
};

/// Converts an element-wise kernel to a kernel that computes one tile of each
/// result. A tile is a fixed number of consecutive elements of a tensor. All
/// results of the element-wise kernel must have the same shape. Each operand
/// must have this shape or exactly one element.
///
/// Example: the element-wise kernel computes w − rate · g. The tensors w and g
/// have the shape [64, 64], and rate has one element. The new kernel computes
/// 1024 elements of the result from 1024 elements of w, 1024 elements of g, and
/// rate.
class Tiling {
public:
  explicit Tiling(rank::KernelOp kernel) : kernel(kernel) {}

  /// Creates a version of `kernel` that computes one tile of each result. A
  /// tile is a fixed number of consecutive elements of a tensor. Returns the
  /// new kernel, and the lists of the arguments of `kernel` with one element
  /// and with several elements. The new kernel is in no MLIR module. The caller
  /// becomes the owner of the new kernel.
  ///
  /// Returns std::nullopt if there is no such version. Two examples:
  ///
  ///   - A result of `kernel` has only one element.
  ///   - `kernel` transposes its operand. An element of the result then depends
  ///     on an operand element at another index.
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

/// Returns a key for each tensor that `launch` reads or overwrites, except
/// operands with one element. Launches with a common key must not become one
/// multi-tensor launch, which runs them at the same time: one launch could
/// overwrite a weight that the other launch reads. The key of a parameter, such
/// as a weight, is the address of its name attribute. The key of any other
/// tensor is the address of its SSA value. A reshape has the key of its
/// operand, since both share memory. The list `form.own` has the indices of the
/// operands with several elements.
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
  /// Returns a version of the kernel of `launch` that computes one tile of each
  /// result. A tile is a fixed number of consecutive elements of a tensor. If
  /// an earlier call had a launch of the same kernel, returns the result of the
  /// earlier call.
  ///
  /// Returns std::nullopt if there is no such version. For example, the kernel
  /// transposes its operand. An element of the result then depends on an
  /// operand element at another index.
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

  /// Divides the launches of element-wise kernels into classes. All launches of
  /// one class apply equal element-wise ops to different tensors. Operands with
  /// one element, such as a learning rate, are equal in all launches of one
  /// class. A multi-tensor launch can only replace launches of one class.
  ///
  /// The launches in a class have the same order as in the MLIR block. The
  /// classes have the order of their first launches in the MLIR block.
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

  /// Replaces the launches of `same` by multi-tensor launches, where possible.
  /// Returns the number of replaced launches minus the number of multi-tensor
  /// launches. Launches that one multi-tensor launch replaces satisfy three
  /// conditions:
  ///
  /// - They do not depend on each other.
  /// - They have no tensor in common, except tensors with one element.
  /// - The addresses of their tensors fit into the kernel argument TensorTable.
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

  /// Replaces `launches` by one multi-tensor launch. All old launches apply the
  /// same element-wise ops, but to different tensors. The multi-tensor launch
  /// applies these ops to the tensors of all old launches. The multi-tensor
  /// launch takes the place of the last old launch in the MLIR block.
  ///
  /// `same` is the class of launches to which `launches` belong. The class
  /// gives the kernel of the multi-tensor launch. The class also gives the
  /// operands with one element, such as a learning rate. These operands are
  /// equal in all launches.
  ///
  /// Returns the number of old launches minus the number of new launches.
  /// Example: if one multi-tensor launch replaces 5 old launches, returns 4.
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

  /// Moves all graph.set_parameter ops to the end of the block, and keeps their
  /// order. A graph.set_parameter op overwrites a parameter, such as a weight.
  /// All reads of the parameter in a step must return the old value. But a
  /// multi-tensor launch can run later than a launch that it replaces. Example,
  /// where one multi-tensor launch replaces launch 1 and launch 2:
  ///
  ///   before   launch 1 (reads w), overwrite w, launch 2
  ///   after    overwrite w, multi-tensor launch (reads w)
  ///
  /// The multi-tensor launch would read the new value of w. This method moves
  /// the op that overwrites w behind the multi-tensor launch.
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
