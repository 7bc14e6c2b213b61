//===- Simulation.h - Executes reshard plans on index sets ----------------===//
#ifndef PCC_TEST_PASSES_PLAN_RESHARD_SIMULATION_H
#define PCC_TEST_PASSES_PLAN_RESHARD_SIMULATION_H

#include "passes/plan/reshard/Reshard.h"

#include <string>
#include <vector>

namespace pcc::plan {

/// State of all ranks: per rank and element of the tensor, the set of
/// contributions (one bit per coordinate along the partial axes of the start).
/// An element that a rank does not hold has `absent`.
class Simulation {
public:
  Simulation(const dist::Mesh &mesh, const dist::Shape &shape,
             const dist::Sharding &start);

  /// Executes one step. Returns the error in it, or nothing.
  std::string execute(const ReshardStep &step);

  /// Checks that every rank holds exactly its part of `end`, with the
  /// contributions that it should have.
  std::string check(const dist::Sharding &end) const;

  /// Returns the most elements that a rank received in the last step, which
  /// was a movement.
  int64_t received() const { return mostReceived; }

private:
  using Elements = std::vector<uint64_t>;
  static constexpr uint64_t absent = ~uint64_t{0};

  std::vector<int64_t> elementsOf(const std::vector<dist::Runs> &box) const;
  std::string move(const ReshardStep &step);
  std::string reduce(const ReshardStep &step);
  void mask(const ReshardStep &step);
  /// Returns whether the shards of the ranks in `group` after a step are those
  /// before it in another order.
  bool permutes(const ReshardStep &step,
                const std::vector<int64_t> &group) const;

  const dist::Mesh &mesh;
  const dist::Shape &shape;
  dist::SubAxes startPartial;
  std::vector<Elements> held;
  int64_t mostReceived = 0;
};

/// Executes a plan from start to end and checks the result and the sum of
/// bytes.
std::string simulate(const ReshardPlan &plan, const dist::Sharding &from,
                     const dist::Sharding &to, const dist::Shape &shape,
                     int64_t elementBytes, const dist::Mesh &mesh);

} // namespace pcc::plan

#endif // PCC_TEST_PASSES_PLAN_RESHARD_SIMULATION_H
