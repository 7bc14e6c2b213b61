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
/// Row of the table `features` or of the table `levels`.
///
/// - In `features`, `from` is LLVM's name of a CPU feature, such as "sse3".
///   `to` is the name of this feature in Linux's /proc/cpuinfo, such as "pni".
/// - In `levels`, `from` is a level of the x86-64 ABI, such as "x86-64-v3".
///   `to` lists LLVM's names of the features that the level requires, separated
///   by commas. The list may begin with another level, whose features are then
///   required too.
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

/// Table of CPU features. The first name in each row is LLVM's name of a
/// feature. The second name is the name of the same feature in Linux's
/// /proc/cpuinfo.
///
/// A feature needs no row if a simple replacement turns LLVM's name into
/// Linux's name: each '.' or '-' is replaced by '_'. For example, LLVM's
/// "sse4.1" becomes Linux's "sse4_1". The function hasFeature() makes this
/// replacement.
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

/// Searches a table of names for the row whose member `from` equals `name`.
/// `table` is the table `levels` or the table `features`. The member `from` is
/// LLVM's name of a level or of a CPU feature, such as "x86-64-v3" or "sse3".
/// Returns the address of the row, or null if the table has no such row.
template <size_t N>
static const Renaming *find(const std::array<Renaming, N> &table,
                            std::string_view name) {
  const auto *row =
      std::find_if(table.begin(), table.end(), [&](const Renaming &candidate) {
        return candidate.from == name;
      });
  return row == table.end() ? nullptr : row;
}

/// Returns whether the host's processor has the CPU feature `name`. `name` is
/// LLVM's name of the feature, such as "avx2".
///
/// `name` can also be the name of a level of the x86-64 ABI, such as
/// "x86-64-v3". A level is a set of CPU features. In this case, returns whether
/// the processor has all features of the level.
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
