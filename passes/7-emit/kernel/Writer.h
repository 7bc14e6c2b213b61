//===- Writer.h - from a kernel's results back to its operands ------------===//
//
// A kernel is written by asking for an element of a result at a place; each op
// asks for the elements of its operands that it needs. Layout ops only change
// the place, so they cost nothing.
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

/// Writes one kernel's code at `builder`.
class KernelWriter {
public:
  KernelWriter(mlir::OpBuilder &builder, mlir::Location loc,
               IndexSpace &indices, RowThreads &threads)
      : builder(builder), loc(loc), indices(indices), threads(threads) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  IndexSpace &indices;
  /// Bytes that buffers are aligned to; 0: as their elements are.
  int64_t alignment = 0;
  /// The kernel's scalars, in order; each dist.global_index takes some.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> scalars;
  /// What the current row of an op comes to (RowReductions.h).
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> statistics;
  RowSpace rows;
  /// The current row: an index per outer dim of `rows`.
  MultiIndex outer;

  ScalarBuilder scalar() { return {builder, loc}; }

  /// `tensor` lies densely at `pointer`.
  void bind(mlir::Value tensor, mlir::Value pointer) {
    pointers[tensor] = pointer;
  }

  /// The element of `tensor` at `at`, in its compute type.
  mlir::Value read(mlir::Value tensor, llvm::ArrayRef<Index> at);
  /// The element of `tensor` that NumPy's broadcasting puts at `at` of a result
  /// of its rank or more.
  mlir::Value readBroadcast(mlir::Value tensor, llvm::ArrayRef<Index> at);
  /// The only element of `tensor`.
  mlir::Value readScalar(mlir::Value tensor);
  /// Says that `element` is what read(tensor, at) gives, until the innermost
  /// open loop or branch ends.
  void remember(mlir::Value tensor, llvm::ArrayRef<Index> at,
                mlir::Value element);

  mlir::Value load(mlir::Value pointer, mlir::Type element,
                   const Index &position);
  void store(mlir::Value pointer, mlir::Type element, const Index &position,
             mlir::Value value);
  /// Reads the operands' elements that element-wise ops want at any of
  /// `places` of a tensor of `shape`.
  void readAhead(llvm::ArrayRef<MultiIndex> places,
                 llvm::ArrayRef<int64_t> shape);
  /// Writes what `body` stores of results behind it, side by side.
  void storeTogether(llvm::function_ref<void()> body);
  /// The element of `result` at `at`, into what lies densely at `output`.
  void storeResult(mlir::Value result, mlir::Value output,
                   llvm::ArrayRef<Index> at);
  mlir::Value materialise(const Index &index) {
    return indices.materialise(builder, loc, index);
  }

