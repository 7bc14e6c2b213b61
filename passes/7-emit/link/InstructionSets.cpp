//===- InstructionSets.cpp - instruction sets of a module's CPU kernels ---===//

#include "passes/7-emit/link/InstructionSets.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <array>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Levels of the x86-64 architecture, as the x86-64 psABI defines them. The
/// module attribute `rank.cpus` lists the instruction sets for which CPU
/// kernels are compiled. Each entry of the list is "native" or begins with one
/// of these levels. Example: "x86-64-v4,+avx512bf16".
static constexpr std::array<llvm::StringLiteral, 4> levels = {
    "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};

/// CPU features that the level x86-64-v4 does not include. nativeSet() returns
/// the instruction set of the machine on which pcc runs. If this machine has
/// the level x86-64-v4, nativeSet() appends each feature of this list that the
/// machine has. Example: "x86-64-v4,+avx512bf16".
static constexpr std::array<llvm::StringLiteral, 3> extras = {
    "avx512vnni", "avx512bf16", "avx512fp16"};

/// Returns the instruction set of the machine on which pcc runs: its x86-64
/// level, at least x86-64-v2. For x86-64-v4, appends the features in `extras`
/// that the machine has. Example: "x86-64-v4,+avx512bf16".
static std::string nativeSet() {
  const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  std::string set = "x86-64-v2";
  if (host.lookup("avx2") && host.lookup("fma") && host.lookup("bmi2"))
    set = "x86-64-v3";
  if (!host.lookup("avx512f") || !host.lookup("avx512bw") ||
      !host.lookup("avx512dq") || !host.lookup("avx512vl"))
    return set;
  set = "x86-64-v4";
  for (StringRef extra : extras)
    if (host.lookup(extra))
      set += ",+" + extra.str();
  return set;
}

Status emit::instructionSetsOf(ModuleOp module,
                               std::vector<std::string> &cpus) {
  cpus.clear();
  if (dist::targetOf(module) == "cpu")
    cpus = {"x86-64-v3", "x86-64-v4"};
  auto recorded = module->getAttrOfType<ArrayAttr>(rank::cpusName);
  if (!recorded || recorded.empty())
    return Status::success();
  cpus.clear();
  for (auto name : recorded.getAsRange<StringAttr>()) {
    std::string set =
        name.getValue() == "native" ? nativeSet() : name.getValue().str();
    if (!llvm::is_contained(levels, StringRef(set).split(',').first))
      return Status::error(WrongUsage,
                           "no instruction set is called '" + set + "'",
                           {"known are x86-64, x86-64-v2, x86-64-v3, "
                            "x86-64-v4 and native"});
    cpus.push_back(std::move(set));
  }
  // The list `cpus` contains names of instruction sets. Sort the names
  // alphabetically. The levels are then sorted from the least capable to the
  // most capable: "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4". Sorting also
  // makes duplicates neighbors, so that std::unique() removes them.
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return Status::success();
}
