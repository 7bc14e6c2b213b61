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

/// Emits the code of one kernel at the insertion point of `builder`. Works from
/// results back to operands: read() of a value emits the ops that the value
/// depends on.
///
/// Before the first read(), bind() must be called for each operand of the
/// kernel. Before a read() of a reducing op, `rows`, `outer` and `statistics`
/// must describe the current row (the elements that the op reduces to one). The
/// objects that the constructor takes must outlive the writer.
class KernelWriter {
public:
  KernelWriter(mlir::OpBuilder &builder, mlir::Location loc,
               IndexSpace &indices, RowThreads &threads)
      : builder(builder), loc(loc), indices(indices), threads(threads) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  IndexSpace &indices;
  /// Alignment in bytes of all buffers. 0 if buffers are only aligned to the
  /// size of their elements.
  int64_t alignment = 0;
  /// Scalar arguments (i64) of the kernel, by the dist.global_index op that
  /// needs them. Each is an index at which the rank's shard begins. The order
  /// is that of offsetsOf().
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> scalars;
  /// For each reducing op, the SSA values that the op has computed from the
  /// current row (the elements that it reduces to one), such as a sum or a
  /// maximum. RowReductions.cpp defines the number and order of these values.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> statistics;
  /// Division of the dims of the reduced tensor into inner dims, which the
  /// kernel's reductions run over, and outer dims. Empty in a kernel without
  /// reductions.
  RowSpace rows;
  /// Indices, along the outer dims of `rows`, of the current row (the elements
  /// that a reduction reduces to one).
  MultiIndex outer;

  ScalarBuilder scalar() { return {builder, loc}; }

  /// Declares that `tensor` is in memory at `pointer`, dense and row-major, so
  /// that read() of an element emits a load.
  void bind(mlir::Value tensor, mlir::Value pointer) {
    pointers[tensor] = pointer;
  }

  /// Returns the element of `tensor` at `at`, in its compute type (f32 for bf16
  /// and f16). Emits the load or the computation of the element. Emits nothing
  /// if an earlier read() in this block or an enclosing block has emitted the
  /// element.
  mlir::Value read(mlir::Value tensor, llvm::ArrayRef<Index> at);
  /// Returns the element of `tensor` that NumPy broadcasting assigns to the
  /// element `at` of a result: for a tensor of shape [1, 8], [2, 5] reads [0,
  /// 5]. `at` must have at least as many dims as `tensor`. Emits code as read()
  /// does.
  mlir::Value readBroadcast(mlir::Value tensor, llvm::ArrayRef<Index> at);
  /// Returns the element of `tensor`, which must have exactly one element.
  /// Emits code as read() does.
  mlir::Value readScalar(mlir::Value tensor);
  /// Makes read(tensor, at) return `element` without emitting code, up to the
  /// end of the innermost loop or branch that is being emitted.
  void remember(mlir::Value tensor, llvm::ArrayRef<Index> at,
                mlir::Value element);

  /// Emits the load of element number `position` of the buffer at `pointer`,
  /// and its conversion to the compute type (f32 for bf16 and f16). `element`
  /// is the type of the elements in memory.
  mlir::Value load(mlir::Value pointer, mlir::Type element,
                   const Index &position);
  /// Emits the store of `value` as element number `position` of the buffer at
  /// `pointer`. `value` has the compute type of `element` (f32 for bf16 and
  /// f16). The store converts `value` to the type that `element` has in memory.
  void store(mlir::Value pointer, mlir::Type element, const Index &position,
             mlir::Value value);
  /// Emits loads of the elements at all `places` from every tensor in memory
  /// that broadcasts to `shape`. The loads of a tensor are emitted one after
  /// another, so that LLVM can merge loads of neighbouring elements into a wide
  /// load. Later reads at `places` return the loaded elements.
  void readAhead(llvm::ArrayRef<MultiIndex> places,
                 llvm::ArrayRef<int64_t> shape);
  /// Calls `body`, and delays the stores of storeResult() to the end of the
  /// code of `body`. The stores are then emitted one after another, so that
  /// LLVM can merge stores of neighbouring elements into a wide store. `body`
  /// must not call storeTogether().
  void storeTogether(llvm::function_ref<void()> body);
  /// Emits the computation of the element of `result` at `at`, and its store to
  /// `output`, the pointer to a dense row-major tensor. Within storeTogether()
  /// the store is emitted later.
  void storeResult(mlir::Value result, mlir::Value output,
                   llvm::ArrayRef<Index> at);
  mlir::Value materialise(const Index &index) {
    return indices.materialise(builder, loc, index);
  }

