//===- GraphOps.cpp - TableGen's definitions of the graph ops -------------===//

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

#define GET_OP_CLASSES
#include "dialects/graph/GraphOps.cpp.inc"
