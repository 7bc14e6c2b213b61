//===- Emitter.h - builder of graph ops that folds known values -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_EMITTER_H
#define PCC_PASSES_1_IMPORT_BUILD_EMITTER_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Builders.h"
#include "status/Status.h"
#include <optional>
#include <string>

namespace pcc::onnx_import {

/// Largest number of elements of a result that the import folds into a
/// constant. A result whose elements are all equal is folded at any size.
inline constexpr int64_t foldLimit = 16384;

/// Largest number of elements of a tensor, where dims of size 0 count as 1.
inline constexpr int64_t maxElements = int64_t{1} << 48;

/// Largest rank that a tensor may have.
inline constexpr int64_t maxRank = 1024;

/// Returns the reason why no tensor may have the shape `shape`, such as "a dim
/// of -1". Returns an empty string if the shape is valid.
std::string describeShapeError(llvm::ArrayRef<int64_t> shape);

/// Formats sizes for a message, such as "[2, 3]".
std::string sizesText(llvm::ArrayRef<int64_t> sizes);

/// Returns lhs · rhs for two non-negative sizes; INT64_MAX if the product
/// overflows.
int64_t saturatingProduct(int64_t lhs, int64_t rhs);

/// Returns the shape of `value`, a ranked tensor; empty if `value` is null.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);

/// Operand of Emitter::make that may be null. A null mlir::Value is an error.
struct OptionalOperand {
  /// The operand; null if it is absent.
  mlir::Value value;
  operator mlir::Value() const { return value; }
};

/// Builder of graph ops. Creates them at one location and infers their result
/// types. After an error, its methods create nothing and return null. Callers
/// must check failed() before they read the type of a returned value.
///
/// If all elements of an op's operands are known, the op becomes a constant. A
/// constant of equal slices stores only one slice, and a broadcast repeats it.
/// The mask of an attention therefore does not grow with the batch:
///
///   iota [1, 4] <= iota [4, 1]      -> constant [4, 4]
///   8 equal slices of shape [4, 4]  -> broadcast of constant [1, 4, 4]
class Emitter {
public:
  /// Prepares to create ops at the insertion point of `builder`, which must
  /// outlive the emitter. `mismatchExitCode` is the exit code for shapes that
  /// contradict each other.
  Emitter(mlir::OpBuilder &builder, mlir::Location loc,
          ExitCode mismatchExitCode = CannotRead)
      : mismatchExitCode(mismatchExitCode), builder(builder), loc(loc) {}

  //===--------------------------------------------------------------------===//
  // Errors
  //===--------------------------------------------------------------------===//

  /// Returns whether an error has been recorded.
  bool failed() const { return error.failed(); }
  /// Returns the first error, or success. The message does not name the ONNX
  /// node.
  const Status &status() const { return error; }
  /// Records the error `message`, which states why the model is not valid ONNX.
  /// Returns null.
  mlir::Value invalid(const llvm::Twine &message) {
    return fail(CannotRead, message);
  }
  /// Records the error `message`, which names a feature that pcc does not
  /// support. Returns null.
  mlir::Value unsupported(const llvm::Twine &message) {
    return fail(Unsupported, message);
  }
  /// Records an error with pcc's exit code `code`, unless an earlier error is
  /// already recorded. Returns null.
  mlir::Value fail(ExitCode code, const llvm::Twine &message);

  //===--------------------------------------------------------------------===//
  // Any op
  //===--------------------------------------------------------------------===//

  /// Creates an op `Op` and infers its result type. `args` are the op's
  /// operands and attributes, in the order of Op::create. Returns the first
  /// result of the op, or the value that replaces the op if it was folded.
  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    if (failed() || (isMissing(args) || ...))
      return missingOperand();
    return finish(Op::create(builder, loc, mlir::Type(noType()),
                             std::forward<Args>(args)...));
  }

  /// Creates an op `Op` with a result of the type `type`. `args` are the op's
  /// operands and attributes, in the order of Op::create. Returns the first
  /// result of the op, or the value that replaces the op if it was folded.
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

