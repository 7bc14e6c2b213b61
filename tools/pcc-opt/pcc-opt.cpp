//===- pcc-opt.cpp - runs single passes on modules of any phase -----------===//

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Register.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  pcc::registerDialects(registry);
  pcc::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "pcc's passes, one by one\n", registry));
}
