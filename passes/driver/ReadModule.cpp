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

/// Verifies the module, and that dialects are registered for all attributes.
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

/// Emits the error of a file that can be parsed, but not verified. The file is
/// parsed again, and ops get their positions in the file as locations.
static void emitErrors(StringRef path, MLIRContext *context) {
  llvm::SourceMgr sources;
  std::unique_ptr<llvm::MemoryBuffer> text = openInputFile(path);
  if (!text)
    return;
  sources.AddNewSourceBuffer(std::move(text), SMLoc());
  OwningOpRef<ModuleOp> file = ModuleOp::create(UnknownLoc::get(context));
  AsmParserState positions;
  if (failed(parseAsmSourceFile(
          sources, file->getBody(),
          ParserConfig(context, /*verifyAfterParse=*/false), &positions)))
    return;
  for (const AsmParserState::OperationDefinition &found :
       positions.getOpDefs()) {
    auto [line, column] = sources.getLineAndColumn(found.loc.Start);
    found.op->setLoc(FusedLoc::get(
        context, {FileLineColLoc::get(context, path, line, column),
                  found.op->getLoc()}));
  }
  (void)verifyAll(*file);
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
  emitErrors(path, context);
  return nullptr;
}
