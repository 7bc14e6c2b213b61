//===- Parsed.h - modules given as text -----------------------------------===//

#ifndef PCC_TEST_PASSES_INTERPRET_PARSED_H
#define PCC_TEST_PASSES_INTERPRET_PARSED_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace pcc::interpret {

/// Parses modules of the graph, dist and pipe dialects.
class Parser {
public:
  Parser();
  /// Returns the module; null, with the diagnostics printed, if `text` is no
  /// module.
  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text);

  mlir::MLIRContext context;
};

} // namespace pcc::interpret

#endif // PCC_TEST_PASSES_INTERPRET_PARSED_H
