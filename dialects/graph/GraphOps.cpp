//===- GraphOps.cpp - what TableGen makes of the op definitions -----------===//

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

#define GET_OP_CLASSES
#include "dialects/graph/GraphOps.cpp.inc"
