//===- DenseElements.h - operations on elements of constant tensors -------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_DENSEELEMENTS_H
#define PCC_PASSES_1_IMPORT_BUILD_DENSEELEMENTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace pcc::onnx_import {

/// Returns `value` broadcast to `shape`, as by NumPy's broadcast_to. The shapes
/// must be compatible. A splat (single stored element) stays a splat.
mlir::DenseElementsAttr broadcastElements(mlir::DenseElementsAttr value,
                                          llvm::ArrayRef<int64_t> shape);

/// Removes equal slices from `value`. If all slices along a dim are equal, the
/// result keeps only one slice, and the dim gets the size 1. For example, the
/// tensor [[1, 2], [1, 2]] has two equal rows. The result is [[1, 2]], a tensor
/// of the shape [1, 2]. A broadcast of the result to the shape of `value` gives
/// `value` again. A tensor without elements stays unchanged.
mlir::DenseElementsAttr dropRepeats(mlir::DenseElementsAttr value);

/// Creates a tensor of `type` from `bytes` in the layout of ONNX's raw_data:
/// little endian, row-major, one byte per boolean. The number of bytes must
/// match the type.
mlir::DenseElementsAttr elementsFromBytes(mlir::RankedTensorType type,
                                          llvm::StringRef bytes);

/// Returns all elements as i64, in row-major order. A float is truncated toward
/// zero and clamped to the range of i64; NaN becomes 0.
llvm::SmallVector<int64_t> toIntegers(mlir::DenseElementsAttr value);
/// Returns all elements as doubles, in row-major order.
llvm::SmallVector<double> toDoubles(mlir::DenseElementsAttr value);

/// Converts the number `value` to an attribute of the type `elementType`, which
/// is a float or an integer type. For an integer type, the number is first
/// truncated toward zero to a 64-bit integer: 2.7 becomes 2. A narrower type
/// keeps the low bits of this integer: 257 becomes 1 for an 8-bit type.
mlir::Attribute numberAttr(mlir::Type elementType, double value);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_DENSEELEMENTS_H
