//===- import-fuzzer.cpp - any bytes are a module or an error -------------===//
//
//   import-seeds CORPUS && import-fuzzer -rss_limit_mb=2048 -timeout=25 CORPUS
//
// The bytes are imported as they are, and once more with a size for every
// dynamic dim. An accepted model must satisfy the guarantees of Import.h.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "passes/1-import/Import.h"
#include "passes/1-import/Passes.h"
#include "passes/1-import/onnx/ReadModel.h"
#include "llvm/ADT/STLExtras.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

using namespace mlir;
using namespace pcc;

namespace {

/// Stops the process if an import violates a guarantee of Import.h.
void require(bool promise) {
  if (!promise)
    __builtin_trap();
}

/// Folder of this process with the model and 4 KiB of external data.
class Folder {
public:
  Folder() {
    const char *wanted = std::getenv("TMPDIR");
    std::string name = std::string(wanted ? wanted : "/dev/shm") + "/XXXXXX";
    require(mkdtemp(name.data()));
    path = name;
    write("w.bin", std::string(4096, '\1'));
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string write(const char *name, std::string_view bytes) const {
    const std::filesystem::path file = path / name;
    std::ofstream(file, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file;
  }

private:
  std::filesystem::path path;
};

/// Returns options that give dynamic dims the size 2, and inputs of unknown
/// rank two dims.
ImportOptions bindEverything(std::string_view bytes) {
  ImportOptions options;
  options.allowAbsentWeights = true;
  const auto model = onnx::readModelFromBytes(bytes, "fuzz.onnx");
  if (!model)
    return options;
  std::set<std::string_view> weights;
  for (const onnx::Tensor &tensor : model->graph.initializers)
    weights.insert(tensor.name);
  for (const onnx::ValueInfo &input : model->graph.inputs) {
    if (weights.count(input.name))
      continue;
    std::vector<int64_t> shape = {2, 2};
    if (input.type.shape) {
      shape.clear();
      for (const onnx::Dim &dim : *input.type.shape)
        shape.push_back(dim.value.value_or(2));
    }
    options.shapes[std::string(input.name)] = shape;
  }
  return options;
}

bool isOneLine(const std::string &text) {
  return !text.empty() && text.find('\n') == std::string::npos;
}

void requireError(const Status &error,
                  const std::vector<UnsupportedOp> &unsupported) {
  require(llvm::is_contained(
      {WrongUsage, CannotRead, Unsupported, UnboundDim, InputOutput},
      error.code()));
  require(isOneLine(error.message()));
  require(llvm::all_of(error.notes(), isOneLine));
  const StringRef message = error.message();
  const bool noOp =
      message.starts_with("input ") || message.starts_with("initializer ");
  require((error.code() == Unsupported && !noOp) == !unsupported.empty());
}

void requireModule(ModuleOp module) {
  require(succeeded(verify(module)));
  PassManager passes(module.getContext());
  passes.addPass(createVerifyImported());
  require(succeeded(passes.run(module)));
}

/// Returns a context for many inputs, because creating one takes longer than
/// most imports. It keeps types and attributes of all inputs, so it is replaced
/// from time to time.
MLIRContext &sharedContext() {
  static std::unique_ptr<MLIRContext> context;
  static unsigned numUses = 0;
  if (numUses++ % 256 == 0)
    context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  return *context;
}

void check(const std::string &path, const ImportOptions &options) {
  MLIRContext &context = sharedContext();
  std::vector<UnsupportedOp> unsupported;
  const auto module = [&] {
    ScopedDiagnosticHandler silence(&context, [](Diagnostic &) {
      require(false);
      return success();
    });
    return importOnnx(path, options, &context, &unsupported);
  }();
  if (module)
    requireModule(**module);
  else
    requireError(module.status(), unsupported);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Folder folder;
  const std::string_view bytes(reinterpret_cast<const char *>(data), size);
  const std::string path = folder.write("fuzz.onnx", bytes);
  check(path, {});
  check(path, bindEverything(bytes));
  return 0;
}
