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
/// Builds an LLVM module that contains only constants, for the executable of a
/// rank. LLVM compiles this module to an object file. The constants are:
///
///   - the program, which is the list of instructions that the rank executes
///   - tables of pointers to the functions of the CPU kernels
///   - the code of the GPU kernels
///   - the path of the dynamic loader
///
/// The functions of the CPU kernels and the runtime are in other object files.
class ImageModule {
public:
  explicit ImageModule(const llvm::TargetMachine &machine)
      : module("image", context), pointer(llvm::PointerType::get(context, 0)),
        word(llvm::Type::getInt64Ty(context)) {
    module.setTargetTriple(machine.getTargetTriple());
    module.setDataLayout(machine.createDataLayout());
    module.setPICLevel(llvm::PICLevel::BigPIC);
  }

  /// Adds the data of `image` to the LLVM module: the program, the names of the
  /// CPU instruction sets, the tables of the CPU kernels, and the code of the
  /// GPU kernels. The runtime finds the data through the variable
  /// `pcc_program_image`, a struct PccProgramImage (ProgramImage.h). Also adds
  /// a section `.interp` with the path of the dynamic loader, which Linux needs
  /// to start the executable. The linker lld does not add this section, because
  /// pcc links the executable as a shared library.
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

  /// Adds an array of pointers to functions, and returns the array. Each
  /// function computes one CPU kernel. Each kernel is compiled once for each of
  /// several CPU instruction sets, such as x86-64-v3 and x86-64-v4. `cpu` is
  /// the number of an instruction set in Image::cpus, counted from 0. Entry i
  /// of the array points to the function of kernel number `kernels[i]` for this
  /// instruction set. Example: if `kernels` is [4, 9] and `cpu` is 1, the
  /// entries point to the functions pcc_k_4_1 and pcc_k_9_1.
  ///
  /// Returns a null pointer if `kernels` is empty.
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
