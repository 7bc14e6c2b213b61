//===- Emitter.h - builder of graph ops that folds known values -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_EMITTER_H
#define PCC_PASSES_1_IMPORT_BUILD_EMITTER_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Builders.h"
#include "status/Status.h"
#include <optional>
#include <string>

namespace pcc::onnx_import {

/// Largest number of elements of a result that the import computes and stores
/// in a constant. For example, the import replaces an addition of two constants
/// by one constant if the sum has at most 16384 elements. The limit does not
/// apply if all elements of the result are equal. A constant with one element
/// and a broadcast of this constant may then replace the op.
///
/// The limit also applies to the initializers of an ONNX model. An initializer
/// with more elements becomes a weight.
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

/// Builder of ops of the graph dialect. The builder infers the result types of
/// each op, and gives all ops the same MLIR location. After an error, the
/// methods that create ops create nothing and return null. Callers must check
/// failed() before they read the type of a returned value.
///
/// The builder folds constants. An op usually becomes a constant if all
/// operands are constants and the result has at most `foldLimit` elements. If
/// all slices of the result along a dim are equal, the constant may hold only
/// one slice. A broadcast op then restores the shape of the result.
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
  /// Creates a constant of rank 0. Its only element is the number `value`,
  /// converted to the type `elementType`. There are two kinds of conversion:
  ///
  ///  - If `elementType` is a float type, the element is the number of this
  ///    type that is nearest to `value`.
  ///  - If `elementType` is an integer type, the digits of `value` after the
  ///    point are dropped. For example, 2.7 becomes 2. If the integer has too
  ///    many bits for the type, the element is made of the low bits of the
  ///    integer. For example, 257 becomes 1 in a type of 8 bits.
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
  /// Creates an op that combines the elements of `input` along the dims `dims`
  /// into one element. `kind` is the combination: sum, mean, maximum, minimum
  /// or product. If `keep` is true, the dims stay in the result with size 1.
  /// Otherwise the result lacks the dims. For example, `input` has the shape
  /// [8, 4, 5], and `dims` is [1]:
  ///
  ///   keep is true    the result has the shape [8, 1, 5]
  ///   keep is false   the result has the shape [8, 5]
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

  /// Completes `op`, which the caller has just created. Infers the result
  /// types, checks the result shapes and runs the MLIR verifier. If one of
  /// these steps fails, records an error, erases `op` and returns null. An op
  /// without MLIR's InferTypeOpInterface keeps the result types from the
  /// caller.
  ///
  /// If sinkBroadcasts() or tryFold() finds a value that can replace the result
  /// of `op`, erases `op` and returns this value. Otherwise returns the first
  /// result of `op`. absorbBroadcasts() may have changed the operands of `op`.
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
  /// Returns whether an argument of make() or makeTyped() is a null operand.
  /// These methods record an error if an operand is null. The function has
  /// three overloads. The type of the argument selects the overload:
  ///
  ///   mlir::Value        returns whether the value is null
  ///   mlir::ValueRange   returns whether any value of the range is null
  ///   any other type     returns false; an example is an attribute
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
  /// Computes the result of `op` during the import. Returns a constant that can
  /// replace the result, or a broadcast of a smaller constant (see compact()).
  /// Returns null in these cases:
  ///  - `op` is a constant, or does not have exactly one result.
  ///  - `op` has no operands and is not an iota (a tensor of indices).
  ///  - `op` is a broadcast to rank 2 or more that adds elements.
  ///  - The result has more than `foldLimit` elements.
  ///  - known() returns null for an operand.
  ///  - MLIR's fold() of `op` returns no constant. An example is a convolution.
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
  /// Folds an And, Or or Select if all elements of a boolean operand are known
  /// to be true, or all are known to be false. For a Select, this operand is
  /// the condition. In the table, `true` and `false` stand for this operand.
  /// Returns the value at the right of `=`, broadcast to the shape of the
  /// result of `op`. Returns null if `op` cannot be folded in this way.
  ///
  ///   and(true, x) = x        or(true, x) = true   select(true, x, y) = x
  ///   and(false, x) = false   or(false, x) = x     select(false, x, y) = y
  mlir::Value foldMask(mlir::Operation *op);
  /// Creates an SSA value that has the elements of `value`. There are two
  /// cases:
  ///
  ///  - `value` has at least 2 dims and at least 16 elements, and all slices of
  ///    `value` along a dim are equal. The function creates a constant that
  ///    holds only one slice, and a broadcast of the constant to the shape of
  ///    `value`. For example, `value` has the shape [8, 4, 4] and consists of 8
  ///    equal slices of the shape [4, 4]. The function creates a constant of
  ///    the shape [1, 4, 4] and a broadcast of the constant to [8, 4, 4].
  ///  - In all other cases, the function creates a constant that holds all
  ///    elements of `value`.
  mlir::Value compact(mlir::DenseElementsAttr value);

  /// The first recorded error; success if there was none.
  Status error;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_EMITTER_H
