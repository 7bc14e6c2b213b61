//===- Parsed.cpp - modules given as text ---------------------------------===//

#include "test/passes/interpret/Parsed.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace pcc;

interpret::Parser::Parser() : context(MLIRContext::Threading::DISABLED) {
  context.loadDialect<func::FuncDialect, graph::GraphDialect, dist::DistDialect,
                      pipe::PipeDialect>();
}

OwningOpRef<ModuleOp> interpret::Parser::parse(StringRef text) {
  return parseSourceString<ModuleOp>(text, &context);
}
