//===- Address.cpp - address at which the ranks of a job meet -------------===//

#include "runtime/launch/rendezvous/Address.h"
#include "runtime/launch/rendezvous/SlurmNodeList.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <unistd.h>

namespace pcc::runtime {

std::string Address::text() const {
  if (kind != Kind::Tcp)
    return (kind == Kind::File ? "unix:" : "unix:@") + place;
  const bool isV6 = place.find(':') != std::string::npos;
  return "tcp://" + (isV6 ? "[" + place + "]" : place) + ":" +
         std::to_string(port);
}

static bool isLoopback(const std::string &host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

bool Address::isLoopback() const {
  return kind == Kind::Tcp && runtime::isLoopback(place);
}

/// Returns the value of an environment variable, or null if the variable is
/// unset or empty.
static const std::string *find(const Environment &environment,
                               const char *name) {
  const auto found = environment.find(name);
  return found == environment.end() || found->second.empty() ? nullptr
                                                             : &found->second;
}

/// Parses a decimal number. Returns std::nullopt if `text` has a character that
/// is no digit.
static std::optional<uint64_t> numberIn(std::string_view text) {
  uint64_t number = 0;
  const char *begin = text.data(), *end = begin + text.size();
  const auto [stop, problem] = std::from_chars(begin, end, number);
  return problem == std::errc() && stop == end ? std::optional(number)
                                               : std::nullopt;
}

/// Parses a port number between 1 and 65535. Returns std::nullopt for any other
/// text.
static std::optional<int> portIn(std::string_view text) {
  const auto number = numberIn(text);
  return number && *number >= 1 && *number <= 65535
             ? std::optional(int(*number))
             : std::nullopt;
}

/// Returns the TCP port 61440 + `job` % 4096. `job` is a number that identifies
/// the job, such as the id of a Slurm job. For example, job 5000 gives port
/// 62344. Two jobs on one host rarely get the same port. By default, Linux
/// assigns only ports from 32768 to 60999 to outgoing connections, so these
/// connections do not occupy a port that this function returns.
static int portOfJob(uint64_t job) { return 61440 + int(job % 4096); }

static Status notAnAddress(const std::string &text) {
  return Status::error(WrongWorld, "'" + text + "' is not an address",
                       {"ranks meet at tcp://HOST:PORT or unix:PATH"});
}

/// Parses `text`, and stores the result in `address`. Some examples:
///
///   text                    result
///   tcp://node7:61440       a TCP socket, host node7, port 61440
///   tcp://[::1]:61440       a TCP socket, host ::1, port 61440
///   unix:/run/job/meet      a Unix socket with the path /run/job/meet
///   unix:@pcc-1000          an abstract Unix socket with the name pcc-1000
///
/// The last colon of a TCP address separates the host and the port, because an
/// IPv6 host itself contains colons. Returns an error with exit code 12 if
/// `text` is not a TCP or Unix address.
Status readAddress(const std::string &text, Address &address) {
  if (text.starts_with("unix:")) {
    const bool isName = text.starts_with("unix:@");
    address = {isName ? Address::Kind::Name : Address::Kind::File,
               text.substr(isName ? 6 : 5)};
    return address.place.empty() ? notAnAddress(text) : Status::success();
  }
  const size_t colon = text.rfind(':');
  if (!text.starts_with("tcp://") || colon < 6)
    return notAnAddress(text);
  std::string host = text.substr(6, colon - 6);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  const auto port = portIn(std::string_view(text).substr(colon + 1));
  if (host.empty() || !port ||
      host.find_first_of("[]/@ \t") != std::string::npos)
    return notAnAddress(text);
  address = {Address::Kind::Tcp, host, *port};
  return Status::success();
}

/// Returns an address by which the ranks of a job on one host connect to rank
/// 0. The address is an abstract Unix socket: the socket has a name, but no
/// file. Other jobs on this host get other names. The kernel removes the socket
/// when the process of rank 0 ends.
///
/// - `launcher`: name of the program that has started the ranks, such as
///   "slurm".
/// - `job`: text that identifies the job among the jobs of the launcher. The
///   name contains at most the last 64 characters of this text.
///
/// For example, user 1000, the launcher "slurm" and the job "17.0" give the
/// name "pcc-1000-slurm-17.0".
static Address nameOf(const std::string &launcher, const std::string &job) {
  constexpr size_t most = 64;
  std::string name = "pcc-" + std::to_string(geteuid()) + "-" + launcher + "-" +
                     (job.size() > most ? job.substr(job.size() - most) : job);
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return !std::isalnum(c) && c != '.'; }, '-');
  return {Address::Kind::Name, name};
}

