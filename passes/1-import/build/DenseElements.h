//===- DenseElements.h - arithmetic on the bytes of small tensors ---------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_DENSEELEMENTS_H
#define PCC_PASSES_1_IMPORT_BUILD_DENSEELEMENTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace pcc::onnx_import {

/// `value` repeated to `shape`, as NumPy's broadcast_to.
mlir::DenseElementsAttr broadcastElements(mlir::DenseElementsAttr value,
                                          llvm::ArrayRef<int64_t> shape);

/// `value` with every dim whose slices are all equal cut down to size 1.
///   [[1, 2], [1, 2]] -> [[1, 2]]
mlir::DenseElementsAttr dropRepeats(mlir::DenseElementsAttr value);

/// A tensor of `type` from bytes in the layout of ONNX's raw_data: little
/// endian, row major, a byte per boolean.
mlir::DenseElementsAttr elementsFromBytes(mlir::RankedTensorType type,
                                          llvm::StringRef bytes);

/// All elements as i64; floats are truncated.
llvm::SmallVector<int64_t> toIntegers(mlir::DenseElementsAttr value);
/// All elements as doubles.
llvm::SmallVector<double> toDoubles(mlir::DenseElementsAttr value);

/// `value` as an attribute of `elementType`, a float or an integer.
mlir::Attribute numberAttr(mlir::Type elementType, double value);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_DENSEELEMENTS_H
