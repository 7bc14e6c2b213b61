//===- Writer.h - kernel code, from results back to operands --------------===//
//
// The code of a kernel is emitted on demand. A caller asks for an element of a
// result; each op asks for those elements of its operands that it needs, down
// to the kernel's operands in memory. Layout ops only change the index that is
// asked for, so they emit no code of their own. All values between the ops
// stay in registers.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_WRITER_H
#define PCC_PASSES_7_EMIT_KERNEL_WRITER_H

#include "dialects/rank/RankDialect.h"
#include "passes/7-emit/kernel/Index.h"
#include "passes/7-emit/kernel/Plan.h"
#include "passes/7-emit/kernel/RowThreads.h"
#include "passes/7-emit/kernel/ScalarBuilder.h"
#include "llvm/ADT/MapVector.h"

namespace pcc::emit {

/// Emits the code of one kernel at the insertion point of `builder`. Starts
/// from an element of a result, and emits the operand elements on which it
/// depends. The arguments of the constructor must outlive the writer.
///
/// Before the first read(), call bind() for each operand of the kernel. Before
/// read() of a reduction, softmax or norm, set `rows`, `outer` and `statistics`
/// for the current row (set of elements reduced together).
class KernelWriter {
public:
  KernelWriter(mlir::OpBuilder &builder, mlir::Location loc,
               IndexSpace &indices, RowThreads &threads)
      : builder(builder), loc(loc), indices(indices), threads(threads) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  IndexSpace &indices;
  /// Alignment of all buffers in bytes. 0 if a buffer is only aligned to the
  /// size of its elements.
  int64_t alignment = 0;
  /// Scalar arguments (i64) of the kernel, grouped by the dist.global_index op
  /// that needs them. Each scalar is the index at which the rank's shard of a
  /// dim begins. Their order is that of offsetsOf().
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> scalars;
  /// Values that a reduction, softmax or norm has computed from the current row
  /// (set of elements reduced together), such as a sum. RowReductions.cpp
  /// defines their number and order.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> statistics;
  /// Dims of the tensor that the kernel reduces, divided into inner (reduced)
  /// and outer (kept) dims. Empty in a kernel without reductions.
  RowSpace rows;
  /// Indices of the current row (set of elements reduced together) along the
  /// dims that are not reduced. Example: [3, 7] in a reduction of [8, 16, 32]
  /// over dim 2.
  MultiIndex outer;

  ScalarBuilder scalar() { return {builder, loc}; }

  /// Declares that `tensor` is in memory at `pointer`, dense and row-major.
  /// read() of `tensor` then emits a load.
  void bind(mlir::Value tensor, mlir::Value pointer) {
    pointers[tensor] = pointer;
  }

  /// Returns the element of `tensor` at `at`, in its compute type (f32 for bf16
  /// and f16). Emits a load or the computation of the element. Emits nothing if
  /// an earlier read() in the same or an enclosing block has emitted it.
  mlir::Value read(mlir::Value tensor, llvm::ArrayRef<Index> at);
  /// Returns the element of `tensor` that NumPy broadcasting assigns to index
  /// `at` of a larger shape. Example: element [0, 5] of a tensor [1, 8] for
  /// `at` = [2, 5]. `at` must have at least as many dims as `tensor`. Emits the
  /// same code as read().
  mlir::Value readBroadcast(mlir::Value tensor, llvm::ArrayRef<Index> at);
  /// Returns the only element of `tensor`. Emits a load or the computation of
  /// the element, unless an earlier read() has emitted it.
  mlir::Value readScalar(mlir::Value tensor);
  /// Makes later calls read(tensor, at) return `element`. This lasts until the
  /// end of the innermost loop or branch that is being emitted.
  void remember(mlir::Value tensor, llvm::ArrayRef<Index> at,
                mlir::Value element);

  /// Emits the load of element `position` of the buffer at `pointer`, in its
  /// compute type (f32 for bf16 and f16). `element` is the element type.
  mlir::Value load(mlir::Value pointer, mlir::Type element,
                   const Index &position);
  /// Emits the store of `value` as element `position` of the buffer at
  /// `pointer`. The store converts `value` from the compute type of `element`
  /// (f32 for bf16 and f16).
  void store(mlir::Value pointer, mlir::Type element, const Index &position,
             mlir::Value value);
  /// Emits loads of the elements at `places` from each tensor in memory (see
  /// bind()) that broadcasts to `shape`. LLVM can merge the loads of
  /// neighboring elements, since they follow each other. A later read() at one
  /// of the `places` emits no second load.
  void readAhead(llvm::ArrayRef<MultiIndex> places,
                 llvm::ArrayRef<int64_t> shape);
  /// Calls `body`, but delays the stores of its storeResult() calls to the end.
  /// The stores then follow each other, so that LLVM can merge those of
  /// neighboring elements. `body` must not call storeTogether().
  void storeTogether(llvm::function_ref<void()> body);
  /// Emits the computation of element `at` of `result`, and its store to the
  /// dense row-major tensor at the pointer `output`. In the body of
  /// storeTogether(), the store is delayed to the end of that body.
  void storeResult(mlir::Value result, mlir::Value output,
                   llvm::ArrayRef<Index> at);
  mlir::Value materialise(const Index &index) {
    return indices.materialise(builder, loc, index);
  }

