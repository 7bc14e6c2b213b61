//===- ClusterProfiles.h - clusters that have names -----------------------===//

#ifndef PCC_PASSES_PLAN_CLUSTER_CLUSTERPROFILES_H
#define PCC_PASSES_PLAN_CLUSTER_CLUSTERPROFILES_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pcc::plan {

/// A cluster that `--cluster NAME` selects.
struct ClusterProfile {
  std::string_view name;
  /// What it is, in a few words.
  std::string_view summary;
  /// The text of its cluster file (see parseCluster()). Empty for `bytes`,
  /// which prices received bytes, and no seconds.
  std::string_view text;
};

/// Returns all profiles, in the order of `--list-clusters`.
const std::vector<ClusterProfile> &clusterProfiles();

/// Returns the text of the profile of that name; std::nullopt if there is none.
std::optional<std::string_view> profileText(std::string_view name);

/// Returns the names of all profiles.
std::vector<std::string> profileNames();

/// Returns a line for each profile, with its name and its summary.
std::string listClusters();

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_CLUSTER_CLUSTERPROFILES_H
