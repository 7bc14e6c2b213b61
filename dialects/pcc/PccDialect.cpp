//===- PccDialect.cpp - pcc dialect: verification of its attributes -------===//

#include "dialects/pcc/PccDialect.h"

using namespace mlir;
using namespace pcc;

#include "dialects/pcc/PccDialect.cpp.inc"

static const DeclaredAttribute declared[] = {
#include "dialects/pcc/PccVerifyAttributes.cpp.inc"
};

void PccDialect::initialize() { attributes.declare(getContext(), declared); }

PCC_VERIFY_ATTRIBUTES(PccDialect)