  /// Returns the multi-index of an element of the current row (set of elements
  /// reduced together). `inner` are its indices along the reduced dims. The
  /// indices along the other dims come from `outer`.
  MultiIndex rowPlace(llvm::ArrayRef<Index> inner) const;
  /// Emits the stack allocation of `count` elements of `type`, at the entry of
  /// the function. Returns the pointer.
  mlir::Value allocate(mlir::Type type, int64_t count);
  /// Emits the allocation of a stack buffer with elements of compute type
  /// `type`. It holds the elements that one thread computes of a row (set of
  /// elements reduced together). Returns null, and emits nothing, if they are
  /// too many for the stack.
  mlir::Value allocateRow(mlir::Type type);
  /// Emits the store of `element` to `buffer`, a stack buffer from
  /// allocateRow(). `inner` are the element's indices along the reduced dims.
  /// May only be called in the body of overRow() or foldRow(), with the indices
  /// that the body receives.
  void storeInRow(mlir::Value buffer, llvm::ArrayRef<Index> inner,
                  mlir::Value element);
  /// Emits the load of an element of type `type` from `buffer`, to which
  /// storeInRow() has stored it. `inner` are the element's indices along the
  /// reduced dims. Returns null, and emits nothing, if the element may lie in
  /// another thread's buffer.
  mlir::Value loadFromRow(mlir::Value buffer, mlir::Type type,
                          llvm::ArrayRef<Index> inner);
  /// Returns the entries of the multi-index `at` that belong to reduced dims.
  /// Example: [4] for `at` = [2, 3, 4] if only dim 2 is reduced.
  MultiIndex innerOf(llvm::ArrayRef<Index> at) const;
  /// Emits the computation of the current row of `tensor` (set of elements
  /// reduced together) into stack buffers, from which a later read() loads.
  /// Each thread keeps the elements that it computes. Emits nothing if `tensor`
  /// is already in memory, or if the elements are too many for the stack.
  void keepRow(mlir::Value tensor);

  /// Function that emits the body of a loop. Takes the loop counter and the
  /// values from the previous iteration. Returns the values for the next one.
  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      Index, mlir::ValueRange)>;
  /// Emits `for i in [low, high)`, where both bounds lie in [0, extent].
  /// `carried` are the initial loop-carried values. Returns their final values.
  llvm::SmallVector<mlir::Value> loop(mlir::Value low, mlir::Value high,
                                      int64_t extent, mlir::ValueRange carried,
                                      LoopBody body);
  /// Emits `for i in [0, extent)`, or only the body if `extent` is 1. `carried`
  /// are the initial loop-carried values. Returns their final values.
  llvm::SmallVector<mlir::Value> loop(int64_t extent, mlir::ValueRange carried,
                                      LoopBody body);
  /// Emits a loop nest that calls `body` for every multi-index of `shape`.
  /// `groups` lists how many neighboring dims each loop covers, outermost
  /// first. `carried` are the initial loop-carried values. Returns their final
  /// values.
  llvm::SmallVector<mlir::Value> loops(llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> groups,
                                       mlir::ValueRange carried, NestBody body);
  /// Emits a loop in which each thread runs `body` for its own elements of the
  /// current row (set of elements reduced together). `body` takes the indices
  /// of an element along the reduced dims.
  void overRow(llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  /// Emits `body` so that only one thread executes it. All other threads that
  /// share the current row (set of elements reduced together) skip it.
  void once(llvm::function_ref<void()> body);
  /// Emits `body`, which stores the results of the current row (set of elements
  /// reduced together). A GPU can have surplus threads without a row of their
  /// own. They skip `body`.
  void storeRow(llvm::function_ref<void()> body);
  /// Emits a fold, such as a sum, over the current row (set of elements reduced
  /// together). Each thread folds its own elements: `start` are the initial
  /// values, and `body` emits one step. `merge` emits the combination of two
  /// threads' values. Every thread receives the result of the whole row.
  llvm::SmallVector<mlir::Value> foldRow(mlir::ValueRange start, NestBody body,
                                         MergeBody merge);

  /// Function that emits one side of a branch and returns its value.
  using Branch = llvm::function_ref<mlir::Value()>;
  /// Emits a branch on the i1 `condition`. Returns the value, of type `type`,
  /// of the executed side.
  mlir::Value branch(mlir::Value condition, mlir::Type type, Branch onTrue,
                     Branch onFalse);
  /// Emits a branch on the i1 `condition`, without values.
  void branch(mlir::Value condition, llvm::function_ref<void()> onTrue,
              llvm::function_ref<void()> onFalse);
  /// Emits code that runs `onTrue` if the i1 `condition` is true. Returns the
  /// values of `onTrue` if it has run, else `otherwise`.
  llvm::SmallVector<mlir::Value>
  branch(mlir::Value condition, mlir::ValueRange otherwise,
         llvm::function_ref<llvm::SmallVector<mlir::Value>()> onTrue);

private:
  /// Function that emits one side of a branch and returns its values.
  using Branches = llvm::function_ref<llvm::SmallVector<mlir::Value>()>;
  llvm::SmallVector<mlir::Value> branch(mlir::Value condition,
                                        mlir::TypeRange types, Branches onTrue,
                                        Branches onFalse);

  RowThreads &threads;

  /// Element of a tensor that an earlier call has emitted. read(tensor, at) can
  /// return `element` instead of emitting it again.
  struct Known {
    mlir::Value tensor;
    MultiIndex at;
    mlir::Value element;
  };
  /// Emits the load of element `at` of `tensor` from a stack buffer. keepRow()
  /// has filled the buffer with one row of `tensor` (set of elements reduced
  /// together). Returns null, and emits nothing, in three cases:
  ///
  ///   - keepRow() has kept no row of `tensor`.
  ///   - The element is not in the kept row.
  ///   - The element may lie in another thread's buffer.
  mlir::Value readKept(mlir::Value tensor, llvm::ArrayRef<Index> at);

  /// Map from each tensor in memory to its pointer. bind() adds the entries.
  llvm::MapVector<mlir::Value, mlir::Value> pointers;
  /// Stack buffers that keepRow() has filled, by tensor. Each one holds one row
  /// (set of elements reduced together) of its tensor.
  llvm::DenseMap<mlir::Value, mlir::Value> rowBuffers;
  /// Emitted elements that read() can reuse. At the end of a loop or branch,
  /// the elements that were emitted in its body are removed.
  std::vector<Known> known;

  /// Arguments of a store() that storeTogether() delays.
  struct Store {
    mlir::Value pointer;
    mlir::Type element;
    Index position;
    mlir::Value value;
  };
  /// Stores that the active storeTogether() delays to its end. Null if no
  /// storeTogether() is active.
  std::vector<Store> *waiting = nullptr;
};

/// KernelWriter for CPU code, together with the objects to which it refers. One
/// thread computes all elements of a row (set of elements reduced together).
struct OneThreadWriter {
  OneThreadWriter(mlir::OpBuilder &builder, mlir::Location loc)
      : w(builder, loc, indices, threads) {}

