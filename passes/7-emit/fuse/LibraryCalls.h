//===- LibraryCalls.h - what a library does along with a contraction ------===//
//
// A contraction is a product or a convolution. Its library reads operands of a
// product in any order of their dims, and works on results before it stores
// them, in this order, each step at most once:
//
//   oneDNN     matmul                 bias, activation, residual, order of dims
//              conv, conv_transpose   bias, activation
//   cuBLASLt   matmul                 bias, relu or gelu by tanh or residual,
//                                     order of dims; or a sum over
//                                     microbatches; sums of a factor
//                                     (BiasGradientEpilogue.h)
//
// A convolution would have to bring its residual into the layout that it chose
// for its result, which costs more than the kernel that adds it.
//
// A step of training leaves activations to kernels: its bits do not depend on
// which values are kept and which are made again. A gradient that is nothing
// but added to a sum over microbatches is made again by nobody.
//
// What the library computes is what the ops say, within the rounding of the
// type; but its relu of a NaN is 0.
//
// Both structs read the ops around a contraction: in a function, where they say
// what can become one call, and in the body of rank.library_call, of which they
// are then everything.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_LIBRARYCALLS_H
#define PCC_PASSES_7_EMIT_FUSE_LIBRARYCALLS_H

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/StridedView.h"
#include "runtime/program/Program_generated.h"

namespace pcc::emit {

/// Whether `op` is a contraction of a type that the library computes in.
bool isLibraryContraction(mlir::Operation *op);

/// Whether the library sums a factor of a product along with it (BiasGradientEpilogue.h).
bool canComputeBiasGradient(graph::MatmulOp product);

/// The longest chain of steps behind a contraction. Values between the steps
/// have no other readers.
struct Epilogue {
  Epilogue() = default;
  explicit Epilogue(mlir::Operation *contraction);

  /// In the order of the block, reshapes between steps included.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Null where the step is missing.
  mlir::Value bias, residual;
  program::Activation activation = program::Activation::None;
  /// Of the last op, or of the contraction.
  mlir::Value result;
  /// The result in the order of the contraction's dims.
  StridedView stored;
};

/// How a product reads one operand.
struct OperandView {
  /// The operand as it lies.
  static OperandView plain(mlir::Value operand);

  /// Dense. The operand itself, where nothing is gained or possible.
  mlir::Value source;
  /// From `source` to the operand: layout ops with one reader each.
  llvm::SmallVector<mlir::Operation *> ops;
  /// The operand as elements of `source`.
  StridedView view;
};

/// Looks through the layout ops that make the operand of a product. A value
/// that a kernel computes is not looked through to: the kernel writes it in
/// order.
OperandView viewOperand(mlir::Value operand);

/// Whether a kernel reads the value, perhaps through reshapes.
bool isReadByKernel(mlir::Value value);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_LIBRARYCALLS_H
