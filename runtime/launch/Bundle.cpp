//===- Bundle.cpp - the executables of a bundle ---------------------------===//

#include "runtime/launch/Bundle.h"

#include <cstdio>
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

// Doubling, then halving: the bundle may have 65,536 ranks.
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

} // namespace pcc::runtime