  IndexSpace indices;
  OneThread threads;
  KernelWriter w;
};

/// Function that emits one result element of an op with a single result.
/// Returns the element in its compute type (f32 for bf16 and f16).
using ReadFunction = mlir::Value (*)(KernelWriter &, mlir::Operation *,
                                     llvm::ArrayRef<Index>);

/// Function that emits an element of one of several results of an op. Returns
/// the element in its compute type (f32 for bf16 and f16).
using ReadResultFunction = mlir::Value (*)(KernelWriter &, mlir::OpResult,
                                           llvm::ArrayRef<Index>);

/// Table with one function per class of ops that kernels can compute. The
/// function emits one result element of an op.
class ReadTable {
public:
  /// Returns the table with the functions for all classes of ops. Creates it at
  /// the first call.
  static const ReadTable &get();

  template <typename Op> void add(ReadFunction function) {
    functions[mlir::TypeID::get<Op>()] = function;
  }
  template <typename Op> void addResults(ReadResultFunction function) {
    resultFunctions[mlir::TypeID::get<Op>()] = function;
  }

  /// Emits the element of `result` at `at`, by the function that was added for
  /// the op of `result`. There must be such a function.
  mlir::Value read(KernelWriter &w, mlir::OpResult result,
                   llvm::ArrayRef<Index> at) const {
    mlir::Operation *op = result.getOwner();
    const mlir::TypeID type = op->getName().getRegisteredInfo()->getTypeID();
    if (ReadFunction function = functions.lookup(type))
      return function(w, op, at);
    return resultFunctions.lookup(type)(w, result, at);
  }

private:
  llvm::DenseMap<mlir::TypeID, ReadFunction> functions;
  llvm::DenseMap<mlir::TypeID, ReadResultFunction> resultFunctions;
};

/// Adds to `table` one function per arithmetic, comparison, logic, cast or
/// random op. The function emits one element of the op's result.
void addElementWiseReads(ReadTable &table);
/// Adds to `table` one function per transcendental, rounding or power op. The
/// function emits one element of the op's result.
void addFloatFunctionReads(ReadTable &table);
/// Adds to `table` one function per layout op, such as transpose, reshape,
/// slice and pad. The function emits one element of the op's result.
void addLayoutReads(ReadTable &table);
/// Adds to `table` one function per gather or one-hot op. The function emits
/// one element of the op's result.
void addIndexingReads(ReadTable &table);
/// Adds to `table` the functions of the constant, iota and dist.global_index
/// ops. Each function emits one element of the op's result.
void addSourceReads(ReadTable &table);
/// Adds to `table` one function per reduction, softmax or norm op. The function
/// emits one element of the op's result.
void addRowReads(ReadTable &table);
/// Adds to `table` the functions of attention and its gradient ops. Each
/// function emits one element of a result.
void addAttentionReads(ReadTable &table);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_WRITER_H
