//===- ReadModule.cpp - dumps and textual models, read and verified -------===//

#include "passes/driver/ReadModule.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "passes/driver/ParserMessages.h"
#include "passes/driver/TextFault.h"
#include "runtime/base/MappedFile.h"
#include "status/ShellWord.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace pcc;

Status pcc::checkIsNoBundle(const std::string &path) {
  if (!llvm::sys::fs::exists(path + "/bundle.json"))
    return Status::success();
  return Status::error(CannotRead, "'" + path + "' is a bundle",
                       {"pcc run " + shellWord(path) + " runs it"});
}

/// Checks that every attribute of an op is one of the op's own, or of a
/// dialect. Emits an error with similar names if not.
static LogicalResult checkNames(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (!attribute.getNameDialect())
      return op->emitOpError(
          unknownAttribute(op->getName(), attribute.getName().getValue()));
  return success();
}

/// Verifies the module, and first the names of the attributes: without one that
/// is misspelt, an op may have other types than it should.
static LogicalResult verifyAll(ModuleOp module) {
  const WalkResult named = module->walk([](Operation *op) {
    return failed(checkNames(op)) ? WalkResult::interrupt()
                                  : WalkResult::advance();
  });
  return success(!named.wasInterrupted() && succeeded(verify(module)));
}

/// Returns the location (file, line and column) of a character in a .mlir file.
/// `at` is the byte offset of the character in `file.text`.
static Location locationOf(const ModuleText &file, size_t at,
                           MLIRContext *context) {
  const StringRef before = StringRef(file.text).take_front(at);
  return FileLineColLoc::get(context, file.path,
                             unsigned(before.count('\n') + 1),
                             unsigned(at - (before.rfind('\n') + 1) + 1));
}

/// Checks that the file is text that MLIR's parser can process. Emits an error
/// for bytecode, for text on which the parser would crash or run very long
/// (findTextFault), and for attributes that it would ignore.
static LogicalResult checkForm(const ModuleText &file, MLIRContext *context) {
  if (isBytecode(llvm::MemoryBufferRef(file.text, file.path)))
    return emitError(locationOf(file, 0, context),
                     "the file is bytecode, expected text");
  auto fault = findTextFault(file.text);
  if (!fault)
    fault = findUnknownProperty(file.text, context);
  if (fault)
    return emitError(locationOf(file, fault->at, context), fault->claim);
  return success();
}

Status pcc::readModuleText(const std::string &path, ModuleText &file) {
  // Accept files of at most 2^32 - 1 bytes. The line numbers and column numbers
  // in the parser's messages are 32-bit integers.
  constexpr size_t mostBytes = UINT32_MAX;
  file.path = path;
  return runtime::readTextFile(path, mostBytes, file.text, CannotRead);
}

OwningOpRef<ModuleOp> pcc::readPositions(const ModuleText &source,
                                         MLIRContext *context) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(source.text, source.path), SMLoc());
  OwningOpRef<ModuleOp> file = ModuleOp::create(UnknownLoc::get(context));
  AsmParserState positions;
  if (failed(parseAsmSourceFile(
          sources, file->getBody(),
          ParserConfig(context, /*verifyAfterParse=*/false), &positions)))
    return nullptr;
  auto withPosition = [&](Location own, SMLoc at) {
    auto [line, column] = sources.getLineAndColumn(at);
    return FusedLoc::get(
        context,
        {FileLineColLoc::get(context, source.path, line, column), own});
  };
  for (const AsmParserState::OperationDefinition &found : positions.getOpDefs())
    found.op->setLoc(withPosition(found.op->getLoc(), found.loc.Start));
  for (const AsmParserState::BlockDefinition &found : positions.getBlockDefs())
    for (auto [argument, at] :
         llvm::zip(found.block->getArguments(), found.arguments))
      argument.setLoc(withPosition(argument.getLoc(), at.loc.Start));
  return file;
}

OwningOpRef<ModuleOp> pcc::readModule(const ModuleText &file,
                                      MLIRContext *context) {
  if (failed(checkForm(file, context)))
    return nullptr;
  auto module = parseSourceString<ModuleOp>(
      file.text, ParserConfig(context, /*verifyAfterParse=*/false), file.path);
  if (!module)
    return nullptr;
  if (module->getOps<func::FuncOp>().empty()) {
    emitError(locationOf(file, 0, context),
              "the file has no function; the forward pass of a model is @main");
    return nullptr;
  }
  {
    ScopedDiagnosticHandler silent(context, [](Diagnostic &) {});
    if (succeeded(verifyAll(*module)))
      return module;
  }
  if (OwningOpRef<ModuleOp> positions = readPositions(file, context))
    (void)verifyAll(*positions);
  return nullptr;
}