  /// Returns the elements of `value` if a constant, or a broadcast of a
  /// constant, defines it. Otherwise returns null. A broadcast to more than 8 ·
  /// foldLimit = 131072 elements counts as unknown.
  mlir::DenseElementsAttr known(mlir::Value value);
  /// If all elements of `value` are known to be equal, returns one of them as
  /// an attribute of rank 0. Otherwise returns null.
  mlir::DenseElementsAttr uniform(mlir::Value value);

  //===--------------------------------------------------------------------===//
  // Frequent ops
  //===--------------------------------------------------------------------===//

  /// Creates `lhs + rhs`. The operands broadcast as in NumPy. This also holds
  /// for the methods from `sub` to `select`.
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
  /// Broadcasts `input` to `shape`, as by NumPy's broadcast_to. A broadcast of
  /// a broadcast becomes a single op.
  mlir::Value broadcast(mlir::Value input, llvm::ArrayRef<int64_t> shape);
  /// Creates a transpose: dim i of the result is dim perm[i] of `input`.
  mlir::Value transpose(mlir::Value input, llvm::ArrayRef<int64_t> perm);
  /// Creates a slice of `size` elements along dim `dim`, beginning at index
  /// `start`.
  mlir::Value sliceDim(mlir::Value input, int64_t dim, int64_t start,
                       int64_t size);
  /// Concatenates `inputs` along dim `dim`.
  mlir::Value concat(llvm::ArrayRef<mlir::Value> inputs, int64_t dim);
  /// Reduces `input` over `dims`. If `keep` is true, the reduced dims stay in
  /// the result with size 1; otherwise they are removed.
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value input,
                     llvm::ArrayRef<int64_t> dims, bool keep);
  /// Creates a top-k op along `dim`. Returns the selected elements and their
  /// i64 indices; both are null after an error.
  std::pair<mlir::Value, mlir::Value> topK(mlir::Value input, int64_t k,
                                           int64_t dim, bool largest);
  /// Creates an i64 tensor of `shape` in which each element holds its own index
  /// along `dim`.
  mlir::Value iota(llvm::ArrayRef<int64_t> shape, int64_t dim);

  /// Exit code for operands of one op whose shapes contradict each other.
  const ExitCode mismatchExitCode;

  /// Completes the new op `op`. Its result types may still be placeholders.
  ///
  ///   1. Infers the result types and verifies `op`.
  ///   2. If operands are broadcasts, tries to compute a smaller op on their
  ///      sources and to broadcast its result.
  ///   3. If step 2 is not possible, tries to fold `op`.
  ///
  /// Returns the first result of `op`, or the value that replaces it. Returns
  /// null after an error. Erases `op` if it is invalid or replaced.
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
  /// Returns whether an argument for a new op is a null mlir::Value. This
  /// overload is for arguments of other types, such as attributes, which are
  /// never missing.
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
  /// Tries to fold `op`. Returns the value that replaces its first result; null
  /// if `op` cannot be folded.
  mlir::Value tryFold(mlir::Operation *op);
  /// Evaluates `op` to a constant if the elements of all operands are known and
  /// the result has at most `foldLimit` elements. Returns null otherwise.
  mlir::Value foldKnown(mlir::Operation *op);
  /// Folds an op whose result elements must all be equal. There are two kinds:
  ///
  ///  - an element-wise op, if each operand has only equal elements
  ///  - an op that moves elements, such as a gather, if all elements of
  ///    operand 0 are equal
  ///
  /// Returns the value that replaces the result. Returns null for any other op.
  mlir::Value foldUniform(mlir::Operation *op);
  /// Folds an And, Or or Select whose mask (boolean operand) is known to be all
  /// true or all false. Returns the value that replaces the result; null for
  /// other ops.
  mlir::Value foldMask(mlir::Operation *op);
  /// Creates a constant of `value`. If slices repeat along a dim, stores one
  /// slice and broadcasts it.
  mlir::Value compact(mlir::DenseElementsAttr value);

  /// The first recorded error; success if there was none.
  Status error;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_EMITTER_H
