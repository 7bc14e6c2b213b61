//===- Emitter.h - builder of graph ops that folds known values -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_EMITTER_H
#define PCC_PASSES_1_IMPORT_BUILD_EMITTER_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Builders.h"
#include "status/Status.h"
#include <optional>
#include <string>

namespace pcc::onnx_import {

/// Largest number of elements of a result that the import folds to a constant.
/// A result whose elements are all equal may be larger, because the import
/// represents it by a constant of one element and a broadcast. An initializer
/// with more elements than this limit is a weight.
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
  /// The operand that Emitter::make passes to the new op. If `value` is null,
  /// the new op lacks this operand. For example, a layer normalization may lack
  /// its bias.
  mlir::Value value;
  operator mlir::Value() const { return value; }
};

/// Builder of ops of the graph dialect. It infers result types, and folds ops
/// with constant operands. After an error, the methods that create ops create
/// nothing and return null. Callers must check failed() before they read the
/// type of a returned value.
class Emitter {
public:
  /// Prepares to create ops at the insertion point of `builder`, which must
  /// outlive the emitter. All ops get the location `loc`. `mismatchExitCode` is
  /// the exit code of pcc for an error about incompatible shapes. An example of
  /// such an error is an op that adds tensors of the shapes [8, 4] and [8, 3].
  Emitter(mlir::OpBuilder &builder, mlir::Location loc,
          ExitCode mismatchExitCode = CannotRead)
      : mismatchExitCode(mismatchExitCode), builder(builder), loc(loc) {}

  //===--------------------------------------------------------------------===//
  // Errors
  //===--------------------------------------------------------------------===//

  /// Returns whether an error has been recorded.
  bool failed() const { return error.failed(); }
  /// Returns the first recorded error. Returns success if no error is recorded.
  /// An emitter does not know for which ONNX node it creates ops. The text of
  /// the error therefore lacks the name of the node. The caller of status()
  /// adds the name to the text.
  const Status &status() const { return error; }
  /// Records an error with the exit code CannotRead. `message` is the text of
  /// the error, which states why the model is not valid ONNX. If an earlier
  /// error is already recorded, the earlier error stays, and the new error is
  /// ignored. Returns null in all cases. A caller that creates an op can
  /// therefore end with `return invalid(message)`.
  mlir::Value invalid(const llvm::Twine &message) {
    return fail(CannotRead, message);
  }
  /// Records an error with the exit code Unsupported. `message` is the text of
  /// the error, which names a feature that pcc does not support. If an earlier
  /// error is already recorded, the earlier error stays, and the new error is
  /// ignored. Returns null in all cases. A caller that creates an op can
  /// therefore end with `return unsupported(message)`.
  mlir::Value unsupported(const llvm::Twine &message) {
    return fail(Unsupported, message);
  }
  /// Records an error with the exit code `code` of pcc and the text `message`.
  /// The method status() returns the recorded error. If an earlier error is
  /// already recorded, the earlier error stays, and the new error is ignored.
  /// Returns null in all cases. A caller that creates an op can therefore end
  /// with `return fail(code, message)`.
  mlir::Value fail(ExitCode code, const llvm::Twine &message);
  /// Does the same with the error `status`, which may have notes.
  mlir::Value fail(const Status &status);

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

  /// Creates an op `Op` with a result of the type `type`. This method is for
  /// ops whose result type MLIR cannot infer from the operands and attributes.
  /// For example, the result type of a reshape depends on the new shape. `args`
  /// are the op's operands and attributes, in the order of Op::create. Returns
  /// the first result of the op. If the emitter folds the op, returns the value
  /// that replaces the op.
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
  /// Creates a constant of rank 0 with `value`, converted to `elementType`. An
  /// integer type drops the fraction and keeps the low bits: 257 becomes 1 in 8
  /// bits.
  mlir::Value scalar(double value, mlir::Type elementType);
  /// Creates a constant of rank 0 that holds `value` and has the element type
  /// of `like`.
  mlir::Value scalarLike(mlir::Value like, double value);
  /// Creates an i64 constant of rank 1 that holds `values`.
  mlir::Value indices(llvm::ArrayRef<int64_t> values);
  /// Returns a tensor of the type `type`. Each element is the number `value`,
  /// converted to the element type of `type`. The method creates a constant
  /// with one element, and a broadcast of this constant to the shape of `type`.
  /// The emitter may fold both ops into one constant.
  mlir::Value full(mlir::RankedTensorType type, double value);

