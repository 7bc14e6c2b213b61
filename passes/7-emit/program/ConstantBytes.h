//===- ConstantBytes.h - constants as programs hold them ------------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_CONSTANTBYTES_H
#define PCC_PASSES_7_EMIT_PROGRAM_CONSTANTBYTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include <string>

namespace pcc::emit {

/// The elements in row-major order, little-endian, a byte per boolean.
std::string constantBytesOf(mlir::ElementsAttr elements);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_CONSTANTBYTES_H
