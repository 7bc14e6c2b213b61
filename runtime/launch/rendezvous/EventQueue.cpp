//===- EventQueue.cpp - files of which some have become readable ----------===//

#include "runtime/launch/rendezvous/EventQueue.h"

#include <sys/epoll.h>

namespace pcc::runtime {

EventQueue::EventQueue() : queue(epoll_create1(EPOLL_CLOEXEC)) {}

static epoll_event eventOf(uint64_t id, bool forWriting) {
  epoll_event event = {};
  event.events = forWriting ? EPOLLOUT : EPOLLIN;
  event.data.u64 = id;
  return event;
}

void EventQueue::add(int fd, uint64_t id, bool forWriting) {
  epoll_event event = eventOf(id, forWriting);
  epoll_ctl(queue.fd(), EPOLL_CTL_ADD, fd, &event);
}

void EventQueue::change(int fd, uint64_t id, bool forWriting) {
  epoll_event event = eventOf(id, forWriting);
  epoll_ctl(queue.fd(), EPOLL_CTL_MOD, fd, &event);
}

void EventQueue::remove(int fd) {
  epoll_ctl(queue.fd(), EPOLL_CTL_DEL, fd, nullptr);
}

std::vector<uint64_t> EventQueue::take() {
  constexpr int most = 256;
  epoll_event events[most];
  const int count = epoll_wait(queue.fd(), events, most, 0);
  std::vector<uint64_t> ids;
  // An epoll_event is packed: its fields may lie at odd addresses, so that no
  // reference to them is possible.
  for (int i = 0; i < count; ++i)
    ids.push_back(uint64_t(events[i].data.u64));
  return ids;
}

} // namespace pcc::runtime