namespace {
/// Derives the address at which rank 0 listens from the environment variables
/// of launchers.
class AddressFinder {
public:
  AddressFinder(const Environment &environment, const RankIdentity &identity)
      : environment(environment), identity(identity) {}

  /// Sets `address` to the address at which rank 0 listens. The first source
  /// that is present determines the address:
  ///
  /// 1. the environment variable PCC_RENDEZVOUS
  /// 2. the environment variable MASTER_ADDR, which torchrun sets
  /// 3. the variables of Open MPI, if mpirun has started this process
  /// 4. the variables of Slurm, if srun has started this process
  ///
  /// Returns an error with exit code 12 if no source is present, or if the
  /// value of a variable is invalid.
  Status find(Address &address) {
    if (const std::string *given = get(kRendezvousVariable))
      return readAddress(*given, address);
    if (get("MASTER_ADDR"))
      return ofMaster(address);
    if (identity.launcher == "Open MPI")
      return ofOpenMpi(address);
    if (identity.launcher == "srun")
      return ofSlurm(address);
    return Status::error(
        WrongWorld,
        "the launcher (" + identity.launcher +
            ") does not say where ranks on GPUs meet",
        {"set PCC_RENDEZVOUS to tcp://HOST:PORT, with the host of rank 0, or, "
         "of one host, to unix:PATH"});
  }

private:
  /// Returns the value of an environment variable, or null if the variable is
  /// unset or empty.
  const std::string *get(const char *name) const {
    return runtime::find(environment, name);
  }
  /// Returns the value of an environment variable, or `otherwise` if the
  /// variable is unset or empty.
  std::string getOr(const char *name, const char *otherwise) const {
    const std::string *value = get(name);
    return value ? *value : otherwise;
  }

  /// Returns true if the number of ranks on this host is equal to the number of
  /// ranks of the job. All ranks are then on this host. The launcher (the
  /// program that has started the ranks, such as torchrun) passes the number of
  /// ranks on this host in an environment variable. `localSize` is the name of
  /// this variable, such as "LOCAL_WORLD_SIZE". Returns false if the variable
  /// is unset or empty, because the number of ranks on this host is then
  /// unknown.
  bool saysOneHost(const char *localSize) const {
    return get(localSize) && identity.localSize == identity.worldSize;
  }

  /// Returns the error for an environment variable `name` whose value cannot be
  /// parsed.
  Status wrong(const char *name) const {
    return Status::error(WrongWorld,
                         std::string("the launcher's variable ") + name +
                             " is '" + *get(name) +
                             "', which does not say where ranks "
                             "meet",
                         {"set PCC_RENDEZVOUS to tcp://HOST:PORT, with the "
                          "host of rank 0"});
  }

  /// Derives the address at which rank 0 listens from the environment variables
  /// MASTER_ADDR (a host) and MASTER_PORT (a port, 29500 by default). The first
  /// case that applies determines the address:
  ///
  /// 1. All ranks are on one host. The address is an abstract Unix socket. The
  ///    socket has a name, but no file and no port.
  /// 2. torchrun has started this process. The address has the host MASTER_ADDR
  ///    and the TCP port 61440 + MASTER_PORT % 4096. For example, MASTER_PORT
  ///    29500 gives port 62268. Rank 0 does not listen at MASTER_PORT itself,
  ///    because another process, such as torchrun, may already listen there.
  /// 3. In all other cases, the address has the host MASTER_ADDR and the TCP
  ///    port MASTER_PORT.
  Status ofMaster(Address &address) const {
    const std::string port = getOr("MASTER_PORT", "29500");
    const auto number = portIn(port);
    if (!number)
      return wrong("MASTER_PORT");
    const std::string *run = get("TORCHELASTIC_RUN_ID");
    const std::string &host = *get("MASTER_ADDR");
    if (isLoopback(host) || saysOneHost("LOCAL_WORLD_SIZE")) {
      address =
          nameOf("torchrun", port + "-" + (run ? *run : "") + "-" +
                                 getOr("TORCHELASTIC_RESTART_COUNT", "0"));
      return Status::success();
    }
    address = {Address::Kind::Tcp, host,
               run ? portOfJob(uint64_t(*number)) : *number};
    return host.find_first_of("/@ \t") == std::string::npos
               ? Status::success()
               : wrong("MASTER_ADDR");
  }

