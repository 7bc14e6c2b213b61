//===- Philox.h - Philox counter-based random numbers ---------------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_PHILOX_H
#define PCC_DIALECTS_GRAPH_REFERENCE_PHILOX_H

#include <array>
#include <cstdint>

namespace pcc::graph {

/// Returns the four random 32-bit words that Philox 4x32 with 10 rounds
/// computes from a counter and a key. The result depends only on the arguments.
/// (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3;
/// 2011.)
inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                                      std::array<uint32_t, 2> key) {
  auto [a, b, c, d] = counter;
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53) * a,
             second = uint64_t(0xCD9E8D57) * c;
    a = static_cast<uint32_t>(second >> 32) ^ b ^ key[0];
    b = static_cast<uint32_t>(second);
    c = static_cast<uint32_t>(first >> 32) ^ d ^ key[1];
    d = static_cast<uint32_t>(first);
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return {a, b, c, d};
}

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_PHILOX_H