  /// The place in `rows.shape` of an element of the current row.
  MultiIndex rowPlace(llvm::ArrayRef<Index> inner) const;
  /// A buffer on the stack.
  mlir::Value allocate(mlir::Type type, int64_t count);
  /// One for this thread's elements of a row, in their compute type; null where
  /// they are too many.
  mlir::Value allocateRow(mlir::Type type);
  /// `inner` is the element of the innermost overRow or foldRow.
  void storeInRow(mlir::Value buffer, llvm::ArrayRef<Index> inner,
                  mlir::Value element);
  /// Null where the element may be another thread's.
  mlir::Value loadFromRow(mlir::Value buffer, mlir::Type type,
                          llvm::ArrayRef<Index> inner);
  /// The indices of `at` along the inner dims of `rows`.
  MultiIndex innerOf(llvm::ArrayRef<Index> at) const;
  /// Computes the current row of `tensor` once and for all.
  void keepRow(mlir::Value tensor);

  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      Index, mlir::ValueRange)>;
  /// for i in [low, high), whose bounds are within [0, extent): carries values.
  llvm::SmallVector<mlir::Value> loop(mlir::Value low, mlir::Value high,
                                      int64_t extent, mlir::ValueRange carried,
                                      LoopBody body);
  /// for i in [0, extent); a single iteration needs no loop.
  llvm::SmallVector<mlir::Value> loop(int64_t extent, mlir::ValueRange carried,
                                      LoopBody body);
  /// Nested loops over `shape`: one for every group of neighbouring dims.
  llvm::SmallVector<mlir::Value> loops(llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> groups,
                                       mlir::ValueRange carried, NestBody body);
  /// For each of this thread's elements of the current row.
  void overRow(llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  /// What is done once per row, and what stores its results.
  void once(llvm::function_ref<void()> body);
  void storeRow(llvm::function_ref<void()> body);
  /// Folds all elements of the current row: `merge` joins what started at
  /// `start` in several places.
  llvm::SmallVector<mlir::Value> foldRow(mlir::ValueRange start, NestBody body,
                                         MergeBody merge);

  using Branch = llvm::function_ref<mlir::Value()>;
  mlir::Value branch(mlir::Value condition, mlir::Type type, Branch onTrue,
                     Branch onFalse);
  /// What gives nothing.
  void branch(mlir::Value condition, llvm::function_ref<void()> onTrue,
              llvm::function_ref<void()> onFalse);
  /// What `onTrue` gives, or `otherwise`.
  llvm::SmallVector<mlir::Value>
  branch(mlir::Value condition, mlir::ValueRange otherwise,
         llvm::function_ref<llvm::SmallVector<mlir::Value>()> onTrue);

private:
  using Branches = llvm::function_ref<llvm::SmallVector<mlir::Value>()>;
  llvm::SmallVector<mlir::Value> branch(mlir::Value condition,
                                        mlir::TypeRange types, Branches onTrue,
                                        Branches onFalse);

  RowThreads &threads;

  struct Known {
    mlir::Value tensor;
    MultiIndex at;
    mlir::Value element;
  };
  /// Null if it is not kept.
  mlir::Value readKept(mlir::Value tensor, llvm::ArrayRef<Index> at);

  llvm::MapVector<mlir::Value, mlir::Value> pointers;
  llvm::DenseMap<mlir::Value, mlir::Value> rowBuffers;
  /// A stack: what a scope added is dropped at its end.
  std::vector<Known> known;

  struct Store {
    mlir::Value pointer;
    mlir::Type element;
    Index position;
    mlir::Value value;
  };
  /// Set within storeTogether.
  std::vector<Store> *waiting = nullptr;
};

/// Writes code at `builder` whose threads do not know of each other.
struct OneThreadWriter {
  OneThreadWriter(mlir::OpBuilder &builder, mlir::Location loc)
      : w(builder, loc, indices, threads) {}

  IndexSpace indices;
  OneThread threads;
  KernelWriter w;
};

/// The code of one op: its result's element at a place.
using ReadFunction = mlir::Value (*)(KernelWriter &, mlir::Operation *,
                                     llvm::ArrayRef<Index>);

/// The same of an op of several results.
using ReadResultFunction = mlir::Value (*)(KernelWriter &, mlir::OpResult,
                                           llvm::ArrayRef<Index>);

/// The code of every op that a kernel may hold.
class ReadTable {
public:
  static const ReadTable &get();

  template <typename Op> void add(ReadFunction function) {
    functions[mlir::TypeID::get<Op>()] = function;
  }
  template <typename Op> void addResults(ReadResultFunction function) {
    resultFunctions[mlir::TypeID::get<Op>()] = function;
  }

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

// One function per family of ops.
void addElementWiseReads(ReadTable &table);
void addFloatFunctionReads(ReadTable &table);
void addLayoutReads(ReadTable &table);
void addIndexingReads(ReadTable &table);
void addSourceReads(ReadTable &table);
void addRowReads(ReadTable &table);
void addAttentionReads(ReadTable &table);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_WRITER_H
