//===- ConstantBytes.h - bytes of constants in a program ------------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_CONSTANTBYTES_H
#define PCC_PASSES_7_EMIT_PROGRAM_CONSTANTBYTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include <string>

namespace pcc::emit {

/// Returns the elements of a constant as programs store them: row-major,
/// little-endian, one byte per boolean. Repeats the element of a splat. Returns
/// an empty string for a resource attribute without data.
std::string constantBytesOf(mlir::ElementsAttr elements);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_CONSTANTBYTES_H
