//===- Mailbox.h - messages between processes -----------------------------===//

#ifndef PCC_TEST_RUNTIME_FAKE_NCCL_MAILBOX_H
#define PCC_TEST_RUNTIME_FAKE_NCCL_MAILBOX_H

#include <string>

namespace pcc::fake {

/// Messages by name, in a folder that ranks share. Reading a message does not
/// remove it. The last ones remain, because the folder belongs to TMPDIR.
class Mailbox {
public:
  explicit Mailbox(std::string folder) : folder(std::move(folder)) {}

  void put(const std::string &name, const std::string &message) const;
  void append(const std::string &name, const std::string &line) const;
  bool has(const std::string &name) const;
  std::string read(const std::string &name) const;
  void remove(const std::string &name) const;

private:
  std::string path(const std::string &name) const {
    return folder + "/" + name;
  }
  const std::string folder;
};

} // namespace pcc::fake

#endif // PCC_TEST_RUNTIME_FAKE_NCCL_MAILBOX_H
