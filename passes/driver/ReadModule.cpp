//===- ReadModule.cpp - dumps and textual models, read and verified -------===//

#include "passes/driver/ReadModule.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "runtime/base/MappedFile.h"
#include "llvm/ADT/StringExtras.h"
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

/// Largest accepted depth of nested brackets. Also the largest accepted number
/// of successive minus signs. The parser is recursive, so more of either could
/// overflow its stack.
static constexpr int greatestDepth = 256;

/// Returns the position behind the string literal or comment that begins at
/// `at`; `at` itself if none begins there.
static size_t skipOpaque(StringRef text, size_t at) {
  if (text.substr(at).starts_with("//"))
    return std::min(text.find('\n', at), text.size());
  if (text[at] != '"')
    return at;
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    if (text[at] == '\\')
      ++at;
  return std::min(at + 1, text.size());
}

/// Returns the first position at which more than `greatestDepth` (256) brackets
/// are open, or more than 256 minus signs follow each other; StringRef::npos if
/// there is none. The `>` of `->` and of `>=` closes no bracket.
static size_t findTooDeep(StringRef text) {
  int depth = 0, signs = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (size_t behind = skipOpaque(text, at); behind != at) {
      at = behind - 1;
      continue;
    }
    const char c = text[at];
    const bool isArrow =
        c == '>' && ((at > 0 && text[at - 1] == '-') ||
                     (at + 1 < text.size() && text[at + 1] == '='));
    if (StringRef("([{<").contains(c))
      ++depth;
    else if (StringRef(")]}>").contains(c) && !isArrow && depth > 0)
      --depth;
    signs = c == '-' ? signs + 1 : llvm::isSpace(c) ? signs : 0;
    if (depth > greatestDepth || signs > greatestDepth)
      return at;
  }
  return StringRef::npos;
}

/// Returns the position of the first `array<` whose element type the parser
/// cannot handle; StringRef::npos if there is none.
static size_t findUnknownArray(StringRef text) {
  constexpr StringLiteral begin = "array<";
  for (size_t at = text.find(begin); at != StringRef::npos;
       at = text.find(begin, at + 1)) {
    StringRef type =
        text.substr(at + begin.size()).ltrim().take_while([](char c) {
          return llvm::isAlnum(c);
        });
    if (!llvm::is_contained(
            ArrayRef<StringRef>{"i1", "i8", "i16", "i32", "i64", "f32", "f64"},
            type))
      return at;
  }
  return StringRef::npos;
}

/// Returns the position `at` of the text as a location.
static Location locationOf(const ModuleText &file, size_t at,
                           MLIRContext *context) {
  const StringRef before = StringRef(file.text).take_front(at);
  return FileLineColLoc::get(context, file.path,
                             unsigned(before.count('\n') + 1),
                             unsigned(at - (before.rfind('\n') + 1) + 1));
}

/// Checks that the parser can process the text. The parser would crash on some
/// texts.
static LogicalResult checkForm(const ModuleText &file, MLIRContext *context) {
  if (isBytecode(llvm::MemoryBufferRef(file.text, file.path)))
    return emitError(locationOf(file, 0, context),
                     "is bytecode, expected text");
  if (size_t at = file.text.find('\0'); at != std::string::npos)
    return emitError(locationOf(file, at, context), "has a zero byte");
  if (size_t at = findTooDeep(file.text); at != StringRef::npos)
    return emitError(locationOf(file, at, context), "is nested more than ")
           << greatestDepth << " levels deep";
  if (size_t at = findUnknownArray(file.text); at != StringRef::npos)
    return emitError(locationOf(file, at, context),
                     "has an array of an unknown type, expected i1, i8, i16, "
                     "i32, i64, f32 or f64");
  return success();
}

Status pcc::readModuleText(const std::string &path, ModuleText &file) {
  // The positions in the parser's messages have 32 bits.
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
  {
    ScopedDiagnosticHandler silent(context, [](Diagnostic &) {});
    if (succeeded(verifyAll(*module)))
      return module;
  }
  if (OwningOpRef<ModuleOp> positions = readPositions(file, context))
    (void)verifyAll(*positions);
  return nullptr;
}
