//===- Ptx.cpp - translation of kernels to PTX ----------------------------===//

#include "passes/7-emit/gpu/kernel/Ptx.h"
#include "dialects/diagnostics/EmitStatus.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/7-emit/gpu/kernel/LowerGpuKernels.h"
#include "passes/7-emit/kernel/NativeCode.h"
#include "status/StatusOr.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Returns the LLVM feature that selects the version of PTX for the GPU
/// architecture `arch`. If `arch` is "sm_90" or earlier, selects version 8.1.
/// This is the first version in which the parameters of a kernel can have more
/// than 4352 bytes. If `arch` is later than "sm_90", returns an empty string.
/// LLVM then uses its default version, which is later than 8.1.
static StringRef featuresOf(StringRef arch) {
  int number = 0;
  arch.ltrim("sm_").rtrim("af").getAsInteger(10, number);
  return number < 100 ? "+ptx81" : "";
}

/// Returns LLVM's code generator for the GPU architecture `arch`. Returns an
/// error if this LLVM cannot generate code for NVIDIA GPUs.
static StatusOr<std::unique_ptr<llvm::TargetMachine>>
machineFor(StringRef arch) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  const llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return Status::error(Defect, error);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, arch, featuresOf(arch), llvm::TargetOptions(), std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

bool pcc::emit::isGpuArch(StringRef arch) {
  const auto machine = machineFor("sm_80");
  int number = 0;
  const bool isNamed =
      arch.consume_front("sm_") && !arch.rtrim("af").getAsInteger(10, number);
  return machine && isNamed && number >= 80 &&
         (*machine)->getMCSubtargetInfo()->isCPUStringValid("sm_" + arch.str());
}

/// Links functions of libdevice, NVIDIA's math library, into `module`, as
/// internal functions. Links only those that `module` calls. `path` names
/// libdevice's LLVM bitcode.
static Status linkLibdevice(llvm::Module &module, StringRef path) {
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> library =
      llvm::parseIRFile(path, diagnostic, module.getContext());
  if (!library)
    return Status::error(Defect, diagnostic.getMessage().str());
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  auto hide = [](llvm::Module &linked, const llvm::StringSet<> &names) {
    llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
      return !value.hasName() || !names.contains(value.getName());
    });
  };
  // Make libdevice keep subnormal numbers instead of flushing them to zero.
  module.addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", uint32_t{0});
  return llvm::Linker::linkModules(module, std::move(library),
                                   llvm::Linker::Flags::LinkOnlyNeeded, hide)
             ? Status::error(Defect, "LLVM's linker fails")
             : Status::success();
}

FailureOr<std::string> pcc::emit::makePtx(ModuleOp module, StringRef arch,
                                          StringRef libdevice) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  OwningOpRef<ModuleOp> lowered = lowerGpuKernels(module);
  if (!lowered)
    return failure();
  auto target = machineFor(arch);
  if (!target)
    return emitStatus(module,
                      target.status().prefixed("no PTX can be made for '" +
                                               arch.str() + "': "));
  llvm::TargetMachine *machine = target->get();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(*lowered, context, "kernels");
  if (!code)
    return failure();
  code->setTargetTriple(machine->getTargetTriple());
  code->setDataLayout(machine->createDataLayout());
  if (Status linked = linkLibdevice(*code, libdevice); linked.failed())
    return emitStatus(
        module, linked.prefixed("cannot link '" + libdevice.str() + "': "));
  optimise(*code, *machine, llvm::PipelineTuningOptions());
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return module.emitError("no PTX can be written for '") << arch << "'";
  passes.run(*code);
  return text.str().str();
}