  /// Returns the elements of `value` if the op that defines `value` is a
  /// constant or a broadcast of a constant. Returns null for all other values.
  /// Also returns null for a broadcast with a result of more than 131072
  /// elements (8 · foldLimit).
  mlir::DenseElementsAttr known(mlir::Value value);
  /// Returns the common element of `value` if all elements of `value` are known
  /// to be equal. The elements are known if `value` is a constant or a
  /// broadcast of a constant. For example, all elements are 2 in a broadcast of
  /// the constant 2 to the shape [8, 4]. The result is then a scalar attribute
  /// with the element 2. Returns null if the elements are not known to be
  /// equal, or if the constant has no elements.
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
  /// Reduces `input` along the dims `dims`. `kind` is the reduction, such as a
  /// sum. If `keep` is true, each reduced dim stays with size 1. Otherwise the
  /// result lacks these dims.
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value input,
                     llvm::ArrayRef<int64_t> dims, bool keep);
  /// Creates a top-k op, which selects the `k` largest elements along the dim
  /// `dim` of `input`, in descending order. If `largest` is false, the op
  /// selects the `k` smallest elements, in ascending order. Returns the
  /// selected elements and their i64 indices along `dim`. Both returned values
  /// are null after an error. For example, the 2 largest elements of [3, 9, 5]
  /// are [9, 5], and their indices are [1, 2].
  std::pair<mlir::Value, mlir::Value> topK(mlir::Value input, int64_t k,
                                           int64_t dim, bool largest);
  /// Creates an i64 tensor of the shape `shape`. The value of each element is
  /// the index of the element along the dim `dim`. The function returns these
  /// tensors for the shape [2, 3]:
  ///
  ///   dim 0   [[0, 0, 0], [1, 1, 1]]
  ///   dim 1   [[0, 1, 2], [0, 1, 2]]
  mlir::Value iota(llvm::ArrayRef<int64_t> shape, int64_t dim);

  /// Exit code of pcc for an op whose operands have incompatible shapes, such
  /// as a sum of tensors of the shapes [8, 4] and [8, 3].
  const ExitCode mismatchExitCode;

  /// Infers the result types of the new op `op`, verifies the op and folds it.
  /// Returns the first result. If another value can replace the result, erases
  /// `op` and returns this value. On failure, records an error, erases `op` and
  /// returns null.
  mlir::Value finish(mlir::Operation *op);

  /// Returns the MLIR builder with which this emitter creates ops. The emitter
  /// creates each op at the insertion point of the builder.
  mlir::OpBuilder &getBuilder() { return builder; }
  /// Returns the location of all ops that this emitter creates.
  mlir::Location getLoc() const { return loc; }

protected:
  /// Infers the result types of `op`, checks that the result shapes are valid,
  /// and runs the MLIR verifier of `op`. Returns true if `op` is valid. If `op`
  /// is not valid, records an error, erases `op` and returns false.
  bool inferAndVerify(mlir::Operation *op);

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  /// Returns whether an argument of make() or makeTyped() is a null operand, or
  /// a range with a null operand. Returns false for an attribute.
  template <typename T> static bool isMissing(const T &) { return false; }
  static bool isMissing(const mlir::Value &value) { return !value; }
  static bool isMissing(const mlir::ValueRange &values) {
    return llvm::is_contained(values, mlir::Value());
  }
  /// Records an error if no error is recorded yet. The error says that the ONNX
  /// node lacks an operand. A method that creates an op calls missingOperand()
  /// if the SSA value of an operand is null. Always returns null.
  mlir::Value missingOperand() { return invalid("lacks an operand"); }

  /// Returns a type for the result of a new op whose result type is not
  /// inferred yet. MLIR requires some type when an op is created. The returned
  /// type is a tensor of rank 0 with the element type i1. The method
  /// inferAndVerify() later replaces the type by the inferred type.
  mlir::RankedTensorType noType();
  /// Looks for a value that can replace the result of `op`. First calls MLIR's
  /// fold() of `op` without the elements of the operands. For example, fold()
  /// returns the operand of a transpose that keeps the order of the dims. Then
  /// calls foldMask(), foldUniform() and foldKnown(), in this order. Returns
  /// the first value found, or null. Does not erase `op`. If the function
  /// returns a value, the caller must erase `op`.
  mlir::Value tryFold(mlir::Operation *op);
  /// Computes the result of `op` during the import. Returns a constant, or a
  /// broadcast of a smaller constant. Otherwise returns null: for example, if
  /// the elements of an operand are unknown, if the result has more than
  /// `foldLimit` elements, or if MLIR's fold() of `op` gives no constant.
  mlir::Value foldKnown(mlir::Operation *op);
  /// Folds an element-wise op if all elements of each operand are known to be
  /// equal, as in [2, 2] + [3, 3]. Also folds an op that only copies elements
  /// of operand 0, such as a gather, if all elements of operand 0 are known to
  /// be equal. Returns a broadcast of a scalar constant, or null.
  mlir::Value foldUniform(mlir::Operation *op);
  /// Folds an And, Or or Select if one boolean operand is known to be all true
  /// or all false. For a Select, this operand is the condition. Returns the
  /// value that replaces the result, or null.
  mlir::Value foldMask(mlir::Operation *op);
  /// Creates a constant with the elements of `value`. If all slices of `value`
  /// along a dim are equal, the method may create a constant of one slice and a
  /// broadcast instead.
  mlir::Value compact(mlir::DenseElementsAttr value);

  /// The first recorded error; success if there was none.
  Status error;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_EMITTER_H
