//===- CompileReport.cpp - statistics of a compilation (--report) ---------===//

#include "passes/driver/CompileReport.h"
#include "passes/driver/WriteFile.h"
#include "runtime/tensor/JsonNumbers.h"
#include "llvm/Support/raw_ostream.h"

#include <ctime>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

using namespace pcc;
using Json = nlohmann::ordered_json;

/// Returns the largest resident memory that the process has had so far, in
/// bytes.
static int64_t peakMemory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

/// Returns the processor time that all threads of the process have taken.
static std::chrono::nanoseconds cpuTime() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) +
         std::chrono::nanoseconds(time.tv_nsec);
}

static double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

void CompileReport::begin(Phase phase) {
  if (phase == current)
    return;
  current = phase;
  phaseStarted = Clock::now();
  phaseStartedCpu = cpuTime();
}

PhaseStats CompileReport::statsOf(std::string name) const {
  const std::chrono::duration<double> cpu = cpuTime() - phaseStartedCpu;
  return {std::move(name), secondsSince(phaseStarted), cpu.count(),
          peakMemory()};
}

void CompileReport::end() {
  phases.push_back(statsOf(std::string(folderOf(current))));
}

void CompileReport::beginBundle() {
  phaseStarted = Clock::now();
  phaseStartedCpu = cpuTime();
}

void CompileReport::endBundle() { bundle = statsOf("bundle"); }

Status CompileReport::write(const std::string &path,
                            const Status &status) const {
  Json phaseList = Json::array(), unsupportedList = Json::array();
  for (const PhaseStats &phase : phases)
    phaseList.push_back({{"name", phase.name},
                         {"seconds", phase.seconds},
                         {"cpu_seconds", phase.cpuSeconds},
                         {"peak_memory_bytes", phase.peakMemoryBytes}});
  for (const UnsupportedOp &op : unsupported)
    unsupportedList.push_back({{"op", op.op},
                               {"domain", op.domain},
                               {"count", op.nodes.size()},
                               {"nodes", op.nodes}});
  Json all = {{"phases", phaseList},
              {"seconds", secondsSince(started)},
              {"peak_memory_bytes", peakMemory()},
              {"unsupported", unsupportedList},
              {"notes", notes}};
  if (bundle)
    all["bundle"] = {{"seconds", bundle->seconds},
                     {"cpu_seconds", bundle->cpuSeconds},
                     {"peak_memory_bytes", bundle->peakMemoryBytes}};
  if (!status.ok())
    all["error"] = status.message();
  return writeFile(path, [&](llvm::raw_ostream &file) {
    file << runtime::withRoundNumbers(all).dump(2, ' ', /*ensure_ascii=*/false,
                                                Json::error_handler_t::replace)
         << "\n";
  });
}
