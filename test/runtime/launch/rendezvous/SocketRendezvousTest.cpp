//===- SocketRendezvousTest.cpp - the ranks of a job meet and watch each other ===//

#include "runtime/base/WatchedCalls.h"
#include "runtime/launch/job/PrivateFolder.h"
#include "runtime/launch/rendezvous/MeetingPlace.h"
#include "test/runtime/launch/rendezvous/TestJob.h"

#include <algorithm>
#include <filesystem>

namespace pcc::runtime {

TEST(SocketRendezvous, SixtyFourRanksMeetAndTalk) {
  TestJob job(64);
  std::vector<std::string> gathered;
  std::atomic<int> numRight{0};
  for (int rank = 63; rank >= 0; --rank)
    job.start(rank, [&, rank](SocketRendezvous &lifeline) {
      std::vector<std::string> all;
      Status status = lifeline.gather("I am " + std::to_string(rank), 30, all);
      if (rank == 0)
        gathered = all;
      std::byte word[3] = {std::byte(rank == 0 ? 7 : 0)};
      if (status.ok())
        status = lifeline.broadcast(word, 30);
      numRight += word[0] == std::byte(7);
      return status.ok() ? lifeline.leave() : status;
    });
  job.wait();
  job.expectAll(Done, "");
  ASSERT_EQ(gathered.size(), 64u);
  EXPECT_EQ(gathered[63], "I am 63");
  EXPECT_EQ(numRight, 64);
}

TEST(SocketRendezvous, OverTcpToo) {
  TestJob job(3);
  job.token = {"0123456789abcdef"};
  job.address = {Address::Kind::Tcp, "127.0.0.1", 20000 + getpid() % 10000};
  for (int rank = 0; rank < 3; ++rank)
    job.start(rank);
  job.wait();
  job.expectAll(Done, "");
}

TEST(SocketRendezvous, SocketsFileIsNotLeftBehind) {
  PrivateFolder folder;
  ASSERT_TRUE(folder.create().ok());
  TestJob job(2);
  // Longer than the limit of the kernel.
  const std::string inner = folder.path() + "/" + std::string(120, 'x');
  std::filesystem::create_directory(inner);
  job.address = {Address::Kind::File, inner + "/meet"};
  job.start(1);
  job.start(0);
  job.wait();
  job.expectAll(Done, "");
  EXPECT_TRUE(std::filesystem::is_empty(inner));
}

TEST(SocketRendezvous, SocketOfADeadProcessIsRemoved) {
  PrivateFolder folder;
  ASSERT_TRUE(folder.create().ok());
  TestJob job(2);
  job.address = {Address::Kind::File, folder.path() + "/meet"};
  OpenFile listener;
  Address place;
  ASSERT_TRUE(listenAt(job.address, listener, place).ok());
  listener.reset();
  ASSERT_TRUE(std::filesystem::exists(place.place));
  job.start(1);
  job.start(0);
  job.wait();
  job.expectAll(Done, "");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SocketRendezvous, FolderThatAllMayChangeIsRefused) {
  PrivateFolder folder;
  ASSERT_TRUE(folder.create().ok());
  const Address address = {Address::Kind::File, folder.path() + "/meet"};
  OpenFile listener;
  Address place;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  EXPECT_EQ(listenAt(address, listener, place).code(), WrongWorld);
  std::filesystem::permissions(folder.path(),
                               std::filesystem::perms::all |
                                   std::filesystem::perms::sticky_bit);
  EXPECT_TRUE(listenAt(address, listener, place).ok());
}

// The kernel closes the files of a killed process in this order, and those of
// a GPU take seconds.
TEST(SocketRendezvous, SocketsHaveHigherNumbersThanLaterFiles) {
  SocketAddress address;
  address.storage.ss_family = AF_INET;
  const OpenFile socket = withHighNumber(makeSocket(address));
  ASSERT_TRUE(socket.isOpen());
  std::vector<OpenFile> later;
  for (int i = 0; i < 200; ++i) {
    later.push_back(makeSocket(address));
    ASSERT_LT(later.back().fd(), socket.fd());
  }
}

TEST(SocketRendezvous, PortsInUseAreSkipped) {
  const Address address = {Address::Kind::Tcp, "127.0.0.1",
                           40000 + getpid() % 10000};
  std::vector<OpenFile> listeners(17);
  std::vector<int> ports;
  Status status;
  for (OpenFile &listener : listeners) {
    Address place;
    status = listenAt(address, listener, place);
    if (status.ok())
      ports.push_back(place.port);
  }
  EXPECT_GE(ports.size(), 1u);
  EXPECT_LE(ports.size(), 16u);
  EXPECT_TRUE(std::is_sorted(ports.begin(), ports.end()));
  EXPECT_EQ(status.code(), WrongWorld);
  EXPECT_NE(status.message().find("and the 15 ports after it are in use"),
            std::string::npos)
      << status.message();
}

TEST(SocketRendezvous, MissingRanksAreNamedToAll) {
  TestJob job(5);
  job.patience = 0.5;
  for (int rank : {0, 1, 4})
    job.start(rank);
  job.wait();
  job.expectAll(PeerLost, "rank 0 waited 0.5 s: ranks 2 and 3 did not come to");
}

TEST(SocketRendezvous, RankThatIsThereTwiceEndsTheJob) {
  TestJob job(3);
  for (int rank : {0, 1, 1})
    job.start(rank);
  job.wait();
  job.expectAll(WrongWorld, "rank 1 (process ");
  EXPECT_NE(job.results[0].message().find("appears twice: as rank 1"),
            std::string::npos);
}

TEST(SocketRendezvous, OtherBundleEndsTheJobForThoseWhoComeLater) {
  TestJob job(3);
  JoinTerms stale = job.terms(1);
  stale.self.bundle = "another bundle";
  job.start(0);
  job.start(stale);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  job.start(2);
  job.wait();
  job.expectAll(DamagedBundle, "has the bundle another bundle, rank 0");
}

TEST(SocketRendezvous, OtherWorldEndsTheJob) {
  TestJob job(3);
  JoinTerms other = job.terms(1);
  other.self.worldSize = 2;
  for (int rank : {0, 2})
    job.start(rank);
  job.start(other);
  job.wait();
  job.expectAll(WrongWorld, "is one of 2 ranks, rank 0");
}

TEST(SocketRendezvous, RankOfARunningJobIsRefused) {
  TestJob job(2);
  std::atomic<int> numThere{0};
  std::atomic<bool> isDone{false};
  const auto stay = [&](SocketRendezvous &lifeline) {
    ++numThere;
    while (!isDone)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return lifeline.leave();
  };
  job.start(0, stay);
  job.start(1, stay);
  while (numThere < 2)
    std::this_thread::yield();
  std::shared_ptr<SocketRendezvous> second;
  const Status status =
      SocketRendezvous::join(job.terms(1), 30, [](auto &, auto) {}, second);
  EXPECT_EQ(status.code(), WrongWorld) << status.message();
  EXPECT_EQ(status.notes().size(), 1u);
  isDone = true;
  job.wait();
  job.expectAll(Done, "");
}

TEST(SocketRendezvous, EndOfARankIsToldToAll) {
  for (const int victim : {0, 2}) {
    TestJob job(4);
    for (int rank = 0; rank < 4; ++rank)
      if (rank != victim)
        job.start(rank, [&](SocketRendezvous &lifeline) {
          Status status = TestJob::watch(lifeline);
          EXPECT_EQ(lifeline.lost(), victim);
          return status;
        });
    // The rank ends without a message.
    job.start(victim, [](SocketRendezvous &) {
      return Status::error(PeerLost, "rank 0 was lost, or rank 2 was lost");
    });
    job.wait();
    job.expectAll(PeerLost, "rank " + std::to_string(victim) + " was lost");
    EXPECT_EQ(job.numGivenUp, 0);
  }
}

TEST(SocketRendezvous, FirstReasonIsEverybodys) {
  TestJob job(4);
  for (int rank = 0; rank < 3; ++rank)
    job.start(rank, [](SocketRendezvous &lifeline) {
      Status status = TestJob::watch(lifeline);
      lifeline.abort(Status::error(Defect, "too late"));
      EXPECT_EQ(lifeline.lost(), std::nullopt);
      return status;
    });
  job.start(3, [](SocketRendezvous &lifeline) {
    lifeline.abort(Status::error(BadInput, "the input is not there",
                                 {"its inputs are", "two"}));
    return lifeline.poll().ok() ? TestJob::watch(lifeline) : lifeline.poll();
  });
  job.wait();
  job.expectAll(BadInput, "the input is not there");
  for (const Status &status : job.results)
    EXPECT_EQ(status.notes(),
              (std::vector<std::string>{"its inputs are", "two"}));
}

TEST(SocketRendezvous, RanksMayLeaveOneAfterTheOther) {
  TestJob job(3);
  for (int rank = 0; rank < 3; ++rank)
    job.start(rank, [rank](SocketRendezvous &lifeline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(150 * rank));
      const Status status = lifeline.poll();
      return status.failed() ? status : lifeline.leave();
    });
  job.wait();
  job.expectAll(Done, "");
}

