//===- Emitter.h - builder of graph ops that folds known values -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_EMITTER_H
#define PCC_PASSES_1_IMPORT_BUILD_EMITTER_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Builders.h"
#include <optional>
#include <string>

namespace pcc::onnx_import {

/// Limit on the number of elements of a result that the import computes itself.
/// A larger result is computed only if its elements are known to be equal.
inline constexpr int64_t foldLimit = 16384;

/// Limit on the number of elements of a tensor, where dims of size 0 count as
/// 1. Hence the product of any subset of a tensor's dims fits into an int64_t.
inline constexpr int64_t maxElements = int64_t{1} << 48;

/// Limit on the rank of a tensor.
inline constexpr int64_t maxRank = 1024;

/// Returns why no tensor may have the shape `shape`, such as "a dim of -1";
/// empty if the shape is valid.
std::string describeShapeError(llvm::ArrayRef<int64_t> shape);

/// Formats sizes for a message, such as "[2, 3]".
std::string sizesText(llvm::ArrayRef<int64_t> sizes);

/// Returns the product of two sizes, or INT64_MAX on overflow, which is a size
/// that describeShapeError refuses.
int64_t saturatingProduct(int64_t lhs, int64_t rhs);

/// Returns the shape of `value`, a ranked tensor; empty if `value` is null.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);

/// An error that occurred while ops were created.
struct EmitError {
  /// Exit code of pcc; ImportError lists the codes.
  int exitCode;
  /// One line that begins in lower case and names no node.
  std::string message;
};

/// An operand that an op may lack. Emitter::make accepts a null value here,
/// whereas any other null operand is an error.
struct OptionalOperand {
  /// Null if the operand is absent.
  mlir::Value value;
  operator mlir::Value() const { return value; }
};

/// Creates graph ops with inferred types at one location. After the first error
/// every method that creates an op returns null and creates nothing, so that
/// callers need not check each step. A caller must check failed() before it
/// reads the type of a value; shapeOf accepts null.
///
/// Values that are known during the import are folded: constants, broadcasts of
/// constants, and tensors of any size whose elements are all equal. A folded
/// tensor with equal slices along a dim is kept as the broadcast of one slice,
/// so that a mask does not grow with the batch:
///
///   iota [1, 4] <= iota [4, 1]      -> constant [4, 4]
///   that mask for a batch of 8      -> broadcast of constant [4, 4] to [8, 4, 4]
class Emitter {
public:
  /// Creates an emitter that inserts ops at the insertion point of `builder`,
  /// which must outlive the emitter. `mismatchExitCode` is the exit code of
  /// shapes that do not fit together: 5 if the user bound some, else 3.
  Emitter(mlir::OpBuilder &builder, mlir::Location loc,
          int mismatchExitCode = 3)
      : mismatchExitCode(mismatchExitCode), builder(builder), loc(loc) {}

  //===--------------------------------------------------------------------===//
  // Errors
  //===--------------------------------------------------------------------===//

  /// Returns whether an error has occurred.
  bool failed() const { return error.has_value(); }
  /// Returns the first error. Requires failed().
  const EmitError &getError() const { return *error; }
  /// Records that the model is not valid ONNX (exit code 3). Returns null.
  mlir::Value invalid(const llvm::Twine &message) { return fail(3, message); }
  /// Records that the model is valid ONNX in a form that pcc does not support
  /// (exit code 4). Returns null.
  mlir::Value unsupported(const llvm::Twine &message) {
    return fail(4, message);
  }
  /// Records an error unless one has occurred before. Returns null.
  mlir::Value fail(int exitCode, const llvm::Twine &message);

  //===--------------------------------------------------------------------===//
  // Any op
  //===--------------------------------------------------------------------===//

  /// Creates an op whose result type is inferred from its operands and
  /// attributes. `args` are the arguments of the op's builder after the result
  /// type. Returns the op's first result, or an equal value if the op was
  /// folded.
  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    if (failed() || (isMissing(args) || ...))
      return missingOperand();
    return finish(Op::create(builder, loc, mlir::Type(noType()),
                             std::forward<Args>(args)...));
  }

  /// Creates an op whose result has the given type. `args` and the returned
  /// value are those of make.
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
  /// Creates a constant of rank 0.
  mlir::Value scalar(double value, mlir::Type elementType);
  /// Creates a constant of rank 0 with the element type of `like`.
  mlir::Value scalarLike(mlir::Value like, double value);
  /// Creates a constant [values.size()] of i64.
  mlir::Value indices(llvm::ArrayRef<int64_t> values);
  /// Creates a tensor of `type` whose elements all equal `value`, as the
  /// broadcast of a scalar.
  mlir::Value full(mlir::RankedTensorType type, double value);