  /// Returns the multi-index, in the tensor that the kernel reduces, of an
  /// element of the current row (the elements that a reduction reduces to one).
  /// `inner` are the indices of the element along the inner dims, which the
  /// reductions run over.
  MultiIndex rowPlace(llvm::ArrayRef<Index> inner) const;
  /// Emits the allocation of `count` elements of `type` on the stack, at the
  /// entry of the function. Returns the pointer.
  mlir::Value allocate(mlir::Type type, int64_t count);
  /// Emits the allocation of a stack buffer for those elements of a row that
  /// this thread computes. `type` is the compute type of the elements. Returns
  /// null, and emits nothing, if the elements are too many for the stack.
  mlir::Value allocateRow(mlir::Type type);
  /// Emits the store of `element`, the element at index `inner` of the current
  /// row, to `buffer`, the result of allocateRow(). The row is the set of
  /// elements that a reduction reduces to one. Must be called in the body of
  /// overRow() or foldRow(), with the index that the body gets.
  void storeInRow(mlir::Value buffer, llvm::ArrayRef<Index> inner,
                  mlir::Value element);
  /// Emits the load of the element at index `inner` of the current row from
  /// `buffer`, to which storeInRow() has stored it. The row is the set of
  /// elements that a reduction reduces to one. `type` is the type of the
  /// element. Returns null, and emits nothing, if another thread may have
  /// stored the element.
  mlir::Value loadFromRow(mlir::Value buffer, mlir::Type type,
                          llvm::ArrayRef<Index> inner);
  /// Returns those indices of `at` that lie along the inner dims, which the
  /// reductions run over. `at` is a multi-index of the tensor that the kernel
  /// reduces.
  MultiIndex innerOf(llvm::ArrayRef<Index> at) const;
  /// Emits the computation of those elements of `tensor` in the current row
  /// that are assigned to this thread. The row is the set of elements that a
  /// reduction reduces to one. Keeps the elements in a stack buffer, from which
  /// later reads load them. Emits nothing if `tensor` is in memory already, or
  /// if the elements are too many for the stack.
  void keepRow(mlir::Value tensor);

  /// Function that emits the body of a loop. Takes the loop counter and the
  /// values that the previous iteration returned. Returns the values for the
  /// next iteration.
  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      Index, mlir::ValueRange)>;
  /// Emits `for i in [low, high)`. `carried` are the values that are passed to
  /// the first iteration. Both bounds must lie in [0, extent] at run time.
  /// Returns the values that the last iteration returns.
  llvm::SmallVector<mlir::Value> loop(mlir::Value low, mlir::Value high,
                                      int64_t extent, mlir::ValueRange carried,
                                      LoopBody body);
  /// Emits `for i in [0, extent)`. `carried` are the values that are passed to
  /// the first iteration. Returns the values that the last iteration returns.
  /// If `extent` is 1, emits the body without a loop.
  llvm::SmallVector<mlir::Value> loop(int64_t extent, mlir::ValueRange carried,
                                      LoopBody body);
  /// Emits a loop nest that calls `body` for every multi-index of `shape`.
  /// `groups` lists, for each loop from the outermost on, how many neighbouring
  /// dims of `shape` the loop covers. `carried` are the values that are passed
  /// to the first iteration. Returns the values that the last iteration
  /// returns.
  llvm::SmallVector<mlir::Value> loops(llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> groups,
                                       mlir::ValueRange carried, NestBody body);
  /// Emits a loop that runs `body` for those elements of the current row that
  /// this thread computes. The current row is the set of elements that a
  /// reduction reduces to one. `body` takes the element's indices along the
  /// inner dims.
  void overRow(llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  /// Emits `body` such that only one of the threads that share the current row
  /// executes it. The row is the set of elements that a reduction reduces to
  /// one.
  void once(llvm::function_ref<void()> body);
  /// Emits `body`, which stores the results of the current row (the elements
  /// that a reduction reduces to one). A GPU kernel can have more threads than
  /// its rows need. The surplus threads repeat the row of other threads, but
  /// skip `body`.
  void storeRow(llvm::function_ref<void()> body);
  /// Emits a fold (sum, maximum, ...) over the current row, the elements that
  /// the fold reduces to one. Each thread starts with the values `start`, and
  /// folds its own elements; `body` emits one step. `merge` then emits the
  /// combination of the values of two threads. Returns the values folded over
  /// the whole row, which every thread of the row receives.
  llvm::SmallVector<mlir::Value> foldRow(mlir::ValueRange start, NestBody body,
                                         MergeBody merge);

  /// Function that emits one side of a branch and returns the value of that
  /// side.
  using Branch = llvm::function_ref<mlir::Value()>;
  /// Emits a branch on the i1 `condition`. Returns the value, of type `type`,
  /// of the side that was executed.
  mlir::Value branch(mlir::Value condition, mlir::Type type, Branch onTrue,
                     Branch onFalse);
  /// Emits a branch on the i1 `condition`. The two sides return no values.
  void branch(mlir::Value condition, llvm::function_ref<void()> onTrue,
              llvm::function_ref<void()> onFalse);
  /// Emits a branch on the i1 `condition`: if it is true, the code of `onTrue`
  /// runs. Returns the values of `onTrue` if it has run, else the values
  /// `otherwise`.
  llvm::SmallVector<mlir::Value>
  branch(mlir::Value condition, mlir::ValueRange otherwise,
         llvm::function_ref<llvm::SmallVector<mlir::Value>()> onTrue);

private:
  /// Function that emits one side of a branch and returns the values of that
  /// side.
  using Branches = llvm::function_ref<llvm::SmallVector<mlir::Value>()>;
  llvm::SmallVector<mlir::Value> branch(mlir::Value condition,
                                        mlir::TypeRange types, Branches onTrue,
                                        Branches onFalse);

  RowThreads &threads;

  /// Element of a tensor that has been emitted. The list `known` contains it
  /// only while its SSA value dominates the insertion point, so read() can
  /// reuse the value.
  struct Known {
    mlir::Value tensor;
    MultiIndex at;
    mlir::Value element;
  };
  /// Emits the load of the element of `tensor` at `at` from the stack buffer to
  /// which keepRow() has stored the current row of `tensor`. Returns null, and
  /// emits nothing, in three cases:
  ///
  ///   - keepRow() has stored no row of `tensor`.
  ///   - The element is not in the current row.
  ///   - Another thread may have stored the element.
  mlir::Value readKept(mlir::Value tensor, llvm::ArrayRef<Index> at);

  /// Pointers to the tensors that bind() has declared to be in memory.
  llvm::MapVector<mlir::Value, mlir::Value> pointers;
  /// Stack buffers of the tensors whose current row keepRow() has stored.
  llvm::DenseMap<mlir::Value, mlir::Value> rowBuffers;
  /// Elements that read() can reuse. The end of a loop or branch removes the
  /// elements that were added inside the loop or branch.
  std::vector<Known> known;

  /// Arguments of a store whose emission storeTogether() delays.
  struct Store {
    mlir::Value pointer;
    mlir::Type element;
    Index position;
    mlir::Value value;
  };
  /// Stores that storeTogether() will emit at its end; null outside of
  /// storeTogether().
  std::vector<Store> *waiting = nullptr;
};

