//===- Emitter.h - builder of graph ops that folds known values -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_EMITTER_H
#define PCC_PASSES_1_IMPORT_BUILD_EMITTER_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Builders.h"
#include "status/Status.h"
#include <optional>
#include <string>

namespace pcc::onnx_import {

/// Largest number of elements of a result that the import computes in order to
/// fold an op (replace the op by a constant). An op with a larger result is
/// folded only if all elements of the result are known to be equal.
inline constexpr int64_t foldLimit = 16384;

/// Largest number of elements of a tensor. Dims of size 0 count as size 1 here,
/// so the product of any subset of a tensor's dims fits into an int64_t.
inline constexpr int64_t maxElements = int64_t{1} << 48;

/// Largest rank that a tensor may have.
inline constexpr int64_t maxRank = 1024;

/// Returns the reason why no tensor may have the shape `shape`, such as "a dim
/// of -1". Returns an empty string if the shape is valid.
std::string describeShapeError(llvm::ArrayRef<int64_t> shape);

/// Formats sizes for a message, such as "[2, 3]".
std::string sizesText(llvm::ArrayRef<int64_t> sizes);

/// Returns lhs · rhs for two sizes that are not negative. Returns INT64_MAX if
/// the product overflows; describeShapeError rejects every shape with a dim of
/// INT64_MAX elements.
int64_t saturatingProduct(int64_t lhs, int64_t rhs);

/// Returns the shape of `value`, a ranked tensor; empty if `value` is null.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);

/// An operand that the created op may omit. Emitter::make accepts a null
/// OptionalOperand, whereas a null mlir::Value among its arguments is an error.
struct OptionalOperand {
  /// The operand; null if it is absent.
  mlir::Value value;
  operator mlir::Value() const { return value; }
};

/// Builder that creates graph ops at one location and infers their result
/// types. After the first error every method that creates an op returns null
/// and creates nothing, so that callers need not check each step. A caller must
/// check failed() before it reads the type of a returned value; shapeOf accepts
/// null.
///
/// An op is folded (replaced by a constant) if its operands are known during
/// the import. Known values are constants, broadcasts of constants, and tensors
/// whose elements are all equal. A folded constant stores equal slices only
/// once, so that a mask does not grow with the batch:
///
///   iota [1, 4] <= iota [4, 1]  -> constant [4, 4]
///   mask of 8 equal slices      -> broadcast of constant [4, 4] to [8, 4, 4]
class Emitter {
public:
  /// Creates an emitter that inserts ops at the insertion point of `builder`,
  /// which must outlive the emitter. `mismatchExitCode` is pcc's exit code if
  /// shapes contradict each other: UnboundDim if the user gave --dim or
  /// --shape, else CannotRead.
  Emitter(mlir::OpBuilder &builder, mlir::Location loc,
          ExitCode mismatchExitCode = CannotRead)
      : mismatchExitCode(mismatchExitCode), builder(builder), loc(loc) {}

  //===--------------------------------------------------------------------===//
  // Errors
  //===--------------------------------------------------------------------===//

  /// Returns whether an error has been recorded.
  bool failed() const { return error.failed(); }
  /// Returns the first error, or success. The message does not name the ONNX
  /// node, which the caller prepends.
  const Status &status() const { return error; }
  /// Records the error `message`, which states why the model is not valid ONNX.
  /// Returns null.
  mlir::Value invalid(const llvm::Twine &message) {
    return fail(CannotRead, message);
  }
  /// Records the error `message`, which states what part of a valid ONNX model
  /// pcc does not support. Returns null.
  mlir::Value unsupported(const llvm::Twine &message) {
    return fail(Unsupported, message);
  }
  /// Records an error with pcc's exit code `code`, unless an earlier error is
  /// already recorded. Returns null.
  mlir::Value fail(ExitCode code, const llvm::Twine &message);

