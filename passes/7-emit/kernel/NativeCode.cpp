//===- NativeCode.cpp - kernels compiled to native objects ----------------===//

#include "passes/7-emit/kernel/NativeCode.h"
#include "dialects/diagnostics/EmitStatus.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/7-emit/kernel/LowerKernels.h"
#include "status/StatusOr.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include <thread>

#define DEBUG_TYPE "kernel-code"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

static constexpr llvm::StringLiteral tripleName = "x86_64-unknown-linux-gnu";

namespace {
/// Compilation of all kernels of a module for one type of CPU, such as
/// x86-64-v4. Each compilation needs its own LLVM `context`, because threads
/// compile for several types of CPU at the same time.
struct KernelCompilation {
  KernelObject object;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
};
} // namespace

/// Returns LLVM's code generator for the CPU `cpu`, an LLVM name with optional
/// features, such as "x86-64-v4,+avx512bf16". Returns an error if this build of
/// LLVM has no x86-64 target.
static StatusOr<std::unique_ptr<llvm::TargetMachine>>
machineFor(StringRef cpu) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::Triple triple(tripleName);
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return Status::error(Defect, error);
  auto [name, features] = cpu.split(',');
  llvm::TargetOptions options;
  // Put each function and each global variable into its own section. The object
  // file contains the kernels of all ranks. pcc links the object file into the
  // executable of each rank. A rank calls only some of the kernels. The linker
  // drops each section that is not used, so an executable contains only the
  // kernels that the rank calls.
  options.FunctionSections = true;
  options.DataSections = true;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, name, features, options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

/// Sets the CPU type and its features as attributes of all functions of
/// `unit.module`. Appends `_<number>`, the index of the CPU type, to each
/// kernel name. The names must differ, because one executable contains the code
/// for all types.
static void prepare(KernelCompilation &unit, size_t number) {
  llvm::Module &module = *unit.module;
  module.setTargetTriple(unit.machine->getTargetTriple());
  module.setDataLayout(unit.machine->createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  bool isWide = unit.machine->getTargetFeatureString().contains("avx512f") ||
                unit.machine->getTargetCPU() == "x86-64-v4";
  for (llvm::Function &function : module) {
    if (function.isDeclaration()) {
      function.setDoesNotThrow();
      continue;
    }
    function.setDoesNotThrow();
    function.addFnAttr("target-cpu", unit.machine->getTargetCPU());
    function.addFnAttr("target-features",
                       unit.machine->getTargetFeatureString());
    if (isWide)
      function.addFnAttr("prefer-vector-width", "512");
    if (!function.hasLocalLinkage())
      function.setName(function.getName() + "_" + Twine(number));
  }
}

void pcc::emit::optimise(llvm::Module &module, llvm::TargetMachine &machine,
                         const llvm::PipelineTuningOptions &tuning) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

/// Returns the options of LLVM's optimizer for kernels on CPUs. LLVM has two
/// vectorizers. The options turn on the loop vectorizer, which combines several
/// iterations of a loop into vector instructions. The options turn off the SLP
/// vectorizer, which combines independent instructions of straight-line code
/// into vector instructions.
static llvm::PipelineTuningOptions tuningForProcessors() {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = false;
  return tuning;
}

/// Compiles `unit.module` to machine code in `unit.object`. Returns false if
/// LLVM cannot write object files for the CPU.
static bool emitObject(KernelCompilation &unit) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (unit.machine->addPassesToEmitFile(passes, stream, nullptr,
                                        llvm::CodeGenFileType::ObjectFile))
    return false;
  passes.run(*unit.module);
  unit.object.bytes.assign(bytes.begin(), bytes.end());
  return true;
}

/// Translates the kernels of `lowered` to LLVM IR in `unit.module`, and creates
/// `unit.machine`. `number` is the index of the CPU. Emits an error on failure.
/// Two threads must not call translate() at the same time, since all calls use
/// `lowered`.
static LogicalResult translate(ModuleOp lowered, KernelCompilation &unit,
                               size_t number) {
  auto machine = machineFor(unit.object.cpu);
  if (!machine)
    return emitStatus(lowered,
                      machine.status().prefixed("no code can be made for '" +
                                                unit.object.cpu + "': "));
  unit.machine = std::move(*machine);
  unit.module = translateModuleToLLVMIR(lowered, unit.context, "kernels");
  if (!unit.module)
    return failure();
  prepare(unit, number);
  return success();
}

FailureOr<std::vector<KernelObject>>
pcc::emit::compileKernels(ModuleOp module, ArrayRef<StringRef> cpus) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  OwningOpRef<ModuleOp> lowered = lowerKernels(module);
  if (!lowered)
    return failure();
  std::vector<std::unique_ptr<KernelCompilation>> units;
  for (StringRef cpu : cpus) {
    auto &unit = units.emplace_back(std::make_unique<KernelCompilation>());
    unit->object.cpu = cpu.str();
    if (failed(translate(*lowered, *unit, units.size() - 1)))
      return failure();
  }
  // Thread i compiles `units[i]`, and then sets `emitted[i]` to 1 if the
  // compilation succeeded. All threads write to this vector at the same time.
  // The element type is char and not bool, because std::vector<bool> stores
  // several elements in one byte. Two threads must not write to the same byte
  // at the same time.
  std::vector<char> emitted(units.size(), 0);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < units.size(); ++i)
    threads.emplace_back([&, i] {
      optimise(*units[i]->module, *units[i]->machine, tuningForProcessors());
      emitted[i] = emitObject(*units[i]);
    });
  for (std::thread &thread : threads)
    thread.join();
  std::vector<KernelObject> objects;
  for (auto [unit, done] : llvm::zip_equal(units, emitted)) {
    if (!done)
      return module.emitError("no object can be written for '")
             << unit->object.cpu << "'";
    objects.push_back(std::move(unit->object));
  }
  LDBG() << "compiled kernels for " << objects.size() << " processors";
  return objects;
}
