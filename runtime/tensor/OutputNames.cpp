//===- OutputNames.cpp - file names of a model's outputs ------------------===//

#include "runtime/tensor/OutputNames.h"

#include <cstring>
#include <set>

namespace pcc::runtime {

std::vector<std::string>
outputFileNames(const std::vector<std::string> &outputs) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const std::string &output : outputs) {
    std::string stem;
    for (char letter : output.substr(0, 200)) {
      const bool isPlain = (letter >= '0' && letter <= '9') ||
                           (letter >= 'a' && letter <= 'z') ||
                           (letter >= 'A' && letter <= 'Z') ||
                           std::strchr("_-.+@=", letter);
      stem += isPlain && letter != '\0' ? letter : '_';
    }
    if (stem.empty() || stem.front() == '.')
      stem.insert(stem.begin(), '_');
    std::string name = stem;
    for (int number = 2; !taken.insert(name).second; ++number)
      name = stem + "_" + std::to_string(number);
    names.push_back(name + ".npy");
  }
  return names;
}

} // namespace pcc::runtime
