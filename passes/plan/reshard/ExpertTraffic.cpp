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
  // The result is the probability that a token chooses no expert of one rank.
  // The experts of this rank have the numbers 0, 1, 2, and so on. The result is
  // a product with one factor for each expert of the rank. Factor i is the
  // probability that the token does not choose expert i, on the condition that
  // the token does not choose any of the experts 0 to i - 1.
  //
  // Example: there are 8 experts, and each rank has 2 of them. A token chooses
  // 2 of the 8 experts. The result is 6/8 * 5/7 = 15/28.
  double chance = 1;
  for (int64_t i = 0; i < expertsOfRank(traffic); ++i)
    chance *= std::max(0.0, double(traffic.experts - traffic.chosen - i) /
                                double(traffic.experts - i));
  return chance;
}

bool paysToRouteFirst(const ExpertTraffic &traffic) {
  if (traffic.ranks < 2 || traffic.experts < 2)
    return false;
  // The numbers are the bytes of one token between its rank and another rank r
  // with routing. `gates` is the number of bytes that rank r receives in
  // addition to the token: one gate for each expert of rank r, and one byte
  // that says whether rank r receives the token. `back` is the number of result
  // bytes that rank r sends back, as a mean over all ranks r. The worst case is
  // assumed: all chosen experts are on different ranks, and no chosen expert is
  // on the rank of the token.
  const double gates = double(expertsOfRank(traffic)) * traffic.gateBytes + 1;
  const double others = double(traffic.ranks - 1);
  const double back =
      std::min(double(traffic.chosen), others) / others * traffic.tokenBytes;
  return gates < traffic.tokenBytes - back &&
         gates < chanceOfNone(traffic) * traffic.tokenBytes;
}

} // namespace pcc::plan
