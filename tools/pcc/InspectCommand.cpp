//===- InspectCommand.cpp - pcc inspect BUNDLE ----------------------------===//

#include "tools/pcc/CompileCommand.h"
#include "tools/pcc/Say.h"

int pcc::tool::inspectCommand(int argc, const char *const *argv) { return 1; }
