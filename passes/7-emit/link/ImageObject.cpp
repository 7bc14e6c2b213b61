//===- ImageObject.cpp - object file with a program and its kernel tables -===//

#include "passes/7-emit/link/ImageObject.h"
#include "runtime/program/Program.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace pcc;
using namespace pcc::emit;

/// Path of the dynamic loader on x86-64 Linux.
static constexpr llvm::StringLiteral loader = "/lib64/ld-linux-x86-64.so.2";

namespace {
/// LLVM module with the constants of a rank executable: the program, tables of
/// pointers to CPU kernels, the code of GPU kernels, and the path of the
/// dynamic loader. The CPU kernels and the runtime are in other object files.
class ImageModule {
public:
  explicit ImageModule(const llvm::TargetMachine &machine)
      : module("image", context), pointer(llvm::PointerType::get(context, 0)),
        word(llvm::Type::getInt64Ty(context)) {
    module.setTargetTriple(machine.getTargetTriple());
    module.setDataLayout(machine.createDataLayout());
    module.setPICLevel(llvm::PICLevel::BigPIC);
  }

  /// Adds the data of `image` to the LLVM module. The runtime finds the data
  /// through `pcc_program_image` (ProgramImage.h). Also adds the section
  /// `.interp` with the path of the dynamic loader. lld omits this section,
  /// because pcc links the executable as a shared library.
  void fill(const Image &image) {
    llvm::Constant *program = bytes(
        llvm::StringRef(reinterpret_cast<const char *>(image.program.data()),
                        image.program.size()),
        runtime::kAlignment);
    std::vector<llvm::Constant *> variants;
    for (auto [number, cpu] : llvm::enumerate(image.cpus))
      variants.push_back(
          llvm::ConstantStruct::getAnon({bytes(cpu + std::string(1, '\0'), 1),
                                         kernelTable(image.kernels, number)}));
    llvm::Constant *list = variants.empty()
                               ? llvm::ConstantPointerNull::get(pointer)
                               : array(variants.front()->getType(), variants);
    auto *fields = llvm::ConstantStruct::getAnon(
        {program, llvm::ConstantInt::get(word, image.program.size()), list,
         llvm::ConstantInt::get(word, variants.size()),
         image.gpu ? gpuCode(*image.gpu, image.kernels)
                   : llvm::ConstantPointerNull::get(pointer)});
    new llvm::GlobalVariable(module, fields->getType(), /*isConstant=*/true,
                             llvm::GlobalValue::ExternalLinkage, fields,
                             "pcc_program_image");
    auto *interpreter = bytes(loader.str() + std::string(1, '\0'), 1);
    interpreter->setSection(".interp");
    llvm::appendToUsed(module, {interpreter});
  }

  llvm::Module &get() { return module; }

private:
  /// Adds a private constant with the bytes of `data`. `alignment` is in bytes.
  llvm::GlobalVariable *bytes(llvm::StringRef data, int64_t alignment) {
    auto *value = llvm::ConstantDataArray::getString(context, data,
                                                     /*AddNull=*/false);
    return constant(value, alignment);
  }

  /// Adds a private constant that holds `value`. `alignment` is in bytes.
  llvm::GlobalVariable *constant(llvm::Constant *value, int64_t alignment) {
    auto *global =
        new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                 llvm::GlobalValue::InternalLinkage, value,
                                 "pcc_data_" + std::to_string(count++));
    global->setAlignment(llvm::Align(alignment));
    return global;
  }

  /// Adds a private constant array of `elements`, all of type `type`.
  llvm::Constant *array(llvm::Type *type,
                        llvm::ArrayRef<llvm::Constant *> elements) {
    return constant(llvm::ConstantArray::get(
                        llvm::ArrayType::get(type, elements.size()), elements),
                    8);
  }

  /// Adds a private array of pointers to CPU kernels, and returns it. Entry i
  /// is the function of kernel number `kernels[i]` for the instruction set with
  /// the index `cpu` in Image::cpus. Returns a null pointer if `kernels` is
  /// empty.
  llvm::Constant *kernelTable(llvm::ArrayRef<int> kernels, size_t cpu) {
    std::vector<llvm::Constant *> functions;
    auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                         {pointer, pointer, word, word}, false);
    for (int kernel : kernels) {
      auto name = "pcc_k_" + std::to_string(kernel) + "_" + std::to_string(cpu);
      auto *function = llvm::cast<llvm::Function>(
          module.getOrInsertFunction(name, type).getCallee());
      function->setVisibility(llvm::GlobalValue::HiddenVisibility);
      functions.push_back(function);
    }
    return functions.empty() ? llvm::ConstantPointerNull::get(pointer)
                             : array(pointer, functions);
  }

  /// Adds a PccGpuCode.
  llvm::Constant *gpuCode(const GpuCode &code, llvm::ArrayRef<int> kernels) {
    llvm::SmallVector<uint32_t> numbers(kernels.begin(), kernels.end());
    auto *fields = llvm::ConstantStruct::getAnon(
        {bytes(code.arch + std::string(1, '\0'), 1),
         bytes(code.ptx + std::string(1, '\0'), 1),
         bytes(llvm::StringRef(code.cubin.data(), code.cubin.size()),
               runtime::kAlignment),
         llvm::ConstantInt::get(word, code.cubin.size()),
         constant(llvm::ConstantDataArray::get(context, numbers), 4)});
    return constant(fields, 8);
  }

  llvm::LLVMContext context;
  llvm::Module module;
  llvm::PointerType *pointer;
  llvm::IntegerType *word;
  /// Number of private constants so far. It makes their names unique.
  int count = 0;
};
} // namespace

Status emit::makeImageObject(const Image &image, std::vector<char> &object) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  const llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return Status::error(Defect, error);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, "x86-64", "", llvm::TargetOptions(), llvm::Reloc::PIC_));
  ImageModule module(*machine);
  module.fill(image);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   llvm::CodeGenFileType::ObjectFile))
    return Status::error(Defect, "cannot write ELF objects");
  passes.run(module.get());
  object.assign(bytes.begin(), bytes.end());
  return Status::success();
}
