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

/// Emitter of one kernel's code at the insertion point of `builder`.
///
/// Before the first read(), bind() must be called for each operand of the
/// kernel. Before a read() of an op that reduces, `rows`, `outer` and
/// `statistics` must describe the current row. References are not owned and
/// must outlive the writer.
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
  /// For each dist.global_index of the kernel: its scalars, i64 values in the
  /// order of offsetsOf().
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> scalars;
  /// For each reducing op: its statistics of the current row, such as a sum or
  /// a maximum. RowReductions.cpp defines their order.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> statistics;
  /// Rows of the kernel's reductions; empty in a kernel without reductions.
  RowSpace rows;
  /// Indices of the current row: one per outer dim of `rows`.
  MultiIndex outer;

  ScalarBuilder scalar() { return {builder, loc}; }

  /// Declares that the elements of `tensor` are in memory at `pointer`, dense
  /// and row-major.
  void bind(mlir::Value tensor, mlir::Value pointer) {
    pointers[tensor] = pointer;
  }

  /// Emits the element of `tensor` at `at`, unless it is known already. Returns
  /// the element in its compute type.
  mlir::Value read(mlir::Value tensor, llvm::ArrayRef<Index> at);
  /// Emits the element of `tensor` that NumPy broadcasting assigns to the index
  /// `at` of a result. `at` has at least as many dims as `tensor`.
  mlir::Value readBroadcast(mlir::Value tensor, llvm::ArrayRef<Index> at);
  /// Emits the only element of `tensor`, which has one element.
  mlir::Value readScalar(mlir::Value tensor);
  /// Makes read(tensor, at) return `element`, until the innermost loop or
  /// branch that is open at this call ends.
  void remember(mlir::Value tensor, llvm::ArrayRef<Index> at,
                mlir::Value element);

  /// Emits the load of the element number `position` of the buffer at `pointer`
  /// and its conversion from the storage type of `element` to the compute type.
  mlir::Value load(mlir::Value pointer, mlir::Type element,
                   const Index &position);
  /// Emits the store of `value`, which has the compute type of `element`, as
  /// element number `position` of the buffer at `pointer`.
  void store(mlir::Value pointer, mlir::Type element, const Index &position,
             mlir::Value value);
  /// Emits the loads of all bound tensors that broadcast to `shape`, at each of
  /// `places`, one directly after another. LLVM can merge neighbouring loads
  /// into wide ones. Element-wise ops that read at `places` reuse the elements.
  void readAhead(llvm::ArrayRef<MultiIndex> places,
                 llvm::ArrayRef<int64_t> shape);
  /// Calls `body` and emits the stores of its storeResult() calls at the end,
  /// one directly after another. LLVM can merge neighbouring stores into wide
  /// ones. `body` must not call storeTogether().
  void storeTogether(llvm::function_ref<void()> body);
  /// Emits the element of `result` at `at` and its store into `output`, the
  /// pointer to a dense row-major tensor. Within storeTogether() the store is
  /// delayed.
  void storeResult(mlir::Value result, mlir::Value output,
                   llvm::ArrayRef<Index> at);
  mlir::Value materialise(const Index &index) {
    return indices.materialise(builder, loc, index);
  }

  /// Returns the multi-index in `rows.shape` of an element of the current row.
  /// `inner` are the indices along the inner dims.
  MultiIndex rowPlace(llvm::ArrayRef<Index> inner) const;
  /// Emits, at the entry of the function, a stack buffer of `count` elements of
  /// `type`. Returns the pointer.
  mlir::Value allocate(mlir::Type type, int64_t count);
  /// Emits a stack buffer for this thread's elements of a row, in the compute
  /// type `type`. Returns null if a thread has too many elements to keep.
  mlir::Value allocateRow(mlir::Type type);
  /// Emits the store of `element` into `buffer`, which allocateRow() returned.
  /// `inner` must be the index that the enclosing overRow() or foldRow() passes
  /// to its body.
  void storeInRow(mlir::Value buffer, llvm::ArrayRef<Index> inner,
                  mlir::Value element);
  /// Emits the load of the element that storeInRow() stored for `inner`.
  /// Returns null, and emits nothing, if another thread may have stored it.
  mlir::Value loadFromRow(mlir::Value buffer, mlir::Type type,
                          llvm::ArrayRef<Index> inner);
  /// Returns the indices of `at`, a multi-index in `rows.shape`, along the
  /// inner dims.
  MultiIndex innerOf(llvm::ArrayRef<Index> at) const;
  /// Emits the computation of the current row of `tensor` into a stack buffer,
  /// from which later reads load. Does nothing if `tensor` is in memory or its
  /// row is too long to keep.
  void keepRow(mlir::Value tensor);

  /// Emits the body of a loop. Takes the loop counter and the loop-carried
  /// values, and returns the values for the next iteration.
  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      Index, mlir::ValueRange)>;
  /// Emits `for i in [low, high)` with the loop-carried values `carried`. The
  /// bounds lie in [0, extent] at run time. Returns the values after the last
  /// iteration.
  llvm::SmallVector<mlir::Value> loop(mlir::Value low, mlir::Value high,
                                      int64_t extent, mlir::ValueRange carried,
                                      LoopBody body);
  /// Emits `for i in [0, extent)`, or just the body if `extent` is 1.
  llvm::SmallVector<mlir::Value> loop(int64_t extent, mlir::ValueRange carried,
                                      LoopBody body);
  /// Emits a loop nest over `shape`. The number of dims that each loop covers,
  /// outermost first, is in `groups`.
  llvm::SmallVector<mlir::Value> loops(llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> groups,
                                       mlir::ValueRange carried, NestBody body);
  /// Emits `body` for each element of the current row that this thread owns.
  void overRow(llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  /// Emits `body` so that one thread of the row executes it.
  void once(llvm::function_ref<void()> body);
  /// Emits `body`, which stores the results of the current row. Spare threads,
  /// which only repeat the row of other threads, skip `body`.
  void storeRow(llvm::function_ref<void()> body);
  /// Emits a fold over all elements of the current row. Each thread starts with
  /// the values `start` and folds its own elements by `body`; `merge` combines
  /// the values of two threads. Returns the folded values, on every thread.
  llvm::SmallVector<mlir::Value> foldRow(mlir::ValueRange start, NestBody body,
                                         MergeBody merge);

  /// Emits one side of a branch and returns its value.
  using Branch = llvm::function_ref<mlir::Value()>;
  /// Emits a branch on the i1 `condition`, whose sides give a value of `type`.
  mlir::Value branch(mlir::Value condition, mlir::Type type, Branch onTrue,
                     Branch onFalse);
  /// Emits a branch whose sides give no values.
  void branch(mlir::Value condition, llvm::function_ref<void()> onTrue,
              llvm::function_ref<void()> onFalse);
  /// Emits a branch that gives the values of `onTrue` if `condition` is true,
  /// else the values `otherwise`.
  llvm::SmallVector<mlir::Value>
  branch(mlir::Value condition, mlir::ValueRange otherwise,
         llvm::function_ref<llvm::SmallVector<mlir::Value>()> onTrue);

private:
  /// Emits one side of a branch and returns its values.
  using Branches = llvm::function_ref<llvm::SmallVector<mlir::Value>()>;
  llvm::SmallVector<mlir::Value> branch(mlir::Value condition,
                                        mlir::TypeRange types, Branches onTrue,
                                        Branches onFalse);

  RowThreads &threads;

  /// Element that has been emitted and dominates the insertion point.
  struct Known {
    mlir::Value tensor;
    MultiIndex at;
    mlir::Value element;
  };
  /// Emits the load of an element that keepRow() has kept. Returns null if the
  /// element is not in the current row, or is not kept by this thread.
  mlir::Value readKept(mlir::Value tensor, llvm::ArrayRef<Index> at);

  /// Pointers of the bound tensors.
  llvm::MapVector<mlir::Value, mlir::Value> pointers;
  /// Buffers of the tensors whose current row keepRow() has computed.
  llvm::DenseMap<mlir::Value, mlir::Value> rowBuffers;
  /// Stack of known elements. The end of a loop or branch drops the elements
  /// that were added inside.
  std::vector<Known> known;

  /// Store that storeTogether() delays.
  struct Store {
    mlir::Value pointer;
    mlir::Type element;
    Index position;
    mlir::Value value;
  };
  /// Delayed stores; null outside of storeTogether().
  std::vector<Store> *waiting = nullptr;
};

