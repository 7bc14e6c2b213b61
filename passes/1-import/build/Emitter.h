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

/// Largest number of elements that a tensor may have. The number of elements is
/// the product of the sizes of all dims. For a comparison with this limit, a
/// dim of size 0 counts as a dim of size 1.
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

/// Argument of Emitter::make for an optional operand of the new op, such as the
/// bias of a layer normalization. Emitter::make records an error if an argument
/// of the type mlir::Value is null. An OptionalOperand may hold a null value.
/// The new op then has no such operand.
struct OptionalOperand {
  /// The operand of the op. Null if the op lacks this optional operand.
  mlir::Value value;
  operator mlir::Value() const { return value; }
};

/// Builder of ops of the graph dialect. All ops get the same MLIR location. The
/// builder infers the result types of each op. After an error, the methods that
/// create ops create nothing and return null. Callers must check failed()
/// before they read the type of a returned value.
///
/// The builder folds constants. If all operands of an op are constants, and the
/// result is small, a constant with the result replaces the op. For example,
/// the comparison iota [1, 4] <= iota [4, 1] becomes a constant of the shape
/// [4, 4], which is the causal mask of an attention.
///
/// If all slices of a constant along a dim are equal, the builder stores only
/// one slice. For example, a mask of the shape [8, 4, 4] may consist of 8 equal
/// slices, where 8 is the batch size. The builder then creates a constant of
/// the shape [1, 4, 4] and a broadcast of this constant to [8, 4, 4].
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

  /// Returns the elements of `value` if the op that defines `value` is a
  /// constant or a broadcast of a constant. Returns null for all other values.
  /// Also returns null for a broadcast with a result of more than 131072
  /// elements (8 · foldLimit).
  mlir::DenseElementsAttr known(mlir::Value value);
  /// If all elements of `value` are known to be equal, returns one of them as
  /// an attribute of rank 0. Otherwise returns null.
  mlir::DenseElementsAttr uniform(mlir::Value value);

  //===--------------------------------------------------------------------===//
  // Frequent ops
  //===--------------------------------------------------------------------===//

  /// Creates the element-wise sum of `lhs` and `rhs`. Operands of different
  /// shapes broadcast as in NumPy: [8, 4] + [4] is [8, 4]. The six methods
  /// after `add` are element-wise, too, and broadcast in the same way.
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

  /// Exit code of pcc for an op whose operands have incompatible shapes, such
  /// as a sum of tensors of the shapes [8, 4] and [8, 3].
  const ExitCode mismatchExitCode;

  /// Completes the op `op`, which the caller has just created. The caller may
  /// give `op` any result types if MLIR can infer the result types of `op`.
  /// This function performs three steps:
  ///
  ///   1. It infers the result types of `op`, and verifies `op`.
  ///   2. It tries to move broadcasts from the operands to the result. For
  ///      example, add(broadcast(a), broadcast(b)) becomes
  ///      broadcast(add(a, b)).
  ///   3. If step 2 changes nothing, it tries to fold `op`.
  ///
  /// Returns the first result of `op`. If steps 2 or 3 replace `op`, returns
  /// the value that replaces this result. Returns null if `op` is invalid.
  /// Erases `op` if `op` is invalid or replaced.
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
  /// Returns whether an argument of `make` is a null mlir::Value, or contains
  /// one. `make` reports an error for such an argument. There is one overload
  /// for mlir::Value and one for mlir::ValueRange. This overload accepts all
  /// other types, such as attributes, and always returns false.
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
  /// Evaluates `op` at compile time and returns a constant with the result. A
  /// constant of equal slices is stored as one slice and a broadcast. Returns
  /// null if `op` cannot be evaluated. An op must at least meet these
  /// conditions:
  ///
  ///  - Each operand is a constant or a broadcast of a constant.
  ///  - The result has at most 16384 elements (`foldLimit`).
  mlir::Value foldKnown(mlir::Operation *op);
  /// Folds `op` if all elements of its result are equal. The replacement is a
  /// broadcast of a scalar constant. Two kinds of ops are folded:
  ///
  ///  - an element-wise op, if all elements within each operand are equal. For
  ///    example, a tensor of twos plus a tensor of threes is a tensor of fives.
  ///  - an op that only copies elements of operand 0, such as a gather, if all
  ///    elements of operand 0 are equal
  ///
  /// Returns the value that replaces the result of `op`. Returns null if `op`
  /// is not folded.
  mlir::Value foldUniform(mlir::Operation *op);
  /// Folds an And, Or or Select whose mask (boolean operand) is known to be all
  /// true or all false. Returns the value that replaces the result; null for
  /// other ops.
  mlir::Value foldMask(mlir::Operation *op);
  /// Creates a constant with the elements of `value`. If all slices of `value`
  /// along a dim are equal, creates a constant of one slice and a broadcast.
  /// For example, 8 equal slices of shape [4, 4] become a broadcast of a
  /// constant of shape [1, 4, 4]. A `value` of rank 1, or of fewer than 16
  /// elements, is always stored in full.
  mlir::Value compact(mlir::DenseElementsAttr value);

  /// The first recorded error; success if there was none.
  Status error;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_EMITTER_H
