//===- seal-json.cpp - seals the JSON of a bundle anew --------------------===//
//
//     seal-json < edited.json > bundle.json
//
//===----------------------------------------------------------------------===//

#include "runtime/program/Seal.h"

#include <iostream>
#include <iterator>

int main() {
  const std::string json((std::istreambuf_iterator<char>(std::cin)), {});
  std::cout << pcc::runtime::sealJson(json);
}