/// Writer whose rows have one thread each, together with the objects that a
/// writer refers to.
struct OneThreadWriter {
  OneThreadWriter(mlir::OpBuilder &builder, mlir::Location loc)
      : w(builder, loc, indices, threads) {}

  IndexSpace indices;
  OneThread threads;
  KernelWriter w;
};

/// Emits the element at a multi-index of the only result of an op. Returns the
/// element in its compute type; read() rounds it to the element type.
using ReadFunction = mlir::Value (*)(KernelWriter &, mlir::Operation *,
                                     llvm::ArrayRef<Index>);

/// Emits the element at a multi-index of one result of an op with several
/// results.
using ReadResultFunction = mlir::Value (*)(KernelWriter &, mlir::OpResult,
                                           llvm::ArrayRef<Index>);

/// Table of the functions that emit elements: one entry for every op that a
/// kernel can hold.
class ReadTable {
public:
  /// Returns the table with all entries.
  static const ReadTable &get();

  template <typename Op> void add(ReadFunction function) {
    functions[mlir::TypeID::get<Op>()] = function;
  }
  template <typename Op> void addResults(ReadResultFunction function) {
    resultFunctions[mlir::TypeID::get<Op>()] = function;
  }

  /// Emits the element of `result` at `at`. The op of `result` must have an
  /// entry.
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

// Functions that add the entries of one family of ops to the table.

/// Adds arithmetic, comparisons, logic, casts and random numbers
/// (ElementWise.cpp).
void addElementWiseReads(ReadTable &table);
/// Adds transcendental and rounding functions and powers (MathFunctions.cpp).
void addFloatFunctionReads(ReadTable &table);
/// Adds transposes, reshapes, slices, pads, ... (Layout.cpp).
void addLayoutReads(ReadTable &table);
/// Adds gathers and one-hot encodings (Indexing.cpp).
void addIndexingReads(ReadTable &table);
/// Adds constants, iotas and global indices (Sources.cpp).
void addSourceReads(ReadTable &table);
/// Adds reductions, softmaxes and norms (RowReductions.cpp).
void addRowReads(ReadTable &table);
/// Adds attention and its gradients (AttentionScores.cpp).
void addAttentionReads(ReadTable &table);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_WRITER_H
