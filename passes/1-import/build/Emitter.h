//===- Emitter.h - makes graph ops, folding what is known -----------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_EMITTER_H
#define PCC_PASSES_1_IMPORT_BUILD_EMITTER_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Builders.h"
#include <optional>
#include <string>

namespace pcc::onnx_import {

/// Results with more elements are not computed while importing.
inline constexpr int64_t foldLimit = 16384;

/// The product of the dims of a tensor may not exceed this; dims of size 0
/// count as 1, so that no part of a shape is larger either.
inline constexpr int64_t maxElements = int64_t{1} << 48;

/// More dims are refused.
inline constexpr int64_t maxRank = 1024;

/// Why no tensor may have this shape ("a dim of -1", …); empty if one may.
std::string describeShapeError(llvm::ArrayRef<int64_t> shape);

/// "[2, 3]": sizes in a message.
std::string sizesText(llvm::ArrayRef<int64_t> sizes);

/// The product of two sizes; where it is larger than an int64_t, one that no
/// tensor may have.
int64_t saturatingProduct(int64_t lhs, int64_t rhs);

/// The shape of `value`; empty if it is null.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);

/// A mistake found while ops are made; see ImportError for the codes.
struct EmitError {
  int exitCode;
  std::string message;
};

/// An operand that an op may lack.
struct OptionalOperand {
  mlir::Value value;
  operator mlir::Value() const { return value; }
};

/// Makes graph ops with inferred types at one location. After the first mistake
/// everything returns null and makes nothing, so that users need not check each
/// step; they must not look into the types of a null value.
///
/// Values that are known while importing are folded: constants, broadcasts of
/// constants, and values all of whose elements are equal (which may be of any
/// size). A folded tensor with equal slices along a dim is kept as the
/// broadcast of one slice, so that masks do not grow with the batch.
class Emitter {
public:
  /// `mismatchExitCode` is the exit code of shapes that do not fit together: 5 if
  /// the user bound some, else 3.
  Emitter(mlir::OpBuilder &builder, mlir::Location loc,
          int mismatchExitCode = 3)
      : mismatchExitCode(mismatchExitCode), builder(builder), loc(loc) {}

  //===--------------------------------------------------------------------===//
  // Mistakes
  //===--------------------------------------------------------------------===//

  bool failed() const { return error.has_value(); }
  const EmitError &getError() const { return *error; }
  /// The model is not valid ONNX. Returns null.
  mlir::Value invalid(const llvm::Twine &message) { return fail(3, message); }
  /// The model is valid, but pcc does not know this form. Returns null.
  mlir::Value unsupported(const llvm::Twine &message) {
    return fail(4, message);
  }
  mlir::Value fail(int exitCode, const llvm::Twine &message);

  //===--------------------------------------------------------------------===//
  // Any op
  //===--------------------------------------------------------------------===//

  /// An op whose result type is inferred; `args` are those of its builder after
  /// the result type.
  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    if (failed() || (isMissing(args) || ...))
      return missingOperand();
    return finish(Op::create(builder, loc, mlir::Type(noType()),
                             std::forward<Args>(args)...));
  }

  /// An op whose result type is given.
  template <typename Op, typename... Args>
  mlir::Value makeTyped(mlir::RankedTensorType type, Args &&...args) {
    if (failed() || (isMissing(args) || ...))
      return missingOperand();
    return finish(Op::create(builder, loc, type, std::forward<Args>(args)...));
  }

  //===--------------------------------------------------------------------===//
  // Constants
  //===--------------------------------------------------------------------===//

  mlir::Value constant(mlir::DenseElementsAttr value);
  /// A tensor without dims.
  mlir::Value scalar(double value, mlir::Type elementType);
  /// A scalar with the element type of `like`.
  mlir::Value scalarLike(mlir::Value like, double value);
  /// A 1-D tensor of i64.
  mlir::Value indices(llvm::ArrayRef<int64_t> values);
  /// `value` everywhere.
  mlir::Value full(mlir::RankedTensorType type, double value);

  /// The elements of `value` if they are known while importing, else null.
  mlir::DenseElementsAttr known(mlir::Value value);
  /// The scalar that all elements of `value` equal, if that is known, else
  /// null.
  mlir::DenseElementsAttr uniform(mlir::Value value);

  //===--------------------------------------------------------------------===//
  // Frequent ops
  //===--------------------------------------------------------------------===//

  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value div(mlir::Value lhs, mlir::Value rhs);
  mlir::Value logicalAnd(mlir::Value lhs, mlir::Value rhs);
  mlir::Value compare(graph::Predicate predicate, mlir::Value lhs,
                      mlir::Value rhs);
  mlir::Value select(mlir::Value condition, mlir::Value onTrue,
                     mlir::Value onFalse);
  mlir::Value cast(mlir::Value input, mlir::Type elementType);
  mlir::Value reshape(mlir::Value input, llvm::ArrayRef<int64_t> shape);
  mlir::Value broadcast(mlir::Value input, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value input, llvm::ArrayRef<int64_t> perm);
  /// Swaps the dims `a` and `b`.
  mlir::Value swapDims(mlir::Value input, int64_t a, int64_t b);
  /// The elements [start, start + size) of one dim.
  mlir::Value sliceDim(mlir::Value input, int64_t dim, int64_t start,
                       int64_t size);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> inputs, int64_t dim);
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value input,
                     llvm::ArrayRef<int64_t> dims, bool keep);
  /// Values and indices of the k largest or smallest elements.
  std::pair<mlir::Value, mlir::Value> topK(mlir::Value input, int64_t k,
                                           int64_t dim, bool largest);
  /// 0, 1, 2, … along `dim` of `shape`, as i64.
  mlir::Value iota(llvm::ArrayRef<int64_t> shape, int64_t dim);

  /// The exit code of shapes that do not fit together.
  const int mismatchExitCode;

  /// Infers the type of the result, checks the op and folds it. Null if that
  /// fails; then the op is gone.
  mlir::Value finish(mlir::Operation *op);

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() const { return loc; }

protected:
  /// The first two steps of `finish`; erases the op if they fail.
  bool inferAndVerify(mlir::Operation *op);

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  template <typename T> static bool isMissing(const T &) { return false; }
  static bool isMissing(const mlir::Value &value) { return !value; }
  static bool isMissing(const mlir::ValueRange &values) {
    return llvm::is_contained(values, mlir::Value());
  }
  mlir::Value missingOperand() { return invalid("lacks an operand"); }

  mlir::RankedTensorType noType();
  mlir::Value tryFold(mlir::Operation *op);
  mlir::Value foldKnown(mlir::Operation *op);
  mlir::Value foldUniform(mlir::Operation *op);
  mlir::Value foldMask(mlir::Operation *op);
  /// `value` as a constant, or a broadcast of one with fewer elements.
  mlir::Value compact(mlir::DenseElementsAttr value);

  std::optional<EmitError> error;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_EMITTER_H
