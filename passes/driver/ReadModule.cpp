//===- ReadModule.cpp - dumps and textual models, read and verified -------===//

#include "passes/driver/ReadModule.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace pcc;

/// Verifies the module, and checks that every attribute of an op belongs to a
/// registered dialect.
static LogicalResult verifyAll(ModuleOp module) {
  if (failed(verify(module)))
    return failure();
  return success(
      !module
           ->walk([](Operation *op) -> WalkResult {
             for (NamedAttribute attribute : op->getDiscardableAttrs())
               if (!attribute.getNameDialect())
                 return op->emitOpError("attribute '")
                        << attribute.getName().getValue() << "' is unknown";
             return WalkResult::advance();
           })
           .wasInterrupted());
}

OwningOpRef<ModuleOp> pcc::readPositions(StringRef path, MLIRContext *context) {
  llvm::SourceMgr sources;
  std::unique_ptr<llvm::MemoryBuffer> text = openInputFile(path);
  if (!text)
    return nullptr;
  sources.AddNewSourceBuffer(std::move(text), SMLoc());
  OwningOpRef<ModuleOp> file = ModuleOp::create(UnknownLoc::get(context));
  AsmParserState positions;
  if (failed(parseAsmSourceFile(
          sources, file->getBody(),
          ParserConfig(context, /*verifyAfterParse=*/false), &positions)))
    return nullptr;
  auto withPosition = [&](Location own, SMLoc at) {
    auto [line, column] = sources.getLineAndColumn(at);
    return FusedLoc::get(
        context, {FileLineColLoc::get(context, path, line, column), own});
  };
  for (const AsmParserState::OperationDefinition &found : positions.getOpDefs())
    found.op->setLoc(withPosition(found.op->getLoc(), found.loc.Start));
  for (const AsmParserState::BlockDefinition &found : positions.getBlockDefs())
    for (auto [argument, at] :
         llvm::zip(found.block->getArguments(), found.arguments))
      argument.setLoc(withPosition(argument.getLoc(), at.loc.Start));
  return file;
}

OwningOpRef<ModuleOp> pcc::readModule(StringRef path, MLIRContext *context) {
  auto module = parseSourceFile<ModuleOp>(
      path, ParserConfig(context, /*verifyAfterParse=*/false));
  if (!module)
    return nullptr;
  {
    ScopedDiagnosticHandler silent(context, [](Diagnostic &) {});
    if (succeeded(verifyAll(*module)))
      return module;
  }
  if (OwningOpRef<ModuleOp> file = readPositions(path, context))
    (void)verifyAll(*file);
  return nullptr;
}
