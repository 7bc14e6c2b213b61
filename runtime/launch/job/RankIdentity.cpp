//===- RankIdentity.cpp - rank and world size from a launcher's variables -===//

#include "runtime/launch/job/RankIdentity.h"
#include "runtime/base/QuantityText.h"
#include "runtime/launch/job/JobVariables.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <unistd.h>

namespace pcc::runtime {

namespace {

/// Names of the environment variables that a launcher sets for each process.
/// `name` is the name of the launcher, such as "torchrun". Each other member is
/// a list of names of variables for one number:
///
/// - `rank`: the rank of the process
/// - `size`: the number of ranks
/// - `localRank`: the index of the process among the ranks of its host
/// - `localSize`: the number of ranks on this host
///
/// A list can have two names, because variants of a launcher use different
/// names. The number is then read from the first variable in the list that is
/// set.
struct Launcher {
  const char *name;
  std::initializer_list<const char *> rank;
  std::initializer_list<const char *> size;
  std::initializer_list<const char *> localRank;
  std::initializer_list<const char *> localSize;
};

/// Name and value of an environment variable that is set.
struct Variable {
  std::string name;
  std::string value;
  std::string text() const { return name + "=" + value; }
};

/// The rank and world size of this process according to the environment
/// variables of one launcher.
struct Claim {
  RankIdentity identity;
  /// The launcher's variables with their values, for error messages, such as
  /// "RANK=1, WORLD_SIZE=4".
  std::string text;
};

} // namespace

static constexpr const char *kHydra = "Hydra";
static const Launcher kExplicit = {"PCC_*",
                                   {"PCC_RANK"},
                                   {"PCC_WORLD_SIZE"},
                                   {"PCC_LOCAL_RANK"},
                                   {"PCC_LOCAL_SIZE"}};
/// All supported launchers except Slurm, in order of precedence.
static const Launcher kLaunchers[] = {
    kExplicit,
    {"torchrun",
     {"RANK"},
     {"WORLD_SIZE"},
     {"LOCAL_RANK"},
     {"LOCAL_WORLD_SIZE"}},
    {"Open MPI",
     {"OMPI_COMM_WORLD_RANK"},
     {"OMPI_COMM_WORLD_SIZE"},
     {"OMPI_COMM_WORLD_LOCAL_RANK"},
     {"OMPI_COMM_WORLD_LOCAL_SIZE"}},
    {kHydra,
     {"PMI_RANK", "PMIX_RANK"},
     {"PMI_SIZE"},
     {"MPI_LOCALRANKID", "PALS_LOCAL_RANKID"},
     {"MPI_LOCALNRANKS", "PALS_LOCAL_SIZE"}},
};
static const Launcher kSlurm = {"srun",
                                {"SLURM_PROCID"},
                                {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
                                {"SLURM_LOCALID"},
                                {}};

Environment currentEnvironment() {
  Environment environment;
  for (char **entry = environ; entry && *entry; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string::npos)
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

/// Returns the first variable of `names` that is set; std::nullopt if no
/// variable is set.
static std::optional<Variable>
firstSet(const Environment &environment,
         std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (auto found = environment.find(name); found != environment.end())
      return Variable{found->first, found->second};
  return std::nullopt;
}

/// Returns an error with exit code 12 and `message`.
static Status wrong(const std::string &message) {
  return Status::error(WrongWorld, message);
}

/// Parses the value of a variable into `number`. Returns an error with exit
/// code 12 if the value is not a decimal number from `lowest` to `highest`.
static Status parseNumber(const Variable &variable, int lowest, int highest,
                          int &number) {
  const char *begin = variable.value.data();
  const char *end = begin + variable.value.size();
  const auto [stop, problem] = std::from_chars(begin, end, number);
  if (problem != std::errc() || stop != end || variable.value.empty())
    return wrong("the launcher's variable " + variable.name + " is '" +
                 variable.value + "', not a number");
  if (number < lowest || number > highest)
    return wrong("the launcher's variable " + variable.text() +
                 " is not between " + std::to_string(lowest) + " and " +
                 std::to_string(highest));
  return Status::success();
}

/// Reads a number that a launcher may pass in an environment variable. `names`
/// contains alternative names of the variable, such as MPI_LOCALRANKID and
/// PALS_LOCAL_RANKID. The function parses the value of the first variable that
/// is set, and stores the result in `number`. If no variable is set, `number`
/// does not change. Returns an error with exit code 12 if the value is not a
/// decimal number from `lowest` to `highest`.
static Status parseOptional(const Environment &environment,
                            std::initializer_list<const char *> names,
                            int lowest, int highest, int &number) {
  const std::optional<Variable> variable = firstSet(environment, names);
  return variable ? parseNumber(*variable, lowest, highest, number)
                  : Status::success();
}

/// Stores four numbers in `claim`: the rank, the number of ranks, the index of
/// this process on its host, and the number of ranks on this host. `launcher`
/// names the environment variables with these numbers. For example, torchrun
/// sets RANK=5, WORLD_SIZE=8, LOCAL_RANK=1 and LOCAL_WORLD_SIZE=4. If the rank
/// or the number of ranks is not set, stores nothing. If a number for the host
/// is not set, uses the rank or the number of ranks instead. Returns an error
/// with exit code 12 if a value is invalid.
static Status readClaim(const Environment &environment,
                        const Launcher &launcher, std::optional<Claim> &claim) {
  const std::optional<Variable> rank = firstSet(environment, launcher.rank);
  const std::optional<Variable> size = firstSet(environment, launcher.size);
  if (!rank || !size)
    return Status::success();
  RankIdentity identity;
  identity.launcher = launcher.name;
  PCC_RETURN_IF_ERROR(parseNumber(*size, 1, kLargestWorld, identity.worldSize));
  const int last = identity.worldSize - 1;
  PCC_RETURN_IF_ERROR(parseNumber(*rank, 0, last, identity.rank));
  identity.localRank = identity.rank;
  identity.localSize = identity.worldSize;
  PCC_RETURN_IF_ERROR(parseOptional(environment, launcher.localSize, 1,
                                    identity.worldSize, identity.localSize));
  PCC_RETURN_IF_ERROR(parseOptional(environment, launcher.localRank, 0, last,
                                    identity.localRank));
  claim = Claim{std::move(identity), rank->text() + ", " + size->text()};
  return Status::success();
}

/// Checks that PCC_RANK and PCC_WORLD_SIZE are both set or both unset. A user
/// may set only one by mistake.
static Status checkExplicit(const Environment &environment) {
  const bool rank = environment.count("PCC_RANK");
  const bool size = environment.count("PCC_WORLD_SIZE");
  if (rank == size)
    return Status::success();
  return wrong(rank ? "PCC_RANK is set, but PCC_WORLD_SIZE is not"
                    : "PCC_WORLD_SIZE is set, but PCC_RANK is not");
}

/// Stores the rank of this process and the number of ranks in `claim`, if srun
/// has started this process. srun is the launcher of Slurm: srun starts one
/// process per rank. The function reads the rank and the number of ranks from
/// environment variables of Slurm, such as SLURM_PROCID.
///
/// If the variable SLURM_STEP_ID is not set, srun has not started this process.
/// The function then does not read the other variables, and `claim` does not
/// change. For example, Slurm sets SLURM_PROCID to 0 for a batch script,
/// although a batch script is not a rank.
static Status readSlurm(const Environment &environment,
                        std::optional<Claim> &claim) {
  if (!environment.count("SLURM_STEP_ID"))
    return Status::success();
  return readClaim(environment, kSlurm, claim);
}

/// Returns whether srun, the launcher of Slurm, has set the variables from
/// which `claim` was read. Both srun and Hydra (the launcher of MPICH) set
/// PMI_RANK and PMI_SIZE. Only srun also sets SLURM_PROCID and
/// SLURM_STEP_NUM_TASKS. The result is true if `claim` was read from variables
/// of Hydra, and the variables of srun contain the same rank and number of
/// ranks.
///
/// findIdentity() then ignores `claim`, because srun passes the index of this
/// process on its host only in SLURM_LOCALID.
static bool isOfSlurm(const Environment &environment, const Claim &claim) {
  std::optional<Claim> slurms;
  return claim.identity.launcher == kHydra &&
         readSlurm(environment, slurms).ok() && slurms &&
         slurms->identity.rank == claim.identity.rank &&
         slurms->identity.worldSize == claim.identity.worldSize;
}

/// Returns the error for two launchers whose variables contain different ranks
/// or world sizes.
static Status contradiction(const Claim &first, const Claim &second) {
  return wrong("the launcher's variables contradict each other: " + first.text +
               " (" + first.identity.launcher + ") and " + second.text + " (" +
               second.identity.launcher + ")");
}

/// Finds the rank and the number of ranks in the environment variables of the
/// launchers. Several launchers of the table kLaunchers may have set both
/// numbers. The numbers must then be equal, and the first launcher of the table
/// counts. Skips the variables of Hydra if srun has set them (isOfSlurm()).
///
/// srun is not in the table. The variables of srun count only if no launcher of
/// the table has set both numbers. If srun has not set both numbers either,
/// `identity` becomes std::nullopt. Returns an error for contradictory or
/// invalid values, or if only one of PCC_RANK and PCC_WORLD_SIZE is set.
Status findIdentity(const Environment &environment,
                    std::optional<RankIdentity> &identity) {
  identity.reset();
  PCC_RETURN_IF_ERROR(checkExplicit(environment));
  std::optional<Claim> winner;
  for (const Launcher &launcher : kLaunchers) {
    std::optional<Claim> claim;
    PCC_RETURN_IF_ERROR(readClaim(environment, launcher, claim));
    if (!claim || isOfSlurm(environment, *claim))
      continue;
    if (!winner)
      winner = std::move(claim);
    else if (winner->identity.rank != claim->identity.rank ||
             winner->identity.worldSize != claim->identity.worldSize)
      return contradiction(*winner, *claim);
  }
  if (!winner)
    PCC_RETURN_IF_ERROR(readSlurm(environment, winner));
  if (winner)
    identity = std::move(winner->identity);
  return Status::success();
}

/// Returns whether `name` is in the table kLaunchers. The table has the names
/// of the environment variables in which launchers pass the rank and the number
/// of ranks, in the job and on the host. For example, the result is true for
/// WORLD_SIZE, which torchrun sets. The result is false for SLURM_PROCID,
/// because the variables of Slurm are not in the table.
static bool isInTables(const std::string &name) {
  for (const Launcher &launcher : kLaunchers)
    for (const auto &names :
         {launcher.rank, launcher.size, launcher.localRank, launcher.localSize})
      if (std::find(names.begin(), names.end(), name) != names.end())
        return true;
  return false;
}

/// Returns whether a launcher sets the environment variable `name` for the
/// processes of one job (one run of a bundle). A process of another job must
/// not inherit such a variable. The function knows the variables of Open MPI,
/// PMI, PMIx and pcc. isInTables() finds variables of other launchers.
///
///   PMIX_NAMESPACE   set by mpirun: name of the job      true
///   PCC_STATUS_DIR   set by pcc run: folder of the job   true
///   OMPI_MCA_btl     set by the user: option             false
static bool isOfJob(const std::string &name) {
  if (name.starts_with("PMIX_MCA_"))
    return false;
  for (const char *prefix :
       {"PMI_", "PMI2_", "PMIX_", "OMPI_MCA_ess", "OMPI_MCA_pmix",
        "OMPI_MCA_orte_", "OMPI_MCA_initial_wdir"})
    if (name.starts_with(prefix))
      return true;
  if (std::find(std::begin(kJobVariables), std::end(kJobVariables), name) !=
      std::end(kJobVariables))
    return true;
  return name.starts_with("OMPI_") && !name.starts_with("OMPI_MCA_") &&
         !name.starts_with("OMPI_ALLOW_");
}

std::vector<std::string> launcherVariables(const Environment &environment) {
  std::vector<std::string> found;
  for (const auto &[name, value] : environment)
    if (isInTables(name) || isOfJob(name))
      found.push_back(name);
  return found;
}

Status checkWorldSize(const RankIdentity &identity, int bundleWorldSize) {
  if (identity.worldSize == bundleWorldSize)
    return Status::success();
  return wrong(
      "the bundle is made for " + countText(bundleWorldSize, "rank") +
      ", but " +
      (identity.launcher.empty() ? "the launcher" : identity.launcher) +
      " started " + std::to_string(identity.worldSize));
}

} // namespace pcc::runtime
