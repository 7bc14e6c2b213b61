//===- InstructionSet.cpp - choice of kernels by CPU features -------------===//

#include "runtime/device/cpu/InstructionSet.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace pcc::runtime {

namespace {
/// Row of the table `levels` or of the table `features`. The member `from` is a
/// name that LLVM uses. The meaning of the member `to` depends on the table:
///
/// - In `features`, `from` is the name of a CPU feature. `to` is the name of
///   this feature in Linux's /proc/cpuinfo. For example, `from` is "sse3" and
///   `to` is "pni".
/// - In `levels`, `from` is a level of the x86-64 ABI. `to` lists the CPU
///   features that the level requires. The list contains LLVM's names of the
///   features, separated by commas. For example, `from` is "x86-64-v2" and `to`
///   is "sse3,ssse3,sse4.1,sse4.2,popcnt". The list may begin with the name of
///   a lower level. The name of a lower level stands for all features of that
///   level.
struct Renaming {
  std::string_view from;
  std::string_view to;
};
} // namespace

/// The microarchitecture levels of the x86-64 ABI, such as "x86-64-v3". Each
/// row maps a level to the list of the CPU features that the level requires.
static constexpr std::array<Renaming, 4> levels = {
    {{"x86-64", ""},
     {"x86-64-v2", "sse3,ssse3,sse4.1,sse4.2,popcnt"},
     {"x86-64-v3", "x86-64-v2,avx,avx2,bmi,bmi2,f16c,fma,lzcnt,movbe,xsave"},
     {"x86-64-v4", "x86-64-v3,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"}}};

/// Names of CPU features in LLVM, and the names of the same features in Linux's
/// /proc/cpuinfo. Names that differ only in punctuation are not listed.
static constexpr std::array<Renaming, 9> features = {
    {{"sse3", "pni"},
     {"lzcnt", "abm"},
     {"bmi", "bmi1"},
     {"cx16", "cx16"},
     {"sahf", "lahf_lm"},
     {"avx512vnni", "avx512_vnni"},
     {"avx512bf16", "avx512_bf16"},
     {"avx512fp16", "avx512_fp16"},
     {"avxvnni", "avx_vnni"}}};

/// Returns the CPU features (flags) that /proc/cpuinfo lists for its first
/// processor. The file is read in the first call only.
static const std::set<std::string> &hostFlags() {
  static const std::set<std::string> flags = [] {
    std::set<std::string> found;
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
      if (!line.starts_with("flags"))
        continue;
      std::istringstream words(line.substr(line.find(':') + 1));
      for (std::string flag; words >> flag;)
        found.insert(flag);
      break;
    }
    return found;
  }();
  return flags;
}

/// Returns the row of `table` whose member `from` is `name`, or null if there
/// is none.
template <size_t N>
static const Renaming *find(const std::array<Renaming, N> &table,
                            std::string_view name) {
  const auto *row =
      std::find_if(table.begin(), table.end(), [&](const Renaming &candidate) {
        return candidate.from == name;
      });
  return row == table.end() ? nullptr : row;
}

/// Returns whether the host's processor has the feature `name`. A level such as
/// "x86-64-v3" stands for all its features.
static bool hasFeature(std::string_view name) {
  if (const Renaming *level = find(levels, name))
    return hostSupports(level->to);
  std::string flag(name);
  if (const Renaming *renamed = find(features, name))
    flag = renamed->to;
  for (char &letter : flag)
    if (letter == '.' || letter == '-')
      letter = '_';
  return hostFlags().count(flag) > 0;
}

bool hostSupports(std::string_view cpu) {
  while (!cpu.empty()) {
    const size_t end = std::min(cpu.find(','), cpu.size());
    std::string_view name = cpu.substr(0, end);
    cpu.remove_prefix(std::min(end + 1, cpu.size()));
    if (name.starts_with('+'))
      name.remove_prefix(1);
    if (!name.empty() && !hasFeature(name))
      return false;
  }
  return true;
}

Status chooseVariant(const ProgramImage &image, uint64_t numKernels,
                     const KernelFunction *&kernels) {
  kernels = nullptr;
  std::string names;
  for (uint64_t i = image.numVariants; i-- > 0;) {
    const PccKernelVariant &variant = image.variants[i];
    if (hostSupports(variant.cpu)) {
      kernels = variant.kernels;
      return Status::success();
    }
    names += (names.empty() ? "" : ", ") + std::string(variant.cpu);
  }
  if (numKernels == 0)
    return Status::success();
  return Status::error(
      NoDevice,
      "this processor lacks the instruction sets that the bundle was "
      "compiled for (" +
          names + ")",
      {"compile with --cpu x86-64-v3, or on this machine with --cpu "
       "native"});
}

} // namespace pcc::runtime
