//===- EmulatedGpu.cpp - kernels of a GPU, executed by the host -----------===//

#include "test/passes/7-emit/gpu/EmulatedGpu.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/7-emit/gpu/LowerGpuKernels.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/Support/TargetSelect.h"
#include <array>
#include <functional>
#include <ucontext.h>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

//===----------------------------------------------------------------------===//
// Threads of a block
//===----------------------------------------------------------------------===//

namespace {
/// The threads of one block: each runs until it meets the others.
class ThreadBlock {
public:
  ThreadBlock(int64_t number, int64_t numThreads, std::function<void()> body)
      : number(number), body(std::move(body)), threads(size_t(numThreads)) {}

  /// False if a thread missed a meeting.
  bool run() {
    current = this;
    for (running = 0; running < threads.size(); ++running)
      start(threads[running]);
    bool isAnyLeft = true;
    while (isAnyLeft) {
      isAnyLeft = false;
      for (running = 0; running < threads.size(); ++running)
        if (!threads[running].isDone) {
          swapcontext(&scheduler, &threads[running].context);
          isAnyLeft |= !threads[running].isDone;
        }
    }
    current = nullptr;
    for (const Thread &thread : threads)
      if (thread.meetings != threads.front().meetings)
        return false;
    return true;
  }

  /// Brings `value` to a meeting of all threads; gives what thread `from`
  /// brought.
  uint32_t meet(uint32_t value, size_t from) {
    Thread &own = threads[running];
    const size_t phase = own.meetings++ % 2;
    own.brought[phase] = value;
    swapcontext(&own.context, &scheduler);
    return from < threads.size() ? threads[from].brought[phase] : 0;
  }

  static ThreadBlock *current;
  int64_t number;
  size_t running = 0;

private:
  struct Thread {
    ucontext_t context;
    std::array<uint32_t, 2> brought = {0, 0};
    int64_t meetings = 0;
    bool isDone = false;
  };

  static constexpr size_t stackBytes = 1 << 16;
  /// Of all threads of a block; blocks come one after the other.
  static std::vector<char> &stacks() {
    static std::vector<char> memory(stackBytes * 1024);
    return memory;
  }

  void start(Thread &thread) {
    getcontext(&thread.context);
    const size_t place = size_t(&thread - threads.data());
    thread.context.uc_stack.ss_sp = stacks().data() + place * stackBytes;
    thread.context.uc_stack.ss_size = stackBytes;
    thread.context.uc_link = &scheduler;
    makecontext(&thread.context, &ThreadBlock::runThread, 0);
  }

  static void runThread() {
    current->body();
    current->threads[current->running].isDone = true;
  }

  std::function<void()> body;
  std::vector<Thread> threads;
  ucontext_t scheduler;
};
ThreadBlock *ThreadBlock::current = nullptr;
} // namespace

static int32_t threadNumber() { return int32_t(ThreadBlock::current->running); }
static int32_t blockNumber() { return int32_t(ThreadBlock::current->number); }
static int32_t shuffleXor(int32_t value, int32_t mask) {
  const size_t from = ThreadBlock::current->running ^ size_t(mask);
  return int32_t(ThreadBlock::current->meet(uint32_t(value), from));
}
static void barrier() { ThreadBlock::current->meet(0, 0); }

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

namespace {
/// Replaces what only a GPU has.
struct HostForm {
  ModuleOp module;
  OpBuilder builder{module.getContext()};
  Location loc = builder.getUnknownLoc();

  LLVM::LLVMFuncOp declare(StringRef name, Type result,
                           ArrayRef<Type> arguments) {
    if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
      return known;
    OpBuilder outside(module.getBodyRegion());
    return LLVM::LLVMFuncOp::create(
        outside, loc, name, LLVM::LLVMFunctionType::get(result, arguments));
  }

  Value call(Operation *before, StringRef name, ArrayRef<Value> operands) {
    builder.setInsertionPoint(before);
    Type i32 = builder.getI32Type();
    SmallVector<Type> types(operands.size(), i32);
    return LLVM::CallOp::create(builder, loc, declare(name, i32, types),
                                operands)
        .getResult();
  }

  void replaceShuffle(NVVM::ShflOp shuffle) {
    builder.setInsertionPoint(shuffle);
    Type i32 = builder.getI32Type(), type = shuffle.getType();
    Value word = shuffle.getVal();
    if (type != i32)
      word = LLVM::BitcastOp::create(builder, loc, i32, word);
    Value other =
        call(shuffle, "emulated_shuffle", {word, shuffle.getOffset()});
    if (type != i32)
      other = LLVM::BitcastOp::create(builder, loc, type, other);
    shuffle.getResult().replaceAllUsesWith(other);
    shuffle.erase();
  }