  /// Returns the elements of `value` if it is a constant or a broadcast of one,
  /// else null. A broadcast to more than 8 · foldLimit elements counts as
  /// unknown.
  mlir::DenseElementsAttr known(mlir::Value value);
  /// Returns the scalar that all elements of `value` equal, as an attribute of
  /// rank 0; null if the elements are unknown or differ. `value` may have any
  /// size.
  mlir::DenseElementsAttr uniform(mlir::Value value);

  //===--------------------------------------------------------------------===//
  // Frequent ops
  //===--------------------------------------------------------------------===//

  /// Creates an element-wise op, as do the next functions up to `select`. The
  /// operands broadcast as in NumPy.
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value div(mlir::Value lhs, mlir::Value rhs);
  mlir::Value logicalAnd(mlir::Value lhs, mlir::Value rhs);
  mlir::Value compare(graph::Predicate predicate, mlir::Value lhs,
                      mlir::Value rhs);
  mlir::Value select(mlir::Value condition, mlir::Value onTrue,
                     mlir::Value onFalse);
  /// Converts `input` to `elementType`.
  mlir::Value cast(mlir::Value input, mlir::Type elementType);
  /// Reshapes `input` to `shape`, which must have as many elements.
  mlir::Value reshape(mlir::Value input, llvm::ArrayRef<int64_t> shape);
  /// Broadcasts `input` to `shape`, as NumPy's broadcast_to does. A broadcast
  /// of a broadcast becomes one op.
  mlir::Value broadcast(mlir::Value input, llvm::ArrayRef<int64_t> shape);
  /// Permutes the dims: dim i of the result is dim perm[i] of `input`.
  mlir::Value transpose(mlir::Value input, llvm::ArrayRef<int64_t> perm);
  /// Slices the elements [start, start + size) of dim `dim`; the other dims
  /// stay whole.
  mlir::Value sliceDim(mlir::Value input, int64_t dim, int64_t start,
                       int64_t size);
  /// Concatenates `inputs` along dim `dim`.
  mlir::Value concat(llvm::ArrayRef<mlir::Value> inputs, int64_t dim);
  /// Reduces over `dims`. With `keep` the reduced dims stay with size 1.
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value input,
                     llvm::ArrayRef<int64_t> dims, bool keep);
  /// Returns the values and the i64 indices of the `k` largest elements along
  /// `dim`, or of the smallest if `largest` is false. Both are null after an
  /// error.
  std::pair<mlir::Value, mlir::Value> topK(mlir::Value input, int64_t k,
                                           int64_t dim, bool largest);
  /// Creates an i64 tensor of `shape` that holds each element's index along
  /// `dim`.
  mlir::Value iota(llvm::ArrayRef<int64_t> shape, int64_t dim);

  /// Exit code of shapes that do not fit together.
  const int mismatchExitCode;

  /// Completes `op`, which has just been created with placeholder result types:
  /// infers the types, verifies the op, sinks broadcasts below it and folds it.
  /// Returns the first result, or an equal value that replaces the op. On an
  /// error returns null. `op` is erased if it is replaced or fails.
  mlir::Value finish(mlir::Operation *op);

  /// Returns the builder whose insertion point receives the ops.
  mlir::OpBuilder &getBuilder() { return builder; }
  /// Returns the location of all ops that this emitter creates.
  mlir::Location getLoc() const { return loc; }

protected:
  /// Infers the result types of `op` and verifies it. On an error records it,
  /// erases `op` and returns false.
  bool inferAndVerify(mlir::Operation *op);

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  /// Returns whether a builder argument is a null operand. Arguments of other
  /// types, such as attributes and OptionalOperand, are never missing.
  template <typename T> static bool isMissing(const T &) { return false; }
  static bool isMissing(const mlir::Value &value) { return !value; }
  static bool isMissing(const mlir::ValueRange &values) {
    return llvm::is_contained(values, mlir::Value());
  }
  /// Records a missing operand, unless an earlier error is the cause of the
  /// null value. Returns null.
  mlir::Value missingOperand() { return invalid("lacks an operand"); }

  /// Returns the placeholder for a result type that is still to be inferred.
  mlir::RankedTensorType noType();
  /// Returns a value that equals the first result of `op` and makes `op`
  /// redundant; null if there is none. The next three functions each try one
  /// kind of fold.
  mlir::Value tryFold(mlir::Operation *op);
  /// Evaluates `op` if all operands are known and the result has at most
  /// `foldLimit` elements.
  mlir::Value foldKnown(mlir::Operation *op);
  /// Folds an op whose result has equal elements: an element-wise op on uniform
  /// operands, or a data movement such as a gather of a uniform first operand.
  mlir::Value foldUniform(mlir::Operation *op);
  /// Folds And, Or and Select if one operand, or the condition, is uniformly
  /// true or false.
  mlir::Value foldMask(mlir::Operation *op);
  /// Creates `value` as a constant, or as the broadcast of a smaller constant
  /// if slices repeat.
  mlir::Value compact(mlir::DenseElementsAttr value);

  /// The first error.
  std::optional<EmitError> error;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_EMITTER_H
