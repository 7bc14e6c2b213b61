//===- Backend.h - a communicator under test ------------------------------===//

#ifndef PCC_TEST_CONFORMANCE_BACKEND_H
#define PCC_TEST_CONFORMANCE_BACKEND_H

#include "runtime/comm/Communicator.h"

#include <functional>
#include <gtest/gtest.h>

namespace pcc::runtime {

/// Number of ranks that every suite is written for.
inline constexpr int kRanks = 4;

/// Runs a body once per rank. Ranks may be threads of this process, or this
/// process may be one of them.
class Backend {
public:
  virtual ~Backend() = default;
  virtual void run(const std::function<void(World &)> &body) = 0;
  /// Whether there are reductions of the type.
  virtual bool reduces(ElementType) const { return true; }
};

/// Suites are written against this and registered by CommunicatorSuite.cpp and
/// FailureSuite.cpp; backends instantiate them.
class Communicator : public testing::TestWithParam<Backend *> {
protected:
  void onEveryRank(const std::function<void(World &)> &body) {
    GetParam()->run(body);
  }
};

/// Each case ends the run: a backend whose ranks are processes runs one case
/// per process.
class CommunicatorFailure : public Communicator {};

} // namespace pcc::runtime

#endif // PCC_TEST_CONFORMANCE_BACKEND_H
