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
  // The following numbers are for routing: only ranks with a chosen expert
  // receive a token. Let a token be on one rank, and let r be any other rank.
  // The token chooses at most `traffic.chosen` experts. If rank r has a chosen
  // expert, rank r receives the token and sends a result back to the rank of
  // the token. The result has `traffic.tokenBytes` bytes.
  //
  //  - `gates` is the number of bytes that rank r receives in addition to the
  //    token. Rank r receives one gate for each of its experts. A gate is the
  //    weight of an expert for the token. Rank r also receives one byte, which
  //    says whether rank r receives the token.
  //  - `others` is the number of all ranks except the rank of the token.
  //  - `back` is the number of bytes of all results for the token, divided by
  //    `others`. The code assumes the worst case: all chosen experts are on
  //    different ranks, and none of them is on the rank of the token.
  //
  // Example: there are 5 ranks, and each rank has 2 experts. A gate has 4
  // bytes, and a result has 1000 bytes. The token chooses 1 expert. `gates` is
  // 2 * 4 + 1 = 9, `others` is 4, and `back` is 1 * 1000 / 4 = 250.
  const double gates = double(expertsOfRank(traffic)) * traffic.gateBytes + 1;
  const double others = double(traffic.ranks - 1);
  const double back =
      std::min(double(traffic.chosen), others) / others * traffic.tokenBytes;
  return gates < traffic.tokenBytes - back &&
         gates < chanceOfNone(traffic) * traffic.tokenBytes;
}

} // namespace pcc::plan
