//===- BundleFiles.cpp - names and number of a bundle's rank files --------===//

#include "runtime/launch/job/BundleFiles.h"

#include <cctype>
#include <cstdio>
#include <fstream>
#include <unistd.h>

namespace pcc::runtime {

std::string rankFileName(int rank) {
  char name[32];
  std::snprintf(name, sizeof name, "rank-%03d", rank);
  return name;
}

static bool hasRank(const std::string &bundle, int rank) {
  return access((bundle + "/" + rankFileName(rank)).c_str(), F_OK) == 0;
}

// Finds the first rank without an executable by doubling and bisection. A
// linear search would need up to 65,536 system calls.
int countRanks(const std::string &bundle) {
  if (!hasRank(bundle, 0))
    return 0;
  int present = 0;
  int absent = 1;
  while (hasRank(bundle, absent)) {
    present = absent;
    absent *= 2;
  }
  while (absent - present > 1) {
    const int middle = present + (absent - present) / 2;
    (hasRank(bundle, middle) ? present : absent) = middle;
  }
  return absent;
}

/// Returns the number of ranks, which is the first entry of bundle.json.
/// Returns 0 if the file or this entry is missing.
static int recordedWorld(const std::string &bundle) {
  std::ifstream file(bundle + "/bundle.json");
  char text[64] = {};
  file.read(text, sizeof text - 1);
  int world = 0;
  return sscanf(text, " { \"world\" : %d", &world) == 1 ? world : 0;
}

bool isForGpus(const std::string &bundle) {
  // Read only the beginning of bundle.json, because the file may be long, and
  // the target (CPU or GPU) is among its first entries.
  std::ifstream file(bundle + "/bundle.json");
  std::string text(8192, '\0');
  file.read(text.data(), std::streamsize(text.size()));
  std::erase_if(text, [](char c) { return std::isspace(c); });
  return text.find("\"target\":\"cuda\"") != std::string::npos;
}

// Detects a bundle whose last rank executables are missing. Without this check,
// it would be run as a bundle with fewer ranks.
Status checkComplete(const std::string &bundle) {
  const int present = countRanks(bundle);
  const int world = recordedWorld(bundle);
  if (present == 0 || present >= world)
    return Status::success();
  return Status::error(DamagedBundle,
                       "bundle '" + bundle + "' of " + std::to_string(world) +
                           " ranks lacks " + rankFileName(present));
}

} // namespace pcc::runtime