  //===--------------------------------------------------------------------===//
  // Any op
  //===--------------------------------------------------------------------===//

  /// Creates an op `Op` and infers its result type from its operands and
  /// attributes. `args` are the arguments of the op's builder after the result
  /// type. Returns the op's first result. If the op was folded, returns the
  /// value that replaces the result.
  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    if (failed() || (isMissing(args) || ...))
      return missingOperand();
    return finish(Op::create(builder, loc, mlir::Type(noType()),
                             std::forward<Args>(args)...));
  }

  /// Creates an op `Op` whose result has the given type. `args` are the
  /// arguments of the op's builder after the result type. Returns the op's
  /// first result, or the value that replaces it if the op was folded.
  template <typename Op, typename... Args>
  mlir::Value makeTyped(mlir::RankedTensorType type, Args &&...args) {
    if (failed() || (isMissing(args) || ...))
      return missingOperand();
    return finish(Op::create(builder, loc, type, std::forward<Args>(args)...));
  }

  //===--------------------------------------------------------------------===//
  // Constants
  //===--------------------------------------------------------------------===//

  /// Creates a `graph.constant` of `value`.
  mlir::Value constant(mlir::DenseElementsAttr value);
  /// Creates a constant of rank 0 that holds `value`.
  mlir::Value scalar(double value, mlir::Type elementType);
  /// Creates a constant of rank 0 that holds `value` and has the element type
  /// of `like`.
  mlir::Value scalarLike(mlir::Value like, double value);
  /// Creates an i64 constant of rank 1 that holds `values`.
  mlir::Value indices(llvm::ArrayRef<int64_t> values);
  /// Creates a tensor of `type` whose elements all equal `value`: a scalar
  /// constant that is broadcast.
  mlir::Value full(mlir::RankedTensorType type, double value);

  /// Returns the elements of `value` if it is a constant or a broadcast of a
  /// constant, else null. Also returns null for a broadcast to more than 8 ·
  /// foldLimit elements.
  mlir::DenseElementsAttr known(mlir::Value value);
  /// If all elements of `value` are known to be equal, returns that element as
  /// an attribute of rank 0. Returns null if the elements are unknown or
  /// differ. The size of `value` is not limited.
  mlir::DenseElementsAttr uniform(mlir::Value value);

  //===--------------------------------------------------------------------===//
  // Frequent ops
  //===--------------------------------------------------------------------===//

