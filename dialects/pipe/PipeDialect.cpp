//===- PipeDialect.cpp - registration and verifiers -----------------------===//

#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace pcc::pipe;

#include "dialects/pipe/PipeDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/pipe/PipeOps.cpp.inc"

void PipeDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/pipe/PipeOps.cpp.inc"
      >();
}

LogicalResult TransferOp::verify() {
  if (getFrom() == getTo())
    return emitOpError("goes from stage ") << getFrom() << " to itself";
  return success();
}
