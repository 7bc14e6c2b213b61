//===- CompileReport.cpp - statistics of a compilation (--report) ---------===//

#include "passes/driver/CompileReport.h"
#include "passes/driver/WriteFile.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/resource.h>

using namespace pcc;

/// Returns the largest resident memory that the process has had so far, in
/// bytes.
static int64_t peakMemory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
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
}

void CompileReport::end() {
  phases.push_back({std::string(folderOf(current)), secondsSince(phaseStarted),
                    peakMemory()});
}

Status CompileReport::write(const std::string &path,
                            const Status &status) const {
  llvm::json::Array phaseList, unsupportedList, noteList;
  for (const PhaseStats &phase : phases)
    phaseList.push_back(
        llvm::json::Object{{"name", phase.name},
                           {"seconds", phase.seconds},
                           {"peak_memory_bytes", phase.peakMemoryBytes}});
  for (const UnsupportedOp &op : unsupported)
    unsupportedList.push_back(
        llvm::json::Object{{"op", op.op},
                           {"domain", op.domain},
                           {"count", static_cast<int64_t>(op.nodes.size())},
                           {"nodes", llvm::json::Array(op.nodes)}});
  for (const std::string &note : notes)
    noteList.push_back(note);
  llvm::json::Object all{{"phases", std::move(phaseList)},
                         {"seconds", secondsSince(started)},
                         {"peak_memory_bytes", peakMemory()},
                         {"unsupported", std::move(unsupportedList)},
                         {"notes", std::move(noteList)}};
  if (!status.ok())
    all["error"] = status.message();
  return writeFile(path, [&](llvm::raw_ostream &file) {
    file << llvm::formatv("{0:2}", llvm::json::Value(std::move(all))) << "\n";
  });
}
