//===- Mailbox.cpp - messages between processes ---------------------------===//

#include "test/runtime/fake/nccl/Mailbox.h"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace pcc::fake {

/// A message appears as a whole.
void Mailbox::put(const std::string &name, const std::string &message) const {
  const std::string unfinished = path(name) + ".unfinished";
  std::ofstream(unfinished, std::ios::binary) << message;
  std::rename(unfinished.c_str(), path(name).c_str());
}

void Mailbox::append(const std::string &name, const std::string &line) const {
  std::ofstream(path(name), std::ios::app) << line;
}

bool Mailbox::has(const std::string &name) const {
  return access(path(name).c_str(), F_OK) == 0;
}

std::string Mailbox::read(const std::string &name) const {
  std::ifstream file(path(name), std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void Mailbox::remove(const std::string &name) const {
  unlink(path(name).c_str());
}

} // namespace pcc::fake