TEST(SocketRendezvous, RankThatDoesNotComeToItsEndIsMissed) {
  TestJob job(2);
  job.start(0, [](SocketRendezvous &lifeline) {
    lifeline.setDeadline(0.2);
    return lifeline.leave();
  });
  job.start(1, TestJob::watch);
  job.wait();
  job.expectAll(PeerLost, "waited 0.2 s: not every rank has finished");
}

TEST(SocketRendezvous, RankThatDoesNotHearIsGivenUp) {
  TestJob job(2);
  std::atomic<bool> isThere{false};
  job.start(0, [&](SocketRendezvous &lifeline) {
    while (!isThere)
      std::this_thread::yield();
    lifeline.abort(Status::error(Defect, "a reason"));
    return Status::error(Defect, "a reason");
  });
  // The rank does not respond, as in a call that does not return.
  job.start(1, [&](SocketRendezvous &lifeline) {
    isThere = true;
    while (job.numGivenUp == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return lifeline.poll();
  });
  job.wait();
  EXPECT_EQ(job.numGivenUp, 1);
  job.expectAll(Defect, "a reason");
}

TEST(SocketRendezvous, CallThatDoesNotReturnEndsTheRun) {
  TestJob job(2);
  job.start(0, TestJob::watch);
  job.start(1, [&](SocketRendezvous &lifeline) {
    lifeline.setDeadline(0.3);
    // Calls that return, one after another, for longer than that.
    for (int i = 0; i < 5; ++i) {
      ++watchedCalls.begun;
      std::this_thread::sleep_for(std::chrono::milliseconds(150));
      ++watchedCalls.ended;
      EXPECT_TRUE(lifeline.poll().ok());
    }
    ++watchedCalls.begun;
    while (job.numGivenUp == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ++watchedCalls.ended;
    return lifeline.poll();
  });
  job.wait();
  job.expectAll(PeerLost, "rank 1: a call of the driver or of NCCL has not");
}

} // namespace pcc::runtime
