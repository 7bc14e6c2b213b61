//===- import_model.cpp - prints what an ONNX file becomes ----------------===//
//
//   pcc-import-model MODEL.onnx [--dim NAME=N]… [--shape NAME=AxB]… [--quiet]
//
// The module goes to stdout, a mistake to stderr as `error: …` with its exit
// code. --quiet prints nothing but mistakes.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "passes/1-import/Import.h"
#include "passes/1-import/Passes.h"
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

static int import(StringRef path, const pcc::ImportOptions &options,
                  bool quiet) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  pcc::ImportError error;
  auto module = pcc::importOnnx(path, options, &context, error);
  if (failed(module)) {
    llvm::errs() << "error: " << error.message << "\n";
    for (const std::string &note : error.notes)
      llvm::errs() << "note: " << note << "\n";
    return error.exitCode;
  }
  PassManager passes(&context);
  passes.addPass(pcc::createVerifyImported());
  if (failed(passes.run(**module)))
    return 1;
  if (!quiet)
    llvm::outs() << **module << "\n";
  return 0;
}

int main(int argc, char **argv) {
  pcc::ImportOptions options;
  bool quiet = false;
  for (int i = 2; i < argc; ++i) {
    StringRef flag = argv[i];
    if (flag == "--quiet")
      quiet = true;
    else if (i + 1 == argc || !parseOption(flag, argv[++i], options))
      return 2;
  }
  return argc < 2 ? 2 : import(argv[1], options, quiet);
}
