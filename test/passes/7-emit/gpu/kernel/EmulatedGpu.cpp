//===- EmulatedGpu.cpp - kernels of a GPU, executed by the host -----------===//

#include "test/passes/7-emit/gpu/kernel/EmulatedGpu.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/7-emit/gpu/kernel/LowerGpuKernels.h"
#include "runtime/tensor/FloatConversion.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/Support/TargetSelect.h"
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <ucontext.h>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

//===----------------------------------------------------------------------===//
// Threads of a block
//===----------------------------------------------------------------------===//

namespace {
/// The threads of one block. Each runs until it waits for the others.
class ThreadBlock {
public:
  ThreadBlock(int64_t number, int64_t numThreads, std::function<void()> body)
      : number(number), body(std::move(body)), threads(size_t(numThreads)) {}

  /// Runs all threads. Returns false if a thread missed a barrier or shuffle.
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

  /// Words that a thread passes to the others at a barrier or shuffle.
  using Words = std::array<uint32_t, 6>;

  /// Passes `words` and waits for all threads. Returns the number of the
  /// meeting.
  size_t meet(const Words &words) {
    Thread &own = threads[running];
    const size_t phase = own.meetings++ % 2;
    own.brought[phase] = words;
    swapcontext(&own.context, &scheduler);
    return phase;
  }

  /// Returns the words that thread `from` passed at the last meeting, number
  /// `phase`.
  Words broughtBy(size_t from, size_t phase) const {
    return from < threads.size() ? threads[from].brought[phase] : Words{};
  }

  static ThreadBlock *current;
  int64_t number;
  size_t running = 0;

private:
  struct Thread {
    ucontext_t context;
    std::array<Words, 2> brought = {};
    int64_t meetings = 0;
    bool isDone = false;
  };

  static constexpr size_t stackBytes = 1 << 16;
  /// Stacks of all threads of a block. Blocks run one after another.
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
  ThreadBlock &block = *ThreadBlock::current;
  const size_t from = block.running ^ size_t(mask),
               phase = block.meet({uint32_t(value)});
  return int32_t(block.broughtBy(from, phase)[0]);
}
static void barrier() { ThreadBlock::current->meet({}); }

//===----------------------------------------------------------------------===//
// Products of a warp
//===----------------------------------------------------------------------===//

namespace {
/// Operands of one mma.sync.m16n8kK in the layouts of PTX (ISA, "Matrix
/// fragments"): which register of which lane holds an element.
struct WarpOperands {
  NVVM::MMATypes type;
  int64_t depth;
  std::array<ThreadBlock::Words, 32> lanes;

  bool isWide() const { return type == NVVM::MMATypes::tf32; }

