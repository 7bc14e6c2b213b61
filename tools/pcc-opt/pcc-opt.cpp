//===- pcc-opt.cpp - runs single passes, like mlir-opt --------------------===//
//
// Runs any pass of pcc, or a pipeline of passes, on a textual module of any
// phase. The lit tests use it.
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Register.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  pcc::registerDialects(registry);
  pcc::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "pcc's passes, one by one\n", registry));
}
