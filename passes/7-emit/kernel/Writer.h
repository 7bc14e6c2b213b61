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

/// Emits the code of one kernel, a group of tensor ops that run as one loop
/// nest, at the insertion point of `builder`. read() emits the code for one
/// element of a tensor: a load for an operand of the kernel, and otherwise the
/// computation from elements of the op's operands. Call bind() for each operand
/// before the first read(). Before read() of an element of a reduction, softmax
/// or norm, set `rows`, `outer` and `statistics` for the current row (set of
/// elements reduced together). The arguments of the constructor must outlive
/// the writer.
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
  /// Map from a dist.global_index op to the i64 arguments of the kernel that
  /// the op needs. The op belongs to one dim of a tensor. A rank holds a shard
  /// of the dim. The op computes, for each element of the shard, the index of
  /// the element in the whole dim. The op must therefore know where the shard
  /// begins. Example: a dim of 64 elements is split over two ranks. The op
  /// needs one argument: 0 on the first rank, and 32 on the second rank.
  ///
  /// The size of a dim can be written as a product of factors, such as
  /// 192 = 3 · 64, and each factor can be split over ranks. The op then needs
  /// one argument for each split factor: the index along the factor at which
  /// the shard begins. The arguments are in the order of the factors.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> scalars;
  /// Map from an op to the values that the op has computed from the current
  /// row. A row is a set of elements that are reduced together. The op is a
  /// reduction, a softmax or a norm. Example: if the op is a sum over the row,
  /// the list has one value, which is the sum. The functions in
  /// RowReductions.cpp define the number and the order of the values for each
  /// kind of op.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> statistics;
  /// Shape that the kernel reduces, with the list of the inner dims and the
  /// list of the outer dims. An inner dim is reduced, and an outer dim is kept.
  /// Example: if a kernel reduces a tensor of shape [8, 16, 32] over dim 2, the
  /// inner dim is 2, and the outer dims are 0 and 1. A kernel without
  /// reductions has no shape here, and both lists are empty.
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

  /// Emits the code that loads or computes one element of `tensor`, and returns
  /// the element. `at` holds the indices of the element, one per dim. The
  /// returned value has the type in which kernels compute: f32 if `tensor` has
  /// bf16 or f16 elements.
  ///
  /// If an earlier read() has emitted the code for the same element, the value
  /// of the element may still be available. This function then returns this
  /// value and emits no code. A value that was computed in the body of a loop
  /// or branch is not available after the body.
  mlir::Value read(mlir::Value tensor, llvm::ArrayRef<Index> at);
  /// Calls read() for the element of `tensor` that NumPy broadcasting assigns
  /// to the multi-index `at` of a larger shape. Returns the result of read().
  /// Example: if `tensor` has the shape [1, 8] and `at` is [2, 5], reads
  /// element [0, 5] of `tensor`. `at` must have at least as many indices as
  /// `tensor` has dims.
  mlir::Value readBroadcast(mlir::Value tensor, llvm::ArrayRef<Index> at);
  /// Calls read() for the only element of `tensor`, and returns the result of
  /// read(). `tensor` must have exactly one element.
  mlir::Value readScalar(mlir::Value tensor);
  /// Records that the SSA value `element` is the element of `tensor` with the
  /// multi-index `at`. Later calls read(tensor, at) return `element` and emit
  /// no code. If this function is called while the body of a loop or branch is
  /// emitted, the record is removed at the end of the body, since `element` is
  /// not available after the body.
  void remember(mlir::Value tensor, llvm::ArrayRef<Index> at,
                mlir::Value element);

  /// Emits the load of element number `position` of the buffer at `pointer`.
  /// `element` is the element type of the tensor in the buffer, such as bf16.
  /// The returned value has the type in which kernels compute: f32 if `element`
  /// is bf16 or f16.
  mlir::Value load(mlir::Value pointer, mlir::Type element,
                   const Index &position);
  /// Emits the store of `value` to the buffer at `pointer`, as element number
  /// `position` of the buffer. `element` is the element type of the tensor in
  /// the buffer, such as bf16. `value` has the type in which kernels compute:
  /// f32 if `element` is bf16 or f16. Before the store, emits the conversion of
  /// `value` to the type of the elements in memory.
  void store(mlir::Value pointer, mlir::Type element, const Index &position,
             mlir::Value value);
  /// Emits loads of operand elements before the elements are used. An operand
  /// is a tensor whose address bind() has set. `places` are multi-indices of
  /// elements in the iteration space `shape`.
  ///
  /// Loads one element per place from each operand that NumPy can broadcast to
  /// `shape`. Example: for the place [2, 5] in the iteration space [4, 8],
  /// loads element [2, 5] of an operand [4, 8], and element [0, 5] of an
  /// operand [1, 8].
  ///
  /// All loads from one operand follow each other. LLVM can therefore merge the
  /// loads of neighboring elements into one wide load. A later read() of a
  /// loaded element emits no second load.
  void readAhead(llvm::ArrayRef<MultiIndex> places,
                 llvm::ArrayRef<int64_t> shape);
  /// Calls `body`, which may call storeResult() for some elements. Each call of
  /// storeResult() normally emits the computation of an element, followed by
  /// the store of the element. During `body`, storeResult() emits only the
  /// computation. After `body`, storeTogether() emits the stores one after
  /// another. LLVM can therefore merge the stores of neighboring elements into
  /// one wide store. `body` must not call storeTogether().
  void storeTogether(llvm::function_ref<void()> body);
  /// Emits the code that computes one element of the tensor `result` and stores
  /// the element in memory. `at` is the multi-index of the element. `output` is
  /// the pointer to the memory of `result`, which is dense and row-major.
  ///
  /// storeTogether() calls a function that may call storeResult() for several
  /// elements. During this function, storeResult() emits only the computation
  /// of an element. When the function has returned, storeTogether() emits the
  /// stores of all these elements.
  void storeResult(mlir::Value result, mlir::Value output,
                   llvm::ArrayRef<Index> at);
  mlir::Value materialise(const Index &index) {
    return indices.materialise(builder, loc, index);
  }

  /// Returns the multi-index of an element of the current row. A row is a set
  /// of elements that are reduced together. `inner` holds the indices of the
  /// element along the reduced dims. The field `outer` holds the indices of the
  /// row along the other dims. Example: a tensor of shape [8, 16, 32] is
  /// reduced over dim 2. If `outer` is [3, 7] and `inner` is [4], the result is
  /// [3, 7, 4].
  MultiIndex rowPlace(llvm::ArrayRef<Index> inner) const;
  /// Emits the stack allocation of `count` elements of `type`, at the entry of
  /// the function. Returns the pointer.
  mlir::Value allocate(mlir::Type type, int64_t count);
  /// Emits the allocation of a stack buffer, and returns the pointer to the
  /// buffer. Several threads may share a row, which is a set of elements that
  /// are reduced together. Each thread computes some elements of the row. The
  /// buffer has room for the elements of one thread.
  ///
  /// `type` is the type of the elements in the buffer. It is the type in which
  /// the kernel computes: f32 for a tensor of bf16 or f16 elements.
  ///
  /// Returns null, and emits nothing, if the elements of one thread are too
  /// many for the stack.
  mlir::Value allocateRow(mlir::Type type);
  /// Emits the store of `element`, which belongs to the current row, to
  /// `buffer`. A row is a set of elements that are reduced together. `inner`
  /// are the indices of `element` along the reduced dims. `buffer` is a stack
  /// buffer that allocateRow() has returned.
  ///
  /// overRow() and foldRow() emit a loop over the elements of the row. Both
  /// functions have a parameter `body`, a function that receives the indices of
  /// one element and emits the code for this element. Call storeInRow() only
  /// while `body` runs, and pass the indices that `body` has received as
  /// `inner`.
  void storeInRow(mlir::Value buffer, llvm::ArrayRef<Index> inner,
                  mlir::Value element);
  /// Emits the load of an element of the current row (set of elements reduced
  /// together) from `buffer`, and returns the element. `type` is the type of
  /// the element, and `inner` are its indices along the reduced dims. `buffer`
  /// is from allocateRow(), and storeInRow() has stored the element.
  ///
  /// On a GPU, several threads may share the row, each with its own buffer. The
  /// load is then emitted only while the parameter `body` of overRow() or
  /// foldRow() runs, and only for the indices that `body` has received. For all
  /// other elements, the function returns null and emits nothing.
  mlir::Value loadFromRow(mlir::Value buffer, mlir::Type type,
                          llvm::ArrayRef<Index> inner);
  /// Returns the entries of the multi-index `at` that belong to reduced dims.
  /// Example: [4] for `at` = [2, 3, 4] if only dim 2 is reduced.
  MultiIndex innerOf(llvm::ArrayRef<Index> at) const;
  /// Emits code that computes the current row of `tensor` and stores the row on
  /// the stack. A row is a set of elements that are reduced together. Several
  /// threads may share the row. Each thread computes some of the elements, and
  /// stores them in a stack buffer of its own. A later read() can then load an
  /// element from the buffer instead of computing the element again.
  ///
  /// Emits nothing in three cases:
  ///
  ///   - `tensor` is an operand of the kernel, which is in memory.
  ///   - An earlier keepRow() has stored a row of `tensor`.
  ///   - The elements of one thread are too many for the stack.
  void keepRow(mlir::Value tensor);

  /// Function that emits the body of a loop. The first parameter is the loop
  /// counter. The second parameter is the loop-carried values, like the
  /// iter_args of an scf.for. The function returns the loop-carried values for
  /// the next iteration. Example: if the loop adds up elements, the
  /// loop-carried value is the sum of the previous elements. The function emits
  /// the addition of the current element, and returns the new sum.
  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      Index, mlir::ValueRange)>;
  /// Emits the loop `for i in [low, high)`. `low` and `high` are i64 values
  /// that may only be known at run time. Neither value may be less than 0 or
  /// greater than `extent`, which is known at compile time. The loop counter i
  /// is therefore less than `extent`. Index arithmetic uses this fact. Example:
  /// if `extent` is 8, the index i / 8 is 0, and needs no division.
  ///
  /// `body` emits the code of one iteration. `carried` are the initial
  /// loop-carried values. Returns the final loop-carried values.
  llvm::SmallVector<mlir::Value> loop(mlir::Value low, mlir::Value high,
                                      int64_t extent, mlir::ValueRange carried,
                                      LoopBody body);
  /// Emits the loop `for i in [0, extent)`. `body` emits the code of one
  /// iteration. `carried` are the initial loop-carried values. Returns the
  /// final loop-carried values. If `extent` is 1, emits no loop, and calls
  /// `body` once with the loop counter 0.
  llvm::SmallVector<mlir::Value> loop(int64_t extent, mlir::ValueRange carried,
                                      LoopBody body);
  /// Emits a loop nest that executes `body` for every multi-index of `shape`.
  /// Entry i of `groups` is the number of neighboring dims that loop i covers.
  /// Loop 0 is the outermost loop. Example: for shape [8, 4, 6] and groups [1,
  /// 2], emits a loop of 8 iterations around a loop of 4 · 6 = 24 iterations.
  /// `body` receives three indices, one per dim.
  ///
  /// `carried` are the initial loop-carried values. Returns the final
  /// loop-carried values.
  llvm::SmallVector<mlir::Value> loops(llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> groups,
                                       mlir::ValueRange carried, NestBody body);
  /// Emits a loop over the elements of the current row. A row is a set of
  /// elements that are reduced together. On a GPU, several threads may share
  /// the row. Each of these threads then runs the loop for some of the
  /// elements.
  ///
  /// `body` emits the code for one element. `body` receives the indices of the
  /// element along the reduced dims. Example: in a reduction of [8, 16, 32]
  /// over dim 2, `body` receives one index, which is at least 0 and less than
  /// 32.
  void overRow(llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  /// Emits `body` so that only one of the threads that share a row executes it.
  /// A row is a set of elements that are reduced together. On a GPU, a team of
  /// threads shares a row. The first thread of each team executes `body`, and
  /// the other threads of the team skip `body`. On a CPU, each row has only one
  /// thread, which executes `body`.
  void once(llvm::function_ref<void()> body);
  /// Emits `body`, which stores the results of the current row. A row is a set
  /// of elements that are reduced together. On a GPU, a team of threads
  /// computes each row, and every block has the same number of teams. The last
  /// block may have more teams than there are rows left. Each surplus team
  /// computes the last row once more, but skips `body`.
  void storeRow(llvm::function_ref<void()> body);
  /// Emits a fold, such as a sum, over the current row. A row is a set of
  /// elements that are reduced together. Several threads may share the row, and
  /// each thread handles some of the elements.
  ///
  /// Each thread begins with the values `start`. The code that `body` emits
  /// combines the values of the thread with one more element. The code that
  /// `merge` emits combines the values of two threads. In a sum, for example,
  /// `start` is 0, `body` adds an element to a partial sum, and `merge` adds
  /// two partial sums.
  ///
  /// Returns the values for the whole row. Every thread of the row gets them.
  llvm::SmallVector<mlir::Value> foldRow(mlir::ValueRange start, NestBody body,
                                         MergeBody merge);

  /// Function that emits the code of one side of a branch. One side is the code
  /// that runs if the condition is true, or the code that runs if the condition
  /// is false. The function returns the SSA value that the emitted code
  /// computes. Example: if the emitted code adds a and b, the function returns
  /// the sum.
  using Branch = llvm::function_ref<mlir::Value()>;
  /// Emits a branch on the i1 `condition`. `onTrue` emits the code that runs if
  /// `condition` is true. `onFalse` emits the code that runs if `condition` is
  /// false. Each of these two functions returns the value that its code
  /// computes, which has the type `type`. Returns the result of the branch: the
  /// value from `onTrue` if `condition` is true, and the value from `onFalse`
  /// if `condition` is false.
  mlir::Value branch(mlir::Value condition, mlir::Type type, Branch onTrue,
                     Branch onFalse);
  /// Emits a branch on the i1 `condition`. The branch returns no values.
  /// `onTrue` emits the code that runs if `condition` is true. `onFalse` emits
  /// the code that runs if `condition` is false.
  void branch(mlir::Value condition, llvm::function_ref<void()> onTrue,
              llvm::function_ref<void()> onFalse);
  /// Emits a branch on the i1 `condition`. `onTrue` emits the code that runs if
  /// `condition` is true, and returns the values that this code computes. The
  /// results of the branch are these values if `condition` is true, and
  /// `otherwise` if `condition` is false. Returns the results of the branch.
  llvm::SmallVector<mlir::Value>
  branch(mlir::Value condition, mlir::ValueRange otherwise,
         llvm::function_ref<llvm::SmallVector<mlir::Value>()> onTrue);

private:
  /// Function that emits the code of one side of a branch. One side is the code
  /// that runs if the condition is true, or the code that runs if the condition
  /// is false. The function returns the SSA values that the emitted code
  /// computes, one per result of the branch.
  using Branches = llvm::function_ref<llvm::SmallVector<mlir::Value>()>;
  llvm::SmallVector<mlir::Value> branch(mlir::Value condition,
                                        mlir::TypeRange types, Branches onTrue,
                                        Branches onFalse);

  RowThreads &threads;

  /// Entry of the list `known`: a tensor element whose value is already
  /// available in the emitted code. `element` is the SSA value of the element
  /// with index `at` of `tensor`. A later read(tensor, at) returns `element`
  /// and emits no code.
  struct Known {
    mlir::Value tensor;
    MultiIndex at;
    mlir::Value element;
  };
  /// Emits the load of element `at` of `tensor` from a stack buffer that
  /// keepRow() has filled with one row (set of elements reduced together).
  /// Returns null, and emits nothing, if keepRow() has stored no row of
  /// `tensor`, if the element is not in the stored row, or if another thread
  /// may have the element.
  ///
  /// On a GPU, several threads may share the row, each with its own buffer. The
  /// buffer of the executing thread certainly has the element for which the
  /// parameter `body` of overRow() or foldRow() runs.
  mlir::Value readKept(mlir::Value tensor, llvm::ArrayRef<Index> at);

  /// Map from each tensor in memory to its pointer. bind() adds the entries.
  llvm::MapVector<mlir::Value, mlir::Value> pointers;
  /// Map from a tensor to a stack buffer with elements of the tensor. keepRow()
  /// adds an entry when it stores one row of the tensor. A row is a set of
  /// elements that are reduced together. On a GPU, several threads may share
  /// the row. Each thread then has its own buffer with some of the elements.
  llvm::DenseMap<mlir::Value, mlir::Value> rowBuffers;
  /// Tensor elements whose values are available as SSA values at the insertion
  /// point. read() of such an element returns the SSA value and emits no code.
  /// An SSA value that is created in the body of a loop or branch is not
  /// available after the body. At the end of the body, all elements that were
  /// added to this list during the body are therefore removed.
  std::vector<Known> known;

  /// Description of the store of one element to memory. The fields are the
  /// arguments of store(), which emits the store: `value` becomes element
  /// number `position` of the buffer at `pointer`. `element` is the element
  /// type of the tensor in the buffer.
  ///
  /// storeTogether() calls a function that calls storeResult() for several
  /// elements. Each storeResult() emits the computation of one element, and
  /// appends a Store to a list. When the function has returned, storeTogether()
  /// calls store() for each entry of the list. The emitted stores then follow
  /// each other, and LLVM can merge stores of neighboring elements.
  struct Store {
    mlir::Value pointer;
    mlir::Type element;
    Index position;
    mlir::Value value;
  };
  /// List of stores that storeTogether() will emit, or null. Each store writes
  /// one element to memory.
  ///
  /// storeTogether() has a parameter `body`, which is a function that calls
  /// storeResult() for several elements. Each storeResult() emits the
  /// computation of one element. The pointer `waiting` decides about the store
  /// of the element:
  ///
  ///   - While `body` runs, `waiting` is not null. storeResult() appends the
  ///     store to the list, and storeTogether() emits all stores after `body`.
  ///   - At every other time, `waiting` is null. storeResult() emits the store.
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

/// Function that emits the code for one element of the result of an op. The op
/// has only one result. Takes the writer that emits the code, the op, and the
/// multi-index of the element. Returns the element. The returned value has the
/// type in which kernels compute: f32 if the result has bf16 or f16 elements.
using ReadFunction = mlir::Value (*)(KernelWriter &, mlir::Operation *,
                                     llvm::ArrayRef<Index>);

/// Function that emits the code for one element of a result of an op. The op
/// may have several results, such as the gradient of the keys and the gradient
/// of the values. Takes the writer that emits the code, the result, and the
/// multi-index of the element. Returns the element. The returned value has the
/// type in which kernels compute: f32 if the result has bf16 or f16 elements.
using ReadResultFunction = mlir::Value (*)(KernelWriter &, mlir::OpResult,
                                           llvm::ArrayRef<Index>);

/// Table of functions that emit the code of ops. The table has one function for
/// each kind of op that a kernel can contain. Example: the kinds graph.add and
/// graph.transpose have one function each. The function emits the code that
/// computes one element of a result of the op.
class ReadTable {
public:
  /// Returns the only ReadTable of the process. The table has one function for
  /// each kind of op that a kernel can contain. The function emits the code
  /// that computes one element of a result of the op. The first call of get()
  /// creates the table, and all later calls return the same table.
  static const ReadTable &get();

  template <typename Op> void add(ReadFunction function) {
    functions[mlir::TypeID::get<Op>()] = function;
  }
  template <typename Op> void addResults(ReadResultFunction function) {
    resultFunctions[mlir::TypeID::get<Op>()] = function;
  }

  /// Emits the code that computes one element of `result`, which is a result of
  /// an op. `at` is the multi-index of the element. Looks up the function for
  /// this kind of op in the table, and calls the function. The table must have
  /// a function for this kind of op. Example: if `result` is the result of a
  /// graph.transpose, calls the function for graph.transpose.
  ///
  /// Returns the element. The returned value has the type in which kernels
  /// compute: f32 if `result` has bf16 or f16 elements.
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

/// Adds functions to `table`, one for each kind of element-wise op: arithmetic,
/// comparison, logic, cast and random. Example: the kind graph.add has one
/// function. Each function emits the code that computes one element of the
/// result of such an op.
void addElementWiseReads(ReadTable &table);
/// Adds functions to `table`, one for each kind of op that computes a
/// mathematical function of floats, such as exp, sin, floor, pow and GELU. Each
/// function emits the code that computes one element of the result of such an
/// op.
void addFloatFunctionReads(ReadTable &table);
/// Adds functions to `table`, one for each kind of op that moves elements, such
/// as transpose, reshape, slice and pad. Each function emits the code that
/// computes one element of the result of such an op.
void addLayoutReads(ReadTable &table);
/// Adds functions to `table`, one for each kind of gather op and one for the
/// one-hot op. Each function emits the code that computes one element of the
/// result of such an op.
void addIndexingReads(ReadTable &table);
/// Adds functions to `table`, one for each kind of op that has a tensor as its
/// result and reads no tensor: graph.constant, graph.iota and
/// dist.global_index. Each function emits the code that computes one element of
/// the result of such an op.
///
/// The op dist.global_index belongs to one dim of a tensor. Each rank holds a
/// shard of this dim. Element i of the result of the op is the index of element
/// i of the shard in the whole dim. Example: if the shard begins at index 32,
/// element 5 of the result is 37.
void addSourceReads(ReadTable &table);
/// Adds functions to `table`, one for each kind of reduction, softmax and norm.
/// Each function returns one element of the result of such an op, and emits the
/// code that computes the element.
///
/// A row is a set of elements that are reduced together. The values that depend
/// on a whole row, such as the sum of the row, must be computed before a
/// function is called. The map `KernelWriter::statistics` holds these values.
/// Example: an element of the result of a sum is the sum of a row. The function
/// returns the sum from the map and emits no code.
void addRowReads(ReadTable &table);
/// Adds to `table` one function for each of three ops: the attention op, the op
/// that computes the gradient of the queries, and the op that computes the
/// gradients of the keys and values. The function emits the code that computes
/// one element of one of the op's results.
void addAttentionReads(ReadTable &table);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_WRITER_H
