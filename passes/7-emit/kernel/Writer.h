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

/// Emits the code of one kernel (a group of tensor ops that run as one loop
/// nest) at the insertion point of `builder`. Call bind() for each operand
/// before the first read(). Before read() of a reduction, softmax or norm, set
/// `rows`, `outer` and `statistics` for the current row (elements reduced
/// together). The arguments of the constructor must outlive the writer.
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
  /// Map from a dist.global_index op to its i64 kernel arguments: the start of
  /// the rank's shard along each factor of the dim that mesh axes split, in the
  /// order of the factors. Example: if two ranks split the 64 of 192 = 3 · 64,
  /// the argument is 0 on the first rank and 32 on the second.
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

  /// Emits the code that loads or computes the element `at` of `tensor`, and
  /// returns the element. The returned value has the type computeType(): f32
  /// for bf16 and f16. Emits no code if the value of the element is still
  /// available.
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
  /// Emits loads of elements of bound operands in advance. Later calls of
  /// read() return the loaded values. LLVM can merge neighboring loads.
  /// `places` are multi-indices in the iteration space `shape`. Loads one
  /// element per place from each operand that NumPy can broadcast to `shape`.
  void readAhead(llvm::ArrayRef<MultiIndex> places,
                 llvm::ArrayRef<int64_t> shape);
  /// Calls `body`, which may call storeResult() for some elements. Each call of
  /// storeResult() normally emits the computation of an element, followed by
  /// the store of the element. During `body`, storeResult() emits only the
  /// computation. After `body`, storeTogether() emits the stores one after
  /// another. LLVM can therefore merge the stores of neighboring elements into
  /// one wide store. `body` must not call storeTogether().
  void storeTogether(llvm::function_ref<void()> body);
  /// Emits the computation of the element `at` of `result`, and its store to
  /// the dense row-major memory `output`. During the `body` of storeTogether(),
  /// emits only the computation: storeTogether() emits the store later.
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
  /// Emits the stack allocation of `count` elements of `type`, in the entry
  /// block of the function. Returns the pointer.
  mlir::Value allocate(mlir::Type type, int64_t count);
  /// Emits a stack buffer for the elements of a row (elements reduced together)
  /// that one thread computes, and returns its pointer. `type` is the type of
  /// the elements in computations (computeType()). Returns null if the elements
  /// are too many for the stack.
  mlir::Value allocateRow(mlir::Type type);
  /// Emits the store of `element`, which belongs to the current row, to
  /// `buffer` (from allocateRow()). Call this only while the `body` of
  /// overRow() or foldRow() runs. `inner` must be the indices that `body`
  /// received.
  void storeInRow(mlir::Value buffer, llvm::ArrayRef<Index> inner,
                  mlir::Value element);
  /// Emits the load of an element of the current row from `buffer`, where
  /// storeInRow() has stored the element. `inner` are the indices of the
  /// element along the reduced dims. On a GPU, several threads can share a row,
  /// and each thread stores only its own elements. Returns null if the element
  /// may belong to another thread. The element for which the `body` of
  /// overRow() or foldRow() is running always belongs to the current thread.
  mlir::Value loadFromRow(mlir::Value buffer, mlir::Type type,
                          llvm::ArrayRef<Index> inner);
  /// Returns the entries of the multi-index `at` that belong to reduced dims.
  /// Example: [4] for `at` = [2, 3, 4] if only dim 2 is reduced.
  MultiIndex innerOf(llvm::ArrayRef<Index> at) const;
  /// Emits code that computes the current row of `tensor` and stores it in
  /// stack buffers, one per thread. A later read() can then load an element.
  /// Emits nothing for an operand in memory, for a row that is already stored,
  /// and for a row too long for the stack.
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
  /// between 0 and `extent`, a compile-time bound on which index arithmetic
  /// relies. `body` emits one iteration. `carried` are the initial loop-carried
  /// values. Returns their final values.
  llvm::SmallVector<mlir::Value> loop(mlir::Value low, mlir::Value high,
                                      int64_t extent, mlir::ValueRange carried,
                                      LoopBody body);
  /// Emits the loop `for i in [0, extent)`. `body` emits the code of one
  /// iteration. `carried` are the initial loop-carried values. Returns the
  /// final loop-carried values. If `extent` is 1, emits no loop, and calls
  /// `body` once with the loop counter 0.
  llvm::SmallVector<mlir::Value> loop(int64_t extent, mlir::ValueRange carried,
                                      LoopBody body);
  /// Emits a loop nest over the multi-indices of `shape`. Loop i covers
  /// `groups[i]` neighboring dims, and loop 0 is the outermost. For example,
  /// `shape` [8, 4, 6] and `groups` [1, 2] give a loop of 8 iterations around a
  /// loop of 4 · 6 = 24 iterations. `body` receives one index per dim.
  /// `carried` are the initial loop-carried values. Returns their final values.
  llvm::SmallVector<mlir::Value> loops(llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> groups,
                                       mlir::ValueRange carried, NestBody body);
  /// Emits a loop over the elements of the current row (elements reduced
  /// together). On a GPU, each thread that shares the row visits some of the
  /// elements. `body` receives the indices of an element along the reduced
  /// dims.
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
  /// Emits a fold, such as a sum, over the current row (elements reduced
  /// together). Each thread begins with the values `start`, and `body` combines
  /// the values of a thread with one more element. `merge` combines the values
  /// of two threads. Every thread of the row gets the result.
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
  /// Emits the load of the element `at` of `tensor` from a stack buffer that
  /// keepRow() has filled. Returns null if keepRow() has not stored this
  /// element, or if the element may be in the stack buffer of another GPU
  /// thread.
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

  /// Arguments of a call of store() that storeTogether() makes later: `value`
  /// becomes element number `position` of the buffer at `pointer`. `element` is
  /// the element type of the tensor in the buffer.
  struct Store {
    mlir::Value pointer;
    mlir::Type element;
    Index position;
    mlir::Value value;
  };
  /// List of the stores that storeTogether() emits after its `body`. While this
  /// pointer is null, outside of storeTogether(), storeResult() emits each
  /// store itself.
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

  /// Emits the code that computes the element `at` of `result`, and returns the
  /// element. The returned value has the type computeType(): f32 for bf16 and
  /// f16. The table must have a function for the kind of op.
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
/// Adds the functions for graph.constant, graph.iota and dist.global_index to
/// `table`. These ops read no tensor.
void addSourceReads(ReadTable &table);
/// Adds the functions for reductions, softmaxes and norms to `table`. The
/// functions use the values of the current row in KernelWriter::statistics.
/// These values must be there before a call.
void addRowReads(ReadTable &table);
/// Adds to `table` one function for each of three ops: the attention op, the op
/// that computes the gradient of the queries, and the op that computes the
/// gradients of the keys and values. The function emits the code that computes
/// one element of one of the op's results.
void addAttentionReads(ReadTable &table);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_WRITER_H
