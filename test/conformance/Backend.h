//===- Backend.h - a communicator under test ------------------------------===//

#ifndef PCC_TEST_CONFORMANCE_BACKEND_H
#define PCC_TEST_CONFORMANCE_BACKEND_H

#include "runtime/comm/Communicator.h"

#include <functional>
#include <gtest/gtest.h>

namespace pcc::runtime {

/// Number of ranks for which all suites are written.
inline constexpr int kRanks = 4;

/// Runs a body once per rank. Ranks may be threads of this process, or this
/// process may be one of them.
class Backend {
public:
  virtual ~Backend() = default;
  virtual void run(const std::function<void(World &)> &body) = 0;
  /// Returns whether the communicator has reductions of the type.
  virtual bool reduces(ElementType) const { return true; }
};

/// Fixture of the suites. CommunicatorSuite.cpp and FailureSuite.cpp register
/// them; backends instantiate them.
class Communicator : public testing::TestWithParam<Backend *> {
protected:
  void onEveryRank(const std::function<void(World &)> &body) {
    GetParam()->run(body);
  }
};

/// Fixture of cases that end the run: a backend whose ranks are processes runs
/// one case per process.
class CommunicatorFailure : public Communicator {};

} // namespace pcc::runtime

#endif // PCC_TEST_CONFORMANCE_BACKEND_H