  float left(int64_t row, int64_t k) const {
    const int64_t perRegister = isWide() ? 4 : 8;
    return element(row % 8, k, k / perRegister * 2 + row / 8);
  }
  float right(int64_t k, int64_t column) const {
    const int64_t perRegister = isWide() ? 4 : 8,
                  numLeft = 2 * depth / perRegister;
    return element(column, k, numLeft + k / perRegister);
  }

private:
  float element(int64_t group, int64_t k, int64_t place) const {
    const int64_t quad = isWide() ? k % 4 : k % 8 / 2;
    const uint32_t word = lanes[group * 4 + quad][place];
    if (isWide()) // the lower bits are not looked at
      return llvm::bit_cast<float>(word & ~uint32_t(0x1fff));
    const auto &format = type == NVVM::MMATypes::bf16
                             ? llvm::APFloat::BFloat()
                             : llvm::APFloat::IEEEhalf();
    return llvm::APFloat(format, llvm::APInt(16, word >> k % 2 * 16 & 0xffff))
        .convertToFloat();
  }
};
} // namespace

/// Adds terms as a tensor core does: terms and sum are truncated two bits below
/// the last bit of the largest term, as on Hopper.
static float addCutOff(ArrayRef<double> terms) {
  double largest = 0;
  for (double term : terms)
    largest = std::max(largest, std::abs(term));
  if (largest == 0 || !std::isfinite(largest))
    return float(std::accumulate(terms.begin(), terms.end(), 0.0));
  const double unit = std::ldexp(1.0, std::ilogb(largest) - 25);
  double sum = 0;
  for (double term : terms)
    sum += std::trunc(term / unit) * unit;
  const auto rounded = float(sum);
  return std::abs(rounded) > std::abs(sum) ? std::nextafter(rounded, 0.0f)
                                           : rounded;
}

/// Adds this lane's four sums of a product to `sums`.
static void multiplyInWarp(int32_t type, int32_t depth, const uint32_t *words,
                           float *sums) {
  ThreadBlock &block = *ThreadBlock::current;
  ThreadBlock::Words own;
  std::copy_n(words, own.size(), own.begin());
  const size_t lane = block.running % 32, first = block.running - lane,
               phase = block.meet(own);
  WarpOperands operands{NVVM::MMATypes(type), depth, {}};
  for (size_t other = 0; other < 32; ++other)
    operands.lanes[other] = block.broughtBy(first + other, phase);
  for (int64_t place = 0; place < 4; ++place) {
    const int64_t row = int64_t(lane) / 4 + place / 2 * 8,
                  column = int64_t(lane) % 4 * 2 + place % 2;
    SmallVector<double> terms = {sums[place]};
    for (int64_t k = 0; k < depth; ++k)
      terms.push_back(double(operands.left(row, k)) *
                      operands.right(k, column));
    sums[place] = addCutOff(terms);
  }
}

/// ldmatrix: lane 8 m + r gives the address of row r of square m. Returns this
/// lane's two elements of each square, transposed or not.
static void loadInWarp(int32_t count, int32_t isTurned, const char *row,
                       uint32_t *results) {
  ThreadBlock &block = *ThreadBlock::current;
  const auto address = reinterpret_cast<uintptr_t>(row);
  const size_t lane = block.running % 32, first = block.running - lane,
               phase = block.meet({uint32_t(address), uint32_t(address >> 32)});
  auto element = [&](size_t square, size_t row, size_t column) {
    const ThreadBlock::Words words =
        block.broughtBy(first + 8 * square + row, phase);
    uint16_t bits;
    std::memcpy(
        &bits,
        reinterpret_cast<const char *>(uint64_t(words[1]) << 32 | words[0]) +
            column * sizeof(bits),
        sizeof(bits));
    return uint32_t(bits);
  };
  const size_t g = lane / 4, pair = lane % 4 * 2;
  for (size_t square = 0; square < size_t(count); ++square)
    results[square] =
        isTurned
            ? element(square, pair, g) | element(square, pair + 1, g) << 16
            : element(square, g, pair) | element(square, g, pair + 1) << 16;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

namespace {
/// Replaces ops that only a GPU has.
struct HostForm {
  ModuleOp module;
  OpBuilder builder{module.getContext()};
  Location loc = builder.getUnknownLoc();
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());

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

  Value allocate(Operation *user, Type type, int64_t count) {
    auto function = user->getParentOfType<LLVM::LLVMFuncOp>();
    builder.setInsertionPointToStart(&function.getBody().front());
    Value size =
        LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), count);
    return LLVM::AllocaOp::create(builder, loc, pointer, type, size);
  }
  Value placeOf(Value memory, Type type, int32_t number) {
    return LLVM::GEPOp::create(builder, loc, pointer, type, memory,
                               ArrayRef<LLVM::GEPArg>{number});
  }
  Value constant(int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), value);
  }
  void call(StringRef name, ArrayRef<Value> operands) {
    Type none = LLVM::LLVMVoidType::get(module.getContext());
    const SmallVector<Type> types(ValueRange(operands).getTypes());
    LLVM::CallOp::create(builder, loc, declare(name, none, types), operands);
  }
  /// Loads all elements of the struct at `memory`.
  Value loadStruct(Value memory, LLVM::LLVMStructType type) {
    Value result = LLVM::UndefOp::create(builder, loc, type);
    for (auto [place, element] : llvm::enumerate(type.getBody())) {
      Value loaded = LLVM::LoadOp::create(
          builder, loc, element, placeOf(memory, element, int32_t(place)));
      result = LLVM::InsertValueOp::create(builder, loc, result, loaded,
                                           int64_t(place));
    }
    return result;
  }

  void replaceLoad(NVVM::LdMatrixOp load) {
    Type i32 = builder.getI32Type();
    Value words = allocate(load, i32, load.getNum());
    builder.setInsertionPoint(load);
    Value row =
        LLVM::AddrSpaceCastOp::create(builder, loc, pointer, load.getPtr());
    call("emulated_load",
         {constant(load.getNum()),
          constant(load.getLayout() == NVVM::MMALayout::col), row, words});
    auto all = dyn_cast<LLVM::LLVMStructType>(load.getType());
    load.getResult().replaceAllUsesWith(
        all ? loadStruct(words, all)
            : LLVM::LoadOp::create(builder, loc, i32, words).getResult());
    load.erase();
  }

  /// Operands and sums are passed in memory.
  void replaceProduct(NVVM::MmaOp product) {
    Type i32 = builder.getI32Type(), f32 = builder.getF32Type();
    Value words = allocate(product, i32, std::tuple_size_v<ThreadBlock::Words>),
          sums = allocate(product, f32, 4);
    builder.setInsertionPoint(product);
    int32_t number = 0;
    for (ValueRange operands : {product.getOperandA(), product.getOperandB()})
      for (Value operand : operands) {
        Value word = operand.getType() == i32
                         ? operand
                         : LLVM::BitcastOp::create(builder, loc, i32, operand)
                               .getResult();
        LLVM::StoreOp::create(builder, loc, word,
                              placeOf(words, i32, number++));
      }
    for (auto [place, sum] : llvm::enumerate(product.getOperandC()))
      LLVM::StoreOp::create(builder, loc, sum,
                            placeOf(sums, f32, int32_t(place)));
    call("emulated_product",
         {constant(int64_t(*product.getMultiplicandAPtxType())),
          constant(product.getShape().getK()), words, sums});
    product.getResult().replaceAllUsesWith(loadStruct(
        sums, cast<LLVM::LLVMStructType>(product.getResult().getType())));
    product.erase();
  }

  void replace(Operation *op) {
    if (isa<NVVM::ThreadIdXOp>(op) || isa<NVVM::BlockIdXOp>(op)) {
      op->getResult(0).replaceAllUsesWith(call(
          op, isa<NVVM::ThreadIdXOp>(op) ? "emulated_thread" : "emulated_block",
          {}));
      op->erase();
    } else if (auto shuffle = dyn_cast<NVVM::ShflOp>(op)) {
      replaceShuffle(shuffle);
    } else if (auto product = dyn_cast<NVVM::MmaOp>(op)) {
      replaceProduct(product);
    } else if (auto load = dyn_cast<NVVM::LdMatrixOp>(op)) {
      replaceLoad(load);
    } else if (isa<NVVM::BarrierOp>(op)) {
      call(op, "emulated_barrier", {});
      op->erase();
    }
  }

  /// Adds an entry function that finds its arguments in two arrays.
  void addEntry(LLVM::LLVMFuncOp kernel) {
    builder.setInsertionPointToEnd(module.getBody());
    Type none = LLVM::LLVMVoidType::get(module.getContext());
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

  /// Passes by address the arguments that a GPU gets by value.
  static void takeByAddress(LLVM::LLVMFuncOp kernel) {
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
      kernel.removeArgAttr(i, LLVM::LLVMDialect::getByValAttrName());
      kernel.removeArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName());
    }
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
        takeByAddress(function);
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

/// Function that hosts without such an instruction call, and that libgcc lacks
/// before GCC 13.
static __bf16 roundToBfloat(float value) {
  return std::bit_cast<__bf16>(runtime::BFloat16(value).bits);
}

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
  add("emulated_product", &multiplyInWarp);
  add("emulated_load", &loadInWarp);
  add("__truncsfbf2", &roundToBfloat);
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
  return run(number, plans[number].blocks, plans[number].threads,
             std::move(buffers), scalars);
}

std::string EmulatedGpu::run(size_t number, int64_t blocks, int64_t threads,
                             std::vector<void *> buffers,
                             const std::vector<int64_t> &scalars) {
  if (!error.empty())
    return error;
  auto symbol = jit->lookup("run_pcc_k_" + std::to_string(number));
  if (!symbol)
    return llvm::toString(symbol.takeError());
  auto *entry = symbol->toPtr<void(void *const *, const int64_t *)>();
  for (int64_t block = 0; block < blocks; ++block)
    if (!ThreadBlock(block, threads, [&] {
           entry(buffers.data(), scalars.data());
         }).run())
      return "a thread misses a meeting of its block";
  return "";
}