/// Writer of CPU code, together with the objects that the writer refers to. One
/// thread computes each row (elements that are reduced to one).
struct OneThreadWriter {
  OneThreadWriter(mlir::OpBuilder &builder, mlir::Location loc)
      : w(builder, loc, indices, threads) {}

  IndexSpace indices;
  OneThread threads;
  KernelWriter w;
};

/// Function that emits the element, at a multi-index, of the only result of an
/// op. Returns the element in its compute type (f32 for bf16 and f16); read()
/// then rounds it to the element type.
using ReadFunction = mlir::Value (*)(KernelWriter &, mlir::Operation *,
                                     llvm::ArrayRef<Index>);

/// Function that emits the element, at a multi-index, of one of several results
/// of an op. Returns the element in its compute type (f32 for bf16 and f16).
using ReadResultFunction = mlir::Value (*)(KernelWriter &, mlir::OpResult,
                                           llvm::ArrayRef<Index>);

/// Table of functions that emit elements. It has one entry for every kind of op
/// that a kernel can contain.
class ReadTable {
public:
  /// Returns the table with the entries of all ops. The table is created at the
  /// first call and is constant from then on.
  static const ReadTable &get();

  template <typename Op> void add(ReadFunction function) {
    functions[mlir::TypeID::get<Op>()] = function;
  }
  template <typename Op> void addResults(ReadResultFunction function) {
    resultFunctions[mlir::TypeID::get<Op>()] = function;
  }

  /// Emits the element of `result` at `at`. Calls the function in the table
  /// entry of the op that computes `result`. The table must have an entry for
  /// this op.
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

// Each of the following functions adds to `table` the functions that emit
// elements of one family of ops.

/// Adds to `table` the functions that emit elements of arithmetic, comparisons,
/// logic, casts and random numbers.
void addElementWiseReads(ReadTable &table);
/// Adds to `table` the functions that emit elements of transcendental
/// functions, rounding functions and powers.
void addFloatFunctionReads(ReadTable &table);
/// Adds to `table` the functions that emit elements of transposes, reshapes,
/// slices, pads, ....
void addLayoutReads(ReadTable &table);
/// Adds to `table` the functions that emit elements of gathers and one-hot
/// encodings.
void addIndexingReads(ReadTable &table);
/// Adds to `table` the functions that emit elements of constants, iotas and
/// global indices.
void addSourceReads(ReadTable &table);
/// Adds to `table` the functions that emit elements of reductions, softmaxes
/// and norms.
void addRowReads(ReadTable &table);
/// Adds to `table` the functions that emit elements of attention and its
/// gradients.
void addAttentionReads(ReadTable &table);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_WRITER_H