  /// Derives the address of rank 0 from variables of Open MPI. On one host, the
  /// address is an abstract Unix socket (a name without file or port). Its name
  /// contains the id of the job. Otherwise, the address has the first host in
  /// OMPI_MCA_orte_hnp_uri, where mpirun runs. By default, rank 0 also runs
  /// there. The value "N.0;tcp://10.0.0.1,192.168.0.1:41000" gives the host
  /// 10.0.0.1 and the port 61440 + N / 4096 % 4096 (integer division). Port
  /// 41000 belongs to mpirun. Returns exit code 12 if the value is not set or
  /// invalid.
  Status ofOpenMpi(Address &address) const {
    static constexpr const char *uriName = "OMPI_MCA_orte_hnp_uri";
    const std::string *job = get("PMIX_NAMESPACE");
    if (!job)
      job = get("OMPI_MCA_ess_base_jobid");
    if (saysOneHost("OMPI_COMM_WORLD_LOCAL_SIZE") && job) {
      address = nameOf("mpirun", *job);
      return Status::success();
    }
    const std::string *uri = get(uriName);
    if (!uri)
      return Status::error(
          WrongWorld,
          std::string("Open MPI's variable ") + uriName + " is not set",
          {"set PCC_RENDEZVOUS to tcp://HOST:PORT, with the host of rank 0"});
    const std::string_view text = *uri;
    const auto number = numberIn(text.substr(0, text.find('.')));
    const size_t begin = text.find(";tcp://");
    if (!number || begin == std::string_view::npos)
      return wrong(uriName);
    const std::string_view hosts = text.substr(begin + 7);
    const std::string host(hosts.substr(0, hosts.find_first_of(",:;")));
    if (host.empty() ||
        host.find_first_not_of("0123456789.") != std::string::npos)
      return wrong(uriName);
    address = {Address::Kind::Tcp, host, portOfJob(*number / 4096)};
    return Status::success();
  }

  /// Derives the address of rank 0 from variables of Slurm. SLURM_STEP_NODELIST
  /// (or else SLURM_NODELIST) lists the hosts, such as "node[7-9]". Slurm
  /// starts rank 0 on the first host. With one host, the address is an abstract
  /// Unix socket (a name without file). Its name contains the ids of the job
  /// and the step. With several hosts, the address has the first host and the
  /// TCP port 61440 + SLURM_JOB_ID % 4096. Returns an error with exit code 12
  /// if the list or SLURM_JOB_ID is not set or cannot be parsed.
  Status ofSlurm(Address &address) const {
    const char *name =
        get("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_NODELIST";
    for (const char *needed : {name, "SLURM_JOB_ID"})
      if (!get(needed))
        return Status::error(
            WrongWorld, std::string("Slurm's variable ") + needed +
                            " is not set, so ranks do not know where to meet");
    const auto hosts = readSlurmNodeList(*get(name));
    if (!hosts)
      return wrong(name);
    const auto job = numberIn(*get("SLURM_JOB_ID"));
    if (!job)
      return wrong("SLURM_JOB_ID");
    if (hosts->isOnlyOne)
      address = nameOf("slurm", std::to_string(*job) + "." +
                                    getOr("SLURM_STEP_ID", "0"));
    else
      address = {Address::Kind::Tcp, hosts->first, portOfJob(*job)};
    return Status::success();
  }

  const Environment &environment;
  const RankIdentity &identity;
};
} // namespace

Status findAddress(const Environment &environment, const RankIdentity &identity,
                   Address &address) {
  return AddressFinder(environment, identity).find(address);
}

} // namespace pcc::runtime
