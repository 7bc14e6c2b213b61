//===- ConstantBytes.h - bytes of constants in a program ------------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_CONSTANTBYTES_H
#define PCC_PASSES_7_EMIT_PROGRAM_CONSTANTBYTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include <string>

namespace pcc::emit {

/// Returns the elements of a constant as buffers hold them: dense, in row-major
/// order, little-endian, one byte per boolean. A splat is expanded. The result
/// is empty for a resource without data.
std::string constantBytesOf(mlir::ElementsAttr elements);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_CONSTANTBYTES_H