  /// Creates `lhs + rhs`. All functions from here to `select` create
  /// element-wise ops whose operands broadcast as in NumPy.
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value div(mlir::Value lhs, mlir::Value rhs);
  mlir::Value logicalAnd(mlir::Value lhs, mlir::Value rhs);
  mlir::Value compare(graph::Predicate predicate, mlir::Value lhs,
                      mlir::Value rhs);
  mlir::Value select(mlir::Value condition, mlir::Value onTrue,
                     mlir::Value onFalse);
  /// Creates a cast of `input` to the element type `elementType`.
  mlir::Value cast(mlir::Value input, mlir::Type elementType);
  /// Creates a reshape of `input` to `shape`. The number of elements must stay
  /// the same.
  mlir::Value reshape(mlir::Value input, llvm::ArrayRef<int64_t> shape);
  /// Broadcasts `input` to `shape`, as NumPy's broadcast_to does. If `input` is
  /// itself the result of a broadcast, the new op broadcasts that op's input
  /// directly.
  mlir::Value broadcast(mlir::Value input, llvm::ArrayRef<int64_t> shape);
  /// Creates a transpose: dim i of the result is dim perm[i] of `input`.
  mlir::Value transpose(mlir::Value input, llvm::ArrayRef<int64_t> perm);
  /// Creates a slice of the `size` elements from index `start` on along dim
  /// `dim`. All other dims keep their size.
  mlir::Value sliceDim(mlir::Value input, int64_t dim, int64_t start,
                       int64_t size);
  /// Concatenates `inputs` along dim `dim`.
  mlir::Value concat(llvm::ArrayRef<mlir::Value> inputs, int64_t dim);
  /// Reduces `input` over `dims`. If `keep` is true, the reduced dims stay in
  /// the result with size 1; otherwise they are removed.
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value input,
                     llvm::ArrayRef<int64_t> dims, bool keep);
  /// Creates a top-k op. Returns the `k` largest elements along `dim`, or the
  /// `k` smallest if `largest` is false, and their i64 indices. Both are null
  /// after an error.
  std::pair<mlir::Value, mlir::Value> topK(mlir::Value input, int64_t k,
                                           int64_t dim, bool largest);
  /// Creates an i64 tensor of `shape` in which each element holds its own index
  /// along `dim`.
  mlir::Value iota(llvm::ArrayRef<int64_t> shape, int64_t dim);

  /// Exit code of pcc if shapes contradict each other: 5 if the user gave --dim
  /// or --shape, else 3.
  const ExitCode mismatchExitCode;

  /// Completes `op`, which was created with placeholder result types:
  ///
  ///   1. infers the result types and verifies `op`
  ///   2. tries to move broadcasts of operands below `op` (SinkBroadcasts.h)
  ///   3. if step 2 changes nothing, tries to fold `op`
  ///
  /// Returns the first result of `op`, or an equal value that replaces the
  /// result. Returns null on an error. Erases `op` if it fails or is replaced.
  mlir::Value finish(mlir::Operation *op);

  /// Returns the builder whose insertion point receives the ops.
  mlir::OpBuilder &getBuilder() { return builder; }
  /// Returns the location of all ops that this emitter creates.
  mlir::Location getLoc() const { return loc; }

protected:
  /// Infers the result types of `op` and verifies it. Returns true on success.
  /// On failure records an error, erases `op` and returns false.
  bool inferAndVerify(mlir::Operation *op);

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  /// Returns whether an argument of `make` is a null mlir::Value, which is an
  /// error. Returns false for an argument of any other type, such as an
  /// attribute or an OptionalOperand.
  template <typename T> static bool isMissing(const T &) { return false; }
  static bool isMissing(const mlir::Value &value) { return !value; }
  static bool isMissing(const mlir::ValueRange &values) {
    return llvm::is_contained(values, mlir::Value());
  }
  /// Records the error that an operand is null, unless an earlier error is
  /// already recorded. Returns null.
  mlir::Value missingOperand() { return invalid("lacks an operand"); }

  /// Returns a placeholder type (a scalar i1), which type inference later
  /// replaces.
  mlir::RankedTensorType noType();
  /// Tries to fold `op`. Returns a value that equals the first result of `op`
  /// and can replace it; null if `op` cannot be folded. The caller erases the
  /// replaced op.
  mlir::Value tryFold(mlir::Operation *op);
  /// Evaluates `op` to a constant if the elements of all operands are known and
  /// the result has at most `foldLimit` elements. Returns null otherwise.
  mlir::Value foldKnown(mlir::Operation *op);
  /// Folds an op whose result has equal elements only. This holds for an
  /// element-wise op if each operand is uniform (all its elements are equal).
  /// It also holds for an op that moves elements, such as a gather, if the
  /// first operand is uniform. Returns the replacing value; null for other ops.
  mlir::Value foldUniform(mlir::Operation *op);
  /// Folds an And or Or with an operand that is true everywhere or false
  /// everywhere. Also folds a Select whose condition is true everywhere or
  /// false everywhere. Returns the replacing value; null for other ops.
  mlir::Value foldMask(mlir::Operation *op);
  /// Creates a constant that holds `value`. If equal slices repeat along a dim,
  /// creates a constant of one slice and broadcasts it.
  mlir::Value compact(mlir::DenseElementsAttr value);

  /// The first recorded error; success if there was none.
  Status error;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_EMITTER_H
