//===- ExpertTraffic.cpp - token routing vs. gathering for experts --------===//

#include "passes/plan/reshard/ExpertTraffic.h"

#include <algorithm>
#include <cassert>

namespace pcc::plan {

/// Returns the number of experts on a rank: ceil(experts / ranks).
static int64_t expertsOfRank(const ExpertTraffic &traffic) {
  assert(traffic.ranks > 0 && "no ranks");
  return (traffic.experts + traffic.ranks - 1) / traffic.ranks;
}

double chanceOfNone(const ExpertTraffic &traffic) {
  // The result is a product over the experts of the rank. Factor i is the
  // probability that expert i is not chosen, if experts 0 to i - 1 are not
  // chosen.
  double chance = 1;
  for (int64_t i = 0; i < expertsOfRank(traffic); ++i)
    chance *= std::max(0.0, double(traffic.experts - traffic.chosen - i) /
                                double(traffic.experts - i));
  return chance;
}

bool paysToRouteFirst(const ExpertTraffic &traffic) {
  if (traffic.ranks < 2 || traffic.experts < 2)
    return false;
  // Byte counts below are for one token and one rank that does not have the
  // token.
  const double gates = double(expertsOfRank(traffic)) * traffic.gateBytes + 1;
  const double others = double(traffic.ranks - 1);
  const double back =
      std::min(double(traffic.chosen), others) / others * traffic.tokenBytes;
  return gates < traffic.tokenBytes - back &&
         gates < chanceOfNone(traffic) * traffic.tokenBytes;
}

} // namespace pcc::plan
