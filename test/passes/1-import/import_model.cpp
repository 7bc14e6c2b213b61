//===- import_model.cpp - prints what an ONNX file becomes ----------------===//
//
//   pcc-import-model MODEL.onnx [--dim NAME=N]… [--shape NAME=AxB]…
//                    [--locations 1] [--evaluate DIR]
//   pcc-import-model --ops
//
// The module is written to stdout, an error to stderr as `error CODE: …`, where
// CODE is the exit code. --evaluate runs the module (Evaluate.h) and prints
// facts about its gradients (Gradients.h). --ops prints a line `domain op
// version` for each known form of an ONNX op.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "passes/1-import/Import.h"
#include "passes/1-import/Passes.h"
#include "passes/1-import/build/OpTable.h"
#include "test/passes/1-import/Evaluate.h"
#include "test/passes/1-import/Gradients.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static bool parseOption(StringRef flag, StringRef text,
                        pcc::ImportOptions &options) {
  auto [name, value] = text.split('=');
  SmallVector<StringRef> sizes;
  value.split(sizes, 'x', -1, /*KeepEmpty=*/false);
  std::vector<int64_t> shape;
  for (StringRef size : sizes) {
    int64_t number;
    if (size.getAsInteger(10, number))
      return false;
    shape.push_back(number);
  }
  if (flag == "--shape")
    options.shapes[name.str()] = shape;
  else if (flag == "--dim" && shape.size() == 1)
    options.dims[name.str()] = shape[0];
  else
    return false;
  return true;
}

static int finish(ModuleOp module, StringRef directory, bool locations) {
  PassManager passes(module.getContext());
  passes.addPass(pcc::createVerifyImported());
  if (failed(passes.run(module)))
    return 1;
  if (directory.empty()) {
    OpPrintingFlags flags;
    flags.enableDebugInfo(locations).useLocalScope();
    module.print(llvm::outs(), flags);
    llvm::outs() << "\n";
    return 0;
  }
  ArgumentBytes arguments;
  std::string error = evaluateModule(module, directory.str(), arguments);
  if (error.empty()) {
    llvm::outs() << describeGradients(module, arguments);
    return 0;
  }
  llvm::errs() << "error: " << error << "\n";
  return 1;
}

static int import(StringRef path, const pcc::ImportOptions &options,
                  StringRef directory, bool locations) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = pcc::importOnnx(path, options, &context);
  if (module)
    return finish(**module, directory, locations);
  const pcc::Status &error = module.status();
  llvm::errs() << "error " << error.code() << ": " << error.message() << "\n";
  for (const std::string &note : error.notes())
    llvm::errs() << "note: " << note << "\n";
  return error.code();
}

static int listOps() {
  pcc::onnx_import::OpTable::get().visit(
      [](StringRef domain, const pcc::onnx_import::OpForm &form) {
        llvm::outs() << (domain.empty() ? "ai.onnx" : domain) << " " << form.op
                     << " " << form.since << "\n";
      });
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && StringRef(argv[1]) == "--ops")
    return listOps();
  pcc::ImportOptions options;
  StringRef directory;
  bool locations = false;
  for (int i = 2; i + 1 < argc; i += 2) {
    StringRef flag = argv[i];
    if (flag == "--evaluate")
      directory = argv[i + 1];
    else if (flag == "--locations")
      locations = true;
    else if (!parseOption(flag, argv[i + 1], options))
      return 2;
  }
  return argc % 2 ? 2 : import(argv[1], options, directory, locations);
}