  void replace(Operation *op) {
    if (isa<NVVM::ThreadIdXOp>(op) || isa<NVVM::BlockIdXOp>(op)) {
      op->getResult(0).replaceAllUsesWith(call(
          op, isa<NVVM::ThreadIdXOp>(op) ? "emulated_thread" : "emulated_block",
          {}));
      op->erase();
    } else if (auto shuffle = dyn_cast<NVVM::ShflOp>(op)) {
      replaceShuffle(shuffle);
    } else if (isa<NVVM::BarrierOp>(op)) {
      call(op, "emulated_barrier", {});
      op->erase();
    }
  }

  /// An entry that finds its arguments in two arrays.
  void addEntry(LLVM::LLVMFuncOp kernel) {
    builder.setInsertionPointToEnd(module.getBody());
    Type pointer = LLVM::LLVMPointerType::get(module.getContext()),
         none = LLVM::LLVMVoidType::get(module.getContext());
    auto entry = LLVM::LLVMFuncOp::create(
        builder, loc, "run_" + kernel.getSymName().str(),
        LLVM::LLVMFunctionType::get(none, {pointer, pointer}));
    builder.setInsertionPointToStart(entry.addEntryBlock(builder));
    SmallVector<Value> operands;
    std::array<int32_t, 2> next = {0, 0};
    for (Type type : kernel.getArgumentTypes()) {
      const int which = type == pointer ? 0 : 1;
      Value address = LLVM::GEPOp::create(
          builder, loc, pointer, type, entry.getArgument(which),
          ArrayRef<LLVM::GEPArg>{next[which]++});
      operands.push_back(LLVM::LoadOp::create(builder, loc, type, address));
    }
    LLVM::CallOp::create(builder, loc, kernel, operands);
    LLVM::ReturnOp::create(builder, loc, ValueRange());
  }

  void run() {
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      replace(op);
    for (auto function : llvm::to_vector(module.getOps<LLVM::LLVMFuncOp>())) {
      if (!function.isExternal()) {
        function->removeAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
        function->removeAttr(NVVM::NVVMDialect::getMaxntidAttrName());
        addEntry(function);
        continue;
      }
      StringRef name = function.getSymName();
      if (!name.consume_front("__nv_"))
        continue;
      const auto plain = StringAttr::get(module.getContext(), name);
      (void)SymbolTable::replaceAllSymbolUses(function, plain, module);
      function.setSymName(plain);
    }
  }
};
} // namespace

static llvm::orc::SymbolMap hostFunctions(llvm::orc::LLJIT &jit) {
  llvm::orc::SymbolMap symbols;
  auto add = [&](const char *name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {
        llvm::orc::ExecutorAddr::fromPtr(function),
        llvm::JITSymbolFlags::Exported};
  };
  add("emulated_thread", &threadNumber);
  add("emulated_block", &blockNumber);
  add("emulated_shuffle", &shuffleXor);
  add("emulated_barrier", &barrier);
  return symbols;
}

EmulatedGpu::EmulatedGpu(ModuleOp module) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  for (auto kernel : module.getOps<rank::KernelOp>())
    plans.push_back(gpuPlanOf(kernel));
  OwningOpRef<ModuleOp> lowered = lowerGpuKernels(module);
  if (!lowered) {
    error = "does not lower";
    return;
  }
  HostForm{*lowered}.run();
  auto context = std::make_unique<llvm::LLVMContext>();
  auto code = translateModuleToLLVMIR(*lowered, *context, "gpu");
  if (!code) {
    error = "does not translate";
    return;
  }
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto made = llvm::orc::LLJITBuilder().create();
  if (!made) {
    error = llvm::toString(made.takeError());
    return;
  }
  jit = std::move(*made);
  code->setDataLayout(jit->getDataLayout());
  code->setTargetTriple(jit->getTargetTriple());
  auto &library = jit->getMainJITDylib();
  if (auto failure =
          library.define(llvm::orc::absoluteSymbols(hostFunctions(*jit))))
    error = llvm::toString(std::move(failure));
  else if (auto failure = jit->addIRModule(llvm::orc::ThreadSafeModule(
               std::move(code), std::move(context))))
    error = llvm::toString(std::move(failure));
}

std::string EmulatedGpu::run(size_t number, std::vector<void *> buffers,
                             const std::vector<int64_t> &scalars) {
  if (!error.empty())
    return error;
  auto symbol = jit->lookup("run_pcc_k_" + std::to_string(number));
  if (!symbol)
    return llvm::toString(symbol.takeError());
  auto *entry = symbol->toPtr<void(void *const *, const int64_t *)>();
  const GpuPlan &plan = plans[number];
  for (int64_t block = 0; block < plan.blocks; ++block)
    if (!ThreadBlock(block, plan.threads, [&] {
           entry(buffers.data(), scalars.data());
         }).run())
      return "a thread misses a meeting of its block";
  return "";
}
