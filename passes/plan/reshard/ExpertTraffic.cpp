//===- ExpertTraffic.cpp - token routing vs. gathering for experts --------===//

#include "passes/plan/reshard/ExpertTraffic.h"

#include <algorithm>

namespace pcc::plan {

/// Returns the number of experts of a rank, rounded up.
static int64_t expertsOfRank(const ExpertTraffic &traffic) {
  return (traffic.experts + traffic.ranks - 1) / traffic.ranks;
}

double chanceOfNone(const ExpertTraffic &traffic) {
  // The choices are drawn without replacement: expert i of the rank is not
  // among the chosen ones, given that the i experts before it are not either.
  double chance = 1;
  for (int64_t i = 0; i < expertsOfRank(traffic); ++i)
    chance *= std::max(0.0, double(traffic.experts - traffic.chosen - i) /
                                double(traffic.experts - i));
  return chance;
}

bool paysToRouteFirst(const ExpertTraffic &traffic) {
  if (traffic.ranks < 2 || traffic.experts < 2)
    return false;
  // All quantities are bytes per token and other rank.
  const double gates = double(expertsOfRank(traffic)) * traffic.gateBytes + 1;
  const double others = double(traffic.ranks - 1);
  const double back =
      std::min(double(traffic.chosen), others) / others * traffic.tokenBytes;
  return gates < traffic.tokenBytes - back &&
         gates < chanceOfNone(traffic) * traffic.tokenBytes;
}

} // namespace pcc::plan
