//===- pcc-lsp-server.cpp - upstream's language server with our dialects --===//

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "passes/Register.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  pcc::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
