//===- Guest.h - another rank's connection to rank 0 ----------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_GUEST_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_GUEST_H

#include "runtime/launch/rendezvous/Party.h"

#include <deque>

namespace pcc::runtime {

/// Tries to reach rank 0 again and again, which may start later, until it is
/// welcome. Anything else that listens there is left alone.
class Guest final : public Party {
public:
  explicit Guest(const MeetingTerms &terms) : Party(terms) {}

  /// Finds where rank 0 is.
  Status resolve();

  void watch(std::vector<pollfd> &watched) const override;
  void turn(std::span<const pollfd> watched) override;
  bool isReady() const override { return ready; }
  std::string missing() const override;
  bool haveAllHeard() const override { return true; }
  bool haveAllLeft() const override { return !connection.isOpen(); }
  bool take(std::vector<std::string> &messages) override;
  void tell(const Frame &frame) override;

private:
  enum class State {
    Apart,      ///< tries to connect from time to time
    Connecting, ///< the kernel does
    Greeting,   ///< rank 0's challenge is to come
    Proving,    ///< its welcome is to come
    Welcome,
  };

  void connect();
  void hear(const Frame &frame);
  void answer(const Frame &challenge);
  void checkWelcome(const Frame &welcome);
  void retreat(const std::string &why);
  void loseHost();

  std::vector<SocketAddress> places;
  size_t numTries = 0;
  Clock::time_point nextTry = Clock::now();
  Clock::time_point since;                      ///< when this try began
  std::string trouble = "nobody listens there"; ///< of the last try
  State state = State::Apart;
  Connection connection;
  std::string hostsChallenge, ownChallenge;
  std::deque<std::string> messages;
  bool ready = false;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_GUEST_H
