//===- PccDialect.h - dialect of a module's record of its compilation -----===//

#ifndef PCC_DIALECTS_PCC_PCCDIALECT_H
#define PCC_DIALECTS_PCC_PCCDIALECT_H

#include "dialects/attributes/VerifyAttributes.h"
#include "mlir/IR/Dialect.h"

#include "dialects/pcc/PccDialect.h.inc"

namespace pcc {

#include "dialects/pcc/PccAttributeNames.h.inc"

} // namespace pcc

#endif // PCC_DIALECTS_PCC_PCCDIALECT_H
