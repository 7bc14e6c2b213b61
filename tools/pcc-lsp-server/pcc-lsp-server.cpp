//===- pcc-lsp-server.cpp - MLIR language server for our dialects ---------===//
//
// Serves the language server protocol for .mlir files with the dialects of pcc,
// by MLIR's own implementation.
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "passes/Register.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  pcc::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
