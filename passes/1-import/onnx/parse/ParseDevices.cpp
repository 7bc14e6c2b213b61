//===- ParseDevices.cpp - multi-device annotations ------------------------===//

#include "passes/1-import/onnx/parse/Parser.h"

using namespace pcc::onnx;

void Parser::deviceConfiguration(std::string_view message,
                                 DeviceConfiguration &configuration) {
  Level level(*this);
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1)
      configuration.name = wire.bytes();
    else if (wire.field() == 2)
      configuration.numDevices = static_cast<int32_t>(wire.integer());
    else if (wire.field() == 3)
      configuration.devices.push_back(wire.bytes());
  }
}

void Parser::nodeDeviceConfiguration(std::string_view message,
                                     NodeDeviceConfiguration &configuration) {
  Level level(*this);
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1)
      configuration.configurationId = wire.bytes();
    else if (wire.field() == 2)
      append(wire, configuration.shardingSpecs, &Parser::shardingSpec);
    else if (wire.field() == 3)
      configuration.pipelineStage = static_cast<int32_t>(wire.integer());
  }
}

void Parser::shardingSpec(std::string_view message, ShardingSpec &spec) {
  Level level(*this);
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1)
      spec.tensorName = wire.bytes();
    else if (wire.field() == 2)
      wire.appendIntegers(spec.devices);
    else if (wire.field() == 3)
      append(wire, spec.groups, &Parser::deviceGroup);
    else if (wire.field() == 4)
      append(wire, spec.shardedDims, &Parser::shardedDim);
  }
}

void Parser::shardedDim(std::string_view message, ShardedDim &dim) {
  Level level(*this);
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1)
      dim.axis = wire.integer();
    else if (wire.field() == 2)
      append(wire, dim.simpleShardings, &Parser::simpleShardedDim);
  }
}

void Parser::simpleShardedDim(std::string_view message, SimpleShardedDim &dim) {
  Level level(*this);
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1)
      dim.dimValue = wire.integer();
    else if (wire.field() == 2)
      dim.dimParam = wire.bytes();
    else if (wire.field() == 3)
      dim.numShards = wire.integer();
  }
}

void Parser::deviceGroup(std::string_view message, DeviceGroup &group) {
  Level level(*this);
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1)
      group.key = wire.integer();
    else if (wire.field() == 2)
      wire.appendIntegers(group.devices);
  }
}
