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
  // Factor i of the product is the probability that the token does not choose
  // expert i of the rank, on the condition that it chooses no expert of the
  // rank before expert i. Example: a token chooses 2 of 8 experts. For a rank
  // with 2 experts, the result is 6/8 * 5/7.
  double chance = 1;
  for (int64_t i = 0; i < expertsOfRank(traffic); ++i)
    chance *= std::max(0.0, double(traffic.experts - traffic.chosen - i) /
                                double(traffic.experts - i));
  return chance;
}

bool paysToRouteFirst(const ExpertTraffic &traffic) {
  if (traffic.ranks < 2 || traffic.experts < 2)
    return false;
  // Consider one token, its rank, and another rank r. `gates` is the number of
  // bytes that routing sends in any case: one gate for each expert of rank r,
  // and one byte that says whether the token is routed to rank r. `back` is the
  // mean number of bytes of results that rank r sends back, if all chosen
  // experts are on different ranks, and none is on the token's rank.
  const double gates = double(expertsOfRank(traffic)) * traffic.gateBytes + 1;
  const double others = double(traffic.ranks - 1);
  const double back =
      std::min(double(traffic.chosen), others) / others * traffic.tokenBytes;
  return gates < traffic.tokenBytes - back &&
         gates < chanceOfNone(traffic) * traffic.tokenBytes;
}

} // namespace pcc::plan
